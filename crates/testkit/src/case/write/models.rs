//! Which models were asked beside the configured ones, and the context windows that were known.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_graph::yaml::{Mapping, Tree};
use deepgraph_protocol::StepId;
use deepgraph_trace::recording::{Asked, Came, Exchange};

use super::gather::Gathered;

/// Adds `fallbacks` and `windows`, where the run had any.
pub(super) fn add(case: &mut Mapping, run: &Gathered) {
    let fallbacks = fallbacks(&run.recording.exchanges);
    if !fallbacks.is_empty() {
        let names = fallbacks.iter().map(|model| Tree::Text(model.to_string()));
        case.set("fallbacks", Tree::List(names.collect()));
    }
    let mut windows: BTreeMap<&str, u64> = BTreeMap::new();
    for exchange in &run.recording.exchanges {
        if let (Some(model), Some(window)) = (asked(exchange), exchange.window) {
            windows.insert(model, window);
        }
    }
    for (model, window) in windows {
        case.add_under("windows", model, Tree::Int(i64::try_from(window).unwrap_or(i64::MAX)));
    }
}

/// The models in the order in which they were asked first; as many more as the longest row of failures needs.
fn fallbacks(exchanges: &[Exchange]) -> Vec<Arc<str>> {
    let mut known: Vec<Arc<str>> = Vec::new();
    let (mut in_a_row, mut longest) = (0, 0);
    let mut step: Option<&StepId> = None;
    for exchange in exchanges {
        if step != Some(&exchange.step) {
            (step, in_a_row) = (Some(&exchange.step), 0);
        }
        in_a_row = if exchange.fail_over { in_a_row + 1 } else { 0 };
        longest = longest.max(in_a_row);
        known.extend(
            exchange.model.iter().filter(|model| !known.contains(model)).cloned().collect::<Vec<_>>(),
        );
    }
    for n in known.len() + 1..=longest {
        known.push(format!("fallback-{n}").into());
    }
    known
}

fn asked(exchange: &Exchange) -> Option<&str> {
    let Asked::Model(request) = &exchange.asked else { return None };
    Some(exchange.model.as_deref().unwrap_or(&request.model))
}

/// Whether the next model was asked after a failure, where its kind alone does not say it.
pub(super) fn fail_over(exchange: &Exchange, has_fallbacks: bool) -> Option<bool> {
    let Came::Failed(error) = &exchange.came else { return None };
    let is_usual = exchange.fail_over == (has_fallbacks && error.kind.fails_over());
    (matches!(exchange.asked, Asked::Model(_)) && !is_usual).then_some(exchange.fail_over)
}

/// Whether any exchange of the run was asked of another model, or led to another.
pub(super) fn has_fallbacks(run: &Gathered) -> bool {
    run.recording.exchanges.iter().any(|exchange| exchange.fail_over || exchange.model.is_some())
}
