//! A run as invariants read it.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_engine::{LedgerView, Machine};
use deepgraph_graph::{Bundle, Graph, InForce, Node};
use deepgraph_protocol::{
    Entry, EntryBody, Event, Grant, Map, Meter, Millis, Output, ScopePath, Started, StepId,
};

use crate::SimRun;

/// A run, its rows by instance, and its journals folded anew.
pub(super) struct Seen<'r> {
    pub(super) bundle: &'r Arc<Bundle>,
    pub(super) run: &'r SimRun,
    pub(super) scopes: BTreeMap<&'r ScopePath, Scope<'r>>,
}

/// One instance.
pub(super) struct Scope<'r> {
    pub(super) path: &'r ScopePath,
    pub(super) graph: &'r Graph,
    pub(super) started: &'r Started,
    /// Its configuration; where it went on after its end, that of its last attempt.
    pub(super) config: Arc<Map>,
    /// Its limits, from their declarations and from its grant.
    pub(super) limits: Vec<InForce<'r>>,
    pub(super) rows: Vec<Row<'r>>,
    /// The Machine that its journal folds to.
    pub(super) folded: Machine,
}

/// One row of an instance.
pub(super) struct Row<'r> {
    /// Its number among the rows of the run, from 0.
    pub(super) number: usize,
    pub(super) entry: &'r Entry,
    /// What the live Machine put out.
    pub(super) outputs: &'r [Output],
    /// What the fold put out.
    pub(super) folded: Vec<Output>,
    /// The ledger after it.
    pub(super) ledger: LedgerView,
}

impl<'r> Seen<'r> {
    pub(super) fn of(bundle: &'r Arc<Bundle>, run: &'r SimRun) -> Seen<'r> {
        let mut scopes: BTreeMap<&ScopePath, Scope<'_>> = BTreeMap::new();
        for (number, (path, entry)) in run.rows.iter().enumerate() {
            if let EntryBody::Started(started) = &entry.body
                && let Some(ix) = bundle.find(&started.graph)
            {
                let graph = bundle.graph(ix);
                scopes.entry(path).or_insert_with(|| Scope {
                    path,
                    graph,
                    started,
                    config: started.config.clone(),
                    limits: graph
                        .limits_in_force(&started.config, &|meter| started.grant.of(meter, entry.at)),
                    rows: Vec::new(),
                    folded: Machine::new(bundle.clone(), ix, path.clone()),
                });
            }
            let Some(scope) = scopes.get_mut(path) else { continue };
            if let EntryBody::Resumed { config, grant, .. } = &entry.body {
                scope.raise(config, grant, entry.at);
            }
            let outputs = run.outputs.get(number).map(Vec::as_slice).unwrap_or_default();
            let folded = scope.folded.apply(entry);
            let ledger = scope.folded.ledger();
            scope.rows.push(Row { number, entry, outputs, folded, ledger });
        }
        Seen { bundle, run, scopes }
    }
}

impl<'r> Scope<'r> {
    /// It goes on, under another configuration and with more granted: ceilings hold for all attempts together, so from
    /// here on the raised ones are those of the whole.
    fn raise(&mut self, config: &'r Arc<Map>, grant: &'r Grant, at: Millis) {
        let ledger = self.folded.ledger();
        let mut used = ledger.settled;
        used += ledger.unknown;
        let granted = |meter: Meter| {
            let before = match meter {
                Meter::Tokens => used.tokens,
                Meter::CostUsd => used.cost_micro_usd,
                Meter::ModelCalls => used.model_calls,
                Meter::ToolCalls => used.tool_calls,
                _ => 0,
            };
            grant.of(meter, at).map(|more| before.saturating_add(more))
        };
        self.limits = self.graph.limits_in_force(config, &granted);
        self.config = config.clone();
    }

    /// What it told, each with the number of the row that it followed from.
    pub(super) fn events(&self) -> impl Iterator<Item = (usize, &'r Event)> + '_ {
        self.outputs().filter_map(|(row, output)| match output {
            Output::Event(event) => Some((row, event)),
            Output::Effect(_) => None,
        })
    }

    pub(super) fn outputs(&self) -> impl Iterator<Item = (usize, &'r Output)> + '_ {
        self.rows.iter().flat_map(|row| row.outputs.iter().map(|output| (row.number, output)))
    }

    /// Where one of its steps stands; none for a step of another instance.
    pub(super) fn at<'s>(&self, step: &'s StepId) -> Option<At<'s>> {
        let own = match self.path.step() {
            Some(above) => step.below(&above)?,
            None => step.as_str(),
        };
        let (node, inner) = match own.split_once('/') {
            Some((node, inner)) => (node, Some(inner)),
            None => (own, None),
        };
        let name = node.rsplit_once('.')?.0;
        let path = &step.as_str()[..step.as_str().len() - inner.map_or(0, |inner| inner.len() + 1)];
        Some(At { node: name, run: path, inner })
    }

    /// The node of one of its steps.
    pub(super) fn node(&self, step: &StepId) -> Option<&'r Node> {
        let ix = self.graph.node(self.at(step)?.node)?;
        self.graph.nodes.get(ix.0)
    }
}

/// Where a step stands in its instance.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<'s> {
    /// The node's name.
    pub(super) node: &'s str,
    /// The step of the node.
    pub(super) run: &'s str,
    /// What stands below the node: a call, an item, the question about a call.
    pub(super) inner: Option<&'s str>,
}

impl<'s> At<'s> {
    /// The name and the number of a call or an item.
    pub(super) fn part(&self) -> Option<(&'s str, u64)> {
        let (name, number) = self.inner?.split('/').next()?.rsplit_once('.')?;
        Some((name, number.parse().ok()?))
    }
}

/// The bound of a limit in base units, in the stage of `finally` or before it; none: it is off.
pub(super) fn bound_of(limit: &InForce<'_>, in_finally: bool) -> Option<u64> {
    limit.max.map(|max| if in_finally { max } else { max.saturating_sub(limit.kept) })
}
