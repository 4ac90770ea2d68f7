//! `fallback_models`: the models that are asked where one can not serve. It is said like a key of the graph, and is one
//! of the run: the graph does not know which model answered.

use deepgraph_graph::Bundle;
use deepgraph_protocol::Value;

use super::Origin;
use crate::error::CliError;

/// The key.
pub const KEY: &str = "fallback_models";

/// The models in order, and where they are said.
pub type Fallbacks = (Origin, Vec<String>);

/// Takes the key out of what one place says, where the graph has no key of that name.
///
/// # Errors
///
/// It is no list of names.
pub(super) fn take(
    bundle: &Bundle,
    origin: &Origin,
    values: &mut Vec<(String, Value)>,
) -> Result<Option<Fallbacks>, CliError> {
    if bundle.config.contains_key(KEY) {
        return Ok(None);
    }
    let mut found = None;
    for (_, value) in values.extract_if(.., |(key, _)| key == KEY) {
        let names = names(&value).ok_or_else(|| {
            CliError::Config(vec![format!(
                "{KEY} ({origin}): must be a list of models, such as [openai::gpt-4.1-mini, mine::qwen3], not {}",
                value.to_json_text()
            )])
        })?;
        found = Some((origin.clone(), names));
    }
    Ok(found)
}

/// The names of a list, or of a text with commas.
pub(super) fn names(value: &Value) -> Option<Vec<String>> {
    let listed = |text: &str| -> Vec<String> {
        let text = text.trim().trim_start_matches('[').trim_end_matches(']');
        let names = text.split(',').map(|name| name.trim().trim_matches(['"', '\'']));
        names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
    };
    match value {
        Value::Null => Some(Vec::new()),
        Value::Text(text) => Some(listed(text)),
        Value::List(items) => {
            items.iter().map(|item| item.as_str().map(|name| name.trim().to_owned())).collect()
        }
        _ => None,
    }
}
