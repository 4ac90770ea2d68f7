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
                        visit.as_ref().is_some_and(|v| *step == v.step || step.below(&v.step).is_some())
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use deepgraph_graph::{Bundle, NodeIx, OpTable, RouteOf, load};
    use deepgraph_protocol::{ErrorKind, ScopePath};

    use super::super::left::{Gone, Visit};
    use super::*;

    const GRAPH: &str = "deepgraph: 1\nstate: {q: string, m: messages}\ninput: [q]\nlimits: {turns: {count: super_steps, \
                         max: 9, exit: step_limit}}\nstart: [a, b]\nnodes:\n  a: {model: x, prompt: q, next: {exit: \
                         refusal}}\n  b: {call: child, input: {q: q}, next: {exit: inherit}}\ngraphs:\n  child: {state: {q: \
                         string}, input: [q], start: n, nodes: {n: {update: {q: q}}}}\n";

    fn bundle() -> Bundle {
        let text = GRAPH.replace("start: [a, b]", "start: {to: [a, b]}");
        let files = BTreeMap::from([("t.yaml".to_owned(), text)]);
        load("t.yaml", &files, &OpTable::stock()).unwrap_or_else(|mistakes| panic!("{mistakes}")).bundle
    }

    fn left(node: usize, failed: Option<ErrorKind>, to: Option<Target>) -> Left {
        let (ix, name) = (NodeIx(node), ["a", "b"][node]);
        let step = StepId::node(&ScopePath::root(), name, 1);
        let gone = to.map(|to| Gone { of: RouteOf::Next(ix), way: 0, to });
        Left { visit: Some(Visit { node: ix, step, failed, done: true }), gone, passed_over: Vec::new() }
    }

    fn exit(reason: ExitReason, limit: Option<LimitHit>) -> Exit {
        Exit {
            scope: ScopePath::root(),
            graph: "t".into(),
            attempt: 1,
            class: reason.class().unwrap(),
            reason,
            limit,
            counters: BTreeMap::new(),
            last_step: None,
            detail: None,
            also: Vec::new(),
            findings: None,
            unknown_writes: Box::default(),
            not_undone: Box::default(),
            clocks: Default::default(),
        }
    }

    fn hit(name: &str, value: u64) -> LimitHit {
        LimitHit { name: name.into(), value, bound: 9 }
    }

    fn way(node: usize) -> Passage {
        Passage::Way { of: RouteOf::Next(NodeIx(node)), way: 0, to: None }
    }

    #[test]
    fn an_exit_is_told_from_others_of_its_name() {
        let bundle = bundle();
        let refuses = || Target::Exit(ExitReason::Refusal, ExitReason::Refusal.class().unwrap());
        let children = BTreeMap::from([(StepId::new("b.1"), "step_limit".into())]);
        let ending = |left: Vec<Left>, told: Vec<LimitHit>| Ending { left, told, called_off: None };
        let by = |ending: &Ending, exit: &Exit| ending.passages(bundle.root(), exit, &children);
        let failed = |name: &str| vec![Passage::Failure(name.into())];

        let both = ending(vec![left(0, None, Some(refuses())), left(1, None, Some(Target::Inherit))], vec![]);
        assert_eq!(by(&both, &exit(ExitReason::Refusal, None)), [way(0)]);
        assert_eq!(
            by(&both, &exit(ExitReason::StepLimit, Some(hit("turns", 4)))),
            [way(1)],
            "a limit of the child"
        );
        let own = Ending { told: vec![hit("turns", 9)], ..both };
        assert_eq!(by(&own, &exit(ExitReason::StepLimit, Some(hit("turns", 9)))), [Passage::Limit(0)]);
        let granted = ending(vec![], vec![hit("grant.tokens", 9)]);
        let tokens = exit(ExitReason::TokenBudget, Some(hit("grant.tokens", 9)));
        assert_eq!(by(&granted, &tokens), [Passage::Grant("token_budget".into())]);

        let refused = ending(vec![left(0, Some(ErrorKind::Refusal), None), left(1, None, None)], vec![]);
        assert_eq!(by(&refused, &exit(ExitReason::Refusal, None)), failed("refusal"));
        assert_eq!(by(&refused, &exit(ExitReason::GraphError, None)), [Passage::Fault]);
        assert_eq!(by(&refused, &exit(ExitReason::Completed, None)), [Passage::Ended(NodeIx(1))]);
        assert_eq!(
            by(&refused, &exit(ExitReason::Cancelled, None)),
            [Passage::Cancelled("cancelled".into())]
        );
        let late = Ending { called_off: Some(ExitReason::Deadline), ..refused };
        assert_eq!(by(&late, &exit(ExitReason::Deadline, None)), [Passage::Grant("deadline".into())]);
        let nothing = ending(vec![Left { visit: None, gone: None, passed_over: vec![] }], vec![]);
        assert_eq!(by(&nothing, &exit(ExitReason::Completed, None)), [Passage::NotStarted]);
    }
}
