//! What comes back in a simulated run, as entries: from models, ops and people.

use std::sync::Arc;

use deepgraph_protocol::{
    Entry, EntryBody, Map, ModelRequest, OutputShape, ScopePath, StepError, StepId, StepOutput, Usage,
};

use super::outside::Said;
use super::queue::{Item, What};
use super::world::World;

impl World<'_> {
    pub(crate) fn model_result(
        &mut self,
        step: StepId,
        attempt: u32,
        request: &ModelRequest,
        has_next: bool,
    ) -> EntryBody {
        match self.sim.outside().model(&step, attempt, request) {
            Ok(reply) => {
                let output = StepOutput::Model(reply.answering(request));
                EntryBody::Completed { step, attempt, output, fee: deepgraph_protocol::Fee::NONE }
            }
            Err(error) => self.model_failure(step, attempt, error, has_next),
        }
    }

    /// An attempt of a model call failed: where another of the route can be asked, and the trouble is with the one that
    /// was asked, it is.
    pub(crate) fn model_failure(
        &mut self,
        step: StepId,
        attempt: u32,
        error: StepError,
        has_next: bool,
    ) -> EntryBody {
        let by_kind = has_next && error.kind.fails_over();
        let fails_over = self.sim.outside().fails_over(&step, attempt).unwrap_or(by_kind);
        match failure(step, attempt, error) {
            EntryBody::AttemptFailed { step, attempt, error, usage, fee, .. } => {
                EntryBody::AttemptFailed { step, attempt, error, usage, fail_over: fails_over, fee }
            }
            other => other,
        }
    }

    pub(crate) fn op_result(&mut self, step: StepId, attempt: u32, op: &str, input: &Map) -> EntryBody {
        let fee = self.sim.outside().charged(&step, attempt, op, input);
        match self.sim.outside().op(&step, attempt, op, input) {
            Ok(value) => EntryBody::Completed { step, attempt, output: StepOutput::Op(value), fee },
            Err(error) => EntryBody::AttemptFailed {
                step,
                attempt,
                error,
                usage: Usage::default(),
                fail_over: false,
                fee,
            },
        }
    }

    pub(crate) fn person_says(
        &mut self,
        scope: ScopePath,
        step: StepId,
        said: Said,
        question: Arc<str>,
        shape: Arc<OutputShape>,
    ) {
        match said {
            Said::Answer(answer) => {
                self.commit(scope.clone(), EntryBody::Answered { step: step.clone(), answer });
                if self.ask(scope, step.clone(), question, shape) {
                    self.queue.put_off(&step);
                }
            }
            Said::Declined(error) => self.commit(scope, EntryBody::Failed { step, error }),
            Said::Nothing | Said::Later => {}
        }
    }

    /// Learns what the person says next to a question, and when. True where the question is put off.
    pub(crate) fn ask(
        &mut self,
        scope: ScopePath,
        step: StepId,
        question: Arc<str>,
        shape: Arc<OutputShape>,
    ) -> bool {
        let is_answer =
            |entry: &Entry| matches!(&entry.body, EntryBody::Answered { step: s, .. } if *s == step);
        let answered = self.journals.rows().iter().filter(|(_, entry)| is_answer(entry)).count();
        let said = self.sim.outside().person(&step, answered, &question, &shape);
        if matches!(said, Said::Answer(_) | Said::Declined(_)) {
            let nth = u32::try_from(answered + 1).unwrap_or(u32::MAX);
            let takes = self.sim.outside().takes(&step, None, nth);
            let at = self.now.saturating_add(takes);
            self.queue.push(Item { at, scope, what: What::Says { step, said, question, shape } });
            return false;
        }
        said == Said::Later
    }
}

pub(crate) fn failure(step: StepId, attempt: u32, mut error: StepError) -> EntryBody {
    // Who is outside tells the cost as well.
    let used = error.used.take().map(|used| used.charged(|_| None));
    let (usage, fee) = used.unwrap_or_default();
    EntryBody::AttemptFailed { step, attempt, error, usage, fail_over: false, fee }
}
