//! One graph of a picture: its boxes, lines and the clusters of its `finally` stage and of what may end it
//! anywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::lines::{self, INHERIT, Lead, Place, drawn_tools};
use super::{Cluster, ClusterKind, Item, Kind, Line, LineKind, Overlay, Seen, boxes, implied, limits};
use crate::draw::taken::{Passage, TakenGraph};
use crate::shape::offered;
use crate::{Bundle, Callee, Graph, GraphIx, NodeIx, Verb};

/// The cluster of a graph. Lines to the graphs that it calls are added to `calls`.
pub(super) fn draw(bundle: &Bundle, ix: GraphIx, overlay: Overlay<'_>, calls: &mut Vec<Line>) -> Cluster {
    let graph = bundle.graph(ix);
    let in_flow = graph.limits.iter().enumerate().filter(|(_, limit)| limits::is_in_flow(limit));
    let mut leads = lines::leads(graph);
    leads.extend(in_flow.flat_map(|(index, limit)| limits::leads(graph, index, limit)));
    let exits: BTreeSet<Arc<str>> = leads
        .iter()
        .filter_map(|lead| if let Place::Exit(name) = &lead.to { Some(name.clone()) } else { None })
        .collect();
    let sketch = Sketch { bundle, ix, graph, overlay, exits: exits.into_iter().collect() };
    let mut lines = sketch.lines(&leads);
    lines.extend(sketch.runs());
    let mut all = sketch.boxes(false);
    all.extend(sketch.exit_boxes(&leads));
    let stage = graph.finally.is_some().then(|| sketch.stage());
    sketch.calls(calls);
    Cluster {
        id: format!("g{}", ix.0),
        kind: ClusterKind::Graph,
        title: graph.name.to_string(),
        tip: match &*graph.description {
            "" => graph.name.to_string(),
            text => format!("{}: {text}", graph.name),
        },
        seen: overlay.seen(|t| t.instances),
        boxes: all,
        lines,
        inner: stage.into_iter().chain([sketch.anywhere()]).collect(),
    }
}

/// One graph while it is drawn.
struct Sketch<'g> {
    bundle: &'g Bundle,
    ix: GraphIx,
    graph: &'g Graph,
    overlay: Overlay<'g>,
    /// The exits that routes and limits in the flow lead to, in byte order.
    exits: Vec<Arc<str>>,
}

impl Sketch<'_> {
    fn id(&self, place: &Place) -> String {
        let g = self.ix.0;
        match place {
            Place::Start => format!("g{g}_start"),
            Place::Finally => format!("g{g}_fin"),
            Place::Node(ix) => format!("g{g}_n{}", ix.0),
            Place::Tool(ix) => format!("g{g}_t{}", ix.0),
            Place::Limit(index) => format!("g{g}_l{index}"),
            Place::Exit(name) => {
                let position = self.exits.iter().position(|n| n == name).unwrap_or(0);
                format!("g{g}_x{position}")
            }
        }
    }

    /// The boxes of the main part, or of the `finally` stage.
    fn boxes(&self, finally: bool) -> Vec<Item> {
        let mut found = Vec::new();
        if finally {
            let seen = self.overlay.seen(|t| t.finishing);
            found.push(Item { seen, ..boxes::plain(self.id(&Place::Finally), Kind::Finally, "finally") });
        } else {
            let seen = self.overlay.seen(|t| t.instances);
            found.push(Item { seen, ..boxes::plain(self.id(&Place::Start), Kind::Start, "start") });
        }
        let mut tools = BTreeSet::new();
        for (index, node) in self.graph.nodes.iter().enumerate().filter(|(_, n)| n.in_finally == finally) {
            let (ix, place) = (NodeIx(index), Place::Node(NodeIx(index)));
            found.push(boxes::node(self.bundle, self.graph, &self.overlay, ix, self.id(&place)));
            let Verb::RunTools(of) = node.verb else { continue };
            // A tool that several nodes run stands beside the first.
            for tool in offered(self.graph, of).into_iter().filter(|t| self.first_runner(*t) == Some(ix)) {
                if tools.insert(tool) {
                    let id = self.id(&Place::Tool(tool));
                    found.push(boxes::tool(self.bundle, self.graph, &self.overlay, tool, id));
                }
            }
        }
        for (index, limit) in self.graph.limits.iter().enumerate() {
            if !finally && limits::is_in_flow(limit) {
                let id = self.id(&Place::Limit(index));
                found.push(boxes::limit(self.graph, &self.overlay, index, limit, id));
            }
        }
        found
    }

    fn runners(&self, tool: crate::ToolIx) -> impl Iterator<Item = NodeIx> {
        let runs =
            move |verb: &Verb| matches!(verb, Verb::RunTools(of) if offered(self.graph, *of).contains(&tool));
        (0..self.graph.nodes.len()).map(NodeIx).filter(move |ix| runs(&self.graph.nodes[ix.0].verb))
    }

    fn first_runner(&self, tool: crate::ToolIx) -> Option<NodeIx> {
        self.runners(tool).next()
    }

    /// The exits that something in the flow leads to.
    fn exit_boxes(&self, leads: &[Lead]) -> Vec<Item> {
        let item = |name: &Arc<str>| {
            let passages: BTreeSet<&Passage> = leads
                .iter()
                .filter(|lead| matches!(&lead.to, Place::Exit(to) if to == name))
                .map(|lead| &lead.passage)
                .collect();
            self.exit_box(self.id(&Place::Exit(name.clone())), name, &passages)
        };
        self.exits.iter().map(item).collect()
    }

    /// The box of an exit: how often an instance ended by one of these passages.
    fn exit_box(&self, id: String, name: &Arc<str>, passages: &BTreeSet<&Passage>) -> Item {
        let ends = |t: &TakenGraph| -> BTreeMap<Arc<str>, u64> {
            let mut ends = BTreeMap::new();
            for ((passage, reason), n) in &t.exits {
                if passages.contains(passage) {
                    *ends.entry(reason.clone()).or_default() += n;
                }
            }
            ends
        };
        let seen = self.overlay.seen(|t| ends(t).values().sum());
        let mut item = Item { seen, ..boxes::plain(id, Kind::Exit, name) };
        item.tip = format!("exit {name}");
        if &**name == INHERIT {
            let reasons: Vec<Arc<str>> =
                self.overlay.taken.map(|t| ends(t).into_keys().collect()).unwrap_or_default();
            item.detail = match reasons.is_empty() {
                true => "as the called graph ended".to_owned(),
                false => reasons.join(", "),
            };
            item.tip = "exit: as the called graph ended".to_owned();
        }
        item
    }

    /// The lines of all leads. Those that look the same are one.
    fn lines(&self, leads: &[Lead]) -> Vec<Line> {
        let mut found: Vec<Line> = Vec::new();
        let mut gone: Vec<BTreeSet<&Passage>> = Vec::new();
        for lead in leads {
            let (from, to) = (self.id(&lead.from), self.id(&lead.to));
            let seen = match (&lead.kind, &lead.passage) {
                (LineKind::Counts, Passage::Limit(index)) => self.counted(*index),
                (_, passage) => self.overlay.seen(|t| t.passages.get(passage).copied().unwrap_or(0)),
            };
            let same = found.iter().position(|line| {
                (&line.from, &line.to, line.kind, &line.label) == (&from, &to, lead.kind, &lead.label)
            });
            match same {
                None => {
                    found.push(Line { from, to, kind: lead.kind, label: lead.label.clone(), seen });
                    gone.push([&lead.passage].into());
                }
                Some(at) if gone[at].insert(&lead.passage) => found[at].seen = found[at].seen.and(seen),
                Some(_) => {}
            }
        }
        found
    }

    /// What a run made of the lines to a limit: they belong to it, without a count of their own.
    fn counted(&self, limit: usize) -> Seen {
        match self.overlay.seen(|t| t.reached.get(&limit).copied().unwrap_or(0)) {
            Seen::Taken(_) => Seen::Plain,
            other => other,
        }
    }

    /// The lines from nodes to the tools that they run.
    fn runs(&self) -> Vec<Line> {
        let line = |tool, runner| Line {
            from: self.id(&Place::Node(runner)),
            to: self.id(&Place::Tool(tool)),
            kind: LineKind::Runs,
            label: String::new(),
            seen: self.overlay.seen(|t| t.calls.get(&(runner, tool)).copied().unwrap_or(0)),
        };
        drawn_tools(self.graph)
            .into_iter()
            .flat_map(|tool| self.runners(tool).map(move |runner| (tool, runner)).collect::<Vec<_>>())
            .map(|(tool, runner)| line(tool, runner))
            .collect()
    }

    /// The stage of `finally`.
    fn stage(&self) -> Cluster {
        Cluster {
            id: format!("g{}_finally", self.ix.0),
            kind: ClusterKind::Finally,
            title: "finally: every exit passes here".to_owned(),
            tip: "Whatever ends the graph, this runs before its caller goes on.".to_owned(),
            seen: self.overlay.seen(|t| t.finishing),
            boxes: self.boxes(true),
            lines: Vec::new(),
            inner: Vec::new(),
        }
    }

    /// What may end the graph wherever it stands.
    fn anywhere(&self) -> Cluster {
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
            let seen = exits.iter().fold(self.overlay.seen(|_| 0), |seen, (passage, _)| {
                seen.and(self.overlay.seen(|t| t.passages.get(passage).copied().unwrap_or(0)))
            });
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
        let exits = vec![(Passage::Cancelled, "cancelled".into())];
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
                seen: self.overlay.seen(|t| t.passages.get(passage).copied().unwrap_or(0)),
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

    /// The lines to the graphs that are called.
    fn calls(&self, calls: &mut Vec<Line>) {
        let mut line = |from: &Place, callee: &Callee, seen: Seen| {
            if let Callee::Graph(child) = callee {
                let (from, to) = (self.id(from), format!("g{}_start", child.0));
                calls.push(Line { from, to, kind: LineKind::Starts, label: "starts".to_owned(), seen });
            }
        };
        for (index, node) in self.graph.nodes.iter().enumerate() {
            if let Verb::Call(call) = &node.verb {
                let seen = self.overlay.seen(|t| t.spawned.get(&NodeIx(index)).copied().unwrap_or(0));
                line(&Place::Node(NodeIx(index)), &call.callee, seen);
            }
        }
        for ix in drawn_tools(self.graph) {
            if let Some(call) = self.graph.tools.get(ix.0).and_then(|t| t.call.as_ref()) {
                let seen = self.overlay.seen(|t| t.called.get(&ix).copied().unwrap_or(0));
                line(&Place::Tool(ix), &call.callee, seen);
            }
        }
    }
}
