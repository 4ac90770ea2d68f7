//! Who writes what.

use std::collections::{BTreeMap, BTreeSet};

use super::Checked;
use crate::diagnostic::code;
use crate::shape::offered;
use crate::{
    ChannelIx, Graph, Node, NodeIx, Overflow, Reducer, Route, Setting, Target, Tool, ValueExpr, Verb, Way,
    Write,
};

/// The most super-steps that are looked at behind a way to several nodes.
const MOST_STEPS: usize = 50;

/// Nodes that one way starts together, or that surely follow them in one super-step, and that write one channel that
/// is replaced.
pub(super) fn fans(checked: &mut Checked<'_, '_>) {
    let help = "give the channel a reducer (append, merge, ...), or each node a channel of its own";
    for (place, nodes) in &checked.sites.fans {
        let mut told = BTreeSet::new();
        for step in steps(checked.graph, nodes) {
            for (channel, names) in collisions(checked, &step, |_, node| always(node)) {
                if told.insert(channel) {
                    let channel = name(checked, channel);
                    let message = format!("{names} run together and both write the channel \"{channel}\"");
                    checked.reader.error(code::TWO_WRITERS, *place, message).help(help);
                }
            }
        }
        for (channel, names) in collisions(checked, nodes, ever) {
            if told.insert(channel) {
                let message = format!(
                    "{names} run together and may both write the channel \"{}\"",
                    name(checked, channel)
                );
                checked.reader.warning(code::TWO_WRITERS, *place, message).help(help);
            }
        }
    }
}

/// The nodes that start together, and those that surely run together in the super-steps after that.
fn steps(graph: &Graph, first: &[NodeIx]) -> Vec<Vec<NodeIx>> {
    let mut steps = vec![first.to_vec()];
    while let Some(last) = steps.last().filter(|_| steps.len() < MOST_STEPS) {
        // What waits runs later than the others, so what follows it does as well.
        let all_defer = last.iter().all(|ix| graph.nodes.get(ix.0).is_some_and(|node| node.defer));
        let at_once = |node: &&Node| node.after.is_empty() && node.defer == all_defer;
        let nodes = last.iter().filter_map(|ix| graph.nodes.get(ix.0)).filter(at_once);
        let followed = nodes.filter_map(|node| surely_next(graph, node)).flatten();
        let next: BTreeSet<NodeIx> = followed.copied().collect();
        let next: Vec<NodeIx> = next.into_iter().collect();
        if next.len() < 2 || steps.contains(&next) {
            break;
        }
        steps.push(next);
    }
    steps
}

/// Where a node leads whenever it succeeds.
fn surely_next<'g>(graph: &'g Graph, node: &'g Node) -> Option<&'g [NodeIx]> {
    if let Verb::RunTools(of) = node.verb
        && offered(graph, of).iter().filter_map(|tool| graph.tools.get(tool.0)).any(leads_elsewhere)
    {
        return None;
    }
    match node.next.as_ref()?.0.first()? {
        way @ Way { to: Target::Nodes(nodes), .. } if way.is_always() => Some(nodes),
        _ => None,
    }
}

/// Whether a call of a tool may lead elsewhere than the node that runs it.
fn leads_elsewhere(tool: &Tool) -> bool {
    let routes = [&tool.next, &tool.on_error].into_iter().flatten();
    routes.flat_map(|route| &route.0).any(|way| way.to != Target::CarryOn)
}

/// Channels that are replaced and that two of the nodes write, with the first two of them.
fn collisions(
    checked: &Checked<'_, '_>,
    nodes: &[NodeIx],
    writes: impl Fn(&Checked<'_, '_>, &Node) -> BTreeSet<ChannelIx>,
) -> BTreeMap<ChannelIx, String> {
    let mut before: Vec<(NodeIx, &Node, BTreeSet<ChannelIx>)> = Vec::new();
    let mut found = BTreeMap::new();
    for ix in nodes {
        let Some(node) = checked.graph.nodes.get(ix.0) else { continue };
        let mut written = writes(checked, node);
        written.retain(|c| checked.graph.channels.get(c.0).is_some_and(|c| c.reducer == Reducer::Replace));
        for (_, first, others) in before.iter().filter(|(a, first, _)| together(*a, first, *ix, node)) {
            for channel in written.intersection(others) {
                found.entry(*channel).or_insert_with(|| format!("\"{}\" and \"{}\"", first.name, node.name));
            }
        }
        before.push((*ix, node, written));
    }
    found
}

/// Whether two nodes that are started together also run together: one that waits for the other does not.
fn together(a: NodeIx, first: &Node, b: NodeIx, second: &Node) -> bool {
    first.defer == second.defer && !first.after.contains(&b) && !second.after.contains(&a)
}

fn name<'c>(checked: &'c Checked<'_, '_>, channel: ChannelIx) -> &'c str {
    checked.graph.channels.get(channel.0).map_or("", |c| &c.name)
}

/// What a node writes whenever it succeeds, in the super-step after it was started.
fn always(node: &Node) -> BTreeSet<ChannelIx> {
    // There may be no items, and what waits may run later.
    let sure = node.each.is_none() && node.after.is_empty();
    if sure { channels(&node.update) } else { BTreeSet::new() }
}

/// What a node may write.
fn ever(checked: &Checked<'_, '_>, node: &Node) -> BTreeSet<ChannelIx> {
    let mut found = channels(&node.update);
    for route in [&node.next, &node.on_error].into_iter().flatten() {
        found.extend(route_writes(route));
    }
    match &node.verb {
        Verb::RunTools(of) => {
            for tool in offered(checked.graph, *of).iter().filter_map(|t| checked.graph.tools.get(t.0)) {
                found.extend(tool_writes(tool));
            }
        }
        Verb::Model(model) if model.extends => found.extend(model.messages),
        _ => {}
    }
    found
}

fn channels(writes: &[Write]) -> BTreeSet<ChannelIx> {
    writes.iter().map(|w| w.channel).collect()
}

fn route_writes(route: &Route) -> impl Iterator<Item = ChannelIx> {
    route.0.iter().flat_map(|way| way.update.iter().map(|w| w.channel))
}

fn tool_writes(tool: &Tool) -> BTreeSet<ChannelIx> {
    let mut found = channels(&tool.update);
    for route in [&tool.next, &tool.on_error].into_iter().flatten() {
        found.extend(route_writes(route));
    }
    found
}

/// Tools whose calls of one turn write one channel that is replaced: the last in call order stays.
pub(super) fn tools(checked: &mut Checked<'_, '_>) {
    for (index, tool) in checked.graph.tools.iter().enumerate() {
        let one = matches!(&tool.parallel, Some(Setting::Literal(n)) if n.as_int() == Some(1));
        if one && tool.overflow == Overflow::Refuse {
            continue;
        }
        // A fixed value is the same in each call.
        let varies = |w: &&Write| varies(&w.value);
        let written: BTreeSet<ChannelIx> = tool.update.iter().filter(varies).map(|w| w.channel).collect();
        let replaced = written.iter().filter_map(|ix| checked.graph.channels.get(ix.0));
        let Some(channel) = replaced.clone().find(|c| c.reducer == Reducer::Replace) else { continue };
        let place = checked.sites.tools.get(index).copied().unwrap_or(checked.sites.graph);
        let message = format!(
            "two calls of \"{}\" in one turn would both write the channel \"{}\"; the last stays",
            tool.name, channel.name
        );
        checked
            .reader
            .warning(code::LAST_STAYS, place, message)
            .help("allow one call a turn: parallel: 1, overflow: refuse");
    }
}

/// Whether a value may differ between two calls of a turn.
fn varies(value: &ValueExpr) -> bool {
    let reads = |source: &str| source.contains("args") || source.contains("result");
    match value {
        ValueExpr::Expr(expr) => reads(&expr.source),
        ValueExpr::Text(text) => reads(&text.source),
        ValueExpr::Literal(_) => false,
        ValueExpr::List(items) => items.iter().any(varies),
        ValueExpr::Record(fields) => fields.iter().any(|(_, v)| varies(v)),
    }
}

/// Outputs that nothing writes.
pub(super) fn outputs(checked: &mut Checked<'_, '_>) {
    let graph = checked.graph;
    let mut written: BTreeSet<ChannelIx> = graph.input.iter().copied().collect();
    for node in &graph.nodes {
        written.extend(ever(checked, node));
    }
    for route in std::iter::once(&graph.start).chain(&graph.finally) {
        written.extend(route_writes(route));
    }
    for tool in &graph.tools {
        written.extend(tool_writes(tool));
    }
    for ix in graph.output.iter().filter(|ix| !written.contains(ix)) {
        let Some(channel) = graph.channels.get(ix.0) else { continue };
        if channel.field.default.is_some() {
            continue;
        }
        let message = format!("nothing in {} writes the output \"{}\"", checked.title, channel.name);
        checked.reader.warning(code::NEVER_WRITTEN, checked.sites.graph, message);
    }
}
