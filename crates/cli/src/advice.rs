//! Exits in words that a person understands, with what to do next.

mod limit;
pub mod outlook;
pub mod remedy;
mod table;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_protocol::{Exit, ExitClass, ExitReason, LimitHit, ResumeFrom, StepError};
use deepgraph_store::{RunRecord, Store};

use self::outlook::{OfRun, Outlook};
use self::remedy::Sets;
use crate::screen::one_line;

/// What is to be said of how a run ended.
pub struct Adviser<'a> {
    run: &'a str,
    bundle: &'a Bundle,
    /// None: it can not be asked how the run could go on, so no command is named.
    outlook: Option<&'a dyn Outlook>,
    /// The exits of its last attempt: the root's, and of those below it in delegation order.
    root: &'a Exit,
    below: &'a [Exit],
}

/// How a stored run could go on; none where it can not be asked.
pub fn outlook(store: &dyn Store, record: &RunRecord, bundle: &Arc<Bundle>) -> Option<OfRun> {
    OfRun::of(store, record, bundle)
}

/// Why an instance ended.
pub fn what(exit: &Exit, bundle: &Bundle) -> String {
    text(exit, bundle, None)
}

fn text(exit: &Exit, bundle: &Bundle, outlook: Option<&dyn Outlook>) -> String {
    let words = || match (&exit.reason, exit.findings) {
        (ExitReason::ResearchComplete, Some(0)) => "the model ended it; nothing was found".to_owned(),
        (reason, _) => table::words(reason, exit.class).what.to_owned(),
    };
    let text = limit::said(exit, bundle, outlook).unwrap_or_else(words);
    let Some(detail) = &exit.detail else { return text };
    let detail = one_line(detail, 600);
    if exit.class == ExitClass::Cancelled { detail } else { format!("{text}: {detail}") }
}

/// What to do about an exit, where `again` is the command that lets the run go on.
fn next(exit: &Exit, run: &str, again: Option<&str>) -> String {
    let parts = table::words(&exit.reason, exit.class).next.split("; ");
    let parts = parts.filter(|part| again.is_some() || !part.contains(AGAIN));
    let parts: Vec<&str> = parts.collect();
    parts.join("; ").replace(AGAIN, again.unwrap_or_default()).replace("RUN", run)
}

/// What stands in the table for the command that lets a run go on.
const AGAIN: &str = "{again}";

impl<'a> Adviser<'a> {
    /// For a run with these exits.
    pub fn new(
        run: &'a str,
        bundle: &'a Bundle,
        outlook: Option<&'a dyn Outlook>,
        root: &'a Exit,
        below: &'a [Exit],
    ) -> Adviser<'a> {
        Adviser { run, bundle, outlook, root, below }
    }

    /// Why the research ended and what can be done about it: one sentence.
    pub fn research(&self) -> String {
        let sets = self.root_goes_on();
        let again = sets.map(|sets| remedy::resume(self.run, &sets, ResumeFrom::Research));
        let mut next = next(self.root, self.run, again.as_deref());
        if again.is_none()
            && let Some(stands) = limit::stands(self.root, self.bundle)
        {
            next = if next.is_empty() { stands } else { format!("{next}; {stands}") };
        }
        let text = text(self.root, self.bundle, self.outlook);
        if next.is_empty() { text } else { format!("{text}; {next}") }
    }

    /// The values with which the research would be let go on. What its researchers ran out of is raised with what it ran
    /// out of itself: they would run out of it again.
    fn root_goes_on(&self) -> Option<Sets> {
        let outlook = self.outlook?;
        let of = |exit: &Exit| remedy::of_exit(outlook, self.bundle, exit);
        let starved = self.below.iter().filter(|exit| exit.class == ExitClass::Budget).filter_map(of);
        let wanted = of(self.root).unwrap_or_default();
        let together = starved.fold(wanted.clone(), |all, more| remedy::joined(self.bundle, &all, &more));
        remedy::settled(outlook, self.bundle, together, ResumeFrom::Research)
            .or_else(|| remedy::settled(outlook, self.bundle, wanted, ResumeFrom::Research))
    }

    /// The command that makes the report again; none where none would be let go on.
    pub fn report_again(&self, error: Option<&StepError>) -> Option<String> {
        let outlook = self.outlook?;
        let sets = remedy::of_report(outlook, self.bundle, error);
        let sets = remedy::settled(outlook, self.bundle, sets, ResumeFrom::Report)?;
        Some(remedy::resume(self.run, &sets, ResumeFrom::Report))
    }

    /// What is worth saying of groups beyond their names: those that a limit or an error ended, and not as the root ended.
    /// `1 researcher ended by tool_call_cap: 10 of 10 counted calls (search, read) were used; ...`
    pub fn groups(&self) -> Vec<String> {
        let told = |exit: &Exit| {
            let matters =
                matches!(exit.class, ExitClass::Error | ExitClass::Budget | ExitClass::Cap | ExitClass::Gain);
            let limit = |exit: &Exit| exit.limit.as_ref().map(|hit: &LimitHit| hit.name.clone());
            matters && !(exit.reason == self.root.reason && limit(exit) == limit(self.root))
        };
        let groups: Vec<Group<'_>> =
            groups(self.below).into_iter().filter(|group| told(group.first)).collect();
        if groups.is_empty() {
            return Vec::new();
        }
        let goes_on = self.root_goes_on();
        groups.iter().map(|group| self.group(group, goes_on.as_ref())).collect()
    }

    fn group(&self, group: &Group<'_>, goes_on: Option<&Sets>) -> String {
        let exit = group.first;
        let name = exit.graph.rsplit(['/', '#']).next().unwrap_or_default();
        let name = if group.count == 1 { name.to_owned() } else { format!("{name}s") };
        let text = text(exit, self.bundle, self.outlook);
        let next = self.next_of_child(exit, goes_on);
        let next = if next.is_empty() { next } else { format!("; {next}") };
        format!("{} {name} ended by {}: {text}{next}", group.count, exit.reason)
    }

    /// What helps an instance below the root: it does not go on by itself.
    fn next_of_child(&self, exit: &Exit, goes_on: Option<&Sets>) -> String {
        let about = |again: Option<&str>| next(exit, self.run, again);
        let Some(outlook) = self.outlook else { return about(None) };
        let wanted = match remedy::of_exit(outlook, self.bundle, exit) {
            Some(wanted) => wanted,
            None if exit.limit.is_some() => {
                return limit::stands(exit, self.bundle).unwrap_or_else(|| about(None));
            }
            None => Sets::new(),
        };
        if let Some(goes_on) = goes_on {
            let both = remedy::joined(self.bundle, goes_on, &wanted);
            if both == *goes_on {
                return about(None);
            }
            let both = remedy::settled(outlook, self.bundle, both, ResumeFrom::Research);
            let both = both.map(|sets| remedy::resume(self.run, &sets, ResumeFrom::Research));
            return about(both.as_deref());
        }
        match outlook.fork_before(&exit.scope, &wanted) {
            Some(step) => {
                let fork = remedy::fork(self.run, &step, &wanted);
                let about = about(None);
                let about = if about.is_empty() { about } else { format!("{about}; ") };
                format!("{about}in another run, from before it was started: {fork}")
            }
            None if wanted.is_empty() => about(None),
            None => format!("in another run of the question:{}", remedy::options(&wanted)),
        }
    }
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

/// The help page of an exit of the closed set; none where there is none of this name.
pub fn page(name: &str) -> Option<String> {
    let reason = ExitReason::built_in(name)?;
    let class = reason.class()?;
    let words = table::words(&reason, class);
    let by_limit = matches!(class, ExitClass::Budget | ExitClass::Cap | ExitClass::Gain)
        || reason == ExitReason::RepeatedToolFailure;
    let next = match (words.next, by_limit) {
        ("", _) => "nothing".to_owned(),
        (next, true) if next.contains(AGAIN) => {
            let next = next.replace(AGAIN, "deepgraph resume RUN --set KEY=VALUE");
            format!("{next}; deepgraph show RUN names the command with its values")
        }
        (next, _) => next.replace(AGAIN, "deepgraph resume RUN --from research"),
    };
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
