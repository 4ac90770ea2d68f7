//! What writes is claimed before it is sent, and never sent again blindly: only under the same key where its op takes
//! it, after an outcome that says it was not done, or where the graph says so by `retry.if`.

use deepgraph_graph::Verb;
use deepgraph_protocol::{EntryBody, ErrorKind, StepError};

use super::Violation;
use super::seen::{Scope, Seen};
use crate::sim::SentWrite;

const NAME: &str = "writes";

pub(super) fn check(seen: &Seen<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for (at, sent) in seen.run.writes.iter().enumerate() {
        let Some(scope) = seen.scopes.get(&sent.scope) else { continue };
        if !is_claimed(scope, sent) {
            let what = format!("attempt {} was sent without a claim", sent.attempt);
            found.push(Violation::of_step(NAME, scope.path, &sent.step, what));
        }
        let before = seen.run.writes[..at].iter().rev().find(|other| other.step == sent.step);
        if let Some(why) = before.and_then(|before| is_blind(scope, before, sent)) {
            found.push(Violation::of_step(NAME, scope.path, &sent.step, why.to_owned()));
        }
    }
    found
}

fn is_claimed(scope: &Scope<'_>, sent: &SentWrite) -> bool {
    scope.rows.iter().take_while(|row| row.number < sent.entries).any(|row| {
        matches!(
            &row.entry.body,
            EntryBody::Dispatched { step, attempt, key: Some(key), .. }
                if *step == sent.step && *attempt == sent.attempt && **key == sent.key
        )
    })
}

/// Why a second call may do what the first one has done already.
fn is_blind(scope: &Scope<'_>, before: &SentWrite, sent: &SentWrite) -> Option<&'static str> {
    if before.takes_key && sent.takes_key {
        return (before.key != sent.key).then_some("it was sent again under another key");
    }
    if repeats_by_condition(scope, sent) {
        return None;
    }
    let between = scope.rows.iter().filter(|row| (before.entries..sent.entries).contains(&row.number));
    let was_not_done = between.clone().any(|row| match &row.entry.body {
        EntryBody::AttemptFailed { step, attempt, error, .. } => {
            *step == sent.step && *attempt == before.attempt && says_not_done(error)
        }
        _ => false,
    });
    (!was_not_done).then_some("it was sent again although it may have been done")
}

/// Whether a failure says that nothing was done: the request did not get there, or it was refused.
pub(super) fn says_not_done(error: &StepError) -> bool {
    let is_refused = matches!(
        error.kind,
        ErrorKind::RateLimited
            | ErrorKind::Unauthorized
            | ErrorKind::NotFound
            | ErrorKind::Refusal
            | ErrorKind::InvalidInput
            | ErrorKind::Refused
            | ErrorKind::Unanswered
            | ErrorKind::Tool
            | ErrorKind::Graph
    );
    error.unsent || is_refused
}

/// Whether the graph says which failures are repeated.
fn repeats_by_condition(scope: &Scope<'_>, sent: &SentWrite) -> bool {
    let of_tool =
        |tool: &str| scope.graph.tools.iter().any(|t| &*t.name == tool && t.retry.condition.is_some());
    let Some(node) = scope.node(&sent.step) else { return false };
    match (&node.verb, scope.at(&sent.step).and_then(|at| at.part())) {
        (Verb::RunTools(_), Some((tool, _))) => of_tool(tool),
        _ => node.retry.condition.is_some(),
    }
}
