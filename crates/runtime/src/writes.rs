//! Calls of ops. One that writes is claimed first: it is made only once its `Dispatched` row is durable.
//!
//! That row is a claim under a unique constraint: journals are unique by run, scope and position, and a row is taken
//! only from the owner of the run, under its epoch. So of two processes that want to make the same call, one writes the
//! row; the other is told that it is fenced, or that the place is taken, before it has called anything. An owner that
//! falls asleep between its row and its call and is taken over from still makes that one call when it wakes: its
//! successor sees the row, finds no outcome, and does not call again (or only under the same key, where the op takes
//! it). What the sleeper brings is refused, since it is fenced.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use deepgraph_engine::Claimed;
use deepgraph_protocol::{EntryBody, ErrorKind, Map, ScopePath, StepError, StepId, StepOutput, Usage, Value};

use crate::call::{CallContext, idempotency_key};
use crate::driver::Driver;
use crate::ops::Op;
use crate::replay::is_pure;
use crate::tasks::{CacheKey, Done, bounded};

/// A call of an op that is to be made.
#[derive(Clone, Debug)]
pub(crate) struct OpCall {
    pub(crate) step: StepId,
    pub(crate) attempt: u32,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) op: Arc<str>,
    pub(crate) input: Arc<Map>,
    pub(crate) cache_ms: Option<u64>,
}

/// Whether a call has begun: it may wait for a place for long. It begins or is withdrawn, never both.
#[derive(Clone, Debug, Default)]
pub(crate) struct Begun(Arc<AtomicU8>);

const WAITS: u8 = 0;
const BEGUN: u8 = 1;
const WITHDRAWN: u8 = 2;

impl Begun {
    /// Begins it. False where it was withdrawn.
    fn begin(&self) -> bool {
        self.0.compare_exchange(WAITS, BEGUN, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Withdraws it. False where it has begun.
    pub(crate) fn withdraw(&self) -> bool {
        self.0.compare_exchange(WAITS, WITHDRAWN, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}

impl OpCall {
    fn cache_key(&self) -> CacheKey {
        CacheKey { call: format!("{} {}", self.op, Value::Map(self.input.clone())) }
    }
}

impl Driver<'_> {
    /// Claims a call that writes; it is made once that is durable.
    pub(crate) fn claim_op(&mut self, scope: &ScopePath, call: OpCall) {
        let takes_key = match self.op_of(&call.op) {
            Ok(op) => op.is_some_and(|op| op.takes_key()),
            Err(error) => return self.commit_later(scope, EntryBody::Failed { step: call.step, error }),
        };
        if self.is_reused(scope, &call) {
            return;
        }
        let claimed = self.machines.get(scope).map_or(Claimed::No, |live| live.machine.claimed(&call.step));
        if claimed == Claimed::Once || (claimed == Claimed::Keyed && !takes_key) {
            let OpCall { step, attempt, op, .. } = call;
            let message = format!(
                "it is not known whether `{op}` was done: it was called, and the process that called it ended before \
                 an answer was kept. It was not called again"
            );
            let error = StepError::new(ErrorKind::Unknown, message);
            let failed = EntryBody::AttemptFailed { step, attempt, error, usage: Usage::default() };
            return self.commit_later(scope, failed);
        }
        let dispatched = EntryBody::Dispatched {
            step: call.step.clone(),
            attempt: call.attempt,
            request: None,
            reserve_tokens: 0,
            reserve_micro_usd: None,
            key: Some(idempotency_key(&self.run, &call.step, &call.input).into()),
            takes_key,
        };
        self.claims.insert(call.step.clone(), call);
        self.commit_later(scope, dispatched);
    }

    /// Makes a call whose claim is durable, if the Machine still wants it.
    pub(crate) fn send_claimed(&mut self, scope: &ScopePath, step: &StepId) {
        let Some(call) = self.claims.remove(step) else { return };
        if self.machines.get(scope).is_some_and(|live| live.machine.is_open(step)) {
            self.run_op(scope, call, true);
        }
    }

    /// Makes the call of an op.
    pub(crate) fn run_op(&mut self, scope: &ScopePath, call: OpCall, writes: bool) {
        if self.replay.is_some() && !is_pure(&call.op) {
            let OpCall { step, attempt, op, input, .. } = call;
            return self.replay_op(scope, step, attempt, &op, input);
        }
        let op = match self.op_of(&call.op) {
            Ok(Some(op)) => op,
            Ok(None) => return,
            Err(error) => return self.commit_later(scope, EntryBody::Failed { step: call.step, error }),
        };
        if self.is_reused(scope, &call) {
            return;
        }
        let cache = call.cache_ms.map(|_| call.cache_key());
        let OpCall { step, attempt, timeout_ms, input, .. } = call;
        let own = || op.default_timeout().map(|own| u64::try_from(own.as_millis()).unwrap_or(u64::MAX));
        let timeout_ms = timeout_ms.or_else(own);
        let place = self.tool_places.clone();
        let context = CallContext::new(self.run.clone(), step.clone(), attempt, input.clone());
        let begun = Begun::default();
        if writes {
            self.begun.insert(step.clone(), begun.clone());
        }
        let (key, key_step, scope) = (scope.clone(), step.clone(), scope.clone());
        self.tasks.spawn(&key, &key_step, async move {
            let work = async {
                if !begun.begin() {
                    return Err(StepError::new(ErrorKind::Cancelled, "given up").unsent());
                }
                op.call(Arc::unwrap_or_clone(input), &context).await
            };
            let result = bounded(place, timeout_ms, work).await;
            Done::Op { scope, step, attempt, cache, result }
        });
    }

    /// The op of a name; none in a replay that does not need it.
    fn op_of(&self, name: &str) -> Result<Option<Arc<dyn Op>>, StepError> {
        match self.runtime.ops.get(name) {
            Some(op) => Ok(Some(op.clone())),
            None if self.replay.is_some() && !is_pure(name) => Ok(None),
            None => {
                let known: Vec<&str> = self.runtime.ops.names().collect();
                let message =
                    format!("there is no op `{name}` in this program; it has: {}", known.join(", "));
                Err(StepError::new(ErrorKind::NotFound, message))
            }
        }
    }

    /// Whether an equal call was made a short time ago, so that its result is used again.
    fn is_reused(&mut self, scope: &ScopePath, call: &OpCall) -> bool {
        let known = call.cache_ms.filter(|_| self.replay.is_none()).and_then(|ms| {
            let (at, known) = self.cache.get(&call.cache_key())?;
            (u64::try_from(self.now() - at).unwrap_or(0) < ms).then(|| known.clone())
        });
        let Some(known) = known else { return false };
        let (step, attempt) = (call.step.clone(), call.attempt);
        self.commit_later(scope, EntryBody::Completed { step, attempt, output: StepOutput::Op(known) });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_begins_or_is_withdrawn_and_never_both() {
        let begun = Begun::default();
        assert!(begun.withdraw() && !begun.begin());
        let begun = Begun::default();
        assert!(begun.begin() && !begun.withdraw() && !begun.begin());
    }
}
