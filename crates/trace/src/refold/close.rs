//! The end of a refold: what it came to.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_protocol::{Effect, ScopePath, StepId};

use super::world::World;
use super::{Refold, Unanswered};
use crate::{FoldError, Row};

impl World<'_> {
    /// `canonical`: where each recorded step stands; steps that are not in it stay in recorded order.
    pub(super) fn close(mut self, canonical: &BTreeMap<StepId, usize>) -> Refold {
        let open = |scope: &ScopePath| !self.new.has_ended(scope);
        let finishing = self.new.finishing.iter().filter(|(scope, _)| open(scope));
        let finishing = finishing.map(|(scope, reason)| (scope.clone(), reason.clone())).collect();
        let mut unanswered: Vec<(usize, Unanswered)> = Vec::new();
        for (scope, machine) in self.new.machines.iter().filter(|(_, machine)| machine.end().is_none()) {
            for step in machine.open_effects().iter().filter_map(|effect| self.open_step(effect)) {
                let number = self.new.asked.get(&step).map_or(usize::MAX, |asked| asked.number);
                let is_open_in_both = self.old.is_open(scope, &step) && !self.broken.contains(&step);
                unanswered.push((number, Unanswered { scope: scope.clone(), step, is_open_in_both }));
            }
        }
        unanswered.sort_by_key(|(number, _)| *number);
        let mut order: Vec<(usize, StepId)> = Vec::new();
        for step in self.old.over.difference(&self.new.over) {
            let number = self.old.asked.get(step).map_or(usize::MAX, |asked| asked.number);
            order.push((canonical.get(step).copied().unwrap_or(number), step.clone()));
        }
        order.sort();
        self.mismatches.sort_by_key(|other| canonical.get(&other.step).copied());
        Refold {
            rows: self.held,
            unanswered: unanswered.into_iter().map(|(_, asked)| asked).collect(),
            mismatches: self.mismatches,
            not_taken: order.into_iter().map(|(_, step)| step).collect(),
            otherwise: self.otherwise,
            steps: (
                self.old.completed.intersection(&self.new.completed).count() as u64,
                self.old.completed.len() as u64,
            ),
            as_they_were: self.as_they_were,
            not_begun: self.not_begun,
            last: (self.new.last, self.old.last),
            finishing,
            machines: self.new.machines,
            recorded: self.old.machines,
        }
    }

    /// The step that an open effect waits for, where it waits for something outside: a child that is at work does not
    /// count, what it asks for does.
    fn open_step(&self, effect: &Effect) -> Option<StepId> {
        let at_work = |step: &StepId| self.new.machines.get(&step.scope());
        match effect {
            Effect::Abandon { .. } | Effect::WakeAt { .. } => None,
            Effect::Spawn { step, .. } if at_work(step).is_some() => None,
            Effect::Reopen { step, attempt, .. }
                if at_work(step).is_some_and(|child| child.attempt() >= *attempt) =>
            {
                None
            }
            other => other.step().cloned(),
        }
    }
}

/// Where each step of a run stands in its trace.
pub(super) fn positions(
    bundle: &Arc<Bundle>,
    rows: &[Row<'_>],
) -> Result<BTreeMap<StepId, usize>, FoldError> {
    let trace = crate::fold(bundle, rows.iter().copied())?;
    Ok(trace.root.all_steps().into_iter().zip(0..).map(|(node, at)| (node.step.clone(), at)).collect())
}
