//! The input and the configuration of a case, against what its graph declares.

use deepgraph_graph::Bundle;
use deepgraph_protocol::Map;

use super::file::Case;
use super::mistakes::hint;

/// Input and effective configuration, checked and completed; else what does not fit, each as a sentence.
pub(crate) fn settle(case: &Case, bundle: &Bundle) -> Result<(Map, Map), Vec<String>> {
    let mut mistakes = Vec::new();
    let overrides = case.config.iter().map(|(key, value)| (key.to_string(), value.clone())).collect();
    let config = match bundle.config_of(overrides) {
        Ok(config) => config,
        Err(why) => {
            mistakes.extend(why.iter().map(|m| format!("`config` does not fit the graph: {m}")));
            Map::new()
        }
    };
    let root = bundle.root();
    let channels: Vec<_> = root.input.iter().map(|ix| &root.channels[ix.0]).collect();
    let mut input = Map::new();
    for (name, value) in &case.input {
        let Some(channel) = channels.iter().find(|channel| channel.name == *name) else {
            let help = hint(name, channels.iter().map(|c| &*c.name)).unwrap_or_default();
            mistakes.push(format!("`input`: the graph has no input `{name}`; {help}"));
            continue;
        };
        match channel.field.check(value) {
            Ok(value) => drop(input.insert(name.clone(), value)),
            Err(why) => mistakes.push(format!("`input.{name}` does not fit the graph: {why}")),
        }
    }
    for channel in channels {
        if channel.is_required() && !case.input.contains_key(&channel.name) {
            mistakes.push(format!("`input`: the graph needs `{}`", channel.name));
        }
    }
    if mistakes.is_empty() { Ok((input, config)) } else { Err(mistakes) }
}
