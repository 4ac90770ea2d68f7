//! The limit that ended an instance: what was counted, in units that people use, and what raises it.

use deepgraph_graph::{Bundle, Counted, Graph, Limit, Setting};
use deepgraph_protocol::{Exit, LimitHit, Meter};

use crate::when;

/// What is said of a limit.
pub struct Said {
    /// What happened.
    pub what: String,
    /// What to do.
    pub next: String,
}

/// What is said of the limit that ended an instance; none where none did.
pub fn said(exit: &Exit, bundle: &Bundle, run: &str) -> Option<Said> {
    let hit = exit.limit.as_ref()?;
    let Some((graph, limit)) = limit_of(exit, hit, bundle) else { return Some(granted(hit)) };
    let what = match &limit.counted {
        Counted::Names { tools, nodes } => {
            let tools = tools.iter().filter_map(|ix| graph.tools.get(ix.0)).map(|tool| &*tool.name);
            let nodes = nodes.iter().filter_map(|ix| graph.nodes.get(ix.0)).map(|node| &*node.name);
            let names: Vec<&str> = tools.chain(nodes).collect();
            let (value, bound) = (when::number(hit.value), when::number(hit.bound));
            format!("{value} of {bound} counted calls ({}) were used", names.join(", "))
        }
        Counted::Meter(meter) => metered(*meter, hit),
        Counted::Gain { .. } => format!(
            "the last steps brought little that was new: {} after a threshold of {}",
            share(hit.value),
            share(hit.bound)
        ),
    };
    Some(Said { what, next: next(&limit.counted, limit, hit, bundle, run) })
}

/// The limit of an exit: of its own graph, else of one below it, as a graph that inherits an exit has it.
fn limit_of<'a>(exit: &Exit, hit: &LimitHit, bundle: &'a Bundle) -> Option<(&'a Graph, &'a Limit)> {
    let own = bundle.graphs.iter().filter(|graph| graph.path == exit.graph);
    let mut graphs = own.chain(&bundle.graphs);
    graphs.find_map(|graph| graph.limits.iter().find(|l| l.name == hit.name).map(|limit| (graph, limit)))
}

/// A limit that no graph declares: it follows from what the caller granted.
fn granted(hit: &LimitHit) -> Said {
    let what = match hit.name.strip_prefix("grant.").and_then(Meter::parse) {
        Some(meter) => format!("{}, all that the graph above it granted", metered(meter, hit)),
        None => format!("the limit {} was reached at {} of {}", hit.name, hit.value, hit.bound),
    };
    Said { what, next: "raise the budget of the run, of which this is a share".to_owned() }
}

fn metered(meter: Meter, hit: &LimitHit) -> String {
    let times = |n: u64| when::counted(n, "time", "times");
    match meter {
        Meter::ToolFailures => return format!("a tool failed {} in a row", times(hit.value)),
        Meter::RepeatedCalls => {
            return format!("calls were repeated {} that had been answered before", times(hit.value));
        }
        _ => {}
    }
    format!("{} of {} {} were used", amount(meter, hit.value), amount(meter, hit.bound), unit(meter))
}

fn next(counted: &Counted, limit: &Limit, hit: &LimitHit, bundle: &Bundle, run: &str) -> String {
    let set = |key: &str, value: &str| format!("deepgraph resume {run} --set {key}={value}");
    let known = |key: &str| bundle.config.contains_key(key);
    match (counted, &limit.max) {
        // More of the same would most likely be no better.
        (Counted::Meter(Meter::ToolFailures | Meter::RepeatedCalls), _) => {
            format!("deepgraph trace {run} shows the calls and what came of them")
        }
        (Counted::Gain { below: Setting::Config(key), .. }, _) if known(key) => {
            format!("to look further, set {key} lower, or to 0: {}", set(key, "0"))
        }
        (Counted::Meter(meter), Some(Setting::Config(key))) if known(key) => {
            format!("to go on with more: {}", set(key, &raised(*meter, hit.bound)))
        }
        (Counted::Names { .. }, Some(Setting::Config(key))) if known(key) => {
            format!("to go on with more: {}", set(key, &doubled(hit.bound).to_string()))
        }
        _ => format!("its bound stands in the graph file, under `limits`: {}", limit.name),
    }
}

/// Twice as much, as a value of the configuration.
fn raised(meter: Meter, bound: u64) -> String {
    let more = doubled(bound);
    match meter {
        // When::money has a dollar before it.
        Meter::CostUsd => when::money(more).trim_start_matches('$').to_owned(),
        meter if meter.is_clock() => match more {
            more if more % 60_000 == 0 => format!("{}m", more / 60_000),
            more if more % 1000 == 0 => format!("{}s", more / 1000),
            more => format!("{more}ms"),
        },
        _ => more.to_string(),
    }
}

fn doubled(bound: u64) -> u64 {
    bound.saturating_mul(2).max(1)
}

/// Parts per million as a share: `1.5 %`.
fn share(ppm: u64) -> String {
    let text = format!("{}.{:04}", ppm / 10_000, ppm % 10_000);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

fn amount(meter: Meter, n: u64) -> String {
    match meter {
        Meter::CostUsd => when::money(n),
        meter if meter.is_clock() => when::duration(n),
        _ => when::number(n),
    }
}

fn unit(meter: Meter) -> &'static str {
    match meter {
        Meter::Turns | Meter::PaidTurns => "model turns",
        Meter::ModelCalls => "model calls",
        Meter::ToolCalls => "tool calls",
        Meter::SuperSteps => "super-steps",
        Meter::Steps => "steps",
        Meter::Depth => "levels",
        Meter::Tokens => "tokens",
        Meter::CostUsd => "of the budget",
        Meter::ActiveTime => "of working time",
        Meter::WallTime => "of time",
        Meter::TurnTime => "of the time for one turn",
        Meter::ToolFailures => "failures in a row of one tool",
        Meter::RepeatedCalls => "repeated calls",
    }
}
