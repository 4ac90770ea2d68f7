//! By which way an instance ended.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_graph::{Graph, Passage, Target, Verb};
use deepgraph_protocol::{ErrorClass, Exit, ExitClass, ExitReason, LimitHit, StepId};

use super::left::Left;

/// The last super-step of an instance's main part.
#[derive(Debug)]
pub(super) struct Ending {
    /// What its nodes led to, in plan order.
    pub left: Vec<Left>,
    /// The limits that were reached in it.
    pub told: Vec<LimitHit>,
    /// The exit by which the caller wanted it to end, if it did.
    pub called_off: Option<ExitReason>,
}

impl Ending {
    /// The passages by which the instance came to this exit: one, or several where the last branches ended
    /// together.
    pub fn passages(
        &self,
        graph: &Graph,
        exit: &Exit,
        children: &BTreeMap<StepId, Arc<str>>,
    ) -> Vec<Passage> {
        if exit.class == ExitClass::Cancelled {
            return vec![Passage::Cancelled(exit.reason.name().into())];
        }
        if self.called_off.as_ref() == Some(&exit.reason) && exit.limit.is_none() {
            return vec![Passage::Grant(exit.reason.name().into())];
        }
        if let Some(hit) = exit.limit.as_ref().filter(|hit| self.told.contains(hit)) {
            let own = graph.limits.iter().position(|limit| limit.name == hit.name);
            return vec![own.map_or_else(|| Passage::Grant(exit.reason.name().into()), Passage::Limit)];
        }
        if let Some(found) = self.left.iter().find_map(|left| way_out(graph, left, exit, children)) {
            return vec![found];
        }
        match exit.reason {
            ExitReason::GraphError => vec![Passage::Fault],
            ExitReason::Completed => self.ended(),
            _ => vec![Passage::Failure(exit.reason.name().into())],
        }
    }

    /// The branches that ended last.
    fn ended(&self) -> Vec<Passage> {
        let ended = |left: &Left| match (&left.gone, &left.visit) {
            (Some(gone), _) if gone.to == Target::CarryOn => Some(gone.passage(None)),
            (None, Some(visit)) if visit.failed.is_none() => Some(Passage::Ended(visit.node)),
            (None, None) => Some(Passage::NotStarted),
            _ => None,
        };
        self.left.iter().filter_map(ended).collect()
    }
}

/// The passage of a node that led to this exit, if it did: by a way, as its child ended, or by its failure.
fn way_out(
    graph: &Graph,
    left: &Left,
    exit: &Exit,
    children: &BTreeMap<StepId, Arc<str>>,
) -> Option<Passage> {
    match (&left.gone, &left.visit) {
        (Some(gone), visit) => {
            let leads = match &gone.to {
                Target::Exit(reason, _) => *reason == exit.reason,
                Target::Inherit => {
                    let own = |step: &StepId| {
                        visit.as_ref().is_some_and(|v| {
                            *step == v.step || step.as_str().starts_with(&format!("{}/", v.step))
                        })
                    };
                    children.iter().any(|(step, reason)| own(step) && **reason == *exit.reason.name())
                }
                Target::Nodes(_) | Target::CarryOn => false,
            };
            leads.then(|| gone.passage(None))
        }
        (None, Some(visit)) => {
            let verb = graph.nodes.get(visit.node.0).map(|node| &node.verb);
            let class =
                if matches!(verb, Some(Verb::Model(_))) { ErrorClass::Model } else { ErrorClass::Tool };
            let failed = visit.failed.filter(|kind| kind.exit(class) == exit.reason)?;
            Some(Passage::Failure(failed.exit(class).name().into()))
        }
        (None, None) => None,
    }
}
