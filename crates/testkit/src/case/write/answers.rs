//! Answers as they stand in a case file.

use std::collections::BTreeMap;

use deepgraph_graph::yaml::{Mapping, Tree};
use deepgraph_protocol::{FinishReason, Map, ModelReply, StepError, StepId, ToolCall, Usage, Value};
use deepgraph_trace::recording::{Asked, Came, Exchange};

use super::gather::Gathered;
use crate::case::words;

/// All answers in canonical order: the section, the step, and one answer or a list of one for each attempt.
pub(super) fn all(run: &Gathered) -> Vec<(&'static str, StepId, Tree)> {
    let mut steps: Vec<(&'static str, StepId, Vec<Tree>)> = Vec::new();
    let mut earlier: Option<&Exchange> = None;
    for exchange in &run.recording.exchanges {
        let before = earlier.filter(|before| before.step == exchange.step);
        earlier = Some(exchange);
        let takes = run.takes(exchange, before);
        let Some((section, answer)) = answer(run, exchange, takes) else { continue };
        match steps.last_mut() {
            Some((_, step, answers)) if *step == exchange.step => answers.push(answer),
            _ => steps.push((section, exchange.step.clone(), vec![answer])),
        }
    }
    for (step, answer) in unsent(run) {
        match steps.iter_mut().find(|(_, known, _)| *known == step) {
            Some((_, _, answers)) => answers.push(answer),
            None => steps.push(("models", step, vec![answer])),
        }
    }
    let one = |mut answers: Vec<Tree>| match answers.len() {
        // A list stands for attempts.
        1 if !matches!(answers[0], Tree::List(_)) => answers.remove(0),
        _ => Tree::List(answers),
    };
    steps.into_iter().map(|(section, step, answers)| (section, step, one(answers))).collect()
}

fn answer(run: &Gathered, exchange: &Exchange, takes: Option<u64>) -> Option<(&'static str, Tree)> {
    let reserved = run.reserved.get(&(exchange.step.clone(), exchange.attempt));
    let said = match (&exchange.asked, &exchange.came) {
        (Asked::Model(_), Came::Reply(reply)) => ("models", model(reply, reserved, takes)),
        (Asked::Op { .. }, Came::Result(value)) => ("ops", op(value, takes)),
        (Asked::Person(_), Came::Answer(value)) => ("answers", person(value, takes)),
        (Asked::Person(_), Came::Failed(error) | Came::GaveUp(error)) => {
            // Time that ran out does so by itself.
            let kind = Tree::Text(error.kind.name().to_owned());
            ("answers", timed(Mapping::default().with("error", kind), takes))
        }
        // Its time is not up, however long it is.
        (Asked::Person(_), Came::Nothing) if run.trace.status.is_none() => {
            ("answers", Tree::Map(Mapping::default().with("later", Tree::Bool(true))))
        }
        (asked, Came::Failed(error) | Came::GaveUp(error)) => {
            let mut said = Mapping::default().with("error", failure(error));
            if let (Asked::Model(_), Some(tokens)) = (asked, reserved.map(|reserved| reserved.0)) {
                said.add_under("tokens", "reserve", Tree::Int(int(tokens)));
            }
            (if matches!(asked, Asked::Model(_)) { "models" } else { "ops" }, timed(said, takes))
        }
        (Asked::Model(_), Came::Nothing) => ("models", timed(never(), takes)),
        (Asked::Op { .. }, Came::Nothing) => ("ops", timed(never(), takes)),
        _ => return None,
    };
    Some(said)
}

/// What a step says that was called off.
fn never() -> Mapping {
    Mapping::default().with("text", Tree::Text("never came".to_owned()))
}

/// Model calls that were not sent, since there was no room for what they reserve.
fn unsent(run: &Gathered) -> Vec<(StepId, Tree)> {
    let exchanges = run.recording.exchanges.iter();
    let sent: BTreeMap<(&StepId, u32), ()> = exchanges.map(|one| ((&one.step, one.attempt), ())).collect();
    let unsent = run.reserved.iter().filter(|((step, attempt), _)| !sent.contains_key(&(step, *attempt)));
    let said = |((step, _), reserved): (&(StepId, u32), &(u64, Option<u64>))| {
        let mut said = Mapping::default().with("text", Tree::Text("not sent".to_owned()));
        said.add_under("tokens", "reserve", Tree::Int(int(reserved.0)));
        if let Some(micro) = reserved.1 {
            said.add_under("cost", "reserve", dollars(micro));
        }
        (step.clone(), Tree::Map(said))
    };
    unsent.map(said).collect()
}

fn model(reply: &ModelReply, reserved: Option<&(u64, Option<u64>)>, takes: Option<u64>) -> Tree {
    let mut said = Mapping::default();
    let is_data = !reply.data.is_null() && reads_as(&reply.text, &reply.data);
    if !is_data && (!reply.text.is_empty() || (reply.data.is_null() && reply.tool_calls.is_empty())) {
        said.set("text", Tree::Text(reply.text.to_string()));
    }
    if !reply.data.is_null() {
        said.set("data", Tree::data(&reply.data));
    }
    if !reply.tool_calls.is_empty() {
        said.set("calls", Tree::List(reply.tool_calls.iter().map(call).collect()));
    }
    let natural = if reply.tool_calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
    if reply.finish != natural {
        said.set("finish", Tree::Text(reply.finish.name().to_owned()));
    }
    if let Some(tokens) = tokens(&reply.usage, reserved.map(|reserved| reserved.0)) {
        said.set("tokens", Tree::Map(tokens));
    }
    if let Some(cost) = cost(reply.cost_micro_usd, reserved.map(|reserved| reserved.1)) {
        said.set("cost", cost);
    }
    timed(said, takes)
}

/// Whether a text is the JSON of a value, however it is laid out.
fn reads_as(text: &str, data: &Value) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|read| read == *data)
}

fn call(call: &ToolCall) -> Tree {
    let read: Option<Value> = serde_json::from_str(&call.arguments).ok();
    let arguments = match read.as_ref().and_then(|read| read.as_map()) {
        Some(fields) if fields.is_empty() => return Tree::Text(call.name.to_string()),
        Some(fields) => super::map(fields),
        // As the model wrote it, JSON or not.
        None => Tree::Text(call.arguments.to_string()),
    };
    let mut said = Mapping::default();
    said.add(&*call.name, arguments);
    Tree::Map(said)
}

fn tokens(usage: &Usage, reserved: Option<u64>) -> Option<Mapping> {
    let mut said = Mapping::default();
    said.set("input", Tree::Int(int(usage.input_tokens)));
    said.set("output", Tree::Int(int(usage.output_tokens)));
    if let Some(reserved) = reserved {
        said.set("reserve", Tree::Int(int(reserved)));
    }
    Some(said)
}

/// Where nothing is said, a call costs nothing and its price is known.
fn cost(used: Option<u64>, reserved: Option<Option<u64>>) -> Option<Tree> {
    match (used, reserved) {
        (Some(0), None | Some(None | Some(0))) => None,
        (None, _) => Some(Tree::Text("unknown".to_owned())),
        (Some(used), None | Some(None)) => Some(dollars(used)),
        (Some(used), Some(Some(reserved))) => {
            let said = Mapping::default().with("used", dollars(used)).with("reserve", dollars(reserved));
            Some(Tree::Map(said))
        }
    }
}

fn op(value: &Value, takes: Option<u64>) -> Tree {
    let Value::Map(fields) = value else {
        return Tree::Map(Mapping::default().with("result", Tree::data(value)));
    };
    match (fields.len(), fields.get("text")) {
        (1, Some(Value::Text(text))) if takes.is_none() => return Tree::Text(text.to_string()),
        _ => {}
    }
    let is_plain =
        takes.is_none() && !fields.is_empty() && words::OP.iter().all(|word| !fields.contains_key(*word));
    if is_plain {
        return super::map(fields);
    }
    timed(Mapping::default().with("result", super::map(fields)), takes)
}

fn person(value: &Value, takes: Option<u64>) -> Tree {
    let is_taken = |fields: &Map| words::PERSON.iter().any(|word| fields.contains_key(*word));
    // A list stands for one answer after the other.
    let is_plain = match value {
        Value::List(_) => false,
        Value::Map(fields) => !is_taken(fields),
        _ => true,
    };
    if takes.is_none() && is_plain {
        return Tree::data(value);
    }
    timed(Mapping::default().with("answer", Tree::data(value)), takes)
}

fn failure(error: &StepError) -> Tree {
    let mut said = Mapping::default();
    said.set("kind", Tree::Text(error.kind.name().to_owned()));
    said.set("message", Tree::Text(error.message.clone()));
    if let Some(ms) = error.retry_after_ms {
        said.set("after", duration(ms));
    }
    if error.unsent {
        said.set("unsent", Tree::Bool(true));
    }
    Tree::Map(said)
}

fn timed(said: Mapping, takes: Option<u64>) -> Tree {
    match takes {
        Some(ms) => Tree::Map(said.with("takes", duration(ms))),
        None => Tree::Map(said),
    }
}

/// A length of time.
pub(super) fn duration(ms: u64) -> Tree {
    Tree::Text(format!("{ms}ms"))
}

fn dollars(micro: u64) -> Tree {
    Tree::Float(micro as f64 / 1_000_000.0)
}

fn int(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
