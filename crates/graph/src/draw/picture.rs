//! The model of a drawing: clusters, boxes and lines with their words. Every format is written from it.

mod boxes;
mod graph;
mod implied;
mod limits;
mod lines;
mod nesting;
mod words;

use std::collections::BTreeMap;

use super::taken::{Taken, TakenGraph};
use crate::{Bundle, GraphIx};

/// A drawing before it is written in some format.
#[derive(Debug)]
pub(super) struct Picture {
    /// The name of the root graph.
    pub title: String,
    /// What the drawing shows, in sentences.
    pub about: String,
    /// Some letters and digits that differ from bundle to bundle.
    pub mark: String,
    /// Whether a run is laid over it.
    pub overlaid: bool,
    /// The root graph, all others within it.
    pub root: Cluster,
    /// The lines that lead from one graph into another.
    pub calls: Vec<Line>,
}

/// Boxes with a border around them.
#[derive(Debug)]
pub(super) struct Cluster {
    /// Its id: letters, digits and `_`.
    pub id: String,
    /// What it stands for.
    pub kind: ClusterKind,
    /// Its title.
    pub title: String,
    /// What it is, at length.
    pub tip: String,
    /// What a run made of it; a count is of instances.
    pub seen: Seen,
    /// Its own boxes.
    pub boxes: Vec<Item>,
    /// The lines of the graph that it stands for; none in other clusters.
    pub lines: Vec<Line>,
    /// The clusters inside.
    pub inner: Vec<Cluster>,
}

/// What a cluster stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClusterKind {
    /// A graph.
    Graph,
    /// The stage of `finally`.
    Finally,
    /// What ends a graph wherever it stands. Lines between its boxes stay inside it, and none comes in or out.
    Anywhere,
}

/// A box.
#[derive(Debug)]
pub(super) struct Item {
    /// Its id: letters, digits and `_`.
    pub id: String,
    /// What it stands for.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// What it does, in one line; "" for nothing.
    pub detail: String,
    /// Short remarks beside what it does: bounds, waiting, approval.
    pub badges: Vec<String>,
    /// All that is to be said of it.
    pub tip: String,
    /// What a run made of it.
    pub seen: Seen,
    /// How many visits of it are not over.
    pub open: u64,
}

/// What a box stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Where a graph begins.
    Start,
    /// Where its `finally` stage begins.
    Finally,
    /// A node that calls a model.
    Model,
    /// A node that runs tool calls.
    RunTools,
    /// A node that calls an op.
    Op,
    /// A node that calls a graph.
    Graph,
    /// A node that asks a person.
    Ask,
    /// A node that only writes.
    Pass,
    /// A tool.
    Tool,
    /// A limit.
    Limit,
    /// Something else that ends a graph.
    Cause,
    /// An exit.
    Exit,
}

/// A line.
#[derive(Debug)]
pub(super) struct Line {
    /// The box where it begins.
    pub from: String,
    /// The box where it ends.
    pub to: String,
    /// What it means.
    pub kind: LineKind,
    /// Its words, whole; "" for none.
    pub label: String,
    /// What a run made of it.
    pub seen: Seen,
}

/// What a line means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LineKind {
    /// A way of `start`, `finally` or `next`.
    Way,
    /// A way of `on_error`.
    Error,
    /// From a node that runs tools to one of them.
    Runs,
    /// From what a limit counts to the limit.
    Counts,
    /// From a limit to what happens then.
    Limit,
    /// From something that no file names to its exit.
    Implied,
    /// From a caller to the graph that it starts.
    Starts,
}

impl LineKind {
    /// Whether it has a direction that is gone, and so an arrowhead.
    pub fn is_arrow(self) -> bool {
        !matches!(self, LineKind::Runs | LineKind::Counts)
    }
}

/// What a run made of a part of the drawing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Seen {
    /// No run is laid over the drawing.
    #[default]
    Plain,
    /// The run went there, so often.
    Taken(u64),
    /// The run did not go there.
    Not,
}

impl Seen {
    /// Both together: of two lines that are drawn as one, or of lines that end in one box.
    pub fn and(self, other: Seen) -> Seen {
        match (self, other) {
            (Seen::Taken(a), Seen::Taken(b)) => Seen::Taken(a + b),
            (Seen::Taken(n), _) | (_, Seen::Taken(n)) => Seen::Taken(n),
            (Seen::Not, _) | (_, Seen::Not) => Seen::Not,
            (Seen::Plain, Seen::Plain) => Seen::Plain,
        }
    }

    /// The count as it is written, `×3`; "" where there is none.
    pub fn times(self) -> String {
        match self {
            Seen::Taken(n) => format!("×{n}"),
            Seen::Plain | Seen::Not => String::new(),
        }
    }
}

/// The run that is laid over one graph, if one is.
#[derive(Clone, Copy)]
struct Overlay<'t> {
    is_on: bool,
    taken: Option<&'t TakenGraph>,
}

impl Overlay<'_> {
    /// What the run made of something that it counted so often.
    fn seen(&self, count: impl Fn(&TakenGraph) -> u64) -> Seen {
        match (self.is_on, self.taken.map_or(0, count)) {
            (false, _) => Seen::Plain,
            (true, 0) => Seen::Not,
            (true, n) => Seen::Taken(n),
        }
    }
}

impl Picture {
    /// The picture of a bundle, with a run laid over it if one is given.
    pub fn of(bundle: &Bundle, taken: Option<&Taken>) -> Picture {
        let nested = nesting::nested(bundle);
        let mut calls = Vec::new();
        let overlays: Vec<Overlay<'_>> = (0..bundle.graphs.len())
            .map(|ix| Overlay {
                is_on: taken.is_some(),
                taken: taken.and_then(|t| t.graphs.get(&GraphIx(ix))),
            })
            .collect();
        let root = cluster(bundle, GraphIx(0), &overlays, &nested, &mut calls);
        let title = bundle.graphs.first().map(|g| g.name.to_string()).unwrap_or_default();
        let about = bundle.graphs.first().map(|g| g.description.to_string()).unwrap_or_default();
        let mark = bundle.hash.chars().take(8).collect();
        Picture { title, about, mark, overlaid: taken.is_some(), root, calls }
    }
}

/// The cluster of a graph with those of the graphs that it is the first to call.
fn cluster(
    bundle: &Bundle,
    ix: GraphIx,
    overlays: &[Overlay<'_>],
    nested: &BTreeMap<GraphIx, Vec<GraphIx>>,
    calls: &mut Vec<Line>,
) -> Cluster {
    let overlay = overlays.get(ix.0).copied().unwrap_or(Overlay { is_on: false, taken: None });
    let mut own = graph::draw(bundle, ix, overlay, calls);
    for child in nested.get(&ix).into_iter().flatten() {
        own.inner.push(cluster(bundle, *child, overlays, nested, calls));
    }
    own
}
