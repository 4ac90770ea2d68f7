//! Bars and the lanes that they lie in: a lane for each instance, or for all instances of a graph where there are many.

use std::collections::BTreeMap;

use deepgraph_protocol::Millis;

use super::amount::{clock, duration, number};
use super::badge::{Badge, Standing};
use super::index::{Index, Link};
use super::scale::{Span, is_drawn, span};
use crate::tree::{Node, NodeKind, ScopeTrace};

/// The most instances that have a lane of their own each.
pub(super) const MANY: usize = 40;

/// One step in the timeline.
#[derive(Debug)]
pub(super) struct Bar {
    /// The id of the step's element.
    pub(super) anchor: String,
    pub(super) span: Span,
    /// The class of its colour.
    pub(super) tone: &'static str,
    /// What is shown when it is pointed at.
    pub(super) title: String,
    /// Waits between attempts.
    pub(super) waits: Vec<Span>,
}

/// A lane: rows of bars that do not overlap, and the instances that lie behind them.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) name: String,
    /// The instance; none where there are several.
    pub(super) link: Option<Link>,
    pub(super) depth: usize,
    pub(super) rows: Vec<Row>,
}

/// A row of a lane.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) spans: Vec<Span>,
    pub(super) bars: Vec<Bar>,
}

/// The lanes of a run. `until`: its last moment.
pub(super) fn lanes(index: &Index, root: &ScopeTrace, until: Millis) -> Vec<Lane> {
    if index.scopes() <= MANY {
        let mut lanes = Vec::new();
        own_lanes(index, root, 0, until, &mut lanes);
        return lanes;
    }
    grouped(index, root, until)
}

fn own_lanes(index: &Index, scope: &ScopeTrace, depth: usize, until: Millis, lanes: &mut Vec<Lane>) {
    let mut rows = pack(bars(index, scope, until).into_iter().map(|bar| (bar.span, bar)).collect())
        .into_iter()
        .map(|bars| Row { spans: Vec::new(), bars })
        .collect::<Vec<_>>();
    if rows.is_empty() {
        rows.push(Row::default());
    }
    rows.iter_mut().for_each(|row| row.spans.extend(scope.time));
    lanes.push(Lane {
        name: short_graph(scope).to_owned(),
        link: Some(index.to_scope(&scope.scope)),
        depth,
        rows,
    });
    for child in scope.children() {
        own_lanes(index, child, depth + 1, until, lanes);
    }
}

/// The root in a lane of its own; the rest by graph, each instance in one row, rows shared by instances that did not
/// run at the same time.
fn grouped(index: &Index, root: &ScopeTrace, until: Millis) -> Vec<Lane> {
    let mut groups: BTreeMap<(usize, &str), Vec<&ScopeTrace>> = BTreeMap::new();
    let mut open = vec![(0, root)];
    while let Some((depth, scope)) = open.pop() {
        groups.entry((depth, short_graph(scope))).or_default().push(scope);
        open.extend(scope.children().map(|child| (depth + 1, child)));
    }
    let lane = |((depth, graph), mut scopes): ((usize, &str), Vec<&ScopeTrace>)| {
        scopes.sort_by_key(|scope| index.scope_number(&scope.scope));
        let spans = scopes.iter().filter_map(|scope| Some((scope.time?, *scope))).collect();
        let row = |scopes: Vec<&ScopeTrace>| Row {
            spans: scopes.iter().filter_map(|scope| scope.time).collect(),
            bars: scopes.iter().flat_map(|scope| bars(index, scope, until)).collect(),
        };
        let rows: Vec<Row> = pack(spans).into_iter().map(row).collect();
        let name = match scopes.as_slice() {
            [_] => graph.to_owned(),
            all => format!("{} × {graph}", number(all.len() as u64)),
        };
        Lane { name, link: None, depth, rows }
    };
    groups.into_iter().map(lane).collect()
}

/// Puts things into rows so that those of one row do not overlap: each, by its beginning, into the first row that is
/// free.
fn pack<T>(mut items: Vec<(Span, T)>) -> Vec<Vec<T>> {
    items.sort_by_key(|(span, _)| *span);
    let mut rows: Vec<(Millis, Vec<T>)> = Vec::new();
    for ((begun, ended), item) in items {
        match rows.iter_mut().find(|(free, _)| *free <= begun) {
            Some((free, row)) => {
                *free = ended;
                row.push(item);
            }
            None => rows.push((ended, vec![item])),
        }
    }
    rows.into_iter().map(|(_, row)| row).collect()
}

/// The steps of an instance as bars. Turns and child graphs have none of their own: their calls and the child's lane
/// show them.
fn bars(index: &Index, scope: &ScopeTrace, until: Millis) -> Vec<Bar> {
    let steps = scope.steps().filter(|node| is_drawn(node));
    steps.filter_map(|node| bar(index, scope, node, until)).collect()
}

fn bar(index: &Index, scope: &ScopeTrace, node: &Node, until: Millis) -> Option<Bar> {
    let (begun, ended) = span(scope, node, until)?;
    let standing = Standing::of(node, scope.exit.is_some());
    let tone = match &node.kind {
        NodeKind::Ask { .. } => "person",
        _ if standing.is_bad() => "bad",
        NodeKind::Model(_) => "model",
        NodeKind::Op { .. } => "tool",
        NodeKind::Plain | NodeKind::Graph => "plain",
    };
    let state =
        Badge::of_state(node, scope.exit.is_some()).map_or(String::new(), |b| format!(", {}", b.word));
    let title = format!(
        "{}: {}{state}\n{} to {}, {}",
        node.step,
        Badge::of_kind(node).word,
        clock(begun),
        clock(ended),
        duration(ended - begun)
    );
    let waits = node.failed_attempts.iter().filter_map(|attempt| attempt.time);
    let waits = waits.map(|(from, to)| (from, to.min(ended))).filter(|(from, to)| from < to).collect();
    Some(Bar { anchor: index.to_step(&node.step).anchor, span: (begun, ended), tone, title, waits })
}

fn short_graph(scope: &ScopeTrace) -> &str {
    scope.graph.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_lies_in_rows_of_its_own() {
        let items = vec![((5, 9), 'c'), ((0, 4), 'a'), ((2, 6), 'b'), ((4, 5), 'd'), ((6, 6), 'e')];
        assert_eq!(pack(items), [vec!['a', 'd', 'c'], vec!['b', 'e']]);
        assert!(pack::<char>(Vec::new()).is_empty());
    }
}
