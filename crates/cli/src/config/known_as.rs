//! Keys as people know them from elsewhere, of graphs that have no key of that name: `primary_model` sets each key that
//! names a model, `max_steps` each key that bounds the turns or steps of a graph.

use std::collections::BTreeSet;
use std::sync::Arc;

use deepgraph_graph::{Bundle, Counted, Setting};
use deepgraph_protocol::{Meter, Value};

use super::model_keys;

/// The keys of a graph that a key means: itself, unless the graph has other names for it.
fn keys(bundle: &Bundle, key: &str) -> Vec<String> {
    let meant = match key {
        _ if bundle.config.contains_key(key) => Vec::new(),
        "primary_model" => model_keys(bundle),
        "max_steps" => step_keys(bundle),
        _ => Vec::new(),
    };
    if meant.is_empty() { vec![key.to_owned()] } else { meant }
}

/// Whether a key is another name for keys of the graph.
pub(super) fn is_other(bundle: &Bundle, key: &str) -> bool {
    keys(bundle, key) != [key]
}

/// The same for many; what is said of a key by its own name goes before what is said by another one.
pub(super) fn own_keys(bundle: &Bundle, given: Vec<(String, Value)>) -> Vec<(String, Value)> {
    let (own, other): (Vec<_>, Vec<_>) =
        given.into_iter().partition(|(key, _)| keys(bundle, key) == std::slice::from_ref(key));
    let other = other
        .into_iter()
        .flat_map(|(key, value)| keys(bundle, &key).into_iter().map(move |key| (key, value.clone())));
    other.chain(own).collect()
}

/// The keys that bound turns, steps or super-steps.
fn step_keys(bundle: &Bundle) -> Vec<String> {
    let limits = bundle.graphs.iter().flat_map(|graph| &graph.limits);
    let bounds = limits.filter_map(|limit| match (&limit.counted, &limit.max) {
        (Counted::Meter(meter), Some(Setting::Config(key))) if counts_steps(*meter) => Some(Arc::clone(key)),
        _ => None,
    });
    let keys: BTreeSet<Arc<str>> = bounds.collect();
    keys.iter().map(|key| key.to_string()).collect()
}

fn counts_steps(meter: Meter) -> bool {
    matches!(meter, Meter::Turns | Meter::PaidTurns | Meter::Steps | Meter::SuperSteps)
}
