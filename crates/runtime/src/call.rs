//! What an op is told of the call that it carries out: which step of which run it is, and its idempotency key.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use deepgraph_protocol::{Fee, Map, StepId, Value};
use deepgraph_store::RunId;
use sha2::{Digest, Sha256};

/// A call of an op.
#[derive(Clone, Debug)]
pub struct CallContext {
    run: RunId,
    step: StepId,
    attempt: u32,
    input: Arc<Map>,
    key: OnceLock<Arc<str>>,
    charged: Arc<Mutex<Fee>>,
    writes: bool,
}

impl CallContext {
    /// The call of a step of a run, with this input.
    pub fn new(run: RunId, step: StepId, attempt: u32, input: Arc<Map>) -> CallContext {
        CallContext {
            run,
            step,
            attempt,
            input,
            key: OnceLock::new(),
            charged: Arc::default(),
            writes: false,
        }
    }

    /// The same call as one that writes, or does not, by what the graph and the op say.
    #[must_use]
    pub fn writing(self, writes: bool) -> CallContext {
        CallContext { writes, ..self }
    }

    /// Whether the call may change something outside.
    pub fn writes(&self) -> bool {
        self.writes
    }

    /// The run.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// The step.
    pub fn step(&self) -> &StepId {
        &self.step
    }

    /// The attempt, from 1.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The key of the call, the same at each attempt and after a crash: see [`idempotency_key`]. Services that take
    /// such keys do a request that they have had before under the same key no second time.
    pub fn idempotency_key(&self) -> &str {
        self.key.get_or_init(|| idempotency_key(&self.run, &self.step, &self.input).into())
    }

    /// Notes what the call cost outside, each time that something was paid. It counts against the run's limits on money,
    /// also where the call fails afterwards. See [`Op::fee`](crate::Op::fee).
    pub fn charge(&self, fee: Fee) {
        *self.charged.lock().unwrap_or_else(PoisonError::into_inner) += fee;
    }

    /// What the call cost so far.
    pub fn charged(&self) -> Fee {
        *self.charged.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The idempotency key of a call: the SHA-256 of `RUN:STEP:ARGUMENTS` in lower-case hexadecimal. RUN and STEP are their
/// ids as text, ARGUMENTS is the input as canonical JSON by [RFC 8785](https://www.rfc-editor.org/rfc/rfc8785).
///
/// As that form has it, numbers are those of IEEE 754: integers beyond 2^53 that fall on the same one give the same
/// key.
pub fn idempotency_key(run: &RunId, step: &StepId, arguments: &Map) -> String {
    let arguments = Value::from(arguments.clone()).to_json();
    // Only numbers that JSON does not have could fail, and `Value` has none.
    let canonical = serde_json_canonicalizer::to_vec(&arguments).unwrap_or_default();
    let mut hash = Sha256::new();
    hash.update(format!("{run}:{step}:"));
    hash.update(&canonical);
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(run: &str, step: &str, arguments: &str) -> String {
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        let arguments = arguments.as_map().cloned().unwrap();
        idempotency_key(&RunId::parse(run).unwrap(), &StepId::new(step), &arguments)
    }

    const RUN: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

    #[test]
    fn the_key_is_the_hash_of_run_step_and_canonical_arguments() {
        // printf '%s' '01890a5d-ac96-774b-bcce-b302099a8057:pay.1:{"amount":3,"to":"é"}' | sha256sum
        let expected = Sha256::digest(format!("{RUN}:pay.1:{{\"amount\":3,\"to\":\"é\"}}").as_bytes());
        let expected: String = expected.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(expected.len(), 64);
        for same in [
            r#"{"amount": 3, "to": "é"}"#,
            r#"{"to":"\u00e9","amount":3}"#,
            "{ \"to\" : \"é\",\n \"amount\" : 3.0 }",
        ] {
            assert_eq!(key(RUN, "pay.1", same), expected, "{same}");
        }
    }

    #[test]
    fn another_run_step_or_argument_has_another_key() {
        let one = key(RUN, "pay.1", r#"{"amount": 3}"#);
        let other_run = "01890a5d-ac96-774b-bcce-b302099a8058";
        for other in [
            key(other_run, "pay.1", r#"{"amount": 3}"#),
            key(RUN, "pay.2", r#"{"amount": 3}"#),
            key(RUN, "pay.1", r#"{"amount": 4}"#),
            key(RUN, "pay.1", r#"{"amount": "3"}"#),
            key(RUN, "pay.1", "{}"),
        ] {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn a_call_has_the_same_key_at_each_attempt() {
        let run = RunId::new();
        let at = |attempt| CallContext::new(run.clone(), StepId::new("pay.1"), attempt, Arc::default());
        assert_eq!(at(1).idempotency_key(), at(2).idempotency_key());
        assert_eq!(at(1).idempotency_key(), idempotency_key(&run, &StepId::new("pay.1"), &Map::new()));
    }
}
