//! What may end a graph wherever it stands: limits of quantities, failures that nothing takes up, its caller.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::graph::Sketch;
use super::lines::Place;
use super::{Cluster, ClusterKind, Item, Kind, Line, LineKind, Seen, boxes, implied, limits};
use crate::draw::taken::Passage;

/// Something that may end a graph, with the exits by which it does.
struct Cause {
    item: Item,
    kind: LineKind,
    exits: Vec<(Passage, Arc<str>)>,
}

impl Sketch<'_> {
    /// What may end the graph wherever it stands: causes and their exits, apart from all else.
    pub(super) fn anywhere(&self) -> Cluster {
        let mut causes = self.panel_limits();
        let (nodes, failures) = implied::failures(self.graph);
        let detail = "no on_error takes it up";
        let tip = format!("a step fails and {detail}: {}", nodes.join(", "));
        let exits = self.panel_exits(failures, Passage::Failure, |p| match p {
            Passage::Failure(name) => Some(name),
            _ => None,
        });
        causes.extend(self.cause(0, "a step fails", detail, &tip, exits));
        let exits = self.panel_exits(implied::of_grant(self.bundle, self.ix), Passage::Grant, |p| match p {
            Passage::Grant(name) => Some(name),
            _ => None,
        });
        causes.extend(self.cause(1, "the grant is used up", "", "what the caller granted is used up", exits));
        let exits = self.panel_exits(BTreeSet::from(["cancelled"]), Passage::Cancelled, |p| match p {
            Passage::Cancelled(name) => Some(name),
            _ => None,
        });
        let tip = "somebody cancels the run, or its caller ends";
        causes.extend(self.cause(2, "cancelled from outside", "", tip, exits));
        let tip = "an expression can not be evaluated, or two nodes of one super-step write one channel";
        let exits = vec![(Passage::Fault, "graph_error".into())];
        causes.extend(self.cause(3, "the graph is at fault", "expression, or two writers", tip, exits));
        self.panel(causes)
    }

    /// The limits that do not stand among the nodes.
    fn panel_limits(&self) -> Vec<Cause> {
        let all = self.graph.limits.iter().enumerate().filter(|(_, limit)| !limits::is_in_flow(limit));
        all.map(|(index, limit)| {
            let id = self.id(&Place::Limit(index));
            let item = boxes::limit(self.graph, &self.overlay, index, limit, id);
            let exit = limits::exit_of(limit).map(|name| (Passage::Limit(index), name));
            Cause { item, kind: LineKind::Limit, exits: exit.into_iter().collect() }
        })
        .collect()
    }

    /// Something that no file names; none where it leads nowhere.
    fn cause(
        &self,
        number: usize,
        name: &str,
        detail: &str,
        tip: &str,
        exits: Vec<(Passage, Arc<str>)>,
    ) -> Option<Cause> {
        let seen = exits.iter().map(|(passage, _)| self.gone(passage)).reduce(Seen::and)?;
        let id = format!("g{}_c{number}", self.ix.0);
        let (detail, tip) = (detail.to_owned(), tip.to_owned());
        let item = Item { detail, tip, seen, ..boxes::plain(id, Kind::Cause, name) };
        Some(Cause { item, kind: LineKind::Implied, exits })
    }

    /// Exits by name, with those beside by which the run went.
    fn panel_exits(
        &self,
        names: BTreeSet<&'static str>,
        passage: fn(Arc<str>) -> Passage,
        name_of: fn(&Passage) -> Option<&Arc<str>>,
    ) -> Vec<(Passage, Arc<str>)> {
        let gone =
            self.overlay.taken.into_iter().flat_map(|t| t.passages.keys()).filter_map(name_of).cloned();
        let all: BTreeSet<Arc<str>> = names.into_iter().map(Arc::from).chain(gone).collect();
        all.into_iter().map(|name| (passage(name.clone()), name)).collect()
    }

    /// The cluster of causes and their exits.
    fn panel(&self, causes: Vec<Cause>) -> Cluster {
        let mut names: BTreeMap<Arc<str>, BTreeSet<&Passage>> = BTreeMap::new();
        for (passage, name) in causes.iter().flat_map(|cause| &cause.exits) {
            names.entry(name.clone()).or_default().insert(passage);
        }
        let id = |name: &Arc<str>| {
            let position = names.keys().position(|n| n == name).unwrap_or(0);
            format!("g{}_y{position}", self.ix.0)
        };
        let mut lines = Vec::new();
        for cause in &causes {
            lines.extend(cause.exits.iter().map(|(passage, name)| Line {
                from: cause.item.id.clone(),
                to: id(name),
                kind: cause.kind,
                label: String::new(),
                seen: self.gone(passage),
            }));
        }
        let exits: Vec<Item> =
            names.iter().map(|(name, passages)| self.exit_box(id(name), name, passages)).collect();
        Cluster {
            id: format!("g{}_anywhere", self.ix.0),
            kind: ClusterKind::Anywhere,
            title: "at any step".to_owned(),
            tip: "What may end the graph wherever it stands.".to_owned(),
            seen: Seen::Plain,
            boxes: causes.into_iter().map(|cause| cause.item).chain(exits).collect(),
            lines,
            inner: Vec::new(),
        }
    }
}
