//! What is moved once the library has placed everything. Lines end at boxes in the direction of the flow, so a box
//! that moves along it changes no more than the last pieces of its lines.

use std::collections::BTreeMap;

use graphlay::{Direction, Graph, Layout, Placement, Point};

/// Room above a box that was moved up, for the heads of its lines.
const ROOM: f64 = 30.0;

/// Room between a box that was moved up and what stands or runs beside it.
const BESIDE: f64 = 10.0;

/// Lets the boxes of a layer begin where the layer does. The library centres them, so that a small box beside a
/// large one would hang in the middle of nowhere.
pub(super) fn align(layout: &mut Layout, graph: &Graph, direction: Direction) {
    let start_of = |placed: &Placement| match direction {
        Direction::TopBottom => placed.center.y - placed.size.height / 2.0,
        Direction::LeftRight => placed.center.x - placed.size.width / 2.0,
    };
    let mut starts: BTreeMap<i32, f64> = BTreeMap::new();
    for placed in &layout.nodes {
        if let Some(rank) = placed.rank {
            let start = starts.entry(rank).or_insert(f64::INFINITY);
            *start = start.min(start_of(placed));
        }
    }
    let moves: Vec<f64> = layout
        .nodes
        .iter()
        .map(|placed| {
            placed.rank.and_then(|rank| starts.get(&rank)).map_or(0.0, |start| start_of(placed) - start)
        })
        .collect();
    let shift = |point: &mut Point, node: usize| {
        let far = moves.get(node).copied().unwrap_or(0.0);
        match direction {
            Direction::TopBottom => point.y -= far,
            Direction::LeftRight => point.x -= far,
        }
    };
    for (node, placed) in layout.nodes.iter_mut().enumerate() {
        shift(&mut placed.center, node);
    }
    for (edge, route) in graph.edges.iter().zip(&mut layout.edges) {
        if edge.is_self_loop() {
            route.points.iter_mut().for_each(|point| shift(point, edge.source.index()));
            continue;
        }
        if let Some(first) = route.points.first_mut() {
            shift(first, edge.source.index());
        }
        if let Some(last) = route.points.last_mut() {
            shift(last, edge.target.index());
        }
    }
    layout.recompute_bounds();
}

/// Moves boxes that nothing leaves up to where they are reached, as far as nothing is in the way: an exit below a
/// large frame would hang far from what leads to it.
pub(super) fn raise(layout: &mut Layout, graph: &Graph) {
    for node in 0..layout.nodes.len() {
        let is_end = graph.edges.iter().all(|edge| edge.source.index() != node);
        let reached: Vec<usize> =
            (0..graph.edges.len()).filter(|edge| graph.edges[*edge].target.index() == node).collect();
        if !is_end || reached.is_empty() {
            continue;
        }
        let Some(top) = highest(layout, node, &reached) else { continue };
        let far = layout.nodes[node].center.y - layout.nodes[node].size.height / 2.0 - top;
        if far > 1.0 {
            layout.nodes[node].center.y -= far;
            for edge in reached {
                if let Some(last) = layout.edges[edge].points.last_mut() {
                    last.y -= far;
                }
            }
        }
    }
    layout.recompute_bounds();
}

/// The highest place of a box's upper border: below the last bends of its lines, and below what stands or runs in
/// its column.
fn highest(layout: &Layout, node: usize, reached: &[usize]) -> Option<f64> {
    let placed = layout.nodes.get(node)?;
    let bottom = placed.center.y + placed.size.height / 2.0;
    let (left, right) = column(placed);
    let in_column = |a: f64, b: f64| a.max(b) > left - BESIDE && a.min(b) < right + BESIDE;
    let mut top = f64::NEG_INFINITY;
    for edge in reached {
        let [.., before, last] = layout.edges.get(*edge)?.points.as_slice() else { return None };
        if (before.x - last.x).abs() > 0.1 || before.y > last.y {
            return None;
        }
        top = top.max(before.y + ROOM);
    }
    for (other, placed) in layout.nodes.iter().enumerate().filter(|(other, _)| *other != node) {
        let (left, right) = column(placed);
        let edge = placed.center.y + placed.size.height / 2.0;
        if in_column(left, right) && edge < bottom && other != node {
            top = top.max(edge + BESIDE);
        }
    }
    for (edge, route) in layout.edges.iter().enumerate() {
        let own = reached.contains(&edge);
        for ends in route.points.windows(2) {
            let is_last_of_own = own && ends.last() == route.points.last();
            let lowest = ends[0].y.max(ends[1].y).min(bottom);
            if !is_last_of_own && in_column(ends[0].x, ends[1].x) && ends[0].y.min(ends[1].y) < bottom {
                top = top.max(lowest + BESIDE);
            }
        }
    }
    Some(top)
}

fn column(placed: &Placement) -> (f64, f64) {
    (placed.center.x - placed.size.width / 2.0, placed.center.x + placed.size.width / 2.0)
}
