//! An instance that was over and goes on: its attempts one behind the other.

use std::sync::Arc;

use deepgraph_protocol::{Map, ResumeFrom, StepId, Value};

use super::Folding;
use crate::tree::{Attempt, Earlier, Outcome};

impl Folding {
    /// The configuration of the attempt that may begin.
    pub(super) fn note_config(&mut self, config: &Arc<Map>) {
        let is_other = |(key, value): &(&Arc<str>, &Value)| self.config.get(*key) != Some(value);
        self.then_set = config.iter().filter(is_other).map(|(k, v)| (k.clone(), v.clone())).collect();
    }

    /// The instance was over and goes on: how it ended is kept beside how it will end.
    pub(super) fn go_on(&mut self, from: ResumeFrom) {
        self.in_finally = false;
        let (report, report_error) = (self.trace.report.take(), self.report_error.take());
        let super_steps = self.trace.super_steps.len();
        let then_set = std::mem::take(&mut self.then_set);
        let mut config = (*self.config).clone();
        config.extend(then_set.iter().map(|(key, value)| (key.clone(), value.clone())));
        self.config = Arc::new(config);
        if let Some(exit) = self.trace.exit.take() {
            self.trace.earlier.push(Earlier {
                exit,
                report,
                report_error,
                super_steps,
                then_from: from,
                then_set,
            });
        }
    }

    /// A step that had failed, or whose child had ended, is out again: the instance goes on where it was left. It was
    /// tried so often before; never, where it had not been let start.
    pub(super) fn begin_anew(&mut self, step: &StepId, tried: u32) {
        let Some(node) = self.node(step) else { return };
        match node.outcome.take() {
            Some(Outcome::Failed(error)) if tried > 0 => {
                let time = node.time.map(|(_, ended)| (ended, ended));
                let sent = std::mem::take(&mut node.sent);
                node.failed_attempts.push(Attempt { number: tried, error, sent, fail_over: false, time });
            }
            Some(Outcome::Failed(_) | Outcome::Done) | None => {}
            other => node.outcome = other,
        }
    }
}
