//! Channels that are kept between runs: under which keys, and what they held last.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_graph::{Bundle, Context, Names, Persist};
use deepgraph_protocol::{Map, ScopeEnd, Started, Value};
use deepgraph_store::{RunUpdate, Store};

use crate::RunError;

/// The keys under which the root's channels are kept, by channel.
type Keys = BTreeMap<Arc<str>, Arc<str>>;

/// What the key of a channel can read: the input of the run.
#[derive(Debug)]
struct Input(Map);

impl Names for Input {
    fn lookup(&self, name: &str) -> Option<Value> {
        Some(self.0.get(name).cloned().unwrap_or_default())
    }
}

/// The keys of a run's channels. Channels that belong to a thread have none where the run has no thread.
///
/// # Errors
///
/// A key that can not be rendered, or is empty.
pub(crate) fn keys(bundle: &Bundle, input: &Map, thread: Option<&str>) -> Result<Keys, RunError> {
    let root = bundle.root();
    let names = Context::of(Input(input.clone()));
    let mut keys = Keys::new();
    for channel in &root.channels {
        let key: String = match (&channel.persist, thread) {
            (None, _) | (Some(Persist::Thread), None) => continue,
            (Some(Persist::Thread), Some(thread)) => {
                format!("thread/{thread}/{}/{}", root.name, channel.name)
            }
            (Some(Persist::Key(text)), _) => {
                let failed = |why: String| RunError::NoKey { channel: channel.name.to_string(), why };
                let key = bundle.programs.render(text, &names).map_err(|e| failed(e.to_string()))?;
                let key = key.trim();
                if key.is_empty() {
                    return Err(failed("it is empty".to_owned()));
                }
                format!("key/{key}/{}", channel.name)
            }
        };
        keys.insert(channel.name.clone(), key.into());
    }
    Ok(keys)
}

/// Puts the keys of a run's channels and what they held last into its first entry.
///
/// # Errors
///
/// [`RunError::NoKey`], or the store fails.
pub(crate) fn recall(
    store: &dyn Store,
    bundle: &Bundle,
    thread: Option<&str>,
    started: &mut Started,
) -> Result<(), RunError> {
    started.keys = keys(bundle, &started.input, thread)?;
    for (channel, key) in &started.keys {
        if let Some(value) = store.kept(key)? {
            started.persisted.insert(channel.clone(), value);
        }
    }
    Ok(())
}

/// Adds what a run leaves to the change of its record that ends it, so that both are kept or neither.
pub(crate) fn leave(keys: &Keys, end: &ScopeEnd, update: &mut RunUpdate) {
    let kept = keys.iter().filter_map(|(channel, key)| {
        end.persisted.get(channel).map(|value| (key.to_string(), value.clone()))
    });
    update.keep.extend(kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_that_was_not_given_reads_as_null() {
        assert_eq!(Input(Map::new()).lookup("topic"), Some(Value::Null));
    }
}
