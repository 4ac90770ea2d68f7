//! An instance that was over and goes on.

use deepgraph_graph::RouteOf;
use deepgraph_protocol::{Effect, ResumeFrom};

use super::super::left::Visit;
use super::Instance;

/// What is known of the attempt before.
#[derive(Debug, Default)]
pub(super) struct Again {
    /// The last super-step of the work.
    pub(super) main: Vec<Visit>,
    /// Whether only the report is made again: the way out of the work was counted before.
    pub(super) is_report: bool,
}

impl Instance<'_> {
    pub(super) fn go_on(&mut self, from: ResumeFrom) {
        self.again.is_report = from == ResumeFrom::Report;
        self.is_over = false;
        self.in_finally = false;
        self.entrance = (from == ResumeFrom::Report).then_some(RouteOf::Finally);
        self.visits.clear();
        self.told.clear();
    }

    /// A step that is sent out before any super-step began belongs to the last one, which is open again.
    pub(super) fn open_again(&mut self, effect: &Effect) {
        let Some(step) = effect.step().filter(|_| self.visits.is_empty()) else { return };
        let is_of = |visit: &Visit| visit.step == *step || step.below(&visit.step).is_some();
        if !self.again.main.iter().any(is_of) {
            return;
        }
        self.visits = std::mem::take(&mut self.again.main);
        for visit in self.visits.iter_mut().filter(|visit| is_of(visit)) {
            (visit.done, visit.failed) = (false, None);
        }
    }
}
