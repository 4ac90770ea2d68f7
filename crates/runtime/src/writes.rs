//! Calls of ops. One that writes is claimed first: it is made only once its `Dispatched` row is durable.
//!
//! That row is a claim under a unique constraint: journals are unique by run, scope and position, and a row is taken
//! only from the owner of the run, under its epoch. So of two processes that want to make the same call, one writes the
//! row; the other is told that it is fenced, or that the place is taken, before it has called anything. An owner that
//! falls asleep between its row and its call and is taken over from still makes that one call when it wakes: its
//! successor sees the row, finds no outcome, and does not call again (or only under the same key, where the op takes
//! it). What the sleeper brings is refused, since it is fenced.

use std::sync::Arc;

use deepgraph_engine::{Claiming, WriteCall};
use deepgraph_protocol::{EntryBody, ErrorKind, Map, ScopePath, StepError, StepId};

use crate::begun::Begun;
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
    pub(crate) writes: bool,
}

impl Driver<'_> {
    /// Claims a call that writes; it is made once that is durable.
    pub(crate) fn claim_op(&mut self, scope: &ScopePath, call: OpCall) {
        let op = match self.op_of(&call.op) {
            Ok(op) => op,
            Err(error) => return self.commit_later(scope, EntryBody::Failed { step: call.step, error }),
        };
        if op.as_ref().is_some_and(|op| self.is_reused(scope, &call, &**op)) {
            return;
        }
        let fee = self.fee_of(&call, op.as_deref());
        let takes_key = op.is_some_and(|op| op.takes_key());
        let Some(live) = self.machines.get(scope) else { return };
        let claiming = live.machine.claiming(WriteCall {
            step: &call.step,
            attempt: call.attempt,
            op: &call.op,
            key: idempotency_key(&self.run, &call.step, &call.input).into(),
            takes_key,
            fee,
        });
        match claiming {
            Claiming::Unknown(failed) | Claiming::Unpriced(failed) => self.commit_later(scope, failed),
            Claiming::Claim(dispatched) => {
                self.claims.insert(call.step.clone(), call);
                self.commit_later(scope, dispatched);
            }
        }
    }

    /// Makes a call whose claim is durable, if the Machine still wants it.
    pub(crate) fn send_claimed(&mut self, scope: &ScopePath, step: &StepId) {
        let Some(call) = self.claims.remove(step) else { return };
        if self.machines.get(scope).is_some_and(|live| live.machine.is_open(step)) {
            self.run_op(scope, call);
        }
    }

    /// Makes the call of an op.
    pub(crate) fn run_op(&mut self, scope: &ScopePath, call: OpCall) {
        if self.replay.is_some() && !is_pure(&call.op) {
            let OpCall { step, attempt, op, input, .. } = call;
            return self.replay_op(scope, step, attempt, &op, input);
        }
        let op = match self.op_of(&call.op) {
            Ok(Some(op)) => op,
            Ok(None) => return,
            Err(error) => return self.commit_later(scope, EntryBody::Failed { step: call.step, error }),
        };
        if self.is_reused(scope, &call, &*op) {
            return;
        }
        let kept = self.kept(&call, &*op);
        let (asked, given) = self.parts(&call, &*op);
        let cache = call.cache_ms.map(|_| CacheKey::of(&call.op, &asked));
        let OpCall { step, attempt, timeout_ms, input, writes, .. } = call;
        let own = || op.default_timeout().map(|own| u64::try_from(own.as_millis()).unwrap_or(u64::MAX));
        let timeout_ms = timeout_ms.or_else(own);
        let place = self.tool_places.clone().filter(|_| kept.is_none());
        let context = CallContext::new(self.run.clone(), step.clone(), attempt, input).writing(writes);
        let begun = Begun::default();
        self.begun.insert(step.clone(), begun.clone());
        let (key, key_step, scope) = (scope.clone(), step.clone(), scope.clone());
        self.tasks.spawn(&key, &key_step, async move {
            let is_kept = kept.is_some();
            let work = begun.unless_withdrawn(async {
                let brought = match kept {
                    Some(kept) => kept,
                    None => op.call(asked, &context).await?,
                };
                Ok(if op.finishes() {
                    (op.finish(brought.clone(), given).await?, brought)
                } else {
                    (brought.clone(), brought)
                })
            });
            let done = bounded(place, timeout_ms, work).await;
            let fee = context.charged();
            let (result, brought) = match done {
                Ok((result, brought)) => (Ok(result), Some(brought)),
                Err(error) => (Err(error), None),
            };
            let cache = cache.filter(|_| !is_kept).zip(brought);
            Done::Op { scope, step, attempt, cache, result, fee }
        });
    }

    /// The op of a name; none in a replay that does not need it.
    pub(crate) fn op_of(&self, name: &str) -> Result<Option<Arc<dyn Op>>, StepError> {
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
}
