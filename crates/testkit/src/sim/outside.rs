//! What a simulated run has around it: models, ops, a person, and how long they take.

use deepgraph_protocol::{
    ErrorKind, Fee, Map, Millis, ModelReply, ModelRequest, OutputShape, StepError, StepId, Value,
};

/// The outside of a simulated run.
pub trait Outside {
    /// What a model answers to a request.
    fn model(&mut self, step: &StepId, attempt: u32, request: &ModelRequest)
    -> Result<ModelReply, StepError>;

    /// What an op brings back.
    fn op(&mut self, step: &StepId, attempt: u32, op: &str, input: &Map) -> Result<Value, StepError>;

    /// What the person says to a question that was answered `answered` times before. The answer should have the shape.
    fn person(&mut self, step: &StepId, answered: usize, question: &str, shape: &OutputShape) -> Said;

    /// How long an attempt of a step takes, in milliseconds; `op` is named where it runs one.
    fn takes(&mut self, _step: &StepId, _op: Option<&str>, _attempt: u32) -> Millis {
        0
    }

    /// Whether an op takes the idempotency keys of its calls: what writes is then sent again under them.
    fn takes_key(&self, _op: &str) -> bool {
        false
    }

    /// What a call of an op costs at most, as it is known before the call.
    fn fee(&mut self, _step: &StepId, _attempt: u32, _op: &str, _input: &Map) -> Fee {
        Fee::NONE
    }

    /// What a call of an op did cost, whatever came of it.
    fn charged(&mut self, _step: &StepId, _attempt: u32, _op: &str, _input: &Map) -> Fee {
        Fee::NONE
    }

    /// Which models are asked for one, in turn: itself, then its fallbacks.
    fn route(&mut self, model: &str) -> Vec<String> {
        vec![model.to_owned()]
    }

    /// The context window of a model in tokens, where it is known.
    fn window(&mut self, _model: &str) -> Option<u64> {
        None
    }

    /// How long a model call waits for the limiter of its account, in milliseconds, beside its back-off.
    fn held(&mut self, _step: &StepId, _attempt: u32) -> Millis {
        0
    }

    /// Whether another model is asked after a failure of one; none: as the kind of the failure and the route have it.
    fn fails_over(&mut self, _step: &StepId, _attempt: u32) -> Option<bool> {
        None
    }

    /// What is reserved for a model call: tokens, and micro-dollars where a price is known.
    fn reserves(&mut self, _step: &StepId, _attempt: u32, request: &ModelRequest) -> (u64, Option<u64>) {
        (request.estimate_tokens() + request.max_output.unwrap_or(0), Some(0))
    }
}

/// What a person says to a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// An answer, fitting or not.
    Answer(Value),
    /// The question fails: nobody can be asked, or the person declines.
    Declined(StepError),
    /// Nothing. The question fails when its time is up, where it has a timeout.
    Nothing,
    /// Nothing as long as this driver runs: whatever its timeout, the question is still open afterwards.
    Later,
}

pub(crate) type ModelFn<'a> = dyn FnMut(&StepId, &ModelRequest) -> Result<ModelReply, StepError> + 'a;
pub(crate) type OpsFn<'a> = dyn FnMut(&StepId, &str, &Map) -> Result<Value, StepError> + 'a;
pub(crate) type PersonFn<'a> = dyn FnMut(&StepId, &str) -> Option<Value> + 'a;

/// An outside of three functions.
pub(crate) struct Closures<'a> {
    model: Box<ModelFn<'a>>,
    pub(crate) ops: Box<OpsFn<'a>>,
    pub(crate) person: Box<PersonFn<'a>>,
    pub(crate) nobody: bool,
}

impl<'a> Closures<'a> {
    pub(crate) fn new(model: Box<ModelFn<'a>>) -> Closures<'a> {
        Closures {
            model,
            ops: Box::new(|_, _, _| Ok(Value::record([("text", Value::from("ok"))]))),
            person: Box::new(|_, _| None),
            nobody: false,
        }
    }
}

impl Outside for Closures<'_> {
    fn model(&mut self, step: &StepId, _: u32, request: &ModelRequest) -> Result<ModelReply, StepError> {
        (self.model)(step, request)
    }

    fn op(&mut self, step: &StepId, _: u32, op: &str, input: &Map) -> Result<Value, StepError> {
        (self.ops)(step, op, input)
    }

    fn person(&mut self, step: &StepId, answered: usize, question: &str, _: &OutputShape) -> Said {
        if answered > 0 {
            return Said::Later;
        }
        match (self.person)(step, question) {
            Some(answer) => Said::Answer(answer),
            None if self.nobody => {
                Said::Declined(StepError::new(ErrorKind::Unanswered, "nobody can be asked"))
            }
            None => Said::Later,
        }
    }
}
