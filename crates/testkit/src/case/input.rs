//! The input and the configuration of a case, against what its graph declares.

use deepgraph_graph::Bundle;
use deepgraph_protocol::Map;

use super::file::Case;

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
    let input = match bundle.input_of(None, &case.input) {
        Ok(input) => input,
        Err(why) => {
            mistakes.extend(why.iter().map(|m| format!("`input` does not fit the graph: {m}")));
            Map::new()
        }
    };
    if mistakes.is_empty() { Ok((input, config)) } else { Err(mistakes) }
}
