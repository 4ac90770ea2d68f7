//! What is expected: how the run ended.

use deepgraph_graph::yaml::{Mapping, Tree};
use deepgraph_protocol::{Exit, RunStatus, Value};
use deepgraph_trace::recording::{Asked, Came};

use super::gather::Gathered;

/// Bytes of JSON up to which an output is written down; longer ones are in the snapshot of the trace.
const SHORT: usize = 200;

pub(super) fn of(run: &Gathered) -> Mapping {
    let mut expect = Mapping::default();
    let root = &run.trace.root;
    let is_open = |exchange: &deepgraph_trace::recording::Exchange| {
        matches!((&exchange.asked, &exchange.came), (Asked::Person(_), Came::Nothing))
    };
    let waits = run.recording.exchanges.iter().any(is_open).then_some(RunStatus::AwaitingInput);
    if let Some(status) = run.trace.status.or(waits) {
        expect.set("status", Tree::Text(status.name().to_owned()));
    }
    if let Some(told) = &root.exit {
        expect.set("exit", exit(told));
    }
    if let Some(report) = root.report {
        expect.set("report", Tree::Text(report.to_string()));
    }
    for (name, value) in &root.output {
        let value = run.hidden.value(value);
        if !is_empty(&value) && value.to_json_text().len() <= SHORT {
            expect.add_under("output", &**name, Tree::data(&value));
        }
    }
    expect.set("trace", Tree::Text("snapshot".to_owned()));
    expect
}

fn exit(exit: &Exit) -> Tree {
    let reason = Tree::Text(exit.reason.name().to_owned());
    let mut said = Mapping::default().with("reason", reason.clone());
    if let Some(limit) = &exit.limit {
        said.set("limit", Tree::Text(limit.name.to_string()));
    }
    if let Some(findings) = exit.findings {
        said.set("findings", Tree::Int(i64::try_from(findings).unwrap_or(i64::MAX)));
    }
    if said.entries().len() == 1 { reason } else { Tree::Map(said) }
}

/// Nothing would be said by it.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Text(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Map(fields) => fields.is_empty(),
        _ => false,
    }
}
