//! Results of ops that are used again for equal calls.

use std::sync::Arc;

use deepgraph_protocol::{EntryBody, Map, ScopePath, StepOutput, Value};

use crate::driver::Driver;
use crate::ops::Op;
use crate::tasks::CacheKey;
use crate::writes::OpCall;

impl CacheKey {
    /// The key of a call that is asked with this input.
    pub(crate) fn of(op: &str, asked: &Map) -> CacheKey {
        CacheKey { call: format!("{op} {}", Value::from(asked.clone())) }
    }
}

impl Driver<'_> {
    /// The input of a call in two: what the op is asked, and what it finishes with.
    pub(crate) fn parts(&self, call: &OpCall, op: &dyn Op) -> (Map, Map) {
        let input = Arc::unwrap_or_clone(call.input.clone());
        if op.finishes() { self.bundle.ops.split(&call.op, input) } else { (input, Map::new()) }
    }

    /// What an equal call brought a short time ago.
    pub(crate) fn kept(&self, call: &OpCall, op: &dyn Op) -> Option<Value> {
        let ms = call.cache_ms.filter(|_| self.replay.is_none())?;
        let (at, kept) = self.cache.get(&CacheKey::of(&call.op, &self.parts(call, op).0))?;
        (u64::try_from(self.now() - at).unwrap_or(0) < ms).then(|| kept.clone())
    }

    /// Whether what an equal call brought is the result of this one as it is.
    pub(crate) fn is_reused(&mut self, scope: &ScopePath, call: &OpCall, op: &dyn Op) -> bool {
        let Some(kept) = self.kept(call, op).filter(|_| !op.finishes()) else { return false };
        let (step, attempt) = (call.step.clone(), call.attempt);
        self.commit_later(
            scope,
            EntryBody::Completed {
                step,
                attempt,
                output: StepOutput::Op(kept),
                fee: deepgraph_protocol::Fee::NONE,
            },
        );
        true
    }
}
