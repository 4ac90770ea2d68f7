//! One part of a picture laid out: boxes, lines, and what is laid out already as one box each.
//!
//! The library places boxes in layers and leads lines around them. A label is a box of its own on the way of its
//! line, so that nothing can stand or run where it is.

use std::collections::{BTreeMap, BTreeSet};

use graphlay::{
    Direction, Edge, Effort, Graph, LayoutOptions, Node, NodeId, PortSides, RankConstraint, Size,
};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{DfsEvent, depth_first_search};

use super::content::{Content, Label, stub_size};
use super::sheet::{Placed, Point, Rect, Routed, Sheet, Stub};
use super::tidy;
use crate::draw::DrawError;
use crate::draw::picture::{Item, Kind, Line, LineKind};

/// Boxes of a part from which on less is tried to keep lines from crossing: it would take too long.
const MANY: usize = 80;

/// Boxes and lines that are laid out together.
#[derive(Debug, Default)]
pub(super) struct Part<'p> {
    pub items: Vec<&'p Item>,
    /// Sheets that stand in it as boxes, by the id of the box that lines to them name.
    pub sheets: Vec<(&'p str, Sheet<'p>)>,
    /// Lines that begin here, with the name of what they lead to.
    pub lines: Vec<(&'p Line, &'p str)>,
}

/// What stands where the library was asked to place a box.
#[derive(Debug)]
enum Seat<'p> {
    Box(&'p Item, Content),
    Sheet(Sheet<'p>),
    Stub(&'p str, &'p Line),
    Label,
}

/// A line with the boxes and edges that it is made of.
#[derive(Debug)]
struct Strand<'p> {
    line: &'p Line,
    label: Option<(Label, NodeId)>,
    edges: Vec<usize>,
}

#[derive(Debug, Default)]
struct Plan<'p> {
    graph: Graph,
    seats: Vec<Seat<'p>>,
    by_id: BTreeMap<&'p str, NodeId>,
    strands: Vec<Strand<'p>>,
}

/// Lays a part out.
pub(super) fn lay_out<'p>(part: Part<'p>, direction: Direction) -> Result<Sheet<'p>, DrawError> {
    let mut plan = Plan::default();
    for item in part.items {
        let content = Content::of(item);
        let size = Size::new(content.width, content.height);
        let is_first = matches!(item.kind, Kind::Start | Kind::Finally);
        let rank = if is_first { RankConstraint::First } else { RankConstraint::Free };
        let id = plan.seat(Seat::Box(item, content), Node { size, rank, ..Node::default() });
        plan.by_id.insert(&item.id, id);
    }
    for (name, sheet) in part.sheets {
        let size = Size::new(sheet.width, sheet.height);
        let id = plan.seat(Seat::Sheet(sheet), Node { size, ..Node::default() });
        plan.by_id.insert(name, id);
    }
    let backward = backward(&plan.by_id, &part.lines);
    for (index, (line, name)) in part.lines.into_iter().enumerate() {
        plan.line(line, name, backward.contains(&index));
    }
    plan.place(direction)
}

impl<'p> Plan<'p> {
    fn seat(&mut self, seat: Seat<'p>, node: Node) -> NodeId {
        let id = node_id(self.graph.nodes.len());
        self.graph.nodes.push(node);
        self.seats.push(seat);
        id
    }

    /// A line, by its label where it has one. A backward line counts as forward when layers are made.
    fn line(&mut self, line: &'p Line, name: &'p str, backward: bool) {
        let Some(from) = self.by_id.get(&*line.from).copied() else { return };
        let to = match self.by_id.get(&*line.to) {
            Some(to) => *to,
            None => {
                let (width, height) = stub_size(name);
                let size = Size::new(width, height);
                self.seat(Seat::Stub(name, line), Node { size, ..Node::default() })
            }
        };
        let weight = match line.kind {
            LineKind::Way | LineKind::Runs => 3.0,
            LineKind::Error | LineKind::Limit | LineKind::Starts => 1.5,
            LineKind::Counts | LineKind::Implied => 1.0,
        };
        let mut edges = Vec::new();
        let mut edge = |graph: &mut Graph, from, to| {
            edges.push(graph.edges.len());
            graph.edges.push(Edge { weight, reverse_for_ranking: backward, ..Edge::new(from, to) });
        };
        let label = Label::of(line).map(|label| {
            let size = Size::new(label.width, label.height);
            let between = self.seat(Seat::Label, Node { size, ..Node::default() });
            (label, between)
        });
        match &label {
            None => edge(&mut self.graph, from, to),
            Some((_, between)) => {
                edge(&mut self.graph, from, *between);
                edge(&mut self.graph, *between, to);
            }
        }
        self.strands.push(Strand { line, label, edges });
    }

    fn place(self, direction: Direction) -> Result<Sheet<'p>, DrawError> {
        let mut layout = graphlay::layout(&self.graph, &options(direction, self.graph.nodes.len()))
            .map_err(|error| DrawError::Layout(error.to_string()))?;
        tidy::align(&mut layout, &self.graph, direction);
        if direction == Direction::TopBottom {
            tidy::raise(&mut layout, &self.graph);
        }
        let origin = layout.bounds.min;
        let point = |p: graphlay::Point| Point { x: p.x - origin.x, y: p.y - origin.y };
        let rect = |node: NodeId| {
            let placed = layout.placement(node).copied().unwrap_or_default();
            let (width, height) = (placed.size.width, placed.size.height);
            let centre = point(placed.center);
            Rect { x: centre.x - width / 2.0, y: centre.y - height / 2.0, width, height }
        };
        let (width, height) = (layout.bounds.width(), layout.bounds.height());
        let mut sheet = Sheet { width, height, ..Sheet::default() };
        for (index, seat) in self.seats.into_iter().enumerate() {
            let at = rect(node_id(index));
            match seat {
                Seat::Box(item, content) => sheet.boxes.push(Placed { item, content, at }),
                Seat::Sheet(inner) => sheet.take(inner, at.x, at.y),
                Seat::Stub(name, line) => sheet.stubs.push(Stub { name, line, at }),
                Seat::Label => {}
            }
        }
        for Strand { line, label, edges } in self.strands {
            let way = |edge: usize| match layout.edges.get(edge) {
                Some(route) => route.points.iter().map(|p| point(*p)).collect(),
                None => Vec::new(),
            };
            let ways = edges.into_iter().map(way).collect();
            sheet.lines.push(Routed { line, ways, label: label.map(|(label, node)| (label, rect(node))) });
        }
        Ok(sheet)
    }
}

/// The lines that lead back to a box on the way that came there, by their index.
fn backward(by_id: &BTreeMap<&str, NodeId>, lines: &[(&Line, &str)]) -> BTreeSet<usize> {
    let mut graph: DiGraph<(), usize> = DiGraph::new();
    let boxes: Vec<NodeIndex> = (0..by_id.len()).map(|_| graph.add_node(())).collect();
    let find = |id: &str| by_id.get(id).and_then(|node| boxes.get(node.index())).copied();
    // petgraph goes along the last line of a box first.
    for (index, (line, _)) in lines.iter().enumerate().rev() {
        if let (Some(from), Some(to)) = (find(&line.from), find(&line.to)) {
            graph.add_edge(from, to, index);
        }
    }
    let mut ends = BTreeSet::new();
    depth_first_search(&graph, boxes, |event| {
        if let DfsEvent::BackEdge(from, to) = event {
            ends.insert((from, to));
        }
    });
    let is_backward =
        |ends: &(NodeIndex, NodeIndex)| graph.edges_connecting(ends.0, ends.1).map(|e| *e.weight());
    ends.iter().filter(|(from, to)| from != to).flat_map(is_backward).collect()
}

fn node_id(index: usize) -> NodeId {
    NodeId(u32::try_from(index).unwrap_or(u32::MAX))
}

/// How the library lays so many boxes out.
fn options(direction: Direction, boxes: usize) -> LayoutOptions {
    let mut options = match direction {
        Direction::TopBottom => LayoutOptions::process_map(),
        Direction::LeftRight => LayoutOptions::layered_default(),
    };
    options.direction = direction;
    if boxes > MANY {
        options.effort = Effort::Fast;
    }
    options.routing.port_sides = PortSides::FacingOnly;
    options.spacing.layer_gap = 26.0;
    options.spacing.node_gap = 24.0;
    options.spacing.dummy_gap = 16.0;
    options.spacing.port_gap = 14.0;
    options.spacing.stub = 10.0;
    options.spacing.isolated_gap = 20.0;
    if direction == Direction::LeftRight {
        options.spacing.layer_gap = 40.0;
        options.spacing.node_gap = 10.0;
    }
    options
}
