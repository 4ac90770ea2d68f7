//! The outside of the ceiling test: providers with a random price table, who count themselves what they did.

use std::collections::BTreeMap;

use deepgraph_protocol::{
    ErrorKind, Map, Millis, ModelReply, ModelRequest, OutputShape, Spent, StepError, StepId, Usage,
    UsedInVain, Value,
};
use deepgraph_testkit::{Outside, Said, call, calls, fails, says};

use super::beyond;

/// Whether providers keep to what was promised for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promises {
    /// No request is larger than its estimate, no reply longer than `max_output`.
    Kept,
    /// Some requests are larger, some replies longer.
    Broken,
}

/// How a call fails whose provider worked for it, and says how much.
const IN_VAIN: ErrorKind = ErrorKind::InvalidOutput;

/// Micro-dollars of a token; none: not known.
type Price = Option<u64>;

pub struct Market {
    seed: u64,
    promises: Promises,
    /// The price of each model, by its number.
    prices: [Price; 6],
    /// The call that is about to be sent, with what is reserved for it.
    reserved: Option<(StepId, u32, u64, Spent)>,
    /// What the last sending of each attempt used, and what was reserved for it.
    used: BTreeMap<(StepId, u32), (Usage, Spent)>,
    /// How often something was sent.
    sendings: u32,
    /// What all that was sent has used, whether anybody learnt of it or not.
    pub sent: Spent,
    /// What of it was past what was reserved.
    pub over: Spent,
    /// What was told in replies, and what failed calls are charged as; calls of tools are not counted here.
    pub told: Spent,
    /// Calls without a price that were not sent.
    pub unpriced_refused: usize,
}

impl Market {
    pub fn new(seed: u64, promises: Promises) -> Market {
        let mut prices = [None; 6];
        for (number, price) in prices.iter_mut().enumerate() {
            // Not known, free, cheap, dear.
            *price =
                [None, Some(0), Some(1), Some(7), Some(60)][draw(seed, "price", number as u32) as usize % 5];
        }
        let none = Spent::default();
        Market {
            seed,
            promises,
            prices,
            reserved: None,
            used: BTreeMap::new(),
            sendings: 0,
            sent: none,
            over: none,
            told: none,
            unpriced_refused: 0,
        }
    }

    fn price(&self, model: &str) -> Price {
        let number = model.trim_start_matches('m').parse::<usize>().unwrap_or(0);
        self.prices[number % self.prices.len()]
    }
}

impl Outside for Market {
    fn model(
        &mut self,
        step: &StepId,
        attempt: u32,
        request: &ModelRequest,
    ) -> Result<ModelReply, StepError> {
        let price = self.price(&request.model);
        let (usage, reserved) = self.used.get(&(step.clone(), attempt)).copied().unwrap_or_default();
        let dice = draw(self.seed, step.as_str(), attempt);
        let failure = failure(dice);
        let mut told = Spent { model_calls: 1, ..Spent::default() };
        let cost_micro_usd = price.map(|price| price * usage.tokens());
        let is_worked_for = failure == Some(IN_VAIN) && usage.tokens() > 0;
        if failure.is_none() || is_worked_for {
            told.tokens = usage.tokens();
            told.cost_micro_usd = cost_micro_usd.unwrap_or(0);
            told.cost_unknown = u64::from(price.is_none());
        }
        // It may have worked for an answer that never came: that stays charged.
        self.told += if failure == Some(ErrorKind::Network) { reserved } else { told };
        if let Some(kind) = failure {
            let failed = fails(kind, "by chance");
            let used = UsedInVain { usage, cost_micro_usd };
            return Err(if kind == IN_VAIN { failed.having_used(used) } else { failed });
        }
        let reply = reply(dice / 12, request);
        Ok(ModelReply { usage, cost_micro_usd, ..reply })
    }

    fn op(&mut self, step: &StepId, _: u32, _: &str, _: &Map) -> Result<Value, StepError> {
        Ok(Value::record([("text", Value::from(format!("found by {step}")))]))
    }

    fn person(&mut self, _: &StepId, _: usize, _: &str, _: &OutputShape) -> Said {
        Said::Nothing
    }

    fn takes(&mut self, step: &StepId, op: Option<&str>, attempt: u32) -> Millis {
        let sent =
            self.reserved.take().filter(|(of, number, ..)| op.is_none() && of == step && *number == attempt);
        if let Some((_, _, input, reserved)) = sent {
            self.sendings += 1;
            let output = reserved.tokens - input;
            let mut usage = Usage {
                input_tokens: u64::from(draw(self.seed, "input", self.sendings)) % (input + 1),
                output_tokens: u64::from(draw(self.seed, "output", self.sendings)) % (output + 1),
                ..Usage::default()
            };
            if self.promises == Promises::Broken {
                match draw(self.seed, "broken", self.sendings) % 4 {
                    0 => usage.output_tokens = output * 3 + 1,
                    1 => usage.input_tokens = input * 2,
                    _ => {}
                }
            }
            // Turned away, it is not worked for.
            let fails = failure(draw(self.seed, step.as_str(), attempt));
            if fails.is_some_and(|kind| !matches!(kind, ErrorKind::Network | IN_VAIN)) {
                usage = Usage::default();
            }
            // Without a price it is known to have cost something, not how much.
            let price = reserved.cost_micro_usd / reserved.tokens.max(1);
            let used = Spent {
                tokens: usage.tokens(),
                cost_micro_usd: price * usage.tokens(),
                cost_unknown: reserved.cost_unknown,
                model_calls: 1,
                tool_calls: 0,
            };
            self.sent += used;
            self.over += beyond(used, reserved);
            self.used.insert((step.clone(), attempt), (usage, reserved));
        }
        Millis::from(draw(self.seed, step.as_str(), attempt + 1000) % 5000)
    }

    fn reserves(&mut self, step: &StepId, attempt: u32, request: &ModelRequest) -> (u64, Option<u64>) {
        // What was asked for before and not sent has met a limit.
        let unpriced = self.reserved.take().is_some_and(|(.., spent)| spent.cost_unknown > 0);
        self.unpriced_refused += usize::from(unpriced);
        let input = request.estimate_tokens();
        let tokens = input + request.max_output.unwrap_or(0);
        let price = self.price(&request.model).map(|price| price * tokens);
        let reserved = Spent {
            tokens,
            cost_micro_usd: price.unwrap_or(0),
            cost_unknown: u64::from(price.is_none()),
            model_calls: 1,
            tool_calls: 0,
        };
        self.reserved = Some((step.clone(), attempt, input, reserved));
        (tokens, price)
    }
}

/// How the call of these dice fails, if it does.
fn failure(dice: u32) -> Option<ErrorKind> {
    match dice % 12 {
        0 => Some(ErrorKind::Unavailable),
        1 => Some(ErrorKind::RateLimited),
        2 => Some(ErrorKind::Network),
        3 => Some(IN_VAIN),
        _ => None,
    }
}

/// Calls of what is offered, most of the time.
fn reply(dice: u32, request: &ModelRequest) -> ModelReply {
    if request.tools.is_empty() || dice.is_multiple_of(6) {
        return says("that is what is known");
    }
    let made = (0..1 + dice / 6 % 4).map(|k| {
        let tool = &request.tools[(dice / 24 + k) as usize % request.tools.len()];
        let word = if &*tool.name == "look" { "query" } else { "topic" };
        call(&tool.name, &format!("{{\"{word}\": \"{} {k}\"}}", dice % 1000))
    });
    calls(made)
}

/// A number by chance, the same every time (FNV-1a, mixed as by SplitMix64).
fn draw(seed: u64, name: &str, number: u32) -> u32 {
    let bytes = name.bytes().chain(number.to_le_bytes()).chain(seed.to_le_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    let z = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 33) as u32
}
