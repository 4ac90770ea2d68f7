//! What limits add to a flow: bounds on what they count, and ways where they lead on.

use std::collections::{BTreeMap, BTreeSet};

use deepgraph_protocol::Meter;

use super::flow::{Because, Builder};
use super::in_force::{InForce, What, counts_verb};
use super::linear::Sum;
use crate::shape::offered;
use crate::{NodeIx, OnReach, Verb};

/// Which part of a graph is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    All,
    Main,
}

impl Builder<'_, '_> {
    /// The ways of limits that lead to a node: in place of a start, behind a super-step, once.
    pub(super) fn led_by_limits(&mut self, live: &BTreeSet<NodeIx>) {
        let setup = self.setup;
        for (index, limit) in setup.limits.iter().enumerate() {
            let Some(target) = limit.target() else { continue };
            let mut behind = Sum::new();
            for from in live {
                if limit.redirects(setup.graph, *from).is_some() {
                    let var = self.flow.linear.var();
                    self.redirects.entry(*from).or_default().push((var, 1));
                    self.arrivals.entry(target).or_default().limits.push(var);
                }
                if limit.detours(setup.graph, *from).is_some() {
                    let var = self.flow.linear.var();
                    self.leaving.entry(*from).or_default().push((var, 1));
                    self.arrivals.entry(target).or_default().limits.push(var);
                    self.by_calls(limit, *from, (var, 1));
                    if matches!(limit.what, What::Meter(Meter::Tokens | Meter::CostUsd)) {
                        self.unsent.entry(*from).or_default().push((var, 1));
                    }
                    behind.push((var, 1));
                }
            }
            // A count reaches its bound once. One by value does for each value.
            if matches!(limit.what, What::Names { per: false, .. }) {
                self.bound(behind, 1, Because::Once(index));
            }
            if limit.leads_once().is_some() {
                let var = self.flow.linear.var();
                self.arrivals.entry(target).or_default().limits.push(var);
                self.bound(vec![(var, 1)], 1, Because::Once(index));
            }
        }
    }

    /// A limit on calls leads on only behind a super-step in which one was counted.
    fn by_calls(&mut self, limit: &InForce, from: NodeIx, way: (super::linear::Var, i128)) {
        let on_calls = matches!(limit.what, What::Names { .. } | What::Meter(Meter::ToolCalls));
        let Some(vars) = self.flow.nodes.get(&from).filter(|_| on_calls) else { return };
        let counted = vars.calls.iter().filter(|(tool, _)| limit.may_count(**tool));
        let sum: Sum = counted.map(|(_, calls)| (*calls, -1)).chain([way]).collect();
        self.flow.linear.at_most(sum, 0);
    }

    /// Of the model calls that start, those that do not fit a limit are not sent: each time that it leads on, one was
    /// not.
    pub(super) fn sent(&mut self) {
        for (ix, vars) in &self.flow.nodes {
            if let Some(sent) = vars.sent {
                let mut sum = self.unsent.remove(ix).unwrap_or_default();
                sum.extend([(sent, 1), (vars.begun(), -1)]);
                self.flow.linear.at_most(sum, 0);
            }
        }
    }

    /// What starts elsewhere in place of a node.
    pub(super) fn redirected(&mut self, ix: NodeIx) -> Sum {
        self.redirects.remove(&ix).unwrap_or_default()
    }

    /// The bounds of all limits.
    pub(super) fn bounded_by_limits(&mut self) {
        let setup = self.setup;
        for (index, limit) in setup.limits.iter().enumerate() {
            let (Some(max), Some(main)) = (limit.max, limit.main) else { continue };
            if let What::Meter(Meter::SuperSteps) = limit.what {
                self.once_per_super_step(index, max);
                continue;
            }
            if let What::Meter(Meter::PaidTurns) = limit.what {
                // Where it refuses, calls are refused and the loop goes on.
                if limit.then != OnReach::Refuse {
                    self.paid_turns(index, main);
                }
                continue;
            }
            let all = self.counted(limit, Part::All);
            self.bound(all, max, Because::Limit(index));
            if main < max && !self.flow.leads_back {
                let main_part = self.counted(limit, Part::Main);
                self.bound(main_part, main, Because::Main(index));
            }
        }
    }

    /// All that a limit counts, where it counts each of it.
    fn counted(&self, limit: &InForce, part: Part) -> Sum {
        let mut sum = Sum::new();
        for (ix, node, vars) in self.flow.live(self.setup) {
            if part == Part::Main && node.in_finally {
                continue;
            }
            match &limit.what {
                What::Names { nodes, .. } => sum.extend(nodes.contains(&ix).then_some((vars.starts, 1))),
                What::Meter(Meter::Turns) => {
                    let is_turn = !offered(self.setup.graph, ix).is_empty();
                    sum.extend(is_turn.then_some((vars.starts, 1)));
                }
                What::Meter(meter) if counts_verb(*meter, &node.verb) => {
                    // What children and this instance use together is told when it is sent.
                    let sent = vars.sent.filter(|_| *meter == Meter::ModelCalls && !limit.own);
                    sum.push((sent.unwrap_or_else(|| vars.begun()), 1));
                }
                What::Meter(_) | What::Gain => {}
            }
            let calls = vars.calls.iter().filter(|(tool, _)| limit.counts(**tool));
            sum.extend(calls.map(|(_, calls)| (*calls, 1)));
        }
        sum
    }

    /// A node is visited at most once in each super-step, and where they run one by one, only one is.
    fn once_per_super_step(&mut self, index: usize, max: u64) {
        let visits = self.flow.live(self.setup).map(|(_, _, vars)| -> Sum {
            [Some(vars.starts), vars.refused].into_iter().flatten().map(|var| (var, 1)).collect()
        });
        let sums: Vec<Sum> =
            if self.flow.one_by_one { vec![visits.flatten().collect()] } else { visits.collect() };
        for sum in sums {
            self.bound(sum, max, Because::Limit(index));
        }
    }

    /// Paid turns are looked at where the calls of a turn are run: past the bound nothing follows there. That bounds
    /// how often something does, where nothing but turns lead there.
    fn paid_turns(&mut self, index: usize, bound: u64) {
        let bounded: Vec<Sum> = self
            .flow
            .live(self.setup)
            .filter(|(ix, node, _)| matches!(node.verb, Verb::RunTools(_)) && self.follows_turns(*ix))
            .filter_map(|(ix, _, _)| self.by_routes.get(&ix).cloned())
            .collect();
        for sum in bounded {
            self.bound(sum, bound, Because::Limit(index));
        }
    }

    /// Whether nothing but turns that were started lead to a node.
    fn follows_turns(&self, ix: NodeIx) -> bool {
        let Some(leading) = self.followed.get(&ix) else { return true };
        leading.iter().all(|from| from.is_some_and(|from| !offered(self.setup.graph, from).is_empty()))
    }

    /// Keeps by what each node is led to, before it is balanced.
    pub(super) fn note_followed(&mut self) {
        let mut followed: BTreeMap<NodeIx, BTreeSet<Option<NodeIx>>> = BTreeMap::new();
        for (to, arrivals) in &self.arrivals {
            let leading = followed.entry(*to).or_default();
            leading.extend(arrivals.routes.iter().map(|(from, _)| *from));
            let other = !arrivals.limits.is_empty() || !arrivals.refusals.is_empty();
            leading.extend(other.then_some(None));
        }
        self.followed = followed;
    }
}
