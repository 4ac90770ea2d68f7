//! What two traces do differently, by logical position.
//!
//! Both are read as outlines of their text form ([`Trace::to_text`](crate::Trace::to_text)), since a snapshot is a
//! text and a run can be printed as one. Lines are paired by what they are (a step by its id, an input by its name, a
//! message by its place among the others), never by line number. What only follows from an earlier difference (sums,
//! later requests that hold what was said before) is told apart from what was done differently.

mod align;
mod compare;
mod outline;
mod show;
#[cfg(test)]
mod tests;
mod words;

use serde::Serialize;

/// What differs between two traces, in canonical order: that of the steps, then exits, outputs and the status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TraceDiff {
    /// What was done differently.
    places: Vec<Place>,
    /// What only follows from that.
    follows: Vec<Place>,
}

/// One step, or one graph instance, that is not the same in both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Where it is, from the root: `supervise.1/supervisor_tools.1/ConductResearch.1/researcher.2`; the root instance
    /// is "".
    pub path: String,
    /// How many of the path's steps lead to the graph instance that it belongs to.
    #[serde(skip)]
    pub(crate) scope_len: usize,
    /// The graph of the instance that it belongs to.
    pub graph: String,
    /// The super-step of that instance; none for what stands outside of super-steps: input, exit, output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub super_step: Option<u64>,
    /// What differs, in the order of the trace.
    pub changes: Vec<Change>,
}

/// One thing that is not the same in both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Change {
    /// What it is: `text`, `calls`, `exit`, `input question`, `system message`, `step`.
    pub what: String,
    /// Its line before; none where it was not there. A step that is only there has the lines below it too.
    pub before: Option<String>,
    /// Its line after, likewise.
    pub after: Option<String>,
    /// What a difference of this kind is counted as where it only follows from another one.
    #[serde(skip)]
    pub(crate) kind: Kind,
}

/// How a difference that follows from another one is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A request to a model.
    Request,
    /// A sum: tokens, counters, findings.
    Sum,
    /// A step that is in another super-step.
    Move,
    /// A value handed on: an input, an output, what an op read or gave.
    #[default]
    Value,
}

/// Compares two traces in their text form, [`Detail::Short`](crate::Detail::Short) or
/// [`Detail::Full`](crate::Detail::Full), the same for both. The header of a snapshot file is passed over, and so are
/// run ids and the times of steps. Any text can be given: lines that are not of a trace are compared by their order.
pub fn of_texts(before: &str, after: &str) -> TraceDiff {
    let (before, after) = (outline::read(before), outline::read(after));
    compare::compare(&before, &after)
}

/// Whether a text is a trace: behind the header of a snapshot file, if it has one, it begins with the run's id or its
/// status, and the root's graph follows.
pub fn is_trace(text: &str) -> bool {
    let mut lines = outline::body(text).lines().map(str::trim_end).filter(|line| !line.is_empty());
    let is_head = |line: &str| line.starts_with("run ") || line.starts_with("status ");
    lines.next().is_some_and(is_head)
        // Nothing but lines about the whole run stands before it.
        && lines.find(|line| !is_head(line) && !line.starts_with("config ")).is_some_and(|line| line.starts_with("graph "))
}

/// Whether the end of a trace is missing: the last line of every trace tells what the root used.
pub fn is_cut_off(text: &str) -> bool {
    let last = outline::body(text).lines().rfind(|line| !line.trim().is_empty());
    !last.is_some_and(|line| line.starts_with("  used "))
}

impl TraceDiff {
    /// Whether both traces are the same.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The first divergence in canonical order; none where nothing differs.
    pub fn first(&self) -> Option<&Place> {
        self.places.first()
    }

    /// All that was done differently, in canonical order. What only follows from it is left out, unless there is
    /// nothing else.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// What only follows from the [`places`](TraceDiff::places).
    pub fn follows(&self) -> &[Place] {
        &self.follows
    }
}
