//! Calls that write in a simulated run: claimed before they are made, as the real driver does it.

use deepgraph_engine::Claimed;
use deepgraph_protocol::{EntryBody, ErrorKind, Map, ScopePath, StepError, StepId, Value};

use super::SentWrite;
use super::answers::failure;
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
        let claimed = self.machines.get(scope).map_or(Claimed::No, |machine| machine.claimed(step));
        if claimed == Claimed::Once || (claimed == Claimed::Keyed && !takes_key) {
            let message = "the process that called it ended before an answer was kept";
            self.commit(
                scope.clone(),
                failure(step.clone(), attempt, StepError::new(ErrorKind::Unknown, message)),
            );
            return false;
        }
        let key = format!("{step}:{}", Value::from(input.clone()).to_json_text());
        let dispatched = EntryBody::Dispatched {
            step: step.clone(),
            attempt,
            request: None,
            reserve_tokens: 0,
            reserve_micro_usd: None,
            key: Some(key.clone().into()),
            takes_key,
        };
        self.commit(scope.clone(), dispatched);
        let is_sent = self.is_open(scope, step) && !self.down;
        if is_sent {
            let entries = self.journals.rows().len();
            let scope = scope.clone();
            self.run.writes.push(SentWrite { scope, step: step.clone(), attempt, key, takes_key, entries });
        }
        is_sent
    }
}
