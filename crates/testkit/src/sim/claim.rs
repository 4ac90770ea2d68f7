//! Calls that write or cost something in a simulated run: claimed, or reserved for, before they are made, as the real
//! driver does it.

use deepgraph_engine::{Claiming, WriteCall, fee_reservation};
use deepgraph_protocol::{Map, ScopePath, StepId, Value};

use super::SentWrite;
use super::world::World;

impl World<'_> {
    /// Claims a call that writes. False where it is not to be made: its outcome is not known and it may not be made
    /// again, or it is not wanted any more.
    pub(crate) fn claim(
        &mut self,
        scope: &ScopePath,
        step: &StepId,
        attempt: u32,
        op: &str,
        input: &Map,
    ) -> bool {
        let takes_key = self.sim.outside().takes_key(op);
        let fee = self.sim.outside().fee(step, attempt, op, input);
        let key = format!("{step}:{}", Value::from(input.clone()).to_json_text());
        let Some(machine) = self.machines.get(scope) else { return false };
        let call = WriteCall { step, attempt, op, key: key.clone().into(), takes_key, fee };
        match machine.claiming(call) {
            Claiming::Unknown(failed) | Claiming::Unpriced(failed) => {
                self.commit(scope.clone(), failed);
                return false;
            }
            Claiming::Claim(dispatched) => self.commit(scope.clone(), dispatched),
        }
        let is_sent = self.is_open(scope, step) && !self.down;
        if is_sent {
            let entries = self.journals.rows().len();
            let scope = scope.clone();
            self.run.writes.push(SentWrite { scope, step: step.clone(), attempt, key, takes_key, entries });
        }
        is_sent
    }

    /// Reserves what a call that writes nothing costs. False where there is no room for it, or it is not wanted any more.
    pub(crate) fn reserve(
        &mut self,
        scope: &ScopePath,
        step: &StepId,
        attempt: u32,
        op: &str,
        input: &Map,
    ) -> bool {
        let fee = self.sim.outside().fee(step, attempt, op, input);
        if fee.is_none() {
            return true;
        }
        self.commit(scope.clone(), fee_reservation(step, attempt, fee));
        // A driver that crashes now has not sent it.
        self.is_open(scope, step) && !self.down
    }
}
