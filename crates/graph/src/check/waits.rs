//! Nodes that wait for others by `after`.

use std::collections::BTreeSet;

use super::Checked;
use crate::diagnostic::code;
use crate::shape::{Cause, Spot, offered};
use crate::source::Place;
use crate::{Graph, NodeIx, Route, Target, Verb};

/// Reports nodes that are waited for and that do not lead to the node that waits, or perhaps do not.
pub(super) fn check(checked: &mut Checked<'_, '_>) {
    for (waiting, source, place) in &checked.sites.waits {
        let target = Spot::Node(*waiting);
        let led = |cause: Cause| !matches!(cause, Cause::Limit(_));
        let leads =
            checked.shape.out(&Spot::Node(*source)).any(|(edge, to)| *to == target && led(edge.cause));
        if leads {
            perhaps_elsewhere(checked, *waiting, *source, *place);
            continue;
        }
        let (waits, name) = (checked.name(*waiting).to_owned(), checked.name(*source).to_owned());
        let message = format!("\"{waits}\" waits for \"{name}\", which does not lead to it");
        checked
            .reader
            .error(code::NEVER_COMES, *place, message)
            .help(format!("`after` only makes a node wait: name \"{waits}\" in the `next` of \"{name}\""));
    }
}

fn perhaps_elsewhere(checked: &mut Checked<'_, '_>, waiting: NodeIx, source: NodeIx, place: Place) {
    let Some(elsewhere) = elsewhere(checked, waiting, source) else { return };
    let (waits, name) = (checked.name(waiting).to_owned(), checked.name(source).to_owned());
    let way = match elsewhere {
        Some(other) => format!("to \"{}\"", checked.name(other)),
        None => "to its end".to_owned(),
    };
    let message = format!("\"{waits}\" waits for \"{name}\", which may lead {way} instead");
    checked
        .reader
        .warning(code::NEVER_COMES, place, message)
        .help("what waits for something that never comes ends the graph by graph_error");
}

/// Where a node leads beside the one that waits for it, without ever coming back: a node, or the end of the
/// branch (`Some(None)`). An exit ends the wait as well.
#[allow(clippy::option_option)]
fn elsewhere(checked: &Checked<'_, '_>, waiting: NodeIx, source: NodeIx) -> Option<Option<NodeIx>> {
    for (route, carries_on) in routes(checked.graph, source) {
        for way in &route.0 {
            match &way.to {
                Target::Nodes(nodes) if nodes.contains(&waiting) => {}
                Target::Nodes(nodes) => {
                    let lost = nodes.iter().find(|ix| may_end(checked, **ix, waiting, source));
                    if let Some(lost) = lost {
                        return Some(Some(*lost));
                    }
                }
                Target::CarryOn if !carries_on => return Some(None),
                Target::CarryOn | Target::Exit(..) | Target::Inherit => {}
            }
        }
    }
    None
}

/// The routes of a node, with those of the tools that it runs, and whether a way that only writes goes on with
/// another of them.
fn routes(graph: &Graph, ix: NodeIx) -> Vec<(&Route, bool)> {
    let Some(node) = graph.nodes.get(ix.0) else { return Vec::new() };
    let mut found: Vec<(&Route, bool)> = node.next.iter().map(|r| (r, false)).collect();
    let goes_on = node.next.is_some();
    found.extend(node.on_error.iter().map(|r| (r, goes_on)));
    if let Verb::RunTools(of) = node.verb {
        let tools = offered(graph, of).into_iter().filter_map(|t| graph.tools.get(t.0));
        let routes = tools.flat_map(|t| [&t.next, &t.on_error]).flatten();
        found.extend(routes.map(|r| (r, goes_on)));
    }
    found
}

/// Whether a branch can end from a node on, or come to the one that waits, without passing the source again.
fn may_end(checked: &Checked<'_, '_>, from: NodeIx, waiting: NodeIx, source: NodeIx) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(ix) = open.pop() {
        if ix == source {
            continue;
        }
        if ix == waiting {
            return true;
        }
        for (_, to) in checked.shape.out(&Spot::Node(ix)) {
            match to {
                Spot::End => return true,
                Spot::Node(to) if seen.insert(*to) => open.push(*to),
                _ => {}
            }
        }
    }
    false
}
