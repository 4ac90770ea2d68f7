//! One instance of a graph as bounds on sums: how often each node can start, given how often those before it do.
//!
//! A start of a node takes one of its ways, so all ways together are taken at most as often as the node starts; a node
//! starts at most as often as ways are taken that lead to it. A limit bounds the sum of what it counts. Every run
//! obeys all of these, so what is more than they allow never happens. They say nothing of the order of things, and
//! count nodes that run in one super-step and lead to the same node one by one: what they allow may never happen.

use std::collections::{BTreeMap, BTreeSet};

use super::in_force::InForce;
use super::instead::{leads_back, live};
use super::known::{Items, Known};
use super::linear::{Linear, RowIx, Sum, Var};
use super::ways::{Leads, Ways, leads};
use crate::{Graph, Node, NodeIx, Overflow, ToolIx, Verb};

/// Where an instance begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begin {
    /// By `start`.
    Start,
    /// Nowhere: a limit on the depth ends it at once.
    Nowhere,
    /// At the node that a limit on the depth leads to.
    At(NodeIx),
}

/// A graph under a configuration and limits.
#[derive(Debug)]
pub(super) struct Setup<'g> {
    pub(super) graph: &'g Graph,
    pub(super) known: Known<'g>,
    pub(super) limits: Vec<InForce>,
    pub(super) begin: Begin,
    /// The most models that are asked in a row before a failure counts, the configured one among them.
    pub(super) models: u64,
}

/// Where a bound on a sum comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Because {
    /// An instance begins once.
    Start,
    /// The stage of `finally` begins once.
    Finally,
    /// A limit, by index.
    Limit(usize),
    /// What a limit leaves to the main part.
    Main(usize),
    /// A limit acts once.
    Once(usize),
}

/// What is counted of a node.
#[derive(Debug)]
pub(super) struct NodeVars {
    pub(super) starts: Var,
    /// Starts that a limit lets fail.
    pub(super) refused: Option<Var>,
    /// Items, where it runs over a list.
    pub(super) items: Option<(Var, Items)>,
    /// Model calls that are sent, where some that start may not be.
    pub(super) sent: Option<Var>,
    /// Calls of each tool that are admitted.
    pub(super) calls: BTreeMap<ToolIx, Var>,
    /// Calls of each tool that a person is asked about.
    pub(super) approvals: BTreeMap<ToolIx, Var>,
}

impl NodeVars {
    /// How often its verb is begun.
    pub(super) fn begun(&self) -> Var {
        self.items.map_or(self.starts, |(var, _)| var)
    }
}

/// The bounds of one instance.
#[derive(Debug, Default)]
pub(super) struct Flow {
    pub(super) linear: Linear,
    /// The nodes that can run.
    pub(super) nodes: BTreeMap<NodeIx, NodeVars>,
    /// Where bounds above 0 come from, with the bound.
    pub(super) because: BTreeMap<RowIx, (Because, u64)>,
    /// Whether at most one node runs in each super-step.
    pub(super) one_by_one: bool,
    /// Whether nodes of the main part may run in the stage of `finally`.
    pub(super) leads_back: bool,
}

/// Ways that lead to a node.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    /// By routes, with the node that leads; none: `start` or `finally`.
    pub(super) routes: Vec<(Option<NodeIx>, Var)>,
    /// By limits: those wait for nothing.
    pub(super) limits: Vec<Var>,
    /// Ways of starts that were refused, as above.
    pub(super) refusals: Vec<(Option<NodeIx>, Var)>,
}

/// A flow while it is put together.
pub(super) struct Builder<'s, 'g> {
    pub(super) setup: &'s Setup<'g>,
    pub(super) ways: Vec<Ways>,
    pub(super) flow: Flow,
    pub(super) arrivals: BTreeMap<NodeIx, Arrivals>,
    /// What leaves a node, with what its starts are shared among.
    pub(super) leaving: BTreeMap<NodeIx, Sum>,
    /// What of that goes by its own ways and those of its tools.
    pub(super) by_routes: BTreeMap<NodeIx, Sum>,
    /// What starts elsewhere in place of a node.
    pub(super) redirects: BTreeMap<NodeIx, Sum>,
    /// Ways of limits on tokens and money out of a model node whose call was not sent.
    pub(super) unsent: BTreeMap<NodeIx, Sum>,
    /// The nodes that lead to a node by started steps; none: something else does as well.
    pub(super) followed: BTreeMap<NodeIx, BTreeSet<Option<NodeIx>>>,
}

impl Flow {
    pub(super) fn of(setup: &Setup<'_>) -> Flow {
        let graph = setup.graph;
        let ways: Vec<Ways> = graph.nodes.iter().map(|node| Ways::of(graph, node, &setup.known)).collect();
        let start = match setup.begin {
            Begin::Start => leads(&graph.start, &setup.known, &Leads::new()),
            Begin::Nowhere | Begin::At(_) => Leads::new(),
        };
        let stage = graph.finally.as_ref().map(|route| leads(route, &setup.known, &Leads::new()));
        let stage = stage.unwrap_or_default();
        let at = if let Begin::At(node) = setup.begin { Some(node) } else { None };
        let live = live(graph, &setup.limits, &ways, &[&start, &stage], at);
        let mut sets =
            live.iter().filter_map(|ix| ways.get(ix.0)).flat_map(Ways::all).chain(&start).chain(&stage);
        let one_by_one = sets.all(|set| set.len() < 2);
        drop(sets);
        let flow = Flow { one_by_one, leads_back: leads_back(graph, &setup.limits), ..Flow::default() };
        let mut builder = Builder {
            setup,
            ways,
            flow,
            arrivals: BTreeMap::new(),
            leaving: BTreeMap::new(),
            by_routes: BTreeMap::new(),
            redirects: BTreeMap::new(),
            unsent: BTreeMap::new(),
            followed: BTreeMap::new(),
        };
        builder.build(&live, [(Because::Start, start), (Because::Finally, stage)], at);
        builder.flow
    }
}

impl Builder<'_, '_> {
    fn build(&mut self, live: &BTreeSet<NodeIx>, begins: [(Because, Leads); 2], at: Option<NodeIx>) {
        for ix in live {
            self.vars(*ix);
        }
        for (because, leads) in begins {
            let taken = self.lead(None, &leads);
            self.bound(taken, 1, because);
        }
        if let Some(at) = at {
            let var = self.flow.linear.var();
            self.arrivals.entry(at).or_default().limits.push(var);
            self.bound(vec![(var, 1)], 1, Because::Start);
        }
        for ix in live {
            self.routes(*ix);
        }
        self.led_by_limits(live);
        self.sent();
        self.note_followed();
        for ix in live {
            self.balance(*ix);
        }
        self.bounded_by_limits();
    }

    /// A bound above 0.
    pub(super) fn bound(&mut self, sum: Sum, bound: u64, because: Because) {
        if !sum.is_empty() {
            let row = self.flow.linear.at_most(sum, bound);
            self.flow.because.insert(row, (because, bound));
        }
    }

    fn vars(&mut self, ix: NodeIx) {
        let setup = self.setup;
        let Some(node) = setup.graph.nodes.get(ix.0) else { return };
        let refuses = setup.limits.iter().any(|limit| limit.refuses(setup.graph, ix));
        // In the stage of `finally` nothing but a refusal keeps a node from starting.
        let refused = node.in_finally || self.flow.leads_back || refuses;
        let linear = &mut self.flow.linear;
        let starts = linear.var();
        let refused = refused.then(|| linear.var());
        let mut vars = NodeVars {
            starts,
            refused,
            items: None,
            sent: None,
            calls: BTreeMap::new(),
            approvals: BTreeMap::new(),
        };
        if let Some(each) = &node.each {
            let (var, most) = (linear.var(), setup.known.items(setup.graph, each));
            if let Items::AtMost(most) = most {
                linear.at_most(vec![(var, 1), (starts, -i128::from(most))], 0);
            }
            vars.items = Some((var, most));
        }
        if self.may_stay_unsent(node) {
            vars.sent = Some(self.flow.linear.var());
        }
        if matches!(node.verb, Verb::RunTools(_)) {
            self.calls(ix, &mut vars);
        }
        self.flow.nodes.insert(ix, vars);
    }

    /// Whether a model call may start, not fit a limit on tokens or money, and be neither sent nor the last.
    fn may_stay_unsent(&self, node: &Node) -> bool {
        use deepgraph_protocol::Meter;
        let stays = |limit: &InForce| match limit.meter() {
            Some(Meter::Tokens) => {
                node.in_finally || self.flow.leads_back || !matches!(limit.then, crate::OnReach::Exit(..))
            }
            // An unknown price refuses the call, whatever else the limit does.
            Some(Meter::CostUsd) => true,
            _ => false,
        };
        matches!(node.verb, Verb::Model(_)) && self.setup.limits.iter().any(stays)
    }

    /// The calls of a node that runs tools.
    fn calls(&mut self, ix: NodeIx, vars: &mut NodeVars) {
        let (graph, known) = (self.setup.graph, &self.setup.known);
        for (tool, _) in self.ways.get(ix.0).map(|ways| ways.tools.as_slice()).unwrap_or_default() {
            let Some(declared) = graph.tools.get(tool.0) else { continue };
            let linear = &mut self.flow.linear;
            let calls = linear.var();
            let cap = declared.parallel.as_ref().and_then(|p| p.count(&known.config));
            if let (Some(cap), Overflow::Refuse) = (cap, declared.overflow) {
                linear.at_most(vec![(calls, 1), (vars.starts, -i128::from(cap))], 0);
            }
            vars.calls.insert(*tool, calls);
            if declared.approve.is_some() && known.holds(declared.approve.as_ref()) != Some(false) {
                vars.approvals.insert(*tool, linear.var());
            }
        }
    }

    /// Where routes lead: one of the sets is taken each time.
    fn lead(&mut self, from: Option<NodeIx>, leads: &Leads) -> Sum {
        let mut taken = Sum::new();
        for set in leads {
            let var = self.flow.linear.var();
            taken.push((var, 1));
            for to in set {
                self.arrivals.entry(*to).or_default().routes.push((from, var));
            }
        }
        taken
    }

    fn routes(&mut self, ix: NodeIx) {
        let Some(ways) = self.ways.get_mut(ix.0).map(std::mem::take) else { return };
        let Some(vars) = self.flow.nodes.get(&ix) else { return };
        let (refused, calls) = (vars.refused, vars.calls.clone());
        let mut taken = self.lead(Some(ix), &ways.done);
        for (tool, leads) in &ways.tools {
            let by_tool = self.lead(Some(ix), leads);
            if let Some(calls) = calls.get(tool) {
                let mut sum = by_tool.clone();
                sum.push((*calls, -1));
                self.flow.linear.at_most(sum, 0);
            }
            taken.extend(by_tool);
        }
        self.by_routes.insert(ix, taken.clone());
        self.leaving.insert(ix, taken);
        let Some(refused) = refused else { return };
        let mut sum: Sum = Vec::new();
        for set in &ways.refused {
            let var = self.flow.linear.var();
            sum.push((var, 1));
            for to in set {
                self.arrivals.entry(*to).or_default().refusals.push((Some(ix), var));
            }
        }
        sum.push((refused, -1));
        self.flow.linear.at_most(sum, 0);
    }

    /// A node leaves no more often than it starts, and starts no more often than something leads to it.
    fn balance(&mut self, ix: NodeIx) {
        let Some(vars) = self.flow.nodes.get(&ix) else { return };
        let mut begun: Sum = vec![(vars.starts, 1)];
        begun.extend(vars.refused.map(|var| (var, 1)));
        let mut left = self.leaving.remove(&ix).unwrap_or_default();
        left.push((vars.starts, -1));
        self.flow.linear.at_most(left, 0);
        begun.extend(self.redirected(ix));
        let arrivals = self.arrivals.remove(&ix).unwrap_or_default();
        let routes = || arrivals.routes.iter().chain(&arrivals.refusals);
        let by_limits = || arrivals.limits.iter().map(|var| (*var, -1));
        let after = self.setup.graph.nodes.get(ix.0).map(|node| node.after.as_slice()).unwrap_or_default();
        if after.is_empty() {
            let mut sum = begun;
            sum.extend(routes().map(|(_, var)| (*var, -1)).chain(by_limits()));
            self.flow.linear.at_most(sum, 0);
            return;
        }
        // Each run takes one arrival from each of the nodes that it waits for.
        for source in after {
            let mut sum = begun.clone();
            let from_source = routes().filter(|(from, _)| *from == Some(*source));
            sum.extend(from_source.map(|(_, var)| (*var, -1)).chain(by_limits()));
            self.flow.linear.at_most(sum, 0);
        }
    }
}
