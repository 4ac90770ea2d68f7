//! What may end a graph wherever it stands: limits of quantities, failures that nothing takes up, its caller.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::graph::Sketch;
use super::lines::Place;
use super::{Cluster, ClusterKind, Item, Kind, Line, LineKind, Seen, boxes, implied, limits};
use crate::draw::taken::Passage;

impl Sketch<'_> {
    /// What may end the graph wherever it stands.
    pub(super) fn anywhere(&self) -> Cluster {
        let mut causes: Vec<(Item, Vec<(Passage, Arc<str>, LineKind)>)> = Vec::new();
        for (index, limit) in self.graph.limits.iter().enumerate().filter(|(_, l)| !limits::is_in_flow(l)) {
            let item = boxes::limit(self.graph, &self.overlay, index, limit, self.id(&Place::Limit(index)));
            let exit = limits::exit_of(limit).map(|name| (Passage::Limit(index), name, LineKind::Limit));
            causes.push((item, exit.into_iter().collect()));
        }
        let mut cause = |name: &str, detail: &str, tip: String, exits: Vec<(Passage, Arc<str>)>| {
            if exits.is_empty() {
                return;
            }
            let seen = exits
                .iter()
                .fold(self.overlay.seen(|_| 0), |seen, (passage, _)| seen.and(self.gone(passage)));
            let id = format!("g{}_c{}", self.ix.0, causes.len());
            let item = Item { detail: detail.to_owned(), tip, seen, ..boxes::plain(id, Kind::Cause, name) };
            causes.push((item, exits.into_iter().map(|(p, name)| (p, name, LineKind::Implied)).collect()));
        };
        let (nodes, failures) = implied::failures(self.graph);
        let failures =
            self.with_gone(failures, |p| if let Passage::Failure(name) = p { Some(name) } else { None });
        let detail = "no on_error takes it up";
        let exits = failures.into_iter().map(|n| (Passage::Failure(n.clone()), n)).collect();
        cause("a step fails", detail, format!("a step fails and {detail}: {}", nodes.join(", ")), exits);
        let granted = implied::of_grant(self.bundle, self.ix);
        let granted =
            self.with_gone(granted, |p| if let Passage::Grant(name) = p { Some(name) } else { None });
        let exits = granted.into_iter().map(|n| (Passage::Grant(n.clone()), n)).collect();
        cause("the grant is used up", "", "what the caller granted is used up".to_owned(), exits);
        let cancelled = BTreeSet::from(["cancelled"]);
        let cancelled =
            self.with_gone(cancelled, |p| if let Passage::Cancelled(name) = p { Some(name) } else { None });
        let exits = cancelled.into_iter().map(|n| (Passage::Cancelled(n.clone()), n)).collect();
        cause("cancelled from outside", "", "somebody cancels the run, or its caller ends".to_owned(), exits);
        let tip = "an expression can not be evaluated, or two nodes of one super-step write one channel";
        let exits = vec![(Passage::Fault, "graph_error".into())];
        cause("the graph is at fault", "expression, or two writers", tip.to_owned(), exits);
        self.panel(causes)
    }

    /// The cluster of causes and their exits.
    fn panel(&self, causes: Vec<(Item, Vec<(Passage, Arc<str>, LineKind)>)>) -> Cluster {
        let mut names: BTreeMap<Arc<str>, BTreeSet<&Passage>> = BTreeMap::new();
        for (passage, name, _) in causes.iter().flat_map(|(_, exits)| exits) {
            names.entry(name.clone()).or_default().insert(passage);
        }
        let id = |name: &Arc<str>| {
            let position = names.keys().position(|n| n == name).unwrap_or(0);
            format!("g{}_y{position}", self.ix.0)
        };
        let mut lines = Vec::new();
        for (item, exits) in &causes {
            lines.extend(exits.iter().map(|(passage, name, kind)| Line {
                from: item.id.clone(),
                to: id(name),
                kind: *kind,
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
            boxes: causes.into_iter().map(|(item, _)| item).chain(exits).collect(),
            lines,
            inner: Vec::new(),
        }
    }

    /// Names, with those that the run went by beside.
    fn with_gone(
        &self,
        names: BTreeSet<&'static str>,
        name_of: impl Fn(&Passage) -> Option<&Arc<str>>,
    ) -> BTreeSet<Arc<str>> {
        let gone =
            self.overlay.taken.into_iter().flat_map(|t| t.passages.keys()).filter_map(name_of).cloned();
        names.into_iter().map(Arc::from).chain(gone).collect()
    }
}
