//! Graphs that call themselves, directly or through others and other files.
//!
//! The proof: a graph with a limit on its `depth` is not nested in itself for ever. Without those graphs no call may
//! lead back to the graph that it stands in.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use deepgraph_protocol::Meter;

use super::cycles::certain;
use crate::diagnostic::code;
use crate::nearest::shortened_list;
use crate::read::{Decl, Decls, Reader, Reading};
use crate::source::Place;
use crate::{Counted, Graph};

/// Reports calls that lead back to the calling graph with no limit on the depth.
pub(super) fn check(
    reader: &mut Reader<'_>,
    decls: &Decls<'_>,
    reading: &Reading,
    optional: &BTreeSet<Arc<str>>,
) {
    let bounded = |graph: &Graph| {
        graph.limits.iter().any(|l| matches!(l.counted, Counted::Meter(Meter::Depth)) && certain(l, optional))
    };
    // What a broken limit would have counted is not known.
    let open: Vec<bool> = reading
        .graphs
        .iter()
        .zip(&reading.sites)
        .map(|(graph, sites)| !sites.limits_broken && !bounded(graph))
        .collect();
    let is_open = |ix: usize| open.get(ix).copied().unwrap_or(false);
    let mut told: BTreeSet<usize> = BTreeSet::new();
    for (first, sites) in reading.sites.iter().enumerate() {
        if !is_open(first) || told.contains(&first) {
            continue;
        }
        for (place, callee) in &sites.calls {
            let Some(way) = way_back(reading, &is_open, *callee, first) else { continue };
            report(reader, decls, first, *place, &way);
            told.extend(way);
            break;
        }
    }
}

/// The shortest way by calls from a graph to another, both included.
fn way_back(
    reading: &Reading,
    is_open: &impl Fn(usize) -> bool,
    from: usize,
    to: usize,
) -> Option<Vec<usize>> {
    let mut came: Vec<Option<usize>> = vec![None; reading.sites.len()];
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        if !is_open(at) {
            continue;
        }
        if at == to {
            let mut way = vec![at];
            while let Some(before) = way.last().filter(|l| **l != from).and_then(|l| *came.get(*l)?) {
                way.push(before);
            }
            way.reverse();
            return Some(way);
        }
        for (_, callee) in reading.sites.get(at).map(|s| s.calls.as_slice()).unwrap_or_default() {
            if let Some(slot @ None) = came.get_mut(*callee)
                && *callee != from
            {
                *slot = Some(at);
                queue.push_back(*callee);
            }
        }
    }
    None
}

fn report(reader: &mut Reader<'_>, decls: &Decls<'_>, first: usize, place: Place, way: &[usize]) {
    let Some(own) = decls.graphs.get(first) else { return };
    reader.enter(decls.files, own.file);
    let names: Vec<&str> =
        [first].iter().chain(way).filter_map(|ix| decls.graphs.get(*ix)).map(name).collect();
    let message = match way.len() {
        1 => format!("{} calls itself, and no limit bounds how deep", own.title()),
        _ => {
            format!("a graph calls itself, and no limit bounds how deep: {}", shortened_list(&names, " -> "))
        }
    };
    let whose = if way.len() == 1 { "it" } else { "one of them" };
    reader.error(code::UNBOUNDED, place, message).help(format!(
        "give {whose} a limit on its nesting in itself: depth: {{count: depth, max: 3, refuse: true}}"
    ));
}

/// A graph of the first file by its name, one of another file by its path.
fn name<'d>(graph: &'d Decl<'_>) -> &'d str {
    if graph.file == 0 { &graph.name } else { &graph.path }
}
