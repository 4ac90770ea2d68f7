//! Calls that write in a simulated run: claimed before they are made, as the real driver does it.

use deepgraph_engine::{Claiming, WriteCall};
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
        let key = format!("{step}:{}", Value::from(input.clone()).to_json_text());
        let Some(machine) = self.machines.get(scope) else { return false };
        let call = WriteCall { step, attempt, op, key: key.clone().into(), takes_key };
        match machine.claiming(call) {
            Claiming::Unknown(failed) => {
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
}
