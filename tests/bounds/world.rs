//! A random world: what models, ops and a person do is drawn from a seed, the step and the attempt, so that it does not
//! depend on what came back first.

use deepgraph_protocol::{
    ErrorKind, Map, Millis, ModelReply, ModelRequest, StepError, StepId, ToolCall, Usage, Value,
};
use deepgraph_testkit::{Outside, Said, call, calls, data, fails, says};

/// What is reserved for a model call, and the most that one uses.
const TOKENS: u64 = 100;

/// How the world behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Anything may happen.
    Wild,
    /// Nothing fails, models call all they can and lead back where they can.
    Greedy,
}

/// The outside of one run, and what it was asked.
pub struct RandomWorld {
    seed: u64,
    manner: Manner,
    /// The model call that is about to be sent.
    reserved: Option<(StepId, u32)>,
    /// Model calls that were sent, with their attempts.
    pub models: Vec<(StepId, u32)>,
    /// Ops that were run, with their attempts.
    pub ops: Vec<(StepId, String, u32)>,
}

impl RandomWorld {
    pub fn new(seed: u64, manner: Manner) -> RandomWorld {
        RandomWorld { seed, manner, reserved: None, models: Vec::new(), ops: Vec::new() }
    }

    fn dice(&self, step: &StepId, attempt: u32) -> Dice {
        let start = 0xcbf2_9ce4_8422_2325 ^ self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let bytes = step.as_str().bytes().chain(attempt.to_le_bytes());
        // FNV-1a.
        Dice(bytes.fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)))
    }

    fn failure(&self, dice: &mut Dice, kinds: &[ErrorKind]) -> Option<StepError> {
        let fails_now = self.manner == Manner::Wild && dice.below(4) == 0;
        fails_now.then(|| fails(kinds[dice.below(kinds.len())], "by chance"))
    }
}

/// Random numbers (SplitMix64, Steele, Lea and Flood 2014).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 33) as usize % n.max(1)
    }

    fn word(&mut self) -> &'static str {
        ["a", "b", "c"][self.below(3)]
    }
}

impl Outside for RandomWorld {
    fn model(
        &mut self,
        step: &StepId,
        attempt: u32,
        request: &ModelRequest,
    ) -> Result<ModelReply, StepError> {
        use ErrorKind::{ContextOverflow, InvalidRequest, RateLimited, Refusal, Unavailable};
        let mut dice = self.dice(step, attempt);
        let kinds = [RateLimited, ContextOverflow, Unavailable, Unavailable, Refusal, InvalidRequest];
        if let Some(error) = self.failure(&mut dice, &kinds) {
            return Err(error);
        }
        let greedy = self.manner == Manner::Greedy;
        let reply = if request.tools.is_empty() {
            match &request.output {
                Some(_) if greedy || dice.below(5) > 0 => data(Value::record([("n", Value::Int(1))])),
                _ if greedy => says("b"),
                _ => says(dice.word()),
            }
        } else {
            let most = if greedy { 5 } else { dice.below(6) };
            let made: Vec<ToolCall> = (0..most).map(|_| self.call(&mut dice, request)).collect();
            if made.is_empty() { says(dice.word()) } else { calls(made) }
        };
        let used = dice.below(TOKENS as usize + 1) as u64;
        let usage = Usage { input_tokens: used / 2, output_tokens: used - used / 2, ..Usage::default() };
        Ok(ModelReply { usage, ..reply })
    }

    fn op(&mut self, step: &StepId, attempt: u32, _: &str, _: &Map) -> Result<Value, StepError> {
        let mut dice = self.dice(step, attempt);
        let kinds = [ErrorKind::Tool, ErrorKind::Unavailable, ErrorKind::InvalidInput];
        match self.failure(&mut dice, &kinds) {
            Some(error) => Err(error),
            None => Ok(Value::record([("text", Value::from(dice.word()))])),
        }
    }

    fn person(&mut self, step: &StepId, answered: usize, _: &str) -> Said {
        let mut dice = self.dice(step, answered as u32);
        let declines = self.manner == Manner::Wild && dice.below(5) == 0;
        if declines {
            return Said::Declined(fails(ErrorKind::Unanswered, "by chance"));
        }
        if !step.as_str().ends_with("/approval") {
            return Said::Answer(Value::from(dice.word()));
        }
        let action =
            if self.manner == Manner::Greedy { "approve" } else { ["approve", "refuse"][dice.below(2)] };
        Said::Answer(Value::record([("action", action)].map(|(key, value)| (key, Value::from(value)))))
    }

    fn takes(&mut self, step: &StepId, op: Option<&str>, attempt: u32) -> Millis {
        match op {
            Some(op) => self.ops.push((step.clone(), op.to_owned(), attempt)),
            // A question takes its time as well.
            None => self.models.extend(self.reserved.take().filter(|sent| *sent == (step.clone(), attempt))),
        }
        self.dice(step, attempt).below(40) as Millis
    }

    fn reserves(&mut self, step: &StepId, attempt: u32, _: &ModelRequest) -> (u64, Option<u64>) {
        self.reserved = Some((step.clone(), attempt));
        (TOKENS, Some(0))
    }
}

impl RandomWorld {
    /// A call of a tool that is offered, now and then of none, or with arguments that do not fit.
    fn call(&self, dice: &mut Dice, request: &ModelRequest) -> ToolCall {
        let name = &request.tools[dice.below(request.tools.len())].name;
        let word = dice.word();
        let arguments = format!("{{\"x\": \"{word}\", \"reflection\": \"{word}\"}}");
        match dice.below(12) {
            0 if self.manner == Manner::Wild => call("no_such_tool", "{}"),
            1 if self.manner == Manner::Wild => call(name, "{"),
            _ => call(name, &arguments),
        }
    }
}
