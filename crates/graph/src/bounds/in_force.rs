//! The limits of an instance, as they are in force: with their bounds, those that follow from what it is granted
//! included. The same rules as those by which the engine sets them.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_protocol::{ExitClass, ExitReason, Map, Meter};

use crate::shape::offered;
use crate::{Counted, Each, Graph, Limit, Node, NodeIx, OnReach, Reserve, Setting, ToolIx, Verb};

/// What an instance is granted at most, by meter, in base units (calls, tokens, micro-dollars), and by which limit.
pub(super) type Granted = BTreeMap<Meter, (u64, Arc<str>)>;

/// A limit with its bound.
#[derive(Debug)]
pub(super) struct InForce<'g> {
    pub(super) name: Arc<str>,
    pub(super) what: What<'g>,
    /// The bound in base units; none: it has none (gain).
    pub(super) max: Option<u64>,
    /// What of it the main part can use: all but the reserve.
    pub(super) main: Option<u64>,
    pub(super) then: OnReach,
    /// Whether children's use is left out.
    pub(super) own: bool,
    /// The config key of the bound.
    pub(super) key: Option<Arc<str>>,
    /// The limit of a caller that it comes from, where it does.
    pub(super) from: Option<Arc<str>>,
}

/// What a limit counts.
#[derive(Debug)]
pub(super) enum What<'g> {
    Names {
        tools: &'g [ToolIx],
        nodes: &'g [NodeIx],
        /// Whether all calls of the tools are counted.
        all: bool,
        /// Whether calls are counted by value.
        per: bool,
    },
    Meter(Meter),
    Gain,
}

/// The limits of an instance of a graph.
pub(super) fn of<'g>(graph: &'g Graph, config: &Map, granted: &Granted) -> Vec<InForce<'g>> {
    let mut limits: Vec<InForce<'g>> =
        graph.limits.iter().filter_map(|l| declared(l, config, granted)).collect();
    let implied = [
        (Meter::Tokens, ExitReason::TokenBudget),
        (Meter::CostUsd, ExitReason::CostBudget),
        (Meter::ModelCalls, ExitReason::StepLimit),
        (Meter::ToolCalls, ExitReason::ToolCallCap),
    ];
    for (meter, reason) in implied {
        let covered = limits.iter().any(|l| matches!(l.what, What::Meter(m) if m == meter) && !l.own);
        let Some((max, from)) = granted.get(&meter).filter(|_| !covered) else { continue };
        let share = if meter.is_quantity() && graph.finally.is_some() { 0.1 } else { 0.0 };
        let class = reason.class().unwrap_or(ExitClass::Budget);
        limits.push(InForce {
            name: format!("grant.{}", meter.name()).into(),
            what: What::Meter(meter),
            max: Some(*max),
            main: Some(max - (*max as f64 * share) as u64),
            then: OnReach::Exit(reason, class),
            own: false,
            key: None,
            from: Some(from.clone()),
        });
    }
    limits
}

fn declared<'g>(limit: &'g Limit, config: &Map, granted: &Granted) -> Option<InForce<'g>> {
    let what = match &limit.counted {
        Counted::Names { tools, nodes } => What::Names {
            tools,
            nodes,
            all: limit.condition.is_none() && limit.per.is_none(),
            per: limit.per.is_some(),
        },
        Counted::Meter(meter) => What::Meter(*meter),
        Counted::Gain { below, .. } => {
            if below.number(config).is_none_or(|share| share <= 0.0) {
                return None;
            }
            What::Gain
        }
    };
    let meter = if let What::Meter(meter) = what { Some(meter) } else { None };
    let unit = meter.map_or(1.0, Meter::base_units);
    let own = limit.max.as_ref().and_then(|m| m.number(config)).map(|n| (n.max(0.0) * unit).round() as u64);
    let grant = meter.filter(|_| !limit.own).and_then(|meter| granted.get(&meter));
    let from = grant.filter(|(most, _)| own.is_none_or(|own| *most < own)).map(|(_, from)| from.clone());
    let max = own.into_iter().chain(grant.map(|(most, _)| *most)).min();
    if max.is_none() && !matches!(what, What::Gain) {
        return None;
    }
    let reserve = max.map_or(0, |max| match limit.reserve {
        Reserve::Share(share) => (max as f64 * share) as u64,
        Reserve::Units(units) => ((units * unit).round() as u64).min(max),
    });
    let key = match &limit.max {
        Some(Setting::Config(key)) if from.is_none() => Some(key.clone()),
        _ => None,
    };
    Some(InForce {
        name: limit.name.clone(),
        what,
        max,
        main: max.map(|max| max.saturating_sub(reserve)),
        then: limit.on_reach.clone(),
        own: limit.own,
        key,
        from,
    })
}

impl InForce<'_> {
    pub(super) fn meter(&self) -> Option<Meter> {
        if let What::Meter(meter) = self.what { Some(meter) } else { None }
    }

    /// Whether it covers the children of the instance.
    pub(super) fn covers(&self, meter: Meter) -> bool {
        self.meter() == Some(meter) && !self.own
    }

    /// Where it leads, if it leads to a node.
    pub(super) fn target(&self) -> Option<NodeIx> {
        if let OnReach::To(node) = self.then { Some(node) } else { None }
    }

    /// Whether it is asked before a node starts.
    pub(super) fn stops_start(&self, graph: &Graph, ix: NodeIx) -> bool {
        let Some(node) = graph.nodes.get(ix.0) else { return false };
        match &self.what {
            What::Names { nodes, .. } => nodes.contains(&ix),
            What::Meter(Meter::Turns) => !offered(graph, ix).is_empty(),
            What::Meter(meter @ (Meter::ModelCalls | Meter::Steps)) => {
                node.each.is_none() && counts_verb(*meter, &node.verb)
            }
            What::Meter(Meter::SuperSteps) => true,
            What::Meter(_) | What::Gain => false,
        }
    }

    /// Whether it is asked before an item of a node starts.
    pub(super) fn stops_item(&self, node: &Node) -> bool {
        let is_list = matches!(node.each, Some(Each { .. }));
        self.meter().is_some_and(|meter| is_list && counts_verb(meter, &node.verb))
    }

    /// Whether calls of a tool may count for it.
    pub(super) fn may_count(&self, tool: ToolIx) -> bool {
        match &self.what {
            What::Names { tools, .. } => tools.contains(&tool),
            What::Meter(meter) => *meter == Meter::ToolCalls,
            What::Gain => false,
        }
    }

    /// Whether every call of a tool counts for it.
    pub(super) fn counts(&self, tool: ToolIx) -> bool {
        self.may_count(tool) && !matches!(self.what, What::Names { all: false, .. })
    }
}

/// Whether a meter counts the start of a verb.
pub(super) fn counts_verb(meter: Meter, verb: &Verb) -> bool {
    match meter {
        Meter::ModelCalls => matches!(verb, Verb::Model(_)),
        Meter::Steps => verb.is_step(),
        _ => false,
    }
}
