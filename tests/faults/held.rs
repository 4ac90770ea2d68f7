//! What must hold in every run, whatever goes wrong in it.

use deepgraph_trace::{Node, NodeKind, Outcome, ScopeTrace};

use super::server::{Asked, REASONING, REPEATED, Server, Stage};
use super::world::{KEY, KEY_VARIABLE, SPARE, Seen};

/// How often a report may say the same.
const MOST_REPEATS: usize = 10;

/// What does not hold, as sentences.
pub fn broken(seen: &Seen, server: &Server) -> Vec<String> {
    let asked = server.log().all();
    let mut found = Vec::new();
    if seen.recorded.status != seen.outcome.status {
        found.push(format!("the record says {}", seen.recorded.status));
    }
    let exits = seen.recorded.exits.iter().map(|exit| &exit.scope);
    if !exits.eq(seen.outcome.exits().map(|exit| &exit.scope)) {
        found.push("the record does not list its exits".to_owned());
    }
    let detail = seen.outcome.end.exit.detail.as_deref().unwrap_or_default();
    if detail.starts_with("unauthorized") && !detail.contains(KEY_VARIABLE) {
        found.push(format!("the exit does not name the variable of the key: {detail}"));
    }
    if seen.everything.contains(KEY) {
        found.push("the key was told".to_owned());
    }
    for text in ["<think", REASONING] {
        if seen.report().contains(text) {
            found.push(format!("the report holds `{text}`"));
        }
    }
    if seen.report().matches(REPEATED.trim()).count() > MOST_REPEATS {
        found.push("the report says the same again and again".to_owned());
    }
    for scope in seen.trace.root.instances() {
        if scope.exit.is_none() {
            found.push(format!("`{}` has no exit", scope.scope));
        }
        found.extend(unanswered(scope));
    }
    found.extend(asked.iter().filter_map(|asked| {
        let broken = asked.broken.as_ref()?;
        Some(format!("a request of {:?} is wrong: {broken}", asked.stage))
    }));
    found.extend(wrong_sender(&asked));
    found.extend(after_the_writer(seen, &asked));
    found
}

/// Calls that were taken up and have no answer.
fn unanswered(scope: &ScopeTrace) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    let mut made = 0;
    for node in scope.super_steps.iter().flat_map(|step| &step.nodes) {
        if let (NodeKind::Model(_), Some(Outcome::Reply(reply))) = (&node.kind, &node.outcome) {
            made += reply.tool_calls.len();
        }
        let calls = node.calls.iter();
        let is_open = |call: &&Node| {
            // A call that leads out does nothing else.
            call.kind != NodeKind::Plain && call.outcome.is_none() && call.child.is_none()
        };
        open.extend(calls.filter(is_open).map(|call| call.step.to_string()));
        made -= node.calls.len().min(made);
    }
    let mut found: Vec<String> =
        open.into_iter().map(|step| format!("the call {step} has no answer")).collect();
    if made > 0 {
        found.push(format!("{made} calls in `{}` were never taken up", scope.scope));
    }
    found
}

/// Requests with another key or for another model than that of their stage.
fn wrong_sender(asked: &[Asked]) -> Vec<String> {
    let wrong = asked.iter().filter(|asked| {
        let model = match asked.stage {
            Stage::Clarify | Stage::Brief => "planner",
            Stage::Supervisor | Stage::Researcher => "searcher",
            Stage::Compress => "squeezer",
            Stage::Report => "writer",
        };
        asked.key != KEY || (asked.model != model && asked.model != SPARE)
    });
    wrong.map(|asked| format!("{:?} asked {} with the key {}", asked.stage, asked.model, asked.key)).collect()
}

/// Requests of other stages that came once the writer had begun, and steps that were at work then.
fn after_the_writer(seen: &Seen, asked: &[Asked]) -> Vec<String> {
    let first = asked.iter().position(|asked| asked.stage == Stage::Report).unwrap_or(asked.len());
    let late = asked[first..].iter().filter(|asked| asked.stage != Stage::Report);
    let mut found: Vec<String> =
        late.map(|asked| format!("{:?} asked after the writer", asked.stage)).collect();
    let steps = seen.trace.root.all_steps();
    let writer = steps.iter().find(|step| step.step.last() == "report.1").and_then(|step| step.time);
    let Some((began, _)) = writer else { return found };
    let at_work = steps.iter().filter(|step| {
        let is_of_it = matches!(step.step.last(), "report.1" | "assemble.1" | "cite.1");
        !is_of_it && step.time.is_some_and(|(_, ended)| ended > began)
    });
    found.extend(at_work.map(|step| format!("{} was at work when the writer had begun", step.step)));
    found
}
