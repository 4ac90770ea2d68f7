//! The reason for a figure, as a person reads it.

use deepgraph_protocol::Meter;

use super::bound::{Bound, Figure};
use super::flow::{Because, Flow, Setup};
use super::in_force::{InForce, What};
use super::known::Items;
use super::linear::{Fraction, Most, Optimum, Solver, Sum, Var};
use crate::{Graph, NodeIx, ToolIx, Verb};

/// The bound on a sum, with its proof and, where there is one, an example.
pub(super) fn solved(
    setup: &Setup<'_>,
    flow: &Flow,
    solver: &mut Solver,
    sum: &Sum,
) -> (Figure, Option<Optimum>) {
    if sum.is_empty() {
        return (Figure::none(), None);
    }
    match solver.most(sum) {
        Most::Is(optimum) => (Figure::new(whole(optimum.value), terms(setup, flow, &optimum)), Some(optimum)),
        Most::Endless(vars) => (endless(setup, flow, &vars), None),
        Most::TooLarge => {
            let why = "the numbers are too large to be worked out exactly";
            (Figure::new(Bound::Unknown, why), None)
        }
    }
}

/// Things are counted by whole numbers, so the part behind the point is never reached.
pub(super) fn whole(value: Fraction) -> Bound {
    Bound::of(u128::try_from(value.floor().to_integer()).unwrap_or(0))
}

/// `20 (max_researcher_turns) × 5 + 5 (finally)`.
fn terms(setup: &Setup<'_>, flow: &Flow, optimum: &Optimum) -> String {
    let mut parts: Vec<(Because, u64, Fraction)> = Vec::new();
    for (row, price) in &optimum.prices {
        let Some((because, bound)) = flow.because.get(row).filter(|(_, bound)| *bound > 0) else { continue };
        match parts.iter_mut().find(|(b, _, _)| b == because) {
            Some((_, _, sum)) => *sum += *price,
            None => parts.push((*because, *bound, *price)),
        }
    }
    parts.retain(|(_, _, price)| *price.numer() != 0);
    parts.sort_by_key(|(because, _, _)| match because {
        Because::Limit(index) | Because::Main(index) | Because::Once(index) => (0, *index),
        Because::Start => (1, 0),
        Because::Finally => (1, 1),
    });
    if parts.is_empty() {
        return "nothing leads to one".to_owned();
    }
    let shown: Vec<String> = parts.iter().map(|(b, bound, price)| term(setup, *b, *bound, *price)).collect();
    shown.join(" + ")
}

fn term(setup: &Setup<'_>, because: Because, bound: u64, price: Fraction) -> String {
    let name = |index: usize| setup.limits.get(index).map(title).unwrap_or_default();
    let times = if price == Fraction::from(1) { String::new() } else { format!(" × {price}") };
    match because {
        Because::Start => format!("{price} (start)"),
        Because::Finally => format!("{price} (finally)"),
        Because::Limit(index) => format!("{bound} ({}){times}", name(index)),
        Because::Main(index) => format!("{bound} ({} less its reserve){times}", name(index)),
        Because::Once(index) => format!("{price} ({} leads on)", name(index)),
    }
}

/// A limit by its name, and by where its bound comes from.
pub(super) fn title(limit: &InForce) -> String {
    match (&limit.from, &limit.key) {
        (Some(from), _) => format!("what {from} grants"),
        (None, Some(key)) if *key != limit.name => format!("{}, {key}", limit.name),
        _ => limit.name.to_string(),
    }
}

/// Why there is no bound: what grows, and what would bound it.
fn endless(setup: &Setup<'_>, flow: &Flow, vars: &[Var]) -> Figure {
    let graph = setup.graph;
    let grows = |var: &Var| vars.contains(var);
    for (ix, node, of) in flow.live(setup) {
        if let Some((tool, _)) = of.calls.iter().find(|(_, var)| grows(var)) {
            return Figure::new(Bound::Unbounded, any_number_of(graph, ix, *tool));
        }
        if let Some((tool, _)) = of.approvals.iter().find(|(_, var)| grows(var)) {
            let tool = tool_name(graph, *tool);
            let why = format!(
                "a person is asked before each call of {tool} that is not malformed, and a turn may make any number \
                 of them; no limit counts what is asked"
            );
            return Figure::new(Bound::Unbounded, why);
        }
        if let Some((var, Items::Unknown)) = of.items
            && grows(&var)
        {
            let each = node.each.as_ref().map(|each| each.max_items.as_written()).unwrap_or_default();
            let why = format!(
                "`max_items` of {} is `{}`, which is read when it runs; a fixed number, a config key, or a \
                 channel with `maximum` would bound it",
                node.name,
                each.trim()
            );
            return Figure::new(Bound::Unknown, why);
        }
    }
    let nodes =
        flow.live(setup).filter(|(_, _, of)| grows(&of.starts) || of.refused.as_ref().is_some_and(grows));
    let names: Vec<&str> = nodes.map(|(_, node, _)| &*node.name).collect();
    let first = names.first().copied().unwrap_or_default();
    let why = format!(
        "nothing bounds how often {} can follow each other; a limit would: {{count: [{first}], max: 10, exit: \
         step_limit}}",
        names.join(", ")
    );
    Figure::new(Bound::Unbounded, why)
}

fn any_number_of(graph: &Graph, runs: NodeIx, tool: ToolIx) -> String {
    let model = match graph.nodes.get(runs.0).map(|node| &node.verb) {
        Some(Verb::RunTools(of)) => graph.nodes.get(of.0).map(|node| &*node.name).unwrap_or_default(),
        _ => "",
    };
    let name = tool_name(graph, tool);
    format!(
        "a turn of {model} may call {name} any number of times; a limit on {name} or on tool_calls would bound it, or \
         `parallel` of the tool with `overflow: refuse`"
    )
}

fn tool_name(graph: &Graph, tool: ToolIx) -> &str {
    graph.tools.get(tool.0).map(|tool| &*tool.name).unwrap_or_default()
}

/// What a limit counts, as a person reads it.
pub(super) fn counted(graph: &Graph, limit: &InForce) -> String {
    match &limit.what {
        What::Names { tools, nodes, all, .. } => {
            let nodes = nodes.iter().filter_map(|ix| graph.nodes.get(ix.0)).map(|node| &*node.name);
            let names: Vec<&str> = tools.iter().map(|ix| tool_name(graph, *ix)).chain(nodes).collect();
            let some = if *all { "" } else { ", not all of their calls" };
            format!("{}{some}", names.join(", "))
        }
        What::Meter(meter) => {
            let own = matches!(meter, Meter::ModelCalls | Meter::ToolCalls) && limit.own;
            format!("{}{}", meter.name(), if own { ", of the instance itself" } else { "" })
        }
        What::Gain => "gain".to_owned(),
    }
}
