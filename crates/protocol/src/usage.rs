//! What steps cost.

use std::ops::{AddAssign, SubAssign};

use serde::{Deserialize, Serialize};

/// Tokens of one model call, as the provider reports them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request.
    #[serde(default)]
    pub input_tokens: u64,
    /// Tokens of the reply, reasoning included.
    #[serde(default)]
    pub output_tokens: u64,
    /// Tokens of the request that the provider served from its cache (part of `input_tokens`).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Tokens of hidden reasoning (part of `output_tokens`).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
    /// Whether the figures are our estimate because the provider gave none.
    #[serde(default, skip_serializing_if = "is_false")]
    pub estimated: bool,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

fn is_false(b: &bool) -> bool {
    !*b
}

impl Usage {
    /// Input and output together.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// What the call of an op cost outside, such as the fee of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fee {
    /// US dollars, in micro-dollars; a lower bound while `unknown` is set.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub micro_usd: u64,
    /// Requests that cost something of which the price is not known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unknown: u64,
}

impl Fee {
    /// Nothing was paid.
    pub const NONE: Fee = Fee { micro_usd: 0, unknown: 0 };

    /// Whether nothing was paid.
    pub fn is_none(&self) -> bool {
        *self == Fee::NONE
    }
}

/// Never above what fits: journals can hold any number.
impl AddAssign for Fee {
    fn add_assign(&mut self, other: Fee) {
        self.micro_usd = self.micro_usd.saturating_add(other.micro_usd);
        self.unknown = self.unknown.saturating_add(other.unknown);
    }
}

/// What a step or a scope has used, in the units of the quantity meters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Tokens, input and output.
    #[serde(default)]
    pub tokens: u64,
    /// US dollars, in micro-dollars; a lower bound while `cost_unknown` is set.
    #[serde(default)]
    pub cost_micro_usd: u64,
    /// Model calls whose price is not known.
    #[serde(default)]
    pub cost_unknown: u64,
    /// Model calls, failed attempts included.
    #[serde(default)]
    pub model_calls: u64,
    /// Tool calls carried out.
    #[serde(default)]
    pub tool_calls: u64,
}

/// Never above what fits: journals can hold any number.
impl AddAssign for Spent {
    fn add_assign(&mut self, other: Spent) {
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.cost_micro_usd = self.cost_micro_usd.saturating_add(other.cost_micro_usd);
        self.cost_unknown = self.cost_unknown.saturating_add(other.cost_unknown);
        self.model_calls = self.model_calls.saturating_add(other.model_calls);
        self.tool_calls = self.tool_calls.saturating_add(other.tool_calls);
    }
}

/// Never below 0: what is given back was added before.
impl SubAssign for Spent {
    fn sub_assign(&mut self, other: Spent) {
        self.tokens = self.tokens.saturating_sub(other.tokens);
        self.cost_micro_usd = self.cost_micro_usd.saturating_sub(other.cost_micro_usd);
        self.cost_unknown = self.cost_unknown.saturating_sub(other.cost_unknown);
        self.model_calls = self.model_calls.saturating_sub(other.model_calls);
        self.tool_calls = self.tool_calls.saturating_sub(other.tool_calls);
    }
}

/// What a limit can count without naming calls or nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Meter {
    /// Turns: visits of a model node that offers tools. Hard: the turn past the bound is not started.
    Turns,
    /// Turns as LangChain's Open Deep Research counts them: the turn past the bound is paid for, its calls
    /// are dropped.
    PaidTurns,
    /// Model calls of this instance and its children.
    ModelCalls,
    /// Tool calls of this instance and its children.
    ToolCalls,
    /// Super-steps of this instance.
    SuperSteps,
    /// Steps (model calls, tool calls, questions, child graphs) of this instance.
    Steps,
    /// Nesting of this graph in itself.
    Depth,
    /// Tokens, input and output, of this instance and its children.
    Tokens,
    /// US dollars.
    CostUsd,
    /// Milliseconds in which a step was working.
    ActiveTime,
    /// Milliseconds since the instance started, without those in which it only waited for a person.
    WallTime,
    /// Milliseconds since a person last said something to the instance (its start, or an answer that it took), without
    /// those in which it only waited for a person.
    TurnTime,
    /// Failures in a row of one tool; the highest of all tools.
    ToolFailures,
    /// Calls that were refused since an equal one had succeeded before.
    RepeatedCalls,
}

impl Meter {
    /// All meters, with their names in a graph file.
    pub const ALL: [(&'static str, Meter); 14] = [
        ("turns", Meter::Turns),
        ("paid_turns", Meter::PaidTurns),
        ("model_calls", Meter::ModelCalls),
        ("tool_calls", Meter::ToolCalls),
        ("super_steps", Meter::SuperSteps),
        ("steps", Meter::Steps),
        ("depth", Meter::Depth),
        ("tokens", Meter::Tokens),
        ("cost_usd", Meter::CostUsd),
        ("active_time", Meter::ActiveTime),
        ("wall_time", Meter::WallTime),
        ("turn_time", Meter::TurnTime),
        ("tool_failures", Meter::ToolFailures),
        ("repeated_calls", Meter::RepeatedCalls),
    ];

    /// The meter of a name.
    pub fn parse(name: &str) -> Option<Meter> {
        Meter::ALL.iter().find(|(n, _)| *n == name).map(|(_, m)| *m)
    }

    /// The name in a graph file.
    pub fn name(self) -> &'static str {
        Meter::ALL.iter().find(|(_, m)| *m == self).map_or("", |(n, _)| n)
    }

    /// Base units (micro-dollars, milliseconds, else what is counted) per unit of a graph file.
    pub fn base_units(self) -> f64 {
        match self {
            Meter::CostUsd => 1_000_000.0,
            Meter::WallTime | Meter::ActiveTime | Meter::TurnTime => 1000.0,
            Meter::Turns
            | Meter::PaidTurns
            | Meter::ModelCalls
            | Meter::ToolCalls
            | Meter::SuperSteps
            | Meter::Steps
            | Meter::Depth
            | Meter::Tokens
            | Meter::ToolFailures
            | Meter::RepeatedCalls => 1.0,
        }
    }

    /// Whether it measures a quantity (tokens, money, time) rather than counts starts.
    pub fn is_quantity(self) -> bool {
        matches!(self, Meter::Tokens | Meter::CostUsd) || self.is_clock()
    }

    /// Whether it measures time.
    pub fn is_clock(self) -> bool {
        matches!(self, Meter::ActiveTime | Meter::WallTime | Meter::TurnTime)
    }
}
