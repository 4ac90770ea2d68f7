//! Every call that a model made is decided on once and answered once, in call order.

use std::collections::BTreeMap;

use deepgraph_graph::Verb;
use deepgraph_protocol::{EntryBody, Event, Message, Role, StepId, StepOutput};

use super::Violation;
use super::seen::{Scope, Seen};

const NAME: &str = "answers";

pub(super) fn check(seen: &Seen<'_>) -> Vec<Violation> {
    let mut found: Vec<Violation> = seen.scopes.values().flat_map(decided).collect();
    for scope in seen.scopes.values() {
        let replies = replies_left(scope);
        for sent in &seen.run.sent {
            let (Some(request), Some(node)) = (&sent.request, own_node(scope, &sent.step)) else { continue };
            let may_be_left = replies.values().any(|left| *left);
            if let Some(what) = unanswered(&request.messages, may_be_left) {
                let what = format!("the request of `{node}` is wrong: {what}");
                found.push(Violation::of_step(NAME, scope.path, &sent.step, what));
            }
        }
    }
    found
}

fn own_node<'s>(scope: &Scope<'_>, step: &'s StepId) -> Option<&'s str> {
    let at = scope.at(step)?;
    let is_own = match at.inner {
        None => true,
        Some(inner) => inner.starts_with("item.") && !inner.contains('/'),
    };
    is_own.then_some(at.node)
}

/// How often calls of one turn were told of, by kind.
#[derive(Default)]
struct Decisions {
    admitted: u32,
    queued: u32,
    refused: u32,
}

/// Each call is admitted, refused or malformed: one of these, once.
fn decided(scope: &Scope<'_>) -> Vec<Violation> {
    let mut calls: BTreeMap<&StepId, Decisions> = BTreeMap::new();
    for (_, event) in scope.events() {
        match event {
            Event::CallAdmitted { step, .. } => calls.entry(step).or_default().admitted += 1,
            Event::CallQueued { step, .. } => calls.entry(step).or_default().queued += 1,
            Event::CallRefused { step, .. } | Event::CallMalformed { step, .. } => {
                calls.entry(step).or_default().refused += 1;
            }
            _ => {}
        }
    }
    let wrong = calls.iter().filter(|(_, d)| {
        d.admitted > 1 || d.queued > 1 || d.refused > 1 || (d.refused == 1 && d.admitted + d.queued > 0)
    });
    wrong
        .map(|(step, d)| {
            let what = format!(
                "the call was admitted {} times, queued {} times, refused {} times",
                d.admitted, d.queued, d.refused
            );
            Violation::of_step(NAME, scope.path, step, what)
        })
        .collect()
}

/// Per model node, whether replies with calls were left by a way that does not run them.
fn replies_left(scope: &Scope<'_>) -> BTreeMap<usize, bool> {
    let mut replies: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
    for row in &scope.rows {
        if let EntryBody::Completed { step, output: StepOutput::Model(reply), .. } = &row.entry.body
            && !reply.tool_calls.is_empty()
            && let Some(ix) = own_node(scope, step).and_then(|name| scope.graph.node(name))
            && row.outputs.iter().any(
                |o| matches!(o, deepgraph_protocol::Output::Event(Event::StepCompleted { step: s }) if s == step),
            )
        {
            replies.entry(ix.0).or_default().0 += 1;
        }
    }
    for (_, event) in scope.events() {
        if let Event::NodeStarted { step, .. } = event
            && let Some(Verb::RunTools(model)) = scope.node(step).map(|node| &node.verb)
        {
            replies.entry(model.0).or_default().1 += 1;
        }
    }
    replies.into_iter().map(|(node, (made, run))| (node, made > run)).collect()
}

/// What is wrong about the answers in a conversation.
fn unanswered(messages: &[Message], may_be_left: bool) -> Option<String> {
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
        if answers == 0 && may_be_left {
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
