//! A random world for any graph: what models, ops and people do is made from what they are asked for.
//!
//! Everything is drawn from a seed, the step and the attempt, so that it does not depend on what came back first, nor
//! on how often it was asked.

mod values;

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_graph::{Bundle, Field, Type};
use deepgraph_protocol::{
    ErrorKind, Fee, FinishReason, Map, Millis, ModelReply, ModelRequest, OutputShape, StepError, StepId,
    ToolCall, ToolRole, ToolSpec, Usage, Value,
};

use crate::dice::Dice;
use crate::{Faults, Outside, Said, call, calls, data, fails, says};

/// What is reserved for a model call, in tokens and in micro-dollars, and the most that one uses.
const RESERVED: u64 = 100;

/// How a random world behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Anything may happen.
    Wild,
    /// Nothing fails, models call all they can, people agree.
    Greedy,
}

/// The outside of one run, and what it was asked.
pub struct RandomWorld {
    ops_results: BTreeMap<Arc<str>, Value>,
    seed: u64,
    latencies: u64,
    manner: Manner,
    faults: Faults,
    /// The model call that is about to be sent.
    reserved: Option<(StepId, u32)>,
    /// Model calls that were sent, with their attempts.
    pub models: Vec<(StepId, u32)>,
    /// Ops that were run, with their attempts.
    pub ops: Vec<(StepId, String, u32)>,
    /// Failures that were given, by kind.
    pub failures: BTreeMap<ErrorKind, usize>,
    /// Replies and answers that were not what was asked for.
    pub misfits: usize,
}

impl RandomWorld {
    /// The world of a bundle. Of the faults, those of the outside are drawn here.
    pub fn new(bundle: &Bundle, seed: u64, manner: Manner, faults: Faults) -> RandomWorld {
        let results = bundle.ops.names().filter_map(|name| {
            let op = bundle.ops.get(name)?;
            Some((op.name.clone(), Field::of(Type::Record(op.result.clone())).json_schema()))
        });
        RandomWorld {
            ops_results: results.collect(),
            seed,
            latencies: seed,
            manner,
            faults,
            reserved: None,
            models: Vec::new(),
            ops: Vec::new(),
            failures: BTreeMap::new(),
            misfits: 0,
        }
    }

    /// With other latencies than those of its seed: the same answers come in another order.
    pub fn latencies(mut self, seed: u64) -> RandomWorld {
        self.latencies = seed;
        self
    }

    /// An input for the root graph: what it requires, and some of what it takes beside.
    pub fn input(bundle: &Bundle, seed: u64) -> Map {
        let root = bundle.root();
        let mut dice = Dice::of(seed, "input", 0);
        let mut input = Map::new();
        for channel in root.input.iter().filter_map(|ix| root.channels.get(ix.0)) {
            if channel.is_required() || dice.below(2) == 0 {
                let value = values::fitting(&channel.field.json_schema(), &mut dice);
                if let Ok(value) = channel.field.check(&value) {
                    input.insert(channel.name.clone(), value);
                }
            }
        }
        input
    }

    /// Values for the keys of the configuration that are not set: most by their defaults, the others small, so that
    /// limits are met.
    pub fn config(bundle: &Bundle, seed: u64) -> BTreeMap<String, Value> {
        let mut drawn = BTreeMap::new();
        for (key, field) in &bundle.config {
            let mut dice = Dice::of(seed, &format!("config {key}"), 0);
            if let Some(value) = values::setting(field, &mut dice) {
                drawn.insert(key.to_string(), value);
            }
        }
        drawn
    }

    fn dice(&self, step: &StepId, attempt: u32) -> Dice {
        Dice::of(self.seed, step.as_str(), attempt)
    }

    fn is_wild(&self) -> bool {
        self.manner == Manner::Wild
    }

    fn failure(&mut self, dice: &mut Dice, kinds: &[ErrorKind]) -> Option<StepError> {
        if !self.is_wild() || !dice.happens(self.faults.failures) {
            return None;
        }
        let kind = *kinds.get(dice.below(kinds.len()))?;
        *self.failures.entry(kind).or_default() += 1;
        let mut error = fails(kind, "by chance");
        if kind == ErrorKind::RateLimited && dice.below(2) == 0 {
            error.retry_after_ms = Some(dice.below(3000) as u64);
        }
        // The connection may have failed before anything was sent.
        error.unsent = kind == ErrorKind::Network && dice.below(2) == 0;
        Some(error)
    }

    fn misfit(&mut self, dice: &mut Dice) -> bool {
        let is_one = self.is_wild() && dice.happens(self.faults.misfits);
        self.misfits += usize::from(is_one);
        is_one
    }

    /// A call of a tool that is offered, now and then of none, or with arguments that do not fit.
    fn call(&mut self, dice: &mut Dice, tools: &[ToolSpec]) -> Option<ToolCall> {
        let mut tool = tools.get(dice.below(tools.len()))?;
        // Most turns go on: else few runs would get anywhere.
        if tool.role == ToolRole::Exit && dice.below(4) > 0 {
            tool = tools.get(dice.below(tools.len()))?;
        }
        if self.misfit(dice) {
            return Some(match dice.below(4) {
                0 => call("no_such_tool", "{}"),
                1 => call(&tool.name, "{"),
                2 => call(&tool.name, "[]"),
                _ => call(&tool.name, "{\"no_such_argument\": {}}"),
            });
        }
        let arguments = values::fitting(&tool.parameters, dice);
        Some(call(&tool.name, &arguments.to_json_text()))
    }

    /// Text, calls or structured output, as the request has room for.
    fn reply(&mut self, dice: &mut Dice, request: &ModelRequest) -> ModelReply {
        if !request.tools.is_empty() {
            let most = if self.is_wild() { dice.below(6) } else { 5 };
            let made: Vec<ToolCall> = (0..most).filter_map(|_| self.call(dice, &request.tools)).collect();
            if !made.is_empty() {
                return calls(made);
            }
        }
        if self.misfit(dice) {
            let finish = match dice.below(3) {
                0 => FinishReason::Refusal,
                1 => FinishReason::Repetition,
                _ => FinishReason::Length,
            };
            let guess = match &request.output {
                _ if finish == FinishReason::Refusal || dice.below(2) == 0 => Value::Null,
                Some(shape) => values::fitting(&shape.schema, dice),
                None => Value::from(values::word(dice)),
            };
            return ModelReply { finish, guess, ..says(values::word(dice)) };
        }
        match &request.output {
            Some(shape) => data(values::fitting(&shape.schema, dice)),
            None if self.is_wild() => says(values::word(dice)),
            None => says("b"),
        }
    }

    fn answer(&mut self, step: &StepId, answered: usize, schema: &Value) -> Said {
        let nth = u32::try_from(answered).unwrap_or(u32::MAX);
        let mut dice = self.dice(step, nth);
        let is_silent = self.is_wild() && dice.happens(self.faults.unanswered);
        if is_silent {
            *self.failures.entry(ErrorKind::Unanswered).or_default() += 1;
            return Said::Declined(fails(ErrorKind::Unanswered, "by chance"));
        }
        if answered < 3 && self.misfit(&mut dice) {
            return Said::Answer(Value::record([("no_such_field", Value::Int(1))]));
        }
        if step.last() == "approval" {
            let actions = ["approve", "approve", "refuse"];
            let action = if self.is_wild() { dice.one(&actions) } else { "approve" };
            return Said::Answer(Value::record([("action", Value::from(action))]));
        }
        Said::Answer(values::fitting(schema, &mut dice))
    }
}

impl Outside for RandomWorld {
    fn model(
        &mut self,
        step: &StepId,
        attempt: u32,
        request: &ModelRequest,
    ) -> Result<ModelReply, StepError> {
        use ErrorKind::*;
        let mut dice = self.dice(step, attempt);
        let kinds = [
            RateLimited,
            ContextOverflow,
            Unavailable,
            Unavailable,
            Network,
            Refusal,
            InvalidRequest,
            Unauthorized,
            NotFound,
        ];
        if let Some(error) = self.failure(&mut dice, &kinds) {
            return Err(error);
        }
        let reply = self.reply(&mut dice, request);
        let used = dice.below(RESERVED as usize + 1) as u64;
        let usage = Usage { input_tokens: used / 2, output_tokens: used - used / 2, ..Usage::default() };
        Ok(ModelReply { usage, cost_micro_usd: Some(used), ..reply })
    }

    fn op(&mut self, step: &StepId, attempt: u32, op: &str, _: &Map) -> Result<Value, StepError> {
        use ErrorKind::*;
        let mut dice = self.dice(step, attempt);
        let kinds = [Tool, Tool, Unavailable, InvalidInput, RateLimited, Network, NotFound, Unauthorized];
        match self.failure(&mut dice, &kinds) {
            Some(error) => Err(error),
            None => Ok(match self.ops_results.get(op) {
                Some(schema) => values::fitting(schema, &mut dice),
                None => Value::record([("text", values::word(&mut dice))].map(|(k, v)| (k, Value::from(v)))),
            }),
        }
    }

    fn person(&mut self, step: &StepId, answered: usize, _: &str, shape: &OutputShape) -> Said {
        self.answer(step, answered, &shape.schema)
    }

    fn takes(&mut self, step: &StepId, op: Option<&str>, attempt: u32) -> Millis {
        match op {
            Some(op) => self.ops.push((step.clone(), op.to_owned(), attempt)),
            // A question takes its time as well.
            None => self.models.extend(self.reserved.take().filter(|sent| *sent == (step.clone(), attempt))),
        }
        let mut dice = Dice::of(self.latencies, step.as_str(), attempt);
        let takes = dice.below(40);
        let is_long = self.is_wild() && dice.below(16) == 0;
        (if is_long { takes + dice.below(20_000) } else { takes }) as Millis
    }

    fn route(&mut self, model: &str) -> Vec<String> {
        let fallbacks = Dice::of(self.seed, "fallbacks", 0).below(3);
        let fallbacks = if self.is_wild() { fallbacks } else { 0 };
        std::iter::once(model.to_owned()).chain((1..=fallbacks).map(|n| format!("fallback-{n}"))).collect()
    }

    fn window(&mut self, model: &str) -> Option<u64> {
        let mut dice = Dice::of(self.seed, &format!("window {model}"), 0);
        let is_known = self.is_wild() && dice.below(3) == 0;
        is_known.then(|| 20 + dice.below(2000) as u64)
    }

    fn held(&mut self, step: &StepId, attempt: u32) -> Millis {
        let mut dice = Dice::of(self.latencies, &format!("held {step}"), attempt);
        let is_held = self.is_wild() && dice.below(8) == 0;
        if is_held { 1 + dice.below(5000) as Millis } else { 0 }
    }

    fn fee(&mut self, _: &StepId, _: u32, op: &str, _: &Map) -> Fee {
        let costs = Dice::of(self.seed, &format!("fee {op}"), 0).below(3) == 0;
        if costs { Fee { micro_usd: RESERVED, unknown: 0 } } else { Fee::NONE }
    }

    fn charged(&mut self, step: &StepId, attempt: u32, op: &str, input: &Map) -> Fee {
        let most = self.fee(step, attempt, op, input).micro_usd;
        let mut dice = Dice::of(self.seed, &format!("charged {step}"), attempt);
        Fee { micro_usd: dice.below(most as usize + 1) as u64, unknown: 0 }
    }

    fn takes_key(&self, op: &str) -> bool {
        Dice::of(self.seed, &format!("takes key {op}"), 0).below(2) == 0
    }

    fn reserves(&mut self, step: &StepId, attempt: u32, _: &ModelRequest) -> (u64, Option<u64>) {
        self.reserved = Some((step.clone(), attempt));
        (RESERVED, Some(RESERVED))
    }
}
