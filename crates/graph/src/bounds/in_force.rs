//! The limits of an instance, as they are in force: with their bounds, and with where these come from. Limits that are
//! off are left out.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_protocol::{Map, Meter};

use crate::shape::offered;
use crate::{Counts, Each, Graph, Node, NodeIx, OnReach, Setting, ToolIx, Verb};

/// What an instance is granted at most, by meter, in base units (calls, tokens, micro-dollars), and by which limit.
pub(super) type Granted = BTreeMap<Meter, (u64, Arc<str>)>;

/// A limit with its bound.
#[derive(Debug)]
pub(super) struct InForce {
    pub(super) name: Arc<str>,
    pub(super) what: What,
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
pub(super) enum What {
    Names {
        tools: Vec<ToolIx>,
        nodes: Vec<NodeIx>,
        /// Whether all calls of the tools are counted.
        all: bool,
        /// Whether calls are counted by value.
        per: bool,
    },
    Meter(Meter),
    Gain,
}

/// The limits of an instance of a graph.
pub(super) fn of(graph: &Graph, config: &Map, granted: &Granted) -> Vec<InForce> {
    let most = |meter: Meter| granted.get(&meter).map(|(most, _)| *most);
    let limits = graph.limits_in_force(config, &most).into_iter();
    limits.filter_map(|limit| told(limit, granted)).collect()
}

/// A limit with where its bound comes from; none where it is off.
fn told(limit: crate::InForce<'_>, granted: &Granted) -> Option<InForce> {
    let is_off = match &limit.counts {
        Counts::Names { .. } | Counts::Meter(_) => limit.max.is_none(),
        Counts::Gain { below, .. } => *below <= 0.0,
    };
    if is_off {
        return None;
    }
    let condition = limit.declared.and_then(|declared| declared.condition.as_ref());
    let per = limit.declared.and_then(|declared| declared.per.as_ref());
    let what = match limit.counts {
        Counts::Names { tools, nodes } => {
            What::Names { tools, nodes, all: condition.is_none() && per.is_none(), per: per.is_some() }
        }
        Counts::Meter(meter) => What::Meter(meter),
        Counts::Gain { .. } => What::Gain,
    };
    let from = match what {
        What::Meter(meter) if limit.by_grant => granted.get(&meter).map(|(_, from)| from.clone()),
        _ => None,
    };
    let key = match limit.declared.and_then(|declared| declared.max.as_ref()) {
        Some(Setting::Config(key)) if from.is_none() => Some(key.clone()),
        _ => None,
    };
    Some(InForce {
        name: limit.name,
        what,
        max: limit.max,
        main: limit.max.map(|max| max.saturating_sub(limit.kept)),
        then: limit.on_reach,
        own: limit.own,
        key,
        from,
    })
}

impl InForce {
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
