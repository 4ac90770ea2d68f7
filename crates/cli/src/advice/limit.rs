//! The limit that ended an instance: what was counted, in units that people use.

use deepgraph_graph::{Bundle, Counted, Graph, Limit, Setting};
use deepgraph_protocol::{Exit, ExitClass, LimitHit, Map, Meter};

use super::outlook::Outlook;
use super::remedy;
use crate::when;

/// What is said of the limit that ended an instance: what was counted, and what of it is kept for the report. None where
/// no limit did.
pub fn said(exit: &Exit, bundle: &Bundle, outlook: Option<&dyn Outlook>) -> Option<String> {
    let hit = exit.limit.as_ref()?;
    let needed = |meter: Meter| {
        let call = outlook?.last_call(&exit.scope, meter)?;
        // What fits was not refused.
        let fits = exit.class != ExitClass::Budget || hit.value.saturating_add(call) <= hit.bound / 2;
        (!fits).then(|| {
            let unit = if meter == Meter::Tokens { " tokens" } else { "" };
            format!("; the next call wants about {}{unit}", amount(meter, call))
        })
    };
    let Some((graph, limit)) = limit_of(exit, hit, bundle) else {
        return Some(match remedy::granted(&hit.name) {
            Some(meter) => format!(
                "{} of {} {} that the graph above it granted were used{}",
                amount(meter, hit.value),
                amount(meter, hit.bound),
                unit(meter),
                needed(meter).unwrap_or_default()
            ),
            None => format!("the limit {} was reached at {} of {}", hit.name, hit.value, hit.bound),
        });
    };
    Some(match &limit.counted {
        Counted::Names { tools, nodes } => {
            let tools = tools.iter().filter_map(|ix| graph.tools.get(ix.0)).map(|tool| &*tool.name);
            let nodes = nodes.iter().filter_map(|ix| graph.nodes.get(ix.0)).map(|node| &*node.name);
            let names: Vec<&str> = tools.chain(nodes).collect();
            let (value, bound) = (when::number(hit.value), when::number(hit.bound));
            format!("{value} of {bound} counted calls ({}) were used", names.join(", "))
        }
        Counted::Meter(meter) => {
            let kept = outlook.map_or(0, |outlook| kept(limit, outlook.config()));
            let kept = match kept {
                0 => String::new(),
                kept => format!("; {} kept for the report", amount(*meter, kept)),
            };
            format!("{}{kept}{}", metered(*meter, hit), needed(*meter).unwrap_or_default())
        }
        Counted::Gain { .. } => format!(
            "the last steps brought little that was new: a gain of {}, and the threshold is {}",
            share(hit.value),
            share(hit.bound)
        ),
    })
}

/// Where the bound of a limit stands that no key of the configuration sets.
pub fn stands(exit: &Exit, bundle: &Bundle) -> Option<String> {
    let (_, limit) = limit_of(exit, exit.limit.as_ref()?, bundle)?;
    let setting = match &limit.counted {
        Counted::Gain { below, .. } => Some(below),
        _ => limit.max.as_ref(),
    };
    let by_key = matches!(setting, Some(Setting::Config(key)) if bundle.config.contains_key(key));
    (!by_key).then(|| format!("its bound stands in the graph file, under `limits`: {}", limit.name))
}

/// What of a bound is kept for the report, in base units.
pub fn kept(limit: &Limit, config: &Map) -> u64 {
    let unit = if let Counted::Meter(meter) = limit.counted { meter.base_units() } else { 1.0 };
    let max = limit.max.as_ref().and_then(|max| max.number(config));
    max.map_or(0, |max| limit.reserve.of((max.max(0.0) * unit).round() as u64, unit))
}

/// The limit of an exit: of its own graph, else of one below it, as a graph that inherits an exit has it.
pub fn limit_of<'a>(exit: &Exit, hit: &LimitHit, bundle: &'a Bundle) -> Option<(&'a Graph, &'a Limit)> {
    let own = bundle.graphs.iter().filter(|graph| graph.path == exit.graph);
    let mut graphs = own.chain(&bundle.graphs);
    graphs.find_map(|graph| graph.limits.iter().find(|l| l.name == hit.name).map(|limit| (graph, limit)))
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

/// Parts per million as a share: `1.5 %`.
fn share(ppm: u64) -> String {
    let text = format!("{}.{:04}", ppm / 10_000, ppm % 10_000);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

fn amount(meter: Meter, n: u64) -> String {
    match meter {
        Meter::CostUsd => when::money(n),
        meter if meter.is_clock() => when::exactly(n),
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
