//! One scripted answer: of a model, an op, a person.

use std::sync::Arc;

use deepgraph_protocol::{
    Fee, FinishReason, Map, Millis, ModelReply, StepError, StepId, ToolCall, Usage, Value,
};

use super::read::Reader;
use super::request::RequestMatch;
use super::said::UNKNOWN;
use super::tree::Node;
use super::words;
use crate::Said;
use crate::reply::USUAL_TOKENS;

/// What a model answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelAnswer {
    pub(crate) expect: Option<RequestMatch>,
    pub(crate) takes: Option<Millis>,
    /// How long it waits for the limiter of its account before it is sent.
    pub(crate) held: Option<Millis>,
    /// Whether the next model is asked after its failure; none: as the kind of the failure has it.
    pub(crate) fail_over: Option<bool>,
    error: Option<StepError>,
    text: Option<Arc<str>>,
    data: Value,
    guess: Value,
    calls: Vec<(Arc<str>, Arc<str>)>,
    finish: Option<FinishReason>,
    tokens: Tokens,
    cost: Cost,
}

#[derive(Clone, Copy, Debug)]
struct Tokens {
    input: u64,
    output: u64,
    reserve: Option<u64>,
}

impl Default for Tokens {
    fn default() -> Tokens {
        let (input, output) = USUAL_TOKENS;
        Tokens { input, output, reserve: None }
    }
}

/// Micro-dollars; none: the price is not known.
#[derive(Clone, Copy, Debug)]
struct Cost {
    used: Option<u64>,
    reserve: Option<u64>,
}

impl Default for Cost {
    fn default() -> Cost {
        Cost { used: Some(0), reserve: Some(0) }
    }
}

impl ModelAnswer {
    pub(crate) fn read(reader: &mut Reader, node: &Node) -> Option<ModelAnswer> {
        let mut answer = ModelAnswer::default();
        if !node.is_map() {
            answer.text = Some(reader.text(node, "what a model answers")?);
            return Some(answer);
        }
        for (key, value) in reader.entries(node, "what a model answers", &words::MODEL) {
            match &*key.name {
                "text" => answer.text = reader.text(value, "`text`"),
                "data" => answer.data = value.value.clone(),
                "guess" => answer.guess = value.value.clone(),
                "calls" => answer.calls = calls(reader, value),
                "finish" => answer.finish = reader.one_of(value, "`finish`", &words::FINISH),
                "error" => answer.error = reader.failure(value),
                "takes" => answer.takes = reader.duration(value, "`takes`"),
                "fail_over" => answer.fail_over = Some(value.value.is_true()),
                "held" => answer.held = reader.duration(value, "`held`"),
                "tokens" => answer.tokens = tokens(reader, value),
                "cost" => answer.cost = cost(reader, value, "`cost`"),
                _ => answer.expect = RequestMatch::read(reader, value),
            }
        }
        let replies = ["text", "data", "calls", "finish"].iter().any(|key| node.get(key).is_some());
        if replies == node.get("error").is_some() {
            reader.error(node.place, "a model answers with `text`, `data` or `calls`, or fails with `error`");
        }
        Some(answer)
    }

    /// The reply of a step, or its failure.
    pub(crate) fn reply(&self, step: &StepId, model: &str) -> Result<ModelReply, StepError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let text = match &self.text {
            Some(text) => text.clone(),
            None if self.data.is_null() => "".into(),
            None => self.data.to_json_text().into(),
        };
        let calls = self.calls.iter().zip(1..).map(|((name, arguments), k)| ToolCall {
            id: call_id(step, k),
            name: name.clone(),
            arguments: arguments.clone(),
        });
        let finish = if self.calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        Ok(ModelReply {
            text,
            tool_calls: calls.collect(),
            data: self.data.clone(),
            finish: self.finish.unwrap_or(finish),
            usage: Usage {
                input_tokens: self.tokens.input,
                output_tokens: self.tokens.output,
                ..Usage::default()
            },
            cost_micro_usd: self.cost.used,
            model: model.to_owned(),
            mended: Vec::new(),
            guess: self.guess.clone(),
        })
    }

    /// What is reserved for it: tokens, and micro-dollars where the price is known.
    pub(crate) fn reserves(&self) -> (u64, Option<u64>) {
        (self.tokens.reserve.unwrap_or(self.tokens.input + self.tokens.output), self.cost.reserve)
    }
}

/// The id of the k-th call (from 1) that a model step makes: its last segment and the number.
fn call_id(step: &StepId, k: usize) -> Arc<str> {
    format!("{}#{k}", step.last()).into()
}

/// Calls: each a name, or a name with arguments.
fn calls(reader: &mut Reader, node: &Node) -> Vec<(Arc<str>, Arc<str>)> {
    if !node.is_list() {
        reader.error(node.place, "`calls` is a list of calls: `[{search: {query: tides}}, done]`");
    }
    let mut calls = Vec::new();
    for item in node.items() {
        match (item.entries(), &item.value) {
            ([], Value::Text(name)) => calls.push((name.clone(), "{}".into())),
            ([(name, arguments)], _) => {
                let arguments = match &arguments.value {
                    // As the model wrote it, JSON or not.
                    Value::Text(raw) => raw.clone(),
                    Value::Null => "{}".into(),
                    other => other.to_json_text().into(),
                };
                calls.push((name.name.clone(), arguments));
            }
            _ => reader.error(item.place, "a call is the name of a tool, or `{NAME: ARGUMENTS}`"),
        }
    }
    calls
}

fn tokens(reader: &mut Reader, node: &Node) -> Tokens {
    if !node.is_map() {
        let input = reader.whole(node, "`tokens`").unwrap_or(0);
        return Tokens { input, output: 0, reserve: None };
    }
    let mut tokens = Tokens::default();
    for (key, value) in reader.entries(node, "`tokens`", &words::TOKENS) {
        let n = reader.whole(value, &format!("`{}`", key.name));
        match &*key.name {
            "input" => tokens.input = n.unwrap_or(0),
            "output" => tokens.output = n.unwrap_or(0),
            _ => tokens.reserve = n,
        }
    }
    tokens
}

fn cost(reader: &mut Reader, node: &Node, what: &str) -> Cost {
    if !node.is_map() {
        let used = price(reader, node, &format!("{what} (or `unknown`)"));
        return Cost { used, reserve: used };
    }
    let mut cost = Cost::default();
    for (key, value) in reader.entries(node, what, &words::COST) {
        let amount = price(reader, value, &format!("`{}` (or `unknown`)", key.name));
        match &*key.name {
            "used" => cost.used = amount,
            _ => cost.reserve = amount,
        }
    }
    cost
}

/// Micro-dollars; none where the price is not known.
fn price(reader: &mut Reader, node: &Node, what: &str) -> Option<u64> {
    if node.value.as_str() == Some(UNKNOWN) { None } else { reader.dollars(node, what) }
}

/// What an op brings back.
#[derive(Clone, Debug)]
pub(crate) struct OpAnswer {
    /// What its input must be, as far as it is said.
    pub(crate) expect: Option<Map>,
    pub(crate) takes: Option<Millis>,
    fee: Cost,
    pub(crate) result: Result<Map, StepError>,
}

impl OpAnswer {
    pub(crate) fn read(reader: &mut Reader, node: &Node) -> Option<OpAnswer> {
        if let Value::Text(text) = &node.value {
            let result = Map::from([("text".into(), Value::from(text.clone()))]);
            return Some(OpAnswer { expect: None, takes: None, fee: Cost::default(), result: Ok(result) });
        }
        let mut answer = OpAnswer { expect: None, takes: None, fee: Cost::default(), result: Ok(Map::new()) };
        let mut fields = reader.map(node, "what an op brings back, beside text,")?;
        for (key, value) in node.entries() {
            if words::OP.contains(&&*key.name) {
                fields.remove(&key.name);
            }
            match &*key.name {
                "error" => answer.result = Err(reader.failure(value)?),
                "takes" => answer.takes = reader.duration(value, "`takes`"),
                "fee" => answer.fee = cost(reader, value, "`fee`"),
                "expect" => answer.expect = reader.map(value, "`expect`"),
                "result" => answer.result = Ok(reader.map(value, "`result`")?),
                _ => {}
            }
        }
        let written_out = node.get("error").is_some() || node.get("result").is_some();
        match written_out {
            true if !fields.is_empty() => {
                reader.error(
                    node.place,
                    "the fields of the result stand here, or under `result`, or there is an `error`",
                );
            }
            true => {}
            false => answer.result = Ok(fields),
        }
        Some(answer)
    }

    /// What it costs at most, as it is known before the call.
    pub(crate) fn reserves(&self) -> Fee {
        fee(self.fee.reserve)
    }

    /// What it did cost.
    pub(crate) fn charged(&self) -> Fee {
        fee(self.fee.used)
    }
}

fn fee(micro_usd: Option<u64>) -> Fee {
    Fee { micro_usd: micro_usd.unwrap_or(0), unknown: u64::from(micro_usd.is_none()) }
}

/// What a person says.
#[derive(Clone, Debug)]
pub(crate) struct PersonAnswer {
    pub(crate) takes: Option<Millis>,
    pub(crate) said: Said,
}

impl PersonAnswer {
    pub(crate) fn read(reader: &mut Reader, node: &Node) -> Option<PersonAnswer> {
        let has = |key: &str| node.get(key).is_some();
        if !has("error") && !has("answer") && !has("later") {
            return Some(PersonAnswer { takes: None, said: Said::Answer(node.value.clone()) });
        }
        if node.entries().len() > 1 && has("later") {
            reader.error(node.place, "who answers later says nothing else: `later: true` stands alone");
        }
        let mut person = PersonAnswer { takes: None, said: Said::Later };
        for (key, value) in reader.entries(node, "what a person says", &words::PERSON) {
            match &*key.name {
                "answer" => person.said = Said::Answer(value.value.clone()),
                "error" => person.said = Said::Declined(reader.failure(value)?),
                "later" if value.value.is_true() => {}
                "later" => reader.error(value.place, "`later` is true, or is left out"),
                _ => person.takes = reader.duration(value, "`takes`"),
            }
        }
        Some(person)
    }
}
