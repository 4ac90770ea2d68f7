//! One graph of a picture: its boxes, lines and the clusters of its `finally` stage and of what may end it
//! anywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::lines::{self, INHERIT, Lead, Place, Stage, drawn_tools, runners};
use super::{Cluster, ClusterKind, Item, Kind, Line, LineKind, Overlay, Seen, boxes, limits};
use crate::draw::taken::{Passage, TakenGraph};
use crate::{Bundle, Callee, Graph, GraphIx, NodeIx, Verb};

/// The cluster of a graph. Lines to the graphs that it calls are added to `calls`.
pub(super) fn draw(bundle: &Bundle, ix: GraphIx, overlay: Overlay<'_>, calls: &mut Vec<Line>) -> Cluster {
    let graph = bundle.graph(ix);
    let mut leads = lines::leads(graph);
    let in_flow = graph.limits.iter().enumerate().filter(|(_, limit)| limits::is_in_flow(limit));
    leads.extend(in_flow.flat_map(|(index, limit)| limits::leads(graph, index, limit)));
    let exits: BTreeSet<(Stage, Arc<str>)> = leads
        .iter()
        .filter_map(|lead| match &lead.to {
            Place::Exit(stage, name) => Some((*stage, name.clone())),
            _ => None,
        })
        .collect();
    let sketch = Sketch { bundle, ix, graph, overlay, leads, exits: exits.into_iter().collect() };
    let mut lines = sketch.lines();
    lines.extend(sketch.runs());
    sketch.calls(calls);
    let stage = graph.finally.is_some().then(|| sketch.stage());
    Cluster {
        id: format!("g{}", ix.0),
        kind: ClusterKind::Graph,
        title: graph.name.to_string(),
        tip: match &*graph.description {
            "" => graph.name.to_string(),
            text => format!("{}: {text}", graph.name),
        },
        seen: overlay.seen(|t| t.instances),
        boxes: sketch.boxes(Stage::Main),
        lines,
        inner: stage.into_iter().chain([sketch.anywhere()]).collect(),
    }
}

/// One graph while it is drawn.
pub(super) struct Sketch<'g> {
    pub bundle: &'g Bundle,
    pub ix: GraphIx,
    pub graph: &'g Graph,
    pub overlay: Overlay<'g>,
    /// What routes, and limits among the nodes, lead to.
    leads: Vec<Lead>,
    /// The exits that they lead to, by stage, in byte order.
    exits: Vec<(Stage, Arc<str>)>,
}

impl Sketch<'_> {
    /// The id of a place.
    pub fn id(&self, place: &Place) -> String {
        let g = self.ix.0;
        match place {
            Place::Start => format!("g{g}_start"),
            Place::Finally => format!("g{g}_fin"),
            Place::Node(ix) => format!("g{g}_n{}", ix.0),
            Place::Tool(ix) => format!("g{g}_t{}", ix.0),
            Place::Limit(index) => format!("g{g}_l{index}"),
            Place::Exit(stage, name) => {
                let position = self.exits.iter().position(|(s, n)| (s, n) == (stage, name)).unwrap_or(0);
                format!("g{g}_x{position}")
            }
        }
    }

    /// The boxes of a stage.
    fn boxes(&self, stage: Stage) -> Vec<Item> {
        let mut found = vec![self.entrance(stage)];
        let here = |place: &Place| Stage::of(self.graph, place) == stage;
        for ix in (0..self.graph.nodes.len()).map(NodeIx).filter(|ix| here(&Place::Node(*ix))) {
            found.push(boxes::node(self.bundle, self.graph, &self.overlay, ix, self.id(&Place::Node(ix))));
            // A tool that several nodes run stands beside the first.
            let run =
                drawn_tools(self.graph).into_iter().filter(|t| runners(self.graph, *t).next() == Some(ix));
            found.extend(run.map(|tool| {
                boxes::tool(self.bundle, self.graph, &self.overlay, tool, self.id(&Place::Tool(tool)))
            }));
        }
        for (index, limit) in self.graph.limits.iter().enumerate() {
            let place = Place::Limit(index);
            if limits::is_in_flow(limit) && here(&place) {
                found.push(boxes::limit(self.graph, &self.overlay, index, limit, self.id(&place)));
            }
        }
        found
            .extend(self.exits.iter().filter(|(of, _)| *of == stage).map(|(_, name)| self.exit(stage, name)));
        found
    }

    /// Where a stage begins.
    fn entrance(&self, stage: Stage) -> Item {
        let (place, kind, name) = match stage {
            Stage::Main => (Place::Start, Kind::Start, "start"),
            Stage::Finally => (Place::Finally, Kind::Finally, "finally"),
        };
        let seen = self.overlay.seen(|t| if stage == Stage::Main { t.instances } else { t.finishing });
        Item { seen, ..boxes::plain(self.id(&place), kind, name) }
    }

    /// The box of an exit that something in the flow leads to.
    fn exit(&self, stage: Stage, name: &Arc<str>) -> Item {
        let place = Place::Exit(stage, name.clone());
        let passages: BTreeSet<&Passage> =
            self.leads.iter().filter(|lead| lead.to == place).map(|lead| &lead.passage).collect();
        let mut item = self.exit_box(self.id(&place), name, &passages);
        if stage == Stage::Finally {
            // What ended the graph is known before its stage of `finally` begins.
            item.seen = self.overlay.seen(|t| passages.iter().filter_map(|p| t.passages.get(p)).sum());
            item.detail = "ends the stage".to_owned();
            item.tip = format!("exit {name}: ends the stage; how the graph ended stays as it was");
        }
        item
    }

    /// The box of an exit: how often an instance ended by one of these passages.
    pub fn exit_box(&self, id: String, name: &Arc<str>, passages: &BTreeSet<&Passage>) -> Item {
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

    /// How often a passage was gone.
    pub fn gone(&self, passage: &Passage) -> Seen {
        self.overlay.seen(|t| t.passages.get(passage).copied().unwrap_or(0))
    }

    /// The lines of all leads. Those that look the same are one.
    fn lines(&self) -> Vec<Line> {
        let mut found: Vec<Line> = Vec::new();
        let mut gone: Vec<BTreeSet<&Passage>> = Vec::new();
        for lead in &self.leads {
            let (from, to) = (self.id(&lead.from), self.id(&lead.to));
            let seen = match (&lead.kind, &lead.passage) {
                (LineKind::Counts, Passage::Limit(index)) => self.counted(*index),
                (_, passage) => self.gone(passage),
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
        let tools = drawn_tools(self.graph).into_iter();
        tools.flat_map(|tool| runners(self.graph, tool).map(move |runner| line(tool, runner))).collect()
    }

    /// The stage of `finally`.
    fn stage(&self) -> Cluster {
        Cluster {
            id: format!("g{}_finally", self.ix.0),
            kind: ClusterKind::Finally,
            title: "finally: every exit passes here".to_owned(),
            tip: "Whatever ends the graph, this runs before its caller goes on.".to_owned(),
            seen: self.overlay.seen(|t| t.finishing),
            boxes: self.boxes(Stage::Finally),
            lines: Vec::new(),
            inner: Vec::new(),
        }
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
