//! Every call that a model made is decided on once and answered once, in call order.

use std::collections::BTreeMap;

use deepgraph_protocol::{Event, Message, Role, StepId, ToolCall};

use super::Violation;
use super::seen::{Scope, Seen};
use super::turns::Turns;

const NAME: &str = "answers";

pub(super) fn check(seen: &Seen<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for scope in seen.scopes.values() {
        let turns = Turns::of(scope);
        found.extend(decided(scope, &turns));
        for sent in &seen.run.sent {
            let Some(node) = own_node(scope, &sent.step) else { continue };
            let may_be_left = |calls: &[ToolCall]| turns.may_be_left(calls, node.run);
            if let Some(what) = unanswered(&sent.request.messages, may_be_left) {
                let what = format!("the request of `{}` is wrong: {what}", node.name);
                found.push(Violation::of_step(NAME, scope.path, &sent.step, what));
            }
        }
    }
    found
}

/// A node of an instance, and its step.
struct Own<'s> {
    name: &'s str,
    run: &'s str,
}

fn own_node<'s>(scope: &Scope<'_>, step: &'s StepId) -> Option<Own<'s>> {
    let at = scope.at(step)?;
    let is_own = match at.inner {
        None => true,
        Some(inner) => inner.starts_with("item.") && !inner.contains('/'),
    };
    is_own.then_some(Own { name: at.node, run: at.run })
}

/// How often a call was told of, by kind.
#[derive(Clone, Copy, Debug, Default)]
struct Decisions {
    admitted: u32,
    queued: u32,
    refused: u32,
    /// The row in which it was first told of, the question whether it may be run included.
    first: Option<usize>,
}

impl Decisions {
    fn count(self) -> u32 {
        self.admitted + self.refused
    }
}

/// Each call that is taken up is admitted, refused or malformed: one of these, once. It is told of at once, and what
/// waits for a place or for a person is decided on before the work goes on.
fn decided(scope: &Scope<'_>, turns: &Turns<'_>) -> Vec<Violation> {
    let mut calls: BTreeMap<StepId, Decisions> = BTreeMap::new();
    for (row, event) in scope.events() {
        let (step, kind): (StepId, fn(&mut Decisions) -> &mut u32) = match event {
            Event::CallAdmitted { step, .. } => (step.clone(), |d| &mut d.admitted),
            Event::CallQueued { step, .. } => (step.clone(), |d| &mut d.queued),
            Event::CallRefused { step, .. } | Event::CallMalformed { step, .. } => {
                (step.clone(), |d| &mut d.refused)
            }
            Event::Asked { step, .. } => {
                if let Some(call) = turns.call_of_question(step) {
                    calls.entry(call.clone()).or_default().first.get_or_insert(row);
                }
                continue;
            }
            _ => continue,
        };
        let decisions = calls.entry(step).or_default();
        *kind(decisions) += 1;
        decisions.first.get_or_insert(row);
    }
    let mut found = Vec::new();
    let mut wrong = |step: &StepId, what: String| {
        found.push(Violation::of_step(NAME, scope.path, step, what));
    };
    for turn in &turns.turns {
        for step in &turn.calls {
            let told = calls.get(step).copied().unwrap_or_default();
            if told.first != Some(turn.row) {
                wrong(step, "nothing was told of the call when it was taken up".to_owned());
            } else if turn.goes_on && told.count() == 0 {
                wrong(step, "the work went on, and the call was neither run nor refused".to_owned());
            }
        }
    }
    for (step, told) in &calls {
        if !turns.is_call(step) {
            wrong(step, "it was decided on, and no reply that is taken up makes this call".to_owned());
        }
        if told.queued > 1 || told.count() > 1 || (told.refused == 1 && told.queued > 0) {
            let what = format!(
                "the call was admitted {} times, queued {} times, refused {} times",
                told.admitted, told.queued, told.refused
            );
            wrong(step, what);
        }
    }
    found
}

/// What is wrong about the answers in a conversation.
fn unanswered(messages: &[Message], may_be_left: impl Fn(&[ToolCall]) -> bool) -> Option<String> {
    let mut at = 0;
    while let Some(message) = messages.get(at) {
        at += 1;
        if message.role == Role::Tool {
            let id = message.tool_call_id.as_deref().unwrap_or("");
            return Some(format!(
                "message {at} answers the call `{id}`, which does not stand directly before it"
            ));
        }
        let calls = &message.tool_calls;
        if calls.is_empty() {
            continue;
        }
        let answers = messages[at..].iter().take_while(|m| m.role == Role::Tool).count();
        if answers == 0 && may_be_left(calls) {
            continue;
        }
        if answers != calls.len() {
            return Some(format!("message {at} makes {} calls and has {answers} answers", calls.len()));
        }
        for (call, answer) in calls.iter().zip(&messages[at..]) {
            if answer.tool_call_id.as_deref() != Some(&*call.id) {
                let answered = answer.tool_call_id.as_deref().unwrap_or("");
                return Some(format!(
                    "the calls of message {at} are not answered in call order: `{}` has the answer of `{answered}`",
                    call.id
                ));
            }
        }
        at += answers;
    }
    None
}
