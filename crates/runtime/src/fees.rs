//! Calls of ops that cost something: what a call costs at most is reserved before it is made, and durable before it is
//! sent, so that a limit on money is hard and a crash hides nothing that may have been paid.

use deepgraph_engine::fee_reservation;
use deepgraph_protocol::{EntryBody, Fee, ScopePath};

use crate::driver::Driver;
use crate::ops::Op;
use crate::writes::OpCall;

impl Driver<'_> {
    /// Makes the call of an op that writes nothing: at once, or once its fee is reserved.
    pub(crate) fn reserve_op(&mut self, scope: &ScopePath, call: OpCall) {
        let op = match self.op_of(&call.op) {
            Ok(op) => op,
            Err(error) => return self.commit_later(scope, EntryBody::Failed { step: call.step, error }),
        };
        if op.as_ref().is_some_and(|op| self.kept(&call, &**op).is_some()) {
            return self.run_op(scope, call);
        }
        let fee = self.fee_of(&call, op.as_deref());
        if fee.is_none() {
            return self.run_op(scope, call);
        }
        let (step, attempt) = (call.step.clone(), call.attempt);
        for lost in self.replay.as_ref().map(|replay| replay.lost_fees(&step, attempt)).unwrap_or_default() {
            self.commit_later(scope, fee_reservation(&step, attempt, lost));
        }
        self.claims.insert(step.clone(), call);
        self.commit_later(scope, fee_reservation(&step, attempt, fee));
    }

    /// What a call costs at most; in a replay, what was reserved for it.
    pub(crate) fn fee_of(&self, call: &OpCall, op: Option<&dyn Op>) -> Fee {
        match (&self.replay, op) {
            (Some(replay), _) => replay.fee(&call.step, call.attempt),
            (None, Some(op)) => op.fee(&self.parts(call, op).0).unwrap_or(Fee::NONE),
            (None, None) => Fee::NONE,
        }
    }
}

#[cfg(test)]
mod tests;
