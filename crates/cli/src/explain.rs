//! Exits in words that a person understands, with what to do next.

use deepgraph_graph::{Bundle, Counted, Graph, Limit, Setting};
use deepgraph_protocol::{Exit, ExitClass, ExitReason, LimitHit, Meter};

use crate::screen::one_line;
use crate::when;

/// Why an instance ended and what can be done about it: one sentence.
pub fn exit(exit: &Exit, bundle: &Bundle) -> String {
    let mut text = match (&exit.limit, limit_of(exit, bundle)) {
        (Some(hit), found) => limit(hit, found, bundle),
        (None, _) => reason(&exit.reason, exit.class).to_owned(),
    };
    if let Some(detail) = &exit.detail {
        let detail = one_line(detail, 600);
        text = if exit.class == ExitClass::Cancelled { detail } else { format!("{text}: {detail}") };
    }
    match next(&exit.reason) {
        "" => text,
        next => format!("{text}; {next}"),
    }
}

/// The limit that ended an instance: its own, else one of a graph below it.
fn limit_of<'a>(exit: &Exit, bundle: &'a Bundle) -> Option<(&'a Graph, &'a Limit)> {
    let name = &exit.limit.as_ref()?.name;
    let own = bundle.graphs.iter().filter(|graph| graph.path == exit.graph);
    let mut graphs = own.chain(&bundle.graphs);
    graphs.find_map(|graph| graph.limits.iter().find(|l| l.name == *name).map(|limit| (graph, limit)))
}

fn limit(hit: &LimitHit, found: Option<(&Graph, &Limit)>, bundle: &Bundle) -> String {
    let Some((graph, limit)) = found else {
        return format!("the limit {} was reached at {} of {}", hit.name, hit.value, hit.bound);
    };
    let name = &hit.name;
    let (value, bound) = (hit.value, hit.bound);
    let what = match &limit.counted {
        Counted::Names { tools, nodes } => {
            let tools = tools.iter().filter_map(|ix| graph.tools.get(ix.0)).map(|tool| &*tool.name);
            let nodes = nodes.iter().filter_map(|ix| graph.nodes.get(ix.0)).map(|node| &*node.name);
            let names: Vec<&str> = tools.chain(nodes).collect();
            format!("{value} of {bound} counted calls ({}) were used", names.join(", "))
        }
        Counted::Meter(meter) => {
            format!("{} of {} {} were used", amount(*meter, value), amount(*meter, bound), unit(*meter))
        }
        Counted::Gain { .. } => "the last steps brought little that was new".to_owned(),
    };
    let change = match (&limit.counted, &limit.max) {
        (Counted::Gain { below: Setting::Config(key), .. }, _) => {
            format!("; to go on longer, set {key} lower, or to 0: --set {key}=0")
        }
        (Counted::Gain { .. }, _) => format!("; the limit {name} of the graph file says so"),
        (_, Some(Setting::Config(key))) if bundle.config.contains_key(key) => {
            format!("; raise it with --set {key}=N")
        }
        _ => format!("; the limit {name} stands in the graph file"),
    };
    what + &change
}

fn amount(meter: Meter, n: u64) -> String {
    match meter {
        Meter::CostUsd => when::money(n),
        Meter::ActiveTime | Meter::WallTime => when::duration(n),
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
    }
}

fn reason(reason: &ExitReason, class: ExitClass) -> &'static str {
    match reason {
        ExitReason::ResearchComplete => "the model said that the question is covered",
        ExitReason::NoToolCalls => "the model had nothing more to look up",
        ExitReason::IterationLimit => "all counted calls were used",
        ExitReason::StepLimit => "all turns or steps were used",
        ExitReason::ToolCallCap => "all tool calls were used",
        ExitReason::GainSaturated => "the last steps brought little that was new",
        ExitReason::TokenBudget => "the budget of tokens is used up",
        ExitReason::CostBudget => "the budget of money is used up",
        ExitReason::Deadline | ExitReason::TurnDeadline => "the time is over",
        ExitReason::ActiveTime => "the working time is used up",
        ExitReason::StepTimeout => "a step got no answer in time",
        ExitReason::RepeatedToolFailure => "a tool failed again and again",
        ExitReason::ContextOverflow => "a request did not fit the model's context window",
        ExitReason::Refusal => "the model refused to answer",
        ExitReason::ModelError => "a model call failed",
        ExitReason::ToolError => "a tool failed",
        ExitReason::GraphError => "the graph is at fault",
        ExitReason::NoSources => "nothing was found to work with",
        ExitReason::ClarificationNeeded => "a question of the run was not answered",
        ExitReason::PlanRejected => "the plan was not approved",
        ExitReason::Cancelled => "it was cancelled",
        ExitReason::Completed => "the graph came to its end",
        ExitReason::Declared(_) => match class {
            ExitClass::Cancelled => "it was cancelled",
            ExitClass::Error => "an error that the graph declares",
            ExitClass::Waiting => "the graph waits for a person",
            ExitClass::Budget => "a budget that the graph declares",
            ExitClass::Cap => "a cap that the graph declares",
            ExitClass::Completion | ExitClass::NoToolCalls | ExitClass::Gain => {
                "an end that the graph declares"
            }
        },
    }
}

/// What to do, where the sentence does not say it already.
fn next(reason: &ExitReason) -> &'static str {
    match reason {
        ExitReason::NoSources => "give the run documents with --docs PATH",
        ExitReason::ContextOverflow => {
            "take a model with a larger window, or let the graph's `truncate` cut more"
        }
        ExitReason::ClarificationNeeded => "put the answer into the question and run it again",
        ExitReason::ModelError => "see to the model (name, key, server) and run the question again",
        ExitReason::StepTimeout => {
            "run the question again, or give the node a longer `timeout` in the graph file"
        }
        ExitReason::GraphError => "mend the graph file; `deepgraph trace RUN` shows the step",
        ExitReason::ToolError | ExitReason::RepeatedToolFailure => "`deepgraph trace RUN` shows the calls",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::graphs;

    fn said(reason: ExitReason, limit: Option<(&str, u64, u64)>, detail: Option<&str>) -> String {
        let bundle = graphs::load_named(graphs::DEFAULT).unwrap().unwrap_or_else(|m| panic!("{m}")).bundle;
        let found = Exit {
            scope: deepgraph_protocol::ScopePath::root(),
            graph: "deep_research".into(),
            attempt: 1,
            class: reason.class().unwrap_or(ExitClass::Completion),
            reason,
            limit: limit.map(|(name, value, bound)| LimitHit { name: name.into(), value, bound }),
            counters: BTreeMap::new(),
            last_step: None,
            detail: detail.map(str::to_owned),
            also: Vec::new(),
            findings: None,
        };
        exit(&found, &bundle)
    }

    #[test]
    fn limits_are_told_with_what_raises_them() {
        assert_eq!(
            said(ExitReason::IterationLimit, Some(("max_researcher_iterations", 6, 6)), None),
            "6 of 6 counted calls (ConductResearch, think_tool) were used; \
             raise it with --set max_researcher_iterations=N"
        );
        assert_eq!(
            said(ExitReason::Deadline, Some(("deadline", 1_800_000, 1_800_000)), None),
            "30 min of 30 min of time were used; raise it with --set deadline=N"
        );
        let money = said(ExitReason::CostBudget, Some(("cost_budget", 500_000, 500_000)), None);
        assert!(money.starts_with("$0.50 of $0.50") && money.contains("cost_budget_usd=N"), "{money}");
        let gain = said(ExitReason::GainSaturated, Some(("gain", 0, 20_000)), None);
        assert!(gain.ends_with("--set gain_threshold=0"), "{gain}");
        assert!(
            said(ExitReason::StepLimit, Some(("gone", 1, 2)), None).contains("gone was reached at 1 of 2")
        );
    }

    #[test]
    fn errors_are_told_with_their_detail_and_what_to_do() {
        let text = said(ExitReason::ModelError, None, Some("unauthorized: the key\nis wrong"));
        assert!(text.contains("unauthorized: the key is wrong; see to the model"), "{text}");
        for (name, reason) in ExitReason::BUILT_IN {
            assert!(!said(reason, None, None).is_empty(), "{name}");
        }
    }
}
