//! The input of a run, held against what its graph takes.

use deepgraph_graph::{Channel, Graph};
use deepgraph_protocol::Map;

use crate::RunError;

/// Checks an input against the input channels of a graph and completes it as their types say.
///
/// # Errors
///
/// [`RunError::Input`]: a channel that the graph does not take, a value that does not fit, a channel that has to be
/// given and is not.
pub fn fit_input(graph: &Graph, input: &Map) -> Result<Map, RunError> {
    let refused = |problem: String| RunError::Input { graph: graph.name.to_string(), problem };
    let channels: Vec<&Channel> = graph.input.iter().filter_map(|ix| graph.channels.get(ix.0)).collect();
    let names = || channels.iter().map(|channel| &*channel.name).collect::<Vec<_>>().join(", ");
    let mut fitted = Map::new();
    for (name, value) in input {
        let Some(channel) = channels.iter().find(|channel| channel.name == *name) else {
            let takes =
                if channels.is_empty() { "takes none".to_owned() } else { format!("takes {}", names()) };
            return Err(refused(format!("it has no input `{name}`; it {takes}")));
        };
        if value.is_null() && !channel.is_required() {
            continue;
        }
        let value = channel.field.check(value).map_err(|why| refused(format!("`{name}` {why}")))?;
        fitted.insert(name.clone(), value);
    }
    match channels.iter().find(|channel| channel.is_required() && !fitted.contains_key(&channel.name)) {
        Some(channel) => Err(refused(format!("it needs `{}` ({})", channel.name, channel.field.ty))),
        None => Ok(fitted),
    }
}
