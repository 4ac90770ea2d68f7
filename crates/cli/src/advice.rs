//! Exits in words that a person understands, with what to do next.

mod limit;
mod table;
#[cfg(test)]
mod tests;

use deepgraph_graph::Bundle;
use deepgraph_protocol::{Exit, ExitClass, ExitReason, LimitHit};

use crate::screen::one_line;

/// Why an instance of a run ended and what can be done about it: one sentence.
pub fn exit(exit: &Exit, bundle: &Bundle, run: &str) -> String {
    let (text, next) = parts(exit, bundle, run);
    if next.is_empty() { text } else { format!("{text}; {next}") }
}

/// Why an instance ended.
pub fn what(exit: &Exit, bundle: &Bundle) -> String {
    parts(exit, bundle, "RUN").0
}

/// Why an instance ended, and what to do.
fn parts(exit: &Exit, bundle: &Bundle, run: &str) -> (String, String) {
    let words = table::words(&exit.reason, exit.class);
    let (mut text, next) = match limit::said(exit, bundle, run) {
        Some(said) => (said.what, said.next),
        None => (words.what.to_owned(), words.next.replace("RUN", run)),
    };
    if let Some(detail) = &exit.detail {
        let detail = one_line(detail, 600);
        text = if exit.class == ExitClass::Cancelled { detail } else { format!("{text}: {detail}") };
    }
    (text, next)
}

/// Instances that ended alike.
#[derive(Debug, PartialEq)]
pub struct Group<'a> {
    /// How many they are.
    pub count: u64,
    /// The first of them in delegation order.
    pub first: &'a Exit,
}

/// The instances below the root by how they ended, in delegation order: five researchers that one limit ended are one
/// group.
pub fn groups(exits: &[Exit]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for exit in exits {
        match groups.iter_mut().find(|group| is_alike(group.first, exit)) {
            Some(group) => group.count += 1,
            None => groups.push(Group { count: 1, first: exit }),
        }
    }
    groups
}

fn is_alike(one: &Exit, other: &Exit) -> bool {
    let limit = |exit: &Exit| exit.limit.as_ref().map(|hit| hit.name.clone());
    one.graph == other.graph && one.reason == other.reason && limit(one) == limit(other)
}

/// What is worth saying of groups beyond their names: those that a limit or an error ended, and not as the root ended.
/// `1 researcher ended by tool_call_cap: 10 of 10 counted calls (search, read) were used; to go on with more: ...`
pub fn of_groups(root: &Exit, exits: &[Exit], bundle: &Bundle, run: &str) -> Vec<String> {
    let told = |exit: &Exit| {
        let matters =
            matches!(exit.class, ExitClass::Error | ExitClass::Budget | ExitClass::Cap | ExitClass::Gain);
        let limit = |exit: &Exit| exit.limit.as_ref().map(|hit: &LimitHit| hit.name.clone());
        matters && !(exit.reason == root.reason && limit(exit) == limit(root))
    };
    let line = |group: Group<'_>| {
        let name = group.first.graph.rsplit(['/', '#']).next().unwrap_or_default();
        let name = if group.count == 1 { name.to_owned() } else { format!("{name}s") };
        let why = exit(group.first, bundle, run);
        format!("{} {name} ended by {}: {why}", group.count, group.first.reason)
    };
    groups(exits).into_iter().filter(|group| told(group.first)).map(line).collect()
}

/// The help page of an exit of the closed set; none where there is none of this name.
pub fn page(name: &str) -> Option<String> {
    let reason = ExitReason::built_in(name)?;
    let class = reason.class()?;
    let words = table::words(&reason, class);
    let next = if words.next.is_empty() { "nothing" } else { words.next };
    let class = class_in_words(class);
    Some(format!("# {name}: {}\n\n{}\n\n* Class: {class}\n* What to do: {next}\n", words.what, words.means))
}

/// The exits of the closed set, each with what it means in short.
pub fn list() -> String {
    let line = |(name, reason): (&str, ExitReason)| {
        let class = reason.class().unwrap_or(ExitClass::Completion);
        format!("{name:22} {}\n", table::words(&reason, class).what)
    };
    ExitReason::BUILT_IN.into_iter().map(line).collect()
}

fn class_in_words(class: ExitClass) -> &'static str {
    match class {
        ExitClass::Cancelled => "cancelled; the run is cancelled",
        ExitClass::Error => "an error; the run is exhausted where there is a report, else failed",
        ExitClass::Waiting => "waits for a person; the run is exhausted where nobody can be asked",
        ExitClass::Completion => "completion; the run succeeded where something was found",
        ExitClass::Budget => "a budget or a clock; the run is exhausted",
        ExitClass::Cap => "a cap; the run succeeded where something was found and the report is complete",
        ExitClass::NoToolCalls => "no tool calls; the run succeeded where something was found",
        ExitClass::Gain => "gain; the run succeeded where something was found",
    }
}
