//! Attempts of steps: how they were sent, and that they failed.

use deepgraph_protocol::{EntryBody, Millis, StepError, StepId};

use super::Folding;
use crate::tree::{Attempt, NodeKind, Sending};

/// An attempt that failed.
pub(super) struct Failed {
    pub(super) attempt: u32,
    pub(super) error: StepError,
    pub(super) fail_over: bool,
    /// When it failed, and when the wait before the next one is over.
    pub(super) time: (Millis, Millis),
}

impl Folding {
    /// A model request was sent: it is rendered again as it was made to fit then.
    pub(super) fn note_sent(&mut self, entry: &EntryBody) {
        let EntryBody::Dispatched { step, request: hash, model, window, cut, .. } = entry else { return };
        let Ok(request) = self.machine.model_request(step, *window) else { return };
        if let Some(node) = self.node(step) {
            node.kind = NodeKind::Model(Box::new(request));
            node.request_hash = hash.clone();
            node.sent = Sending { model: model.clone(), window: *window, cut: *cut };
        }
    }

    pub(super) fn note_failed(&mut self, step: &StepId, failed: Failed) {
        let Failed { attempt, error, fail_over, time } = failed;
        let Some(node) = self.node(step) else { return };
        node.outcome = None;
        let sent = std::mem::take(&mut node.sent);
        node.failed_attempts.push(Attempt { number: attempt, error, sent, fail_over, time: Some(time) });
    }
}
