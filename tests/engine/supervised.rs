//! The stock graph with scripted supervisors and researchers.

use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_protocol::{
    Handoff, Map, ModelReply, ModelRequest, Role, Source, StepError, StepId, ToolCall, Value,
};
use deepgraph_testkit::{Sim, SimRun, call, calls, data, says};

use crate::support;

/// What a supervisor does, turn by turn; after the last turn it stops calling.
pub type Turns = Vec<Vec<ToolCall>>;

/// A call of `ConductResearch`.
pub fn conduct(topic: &str) -> ToolCall {
    call("ConductResearch", &format!("{{\"research_topic\": \"{topic}\"}}"))
}

/// A call of `think_tool`.
pub fn think() -> ToolCall {
    call("think_tool", "{\"reflection\": \"hm\"}")
}

/// A call of `ResearchComplete`.
pub fn complete() -> ToolCall {
    call("ResearchComplete", "{}")
}

/// The number of the turn that a request is for, from 0.
pub fn turn(request: &ModelRequest) -> usize {
    request.messages.iter().filter(|m| m.role == Role::Assistant).count()
}

/// The role of a step in the stock graph: its node's name.
pub fn node(step: &StepId) -> &str {
    step.last().split('.').next().unwrap_or("")
}

/// Answers as every stage of the stock graph should; the supervisor as scripted.
pub fn answer(turns: &Turns, step: &StepId, request: &ModelRequest) -> Result<ModelReply, StepError> {
    Ok(match node(step) {
        "clarify" => data(Value::record([("need_clarification", Value::from(false))])),
        "brief" => data(Value::record([("research_brief", Value::from("the brief"))])),
        "supervisor" => match turns.get(turn(request)) {
            Some(turn) if !turn.is_empty() => calls(turn.iter().cloned()),
            _ => says("that is all"),
        },
        "researcher" => match turn(request) {
            0 => calls([call("search", "{\"query\": \"q\"}")]),
            _ => says("found"),
        },
        "compress" => says("A finding. [abcdef-1]"),
        "report" => says("The report. [abcdef-1]"),
        other => says(other),
    })
}

/// Ops with fixed results, in the shapes of the real ones.
pub fn ops(_: &StepId, op: &str, input: &Map) -> Result<Value, StepError> {
    let source = Source {
        id: "abcdef-1".into(),
        document: "a.md".into(),
        text: "A finding.".into(),
        ..Source::default()
    };
    let sources = Value::record([(source.id.clone(), Value::of(&source))]);
    let text = Value::from(format!("{op} result"));
    Ok(match op {
        "search" => Value::record([("text", text), ("hits", Value::empty_list()), ("sources", sources)]),
        "read" => Value::record([("text", text), ("sources", sources), ("facts", Value::empty_list())]),
        "handoff" => {
            let objective = input.get("objective").and_then(Value::as_str).unwrap_or("").to_owned();
            let found = input.get("text").and_then(Value::as_str).unwrap_or("").to_owned();
            let findings = u64::from(found.contains('['));
            let handoff = Handoff { objective, text: found.clone(), findings, ..Handoff::default() };
            Value::record([("text", Value::from(found)), ("handoff", Value::of(&handoff))])
        }
        "cite" => {
            let text = input.get("text").cloned().unwrap_or_default();
            Value::record([("text", text), ("citations", Value::empty_list())])
        }
        _ => Value::record([("text", text)]),
    })
}

/// A run of the stock graph with a scripted supervisor.
pub fn run(bundle: &Arc<Bundle>, turns: &Turns, config: &[(&str, Value)], seed: u64) -> SimRun {
    let config = support::config(bundle, config);
    Sim::new(bundle, |step, request| answer(turns, step, request))
        .ops(ops)
        .seed(seed)
        .run(support::question("a question"), config)
}
