//! The trace depends neither on the order in which things came back nor on crashes, as long as nothing that does
//! depend on them led the way: a clock, a cancellation, a person's approval, a budget that the call of a crashed driver stays charged to.

use std::collections::BTreeSet;
use std::sync::Arc;

use deepgraph_graph::{Bundle, Counted, Route, ValueExpr, Wants, Write};
use deepgraph_protocol::{ErrorKind, Event, Meter, Output, ScopePath};
use deepgraph_trace::Detail;

use super::Violation;
use crate::case::difference::between;
use crate::depends::{self, fired};
use crate::{Fault, SimRun};

const NAME: &str = "schedule";

pub(super) fn compare(bundle: &Arc<Bundle>, one: &SimRun, other: &SimRun) -> Option<Vec<Violation>> {
    let was_cancelled = |run: &SimRun| run.faults.contains_key(&Fault::Cancelled);
    // What is late settles what it cost: whether that is before the end depends on the order.
    let is_charged = [one, other].iter().any(|run| run.faults.keys().any(|fault| fault.is_charged()));
    let leads: fn(Meter) -> bool = if is_charged { depends::is_charged } else { depends::is_clock };
    let led = |run: &SimRun| {
        was_cancelled(run) || asked_approval(run) || has_unknown(run) || fired(bundle, run, leads)
    };
    if led(one) || led(other) {
        return None;
    }
    let root = ScopePath::root();
    if one.end.is_some() != other.end.is_some() {
        let what = "in another order it does not come to the same end".to_owned();
        return Some(vec![Violation::of_scope(NAME, &root, what)]);
    }
    // Prompts may show what is left of a limit.
    let shows_limits = bundle.programs.read_limits() && (is_charged || has_clock(bundle));
    if shows_limits && limits_lead(bundle) {
        return None;
    }
    let (traces, others) = match (one.fold(bundle), other.fold(bundle)) {
        (Ok(traces), Ok(others)) => (traces, others),
        (Err(error), _) | (_, Err(error)) => {
            let what = format!("the journals do not fold: {error}");
            return Some(vec![Violation::of_scope(NAME, &root, what)]);
        }
    };
    let (text, other_text) = match is_charged || shows_limits {
        true => (
            without(&traces.to_text(Detail::Full), is_charged, shows_limits),
            without(&others.to_text(Detail::Full), is_charged, shows_limits),
        ),
        false => (traces.to_json(), others.to_json()),
    };
    if text == other_text {
        return Some(Vec::new());
    }
    let what = format!("in another order the trace is another one:{}", between(&other_text, &text));
    Some(vec![Violation::of_scope(NAME, &root, what)])
}

/// The text of a trace without what was used, and without what prompts say.
fn without(text: &str, used: bool, prompts: bool) -> String {
    let is_kept = |line: &&str| {
        let line = line.trim_start();
        let is_prompt = line.starts_with("system: ") || line.starts_with("user: ");
        let is_left_out = (used && line.starts_with("used ")) || (prompts && is_prompt);
        !is_left_out
    };
    text.lines().filter(is_kept).map(|line| format!("{line}\n")).collect()
}

fn has_clock(bundle: &Bundle) -> bool {
    let is_clock = |counted: &Counted| matches!(counted, Counted::Meter(meter) if depends::is_clock(*meter));
    bundle.graphs.iter().flat_map(|graph| &graph.limits).any(|limit| is_clock(&limit.counted))
}

/// Whether more than prompts may read what is left of a limit on time or on what calls are charged: routes, writes,
/// inputs of calls. What is granted shows only where a limit is reached by it.
fn limits_lead(bundle: &Bundle) -> bool {
    let names: BTreeSet<&str> = bundle
        .graphs
        .iter()
        .flat_map(|graph| &graph.limits)
        .filter(|limit| matches!(limit.counted, Counted::Meter(meter) if depends::is_charged(meter)))
        .map(|limit| &*limit.name)
        .collect();
    let reads = |wants: Wants, source: &str| {
        let is_plain = !source.contains("limits[") && !source.contains("| ") && source != "...";
        wants.limits && (!is_plain || names.iter().any(|name| source.contains(name)))
    };
    let of_value = |value: &ValueExpr| reads(value.wants(), &value.as_written());
    let of_writes = |writes: &[Write]| writes.iter().any(|write| of_value(&write.value));
    let of_route = |route: &Route| {
        route.0.iter().any(|way| way.condition.as_ref().is_some_and(of_value) || of_writes(&way.update))
    };
    let of_routes = |routes: [&Option<Route>; 2]| routes.into_iter().flatten().any(of_route);
    bundle.graphs.iter().any(|graph| {
        graph.calls().any(|call| call.input.iter().any(|(_, value)| of_value(value)))
            || of_route(&graph.start)
            || graph.finally.as_ref().is_some_and(of_route)
            || graph.nodes.iter().any(|n| of_writes(&n.update) || of_routes([&n.next, &n.on_error]))
            || graph.tools.iter().any(|t| {
                of_writes(&t.update)
                    || of_routes([&t.next, &t.on_error])
                    || t.answer.as_ref().is_some_and(|answer| reads(answer.wants, &answer.source))
            })
    })
}

/// Whether the outcome of a call that writes was not learnt: a crash settles it, and what comes late may tell it all the
/// same.
fn has_unknown(run: &SimRun) -> bool {
    run.events.iter().any(|event| match event {
        Event::StepFailed { error, .. } | Event::AttemptFailed { error, .. } => {
            error.kind == ErrorKind::Unknown
        }
        Event::Exited { exit } => !exit.unknown_writes.is_empty(),
        _ => false,
    })
}

/// Whether a person was asked whether a call may be run: it counts when it is approved, so in the order of the answers.
fn asked_approval(run: &SimRun) -> bool {
    run.outputs
        .iter()
        .flatten()
        .any(|output| matches!(output, Output::Event(Event::Asked { step, .. }) if step.last() == "approval"))
}
