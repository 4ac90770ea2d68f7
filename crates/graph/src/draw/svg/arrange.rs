//! How the parts of a graph stand together: its flow, the graphs that it calls within it, and beside it the stage
//! of `finally` and what may end it anywhere.

use std::collections::BTreeMap;

use graphlay::Direction;

use super::content::title_width;
use super::flow::{Part, lay_out};
use super::sheet::{Frame, Rect, Sheet};
use crate::draw::DrawError;
use crate::draw::picture::{Cluster, ClusterKind, Line, Picture};

/// Room around the picture.
const MARGIN: f64 = 16.0;

/// Room between the border of a frame and what stands in it.
const PADDING: f64 = 16.0;

/// Room for the title of a frame.
const HEADER: f64 = 20.0;

/// Room between the parts of a graph.
const GAP: f64 = 28.0;

/// Gives everything of a picture its place.
pub(in crate::draw) fn arrange(picture: &Picture) -> Result<Sheet<'_>, DrawError> {
    let mut names = BTreeMap::new();
    collect_names(&picture.root, &mut names);
    let arranging = Arranging { calls: &picture.calls, names };
    let inner = arranging.graph(&picture.root, 0)?;
    let (width, height) = (inner.width + 2.0 * MARGIN, inner.height + 2.0 * MARGIN);
    let mut sheet = Sheet { width, height, ..Sheet::default() };
    sheet.take(inner, MARGIN, MARGIN);
    Ok(sheet)
}

/// The name of what a line leads to: of the box, and of the graph where it is its start.
fn collect_names<'p>(cluster: &'p Cluster, names: &mut BTreeMap<&'p str, &'p str>) {
    for item in &cluster.boxes {
        names.insert(&item.id, &item.name);
    }
    if let (ClusterKind::Graph, Some(start)) = (cluster.kind, cluster.boxes.first()) {
        names.insert(&start.id, &cluster.title);
    }
    cluster.inner.iter().for_each(|inner| collect_names(inner, names));
}

struct Arranging<'p> {
    calls: &'p [Line],
    names: BTreeMap<&'p str, &'p str>,
}

impl<'p> Arranging<'p> {
    /// A graph in its frame.
    fn graph(&self, cluster: &'p Cluster, depth: usize) -> Result<Sheet<'p>, DrawError> {
        let stage = cluster.inner.iter().find(|c| c.kind == ClusterKind::Finally);
        let is_of_stage =
            |child: &&Cluster| stage.is_some_and(|stage| self.calls_first(cluster, stage, child));
        let graphs = cluster.inner.iter().filter(|c| c.kind == ClusterKind::Graph);
        let (of_stage, of_flow): (Vec<&Cluster>, Vec<&Cluster>) = graphs.partition(is_of_stage);
        let flow = lay_out(self.part(cluster, &cluster.lines, of_flow, depth)?, Direction::TopBottom)?;
        let mut beside = Vec::new();
        if let Some(stage) = stage {
            let sheet =
                lay_out(self.part(stage, &cluster.lines, of_stage, depth + 1)?, Direction::TopBottom)?;
            beside.push(framed(sheet, stage, depth + 1));
        }
        for panel in cluster.inner.iter().filter(|c| c.kind == ClusterKind::Anywhere) {
            let sheet =
                lay_out(self.part(panel, &panel.lines, Vec::new(), depth + 1)?, Direction::LeftRight)?;
            beside.push(framed(sheet, panel, depth + 1));
        }
        Ok(framed(together(flow, beside), cluster, depth))
    }

    /// Whether a graph is called by the `finally` stage and not by the flow.
    fn calls_first(&self, flow: &Cluster, stage: &Cluster, child: &Cluster) -> bool {
        let calls = |part: &Cluster| {
            let begins = |line: &Line| part.boxes.iter().any(|item| item.id == line.from);
            self.calls.iter().any(|line| Some(&*line.to) == start_of(child) && begins(line))
        };
        calls(stage) && !calls(flow)
    }

    /// The boxes of a cluster with the lines that begin at them, and the graphs that stand among them.
    fn part(
        &self,
        cluster: &'p Cluster,
        lines: &'p [Line],
        graphs: Vec<&'p Cluster>,
        depth: usize,
    ) -> Result<Part<'p>, DrawError> {
        let begins = |line: &&Line| cluster.boxes.iter().any(|item| item.id == line.from);
        let name = |line: &'p Line| (line, self.names.get(&*line.to).copied().unwrap_or_default());
        let mut sheets = Vec::new();
        for graph in graphs {
            let sheet = self.graph(graph, depth + 1)?;
            sheets.extend(start_of(graph).map(|start| (start, sheet)));
        }
        Ok(Part {
            items: cluster.boxes.iter().collect(),
            sheets,
            lines: lines.iter().chain(self.calls).filter(begins).map(name).collect(),
        })
    }
}

/// The box that lines to a graph lead to.
fn start_of(graph: &Cluster) -> Option<&str> {
    graph.boxes.first().map(|item| &*item.id)
}

/// A sheet with a frame around it.
fn framed<'p>(inner: Sheet<'p>, cluster: &'p Cluster, depth: usize) -> Sheet<'p> {
    let width = (inner.width.max(title_width(cluster)) + 2.0 * PADDING).ceil();
    let height = (inner.height + 2.0 * PADDING + HEADER).ceil();
    let at = Rect { x: 0.0, y: 0.0, width, height };
    let mut sheet = Sheet { width, height, frames: vec![Frame { cluster, at, depth }], ..Sheet::default() };
    sheet.take(inner, PADDING, PADDING + HEADER);
    sheet
}

/// A flow with what stands beside it, where it takes the least room.
fn together<'p>(flow: Sheet<'p>, beside: Vec<Sheet<'p>>) -> Sheet<'p> {
    let sizes: Vec<(f64, f64)> = beside.iter().map(|sheet| (sheet.width, sheet.height)).collect();
    let occupied = flow.occupied();
    let mut best: Option<Arrangement> = None;
    for column in [true, false] {
        let (places, size) = stacked(&sizes, column);
        for found in arrangements(&flow, &occupied, size) {
            if best.as_ref().is_none_or(|(.., area)| found.2 < *area - 1.0) {
                best = Some((found.0, (places.clone(), found.1), found.2));
            }
        }
    }
    let Some((flow_x, (places, (x, y)), _)) = best else { return flow };
    let mut sheet = Sheet::default();
    let (flow_width, flow_height) = (flow.width, flow.height);
    sheet.take(flow, flow_x, 0.0);
    sheet.width = flow_x + flow_width;
    sheet.height = flow_height;
    for (other, (dx, dy)) in beside.into_iter().zip(places) {
        sheet.width = sheet.width.max(x + dx + other.width);
        sheet.height = sheet.height.max(y + dy + other.height);
        sheet.take(other, x + dx, y + dy);
    }
    sheet
}

/// Where the flow begins, where the others stand and begin, and the area of all.
type Arrangement = (f64, (Vec<(f64, f64)>, (f64, f64)), f64);

/// Sheets in a column or a row: where each stands, and the size of all.
fn stacked(sizes: &[(f64, f64)], column: bool) -> (Vec<(f64, f64)>, (f64, f64)) {
    let (mut x, mut y, mut width, mut height) = (0.0, 0.0, 0.0_f64, 0.0_f64);
    let mut places = Vec::new();
    for (w, h) in sizes {
        places.push((x, y));
        width = width.max(x + w);
        height = height.max(y + h);
        if column {
            y += h + GAP;
        } else {
            x += w + GAP;
        }
    }
    (places, (width, height))
}

/// The ways in which something of a size can stand with the flow: to its right, to its left, below. At the sides it
/// moves in as far as what the flow has there lets it.
fn arrangements(
    flow: &Sheet<'_>,
    occupied: &[Rect],
    (width, height): (f64, f64),
) -> Vec<(f64, (f64, f64), f64)> {
    let near: Vec<&Rect> = occupied.iter().filter(|rect| rect.y < height + GAP).collect();
    let right = near.iter().map(|rect| rect.right()).fold(0.0, f64::max) + GAP;
    let left = (width + GAP - near.iter().map(|rect| rect.x).fold(flow.width, f64::min)).max(0.0);
    let tall = flow.height.max(height);
    vec![
        (0.0, (right, 0.0), flow.width.max(right + width) * tall),
        (left, (0.0, 0.0), (flow.width + left) * tall),
        (0.0, (0.0, flow.height + GAP), flow.width.max(width) * (flow.height + GAP + height)),
    ]
}
