//! What is counted of an instance, as sums over its flow.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use super::flow::{Flow, NodeVars, Setup};
use super::instead::numbered;
use super::linear::{Sum, Var};
use crate::shape::offered;
use crate::{Bundle, Call, Callee, GraphIx, Node, NodeIx, Retry, ToolIx, Verb};

/// What is counted, of an instance or of all below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Super-steps.
    SuperSteps,
    /// Turns: model calls that offer tools, further attempts left out.
    Turns,
    /// Model calls where no attempt fails.
    ModelCalls,
    /// Model calls with all attempts: `retry.max`, each of all models of the route, and `truncate.tries` less one where a
    /// request is too long.
    ModelAttempts,
    /// Calls of tools that are admitted.
    ToolCalls,
    /// Ops that are run, by tools and by nodes, where no attempt fails.
    OpRuns,
    /// Ops that are run, with all attempts.
    OpAttempts,
    /// Questions to a person, approvals among them.
    Questions,
    /// Child graphs that are started.
    Starts,
    /// Tokens, input and output.
    Tokens,
    /// Micro-dollars.
    CostMicroUsd,
}

impl Measure {
    /// All of them.
    pub const ALL: [Measure; 11] = [
        Measure::SuperSteps,
        Measure::Turns,
        Measure::ModelCalls,
        Measure::ModelAttempts,
        Measure::ToolCalls,
        Measure::OpRuns,
        Measure::OpAttempts,
        Measure::Questions,
        Measure::Starts,
        Measure::Tokens,
        Measure::CostMicroUsd,
    ];

    /// Those that cost money wherever they are.
    pub const COSTLY: [Measure; 3] = [Measure::ModelCalls, Measure::OpRuns, Measure::Starts];

    /// What it is called.
    pub fn title(self) -> &'static str {
        match self {
            Measure::SuperSteps => "super-steps",
            Measure::Turns => "turns",
            Measure::ModelCalls => "model calls",
            Measure::ModelAttempts => "model calls with all retries",
            Measure::ToolCalls => "tool calls",
            Measure::OpRuns => "op runs",
            Measure::OpAttempts => "op runs with all retries",
            Measure::Questions => "questions",
            Measure::Starts => "starts of child graphs",
            Measure::Tokens => "tokens",
            Measure::CostMicroUsd => "money",
        }
    }

    /// Whether it is a sum of starts, not a quantity that steps use.
    pub(super) fn is_counted(self) -> bool {
        !matches!(self, Measure::Tokens | Measure::CostMicroUsd)
    }
}

/// What figures are kept of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Measure(Measure),
    /// Runs of an op, by name.
    Op(Arc<str>),
    /// Runs by nodes alone, not by tools: of an op by name, or of all.
    NodeRuns(Option<Arc<str>>),
    /// Runs of all ops by nodes alone, with all attempts.
    NodeAttempts,
    /// Instances of a graph, by path.
    Graph(Arc<str>),
}

/// A place where a graph starts others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site<'g> {
    pub(super) node: NodeIx,
    /// The tool, where a tool starts it.
    pub(super) tool: Option<ToolIx>,
    pub(super) var: Var,
    pub(super) call: &'g Call,
    pub(super) callee: GraphIx,
}

/// Something that a node does each time: a call, or nothing that is called.
struct Action<'g> {
    tool: Option<ToolIx>,
    var: Var,
    call: Option<&'g Call>,
    asks: bool,
    retry: &'g Retry,
}

impl Setup<'_> {
    /// The most attempts of a model node.
    pub(super) fn model_attempts(&self, node: &Node) -> u64 {
        let Verb::Model(model) = &node.verb else { return 0 };
        // A request that was too long goes to the same model once more.
        let too_long = u64::from(model.truncate.tries.max(1)) - 1;
        self.attempts(&node.retry).saturating_mul(self.models).saturating_add(too_long)
    }

    /// The most attempts of an op that a tool runs.
    pub(super) fn tool_attempts(&self) -> u64 {
        self.graph.tools.iter().map(|tool| self.attempts(&tool.retry)).max().unwrap_or(0)
    }

    fn attempts(&self, retry: &Retry) -> u64 {
        retry.max.count(&self.known.config).unwrap_or(1).max(1)
    }
}

impl Flow {
    /// The nodes that can run, in plan order.
    pub(super) fn live<'f, 'g>(
        &'f self,
        setup: &Setup<'g>,
    ) -> impl Iterator<Item = (NodeIx, &'g Node, &'f NodeVars)> {
        numbered(setup.graph).filter_map(|(ix, node)| Some((ix, node, self.nodes.get(&ix)?)))
    }

    /// The places where children are started.
    pub(super) fn sites<'g>(&self, setup: &Setup<'g>) -> Vec<Site<'g>> {
        let mut sites = Vec::new();
        for (ix, node, vars) in self.live(setup) {
            for action in actions(setup, node, vars) {
                if let Some(call) = action.call
                    && let Callee::Graph(callee) = call.callee
                {
                    sites.push(Site { node: ix, tool: action.tool, var: action.var, call, callee });
                }
            }
        }
        sites
    }

    /// What of a key an instance counts itself. Tokens and money are in none of its starts.
    pub(super) fn own(&self, setup: &Setup<'_>, key: &Key) -> Sum {
        let mut sum = Sum::new();
        for (ix, node, vars) in self.live(setup) {
            match key {
                Key::Measure(Measure::SuperSteps) => {
                    sum.push((vars.starts, 1));
                    sum.extend(vars.refused.map(|var| (var, 1)));
                }
                Key::Measure(Measure::Turns) if !offered(setup.graph, ix).is_empty() => {
                    sum.push((vars.starts, 1));
                }
                Key::Measure(measure @ (Measure::ModelCalls | Measure::ModelAttempts)) => {
                    let each = if *measure == Measure::ModelCalls { 1 } else { setup.model_attempts(node) };
                    let var = vars.sent.unwrap_or_else(|| vars.begun());
                    sum.extend(matches!(node.verb, Verb::Model(_)).then_some((var, i128::from(each))));
                }
                Key::Measure(Measure::ToolCalls) => sum.extend(vars.calls.values().map(|var| (*var, 1))),
                Key::Measure(Measure::Questions) => {
                    sum.extend(vars.approvals.values().map(|var| (*var, 1)));
                    let asking = actions(setup, node, vars).into_iter().filter(|action| action.asks);
                    sum.extend(asking.map(|action| (action.var, 1)));
                }
                _ => {
                    let all = actions(setup, node, vars);
                    sum.extend(
                        all.iter().filter_map(|action| Some((action.var, called(setup, action, key)?))),
                    );
                }
            }
        }
        sum
    }
}

/// How often a key counts in one call; none where it is about something else.
fn called(setup: &Setup<'_>, action: &Action<'_>, key: &Key) -> Option<i128> {
    match (&action.call?.callee, key) {
        (Callee::Op(_), Key::Measure(Measure::OpRuns)) => Some(1),
        (Callee::Op(_), Key::Measure(Measure::OpAttempts)) => Some(i128::from(setup.attempts(action.retry))),
        (Callee::Op(op), Key::Op(name)) if op == name => Some(1),
        (Callee::Op(op), Key::NodeRuns(name)) if action.tool.is_none() => {
            name.as_ref().is_none_or(|name| name == op).then_some(1)
        }
        (Callee::Op(_), Key::NodeAttempts) if action.tool.is_none() => {
            Some(i128::from(setup.attempts(action.retry)))
        }
        (Callee::Graph(_), Key::Measure(Measure::Starts)) => Some(1),
        _ => None,
    }
}

/// What a node does, with what counts it.
fn actions<'g>(setup: &Setup<'g>, node: &'g Node, vars: &NodeVars) -> Vec<Action<'g>> {
    let whole = |call, asks| Action { tool: None, var: vars.begun(), call, asks, retry: &node.retry };
    match &node.verb {
        Verb::Pass | Verb::Model(_) => Vec::new(),
        Verb::Call(call) => vec![whole(Some(call), false)],
        Verb::Ask(_) => vec![whole(None, true)],
        Verb::RunTools(_) => {
            let tools = vars.calls.iter().filter_map(|(ix, var)| {
                let tool = setup.graph.tools.get(ix.0)?;
                Some(Action {
                    tool: Some(*ix),
                    var: *var,
                    call: tool.call.as_ref(),
                    asks: tool.ask.is_some(),
                    retry: &tool.retry,
                })
            });
            tools.collect()
        }
    }
}

/// All that an instance of a graph can count, and all below it.
pub(super) fn keys(bundle: &Bundle, of: GraphIx) -> BTreeSet<Key> {
    use Measure as M;
    let mut keys: BTreeSet<Key> = [M::SuperSteps].map(Key::Measure).into();
    let mut open = vec![of];
    let mut seen = BTreeSet::new();
    while let Some(ix) = open.pop() {
        let Some(graph) = bundle.graphs.get(ix.0).filter(|_| seen.insert(ix)) else { continue };
        let mut add = |measures: &[Measure]| keys.extend(measures.iter().copied().map(Key::Measure));
        if graph.nodes.iter().any(|node| matches!(node.verb, Verb::Model(_))) {
            add(&[M::Turns, M::ModelCalls, M::ModelAttempts, M::Tokens, M::CostMicroUsd]);
        }
        if !graph.tools.is_empty() {
            add(&[M::ToolCalls]);
        }
        let asks = graph.nodes.iter().any(|node| matches!(node.verb, Verb::Ask(_)));
        if asks || graph.tools.iter().any(|tool| tool.ask.is_some() || tool.approve.is_some()) {
            add(&[M::Questions]);
        }
        for call in graph.calls() {
            match &call.callee {
                Callee::Graph(callee) => {
                    keys.insert(Key::Measure(M::Starts));
                    keys.extend(bundle.graphs.get(callee.0).map(|graph| Key::Graph(graph.path.clone())));
                    open.push(*callee);
                }
                Callee::Op(op) => {
                    keys.extend([M::OpRuns, M::OpAttempts].map(Key::Measure));
                    keys.extend([Key::NodeRuns(None), Key::NodeAttempts]);
                    keys.extend([Key::Op(op.clone()), Key::NodeRuns(Some(op.clone()))]);
                }
            }
        }
    }
    keys
}
