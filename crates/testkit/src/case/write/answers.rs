//! Answers as they stand in a case file.

use std::collections::BTreeSet;

use deepgraph_graph::yaml::{Mapping, Tree};
use deepgraph_protocol::{Map, ModelReply, StepId, Value};
use deepgraph_trace::recording::{Asked, Came, Exchange, Reserved};

use super::gather::{Gathered, Took};
use super::models;
use crate::case::said::{self, Json};
use crate::case::words;

/// All answers in canonical order: the section, the step, and one answer or a list of one for each attempt.
pub(super) fn all(run: &Gathered) -> Vec<(&'static str, StepId, Tree)> {
    let mut steps: Vec<(&'static str, StepId, Vec<Tree>)> = Vec::new();
    for exchange in &run.recording.exchanges {
        let Some((section, answer)) = answer(run, exchange, run.took(exchange)) else { continue };
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

fn answer(run: &Gathered, exchange: &Exchange, took: Option<Took>) -> Option<(&'static str, Tree)> {
    let reserved = run.reserved.get(&(exchange.step.clone(), exchange.attempt));
    let answer = match (&exchange.asked, &exchange.came) {
        (Asked::Model(_), Came::Reply(reply)) => {
            ("models", timed(said::by_model(&hidden(reply, run), Json::AsData, reserved), took))
        }
        (Asked::Op { .. }, Came::Result(value)) => ("ops", op(value, exchange, took)),
        (Asked::Person(_), Came::Answer(value)) => ("answers", person(value, took)),
        (Asked::Person(_), Came::Failed(error) | Came::GaveUp(error)) => {
            // Time that ran out does so by itself.
            let kind = Tree::Text(error.kind.name().to_owned());
            ("answers", timed(Mapping::default().with("error", kind), took))
        }
        // Its time is not up, however long it is.
        (Asked::Person(_), Came::Nothing) if run.trace.status.is_none() => {
            ("answers", Tree::Map(Mapping::default().with("later", Tree::Bool(true))))
        }
        (_, Came::Failed(error) | Came::GaveUp(error)) => {
            let mut said = Mapping::default().with("error", said::failure(error));
            if let Some(fail_over) = models::fail_over(exchange, models::has_fallbacks(run)) {
                said.set("fail_over", Tree::Bool(fail_over));
            }
            unanswered(exchange, said, reserved, took)
        }
        (Asked::Model(_) | Asked::Op { .. }, Came::Nothing) => {
            unanswered(exchange, text("never came"), reserved, took)
        }
        _ => return None,
    };
    Some(answer)
}

/// What a model or an op says that brought nothing.
fn unanswered(
    exchange: &Exchange,
    mut said: Mapping,
    reserved: Option<&Reserved>,
    took: Option<Took>,
) -> (&'static str, Tree) {
    let is_model = matches!(exchange.asked, Asked::Model(_));
    match is_model {
        true => said::charge(&mut said, None, reserved),
        false => said::fee(&mut said, exchange.fee, exchange.reserved),
    }
    (if is_model { "models" } else { "ops" }, timed(said, took))
}

/// Model calls that were not sent, since there was no room for what they reserve.
fn unsent(run: &Gathered) -> Vec<(StepId, Tree)> {
    let exchanges = run.recording.exchanges.iter();
    let sent: BTreeSet<(&StepId, u32)> = exchanges.map(|one| (&one.step, one.attempt)).collect();
    let unsent = run.reserved.iter().filter(|((step, attempt), _)| !sent.contains(&(step, *attempt)));
    let said = |((step, _), reserved): (&(StepId, u32), &Reserved)| {
        let mut said = text("not sent");
        said::charge(&mut said, None, Some(reserved));
        (step.clone(), Tree::Map(said))
    };
    unsent.map(said).collect()
}

fn text(text: &str) -> Mapping {
    Mapping::default().with("text", Tree::Text(text.to_owned()))
}

/// A reply without secrets that are spelt otherwise in the JSON of its calls.
fn hidden(reply: &ModelReply, run: &Gathered) -> ModelReply {
    let mut reply = reply.clone();
    for call in &mut reply.tool_calls {
        if let Ok(read) = serde_json::from_str::<Value>(&call.arguments) {
            let without = run.hidden.value(&read);
            if without != read {
                call.arguments = without.to_json_text().into();
            }
        }
    }
    reply
}

fn op(value: &Value, exchange: &Exchange, took: Option<Took>) -> Tree {
    let mut more = Mapping::default();
    said::fee(&mut more, exchange.fee, exchange.reserved);
    let is_alone = took.is_none() && more.is_empty();
    let Value::Map(fields) = value else {
        return timed(more.with("result", Tree::data(value)), took);
    };
    match (fields.len(), fields.get("text")) {
        (1, Some(Value::Text(text))) if is_alone => return Tree::Text(text.to_string()),
        _ => {}
    }
    let is_plain = is_alone && !fields.is_empty() && words::OP.iter().all(|word| !fields.contains_key(*word));
    if is_plain {
        return super::map(fields);
    }
    timed(more.with("result", super::map(fields)), took)
}

fn person(value: &Value, took: Option<Took>) -> Tree {
    let is_taken = |fields: &Map| words::PERSON.iter().any(|word| fields.contains_key(*word));
    // A list stands for one answer after the other.
    let is_plain = match value {
        Value::List(_) => false,
        Value::Map(fields) => !is_taken(fields),
        _ => true,
    };
    if took.is_none() && is_plain {
        return Tree::data(value);
    }
    timed(Mapping::default().with("answer", Tree::data(value)), took)
}

fn timed(said: Mapping, took: Option<Took>) -> Tree {
    let Some(Took { held, takes }) = took else { return Tree::Map(said) };
    let said = if held > 0 { said.with("held", said::duration(held)) } else { said };
    Tree::Map(said.with("takes", said::duration(takes)))
}
