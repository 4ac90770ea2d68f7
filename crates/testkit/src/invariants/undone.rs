//! When a run is cancelled, each call that wrote, or may have, is undone once or listed as not undone.
//!
//! Calls are read from the journals: each claim is one, but for those under one key of an op that takes keys, which
//! are one together.

use std::collections::{BTreeMap, BTreeSet};

use deepgraph_protocol::{EntryBody, Event, Output, ScopePath, StepId};

use super::Violation;
use super::seen::{Row, Scope, Seen};
use super::writes::says_not_done;

const NAME: &str = "undone";

/// What is known of the calls of one step.
#[derive(Default)]
struct Calls {
    /// Attempts that were claimed and of which nothing is heard.
    open: BTreeSet<u32>,
    /// How many were done, and known to be when they came back.
    done: u32,
    /// Attempts that were claimed and not refused.
    may_be_done: BTreeSet<u32>,
    /// Whether all of them are one call.
    is_one: bool,
}

pub(super) fn check(seen: &Seen<'_>) -> Vec<Violation> {
    let root = ScopePath::root();
    let (Some(end), Some(of_root)) = (&seen.run.end, seen.scopes.get(&root)) else { return Vec::new() };
    if !is_cancelled(of_root) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for scope in seen.scopes.values() {
        for (step, calls) in calls_of(scope) {
            let undone = completed(of_root, &step.compensation());
            let listed = end.exit.not_undone.iter().filter(|left| left.step == *step).count();
            if let Some(what) = judge(&calls, undone, listed) {
                found.push(Violation::of_step(NAME, scope.path, step, what));
            }
        }
    }
    found
}

/// Whether it was cancelled, and did not go on afterwards.
fn is_cancelled(root: &Scope<'_>) -> bool {
    let last = root.rows.iter().rev().find_map(|row| match &row.entry.body {
        EntryBody::CancelRequested { .. } => Some(true),
        EntryBody::Resumed { .. } => Some(false),
        _ => None,
    });
    last == Some(true)
}

fn judge(calls: &Calls, undone: usize, listed: usize) -> Option<String> {
    if undone > 0 && calls.may_be_done.is_empty() {
        return Some("it was undone, and it was not done".to_owned());
    }
    let told = undone + listed;
    let least = usize::from(!calls.may_be_done.is_empty())
        + usize::from(!calls.is_one && calls.done > 0 && !calls.open.is_empty());
    let is_single = calls.is_one || calls.may_be_done.len() == 1;
    if undone > 1 || told < least || (is_single && told > 1) {
        return Some(format!(
            "it was claimed {} times and not refused; it was undone {undone} times and is listed {listed} times as \
             not undone",
            calls.may_be_done.len()
        ));
    }
    None
}

/// The calls that write, by step. Compensations are none of them.
fn calls_of<'r>(scope: &Scope<'r>) -> BTreeMap<&'r StepId, Calls> {
    let mut calls: BTreeMap<&StepId, Calls> = BTreeMap::new();
    for row in &scope.rows {
        match &row.entry.body {
            EntryBody::Dispatched { step, attempt, key: Some(_), takes_key, .. }
                if !step.as_str().ends_with("/compensation") =>
            {
                let of_step = calls.entry(step).or_insert_with(|| Calls { is_one: true, ..Calls::default() });
                of_step.is_one &= takes_key;
                of_step.open.insert(*attempt);
                of_step.may_be_done.insert(*attempt);
            }
            EntryBody::Completed { step, attempt, .. } => {
                if let Some(of_step) = calls.get_mut(step)
                    && of_step.open.remove(attempt)
                {
                    of_step.done += u32::from(completes(row, step));
                }
            }
            EntryBody::AttemptFailed { step, attempt, error, .. } if says_not_done(error) => {
                // One that is not taken any more came too late to be told.
                if let Some(of_step) = calls.get_mut(step)
                    && of_step.open.remove(attempt)
                    && tells_failure(row, step)
                {
                    of_step.may_be_done.remove(attempt);
                }
            }
            _ => {}
        }
    }
    calls
}

fn completes(row: &Row<'_>, of: &StepId) -> bool {
    let is_told =
        |output: &Output| matches!(output, Output::Event(Event::StepCompleted { step }) if step == of);
    row.outputs.iter().any(is_told)
}

fn tells_failure(row: &Row<'_>, of: &StepId) -> bool {
    row.outputs.iter().any(|output| match output {
        Output::Event(Event::StepFailed { step, .. } | Event::AttemptFailed { step, .. }) => step == of,
        _ => false,
    })
}

fn completed(scope: &Scope<'_>, step: &StepId) -> usize {
    scope.rows.iter().filter(|row| completes(row, step)).count()
}
