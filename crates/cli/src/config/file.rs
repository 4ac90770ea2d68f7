//! Configuration files: values of the graph's keys, and the services that a run may use.

use std::collections::BTreeMap;
use std::path::Path;

use deepgraph_graph::Bundle;
use deepgraph_protocol::Value;

use super::fallbacks::{self, Fallbacks};
use super::{Origin, plain_key};
use crate::error::CliError;
use crate::services::Services;

/// The one key that is no key of a graph: [`Services`](crate::services::Services).
pub const SERVICES: &str = "services";

/// What a configuration file says.
#[derive(Clone, Debug, Default)]
pub struct ConfigFile {
    /// Keys and values.
    pub values: Vec<(String, Value)>,
    /// What stands below `services`; null where there is nothing.
    pub services: Value,
}

impl ConfigFile {
    /// Reads a file, YAML or JSON. What stands below `configurable` counts as if it stood above.
    ///
    /// # Errors
    ///
    /// It can not be read, or is no mapping.
    pub fn read(path: &Path) -> Result<ConfigFile, CliError> {
        let problem = |problem: String| CliError::ConfigFile { path: path.to_owned(), problem };
        let text = std::fs::read_to_string(path).map_err(|e| problem(e.to_string()))?;
        let data = deepgraph_graph::read_data(&path.to_string_lossy(), &text)
            .map_err(|mistakes| problem(format!("\n\n{mistakes}")))?;
        let values = match &data {
            Value::Null => return Ok(ConfigFile::default()),
            Value::Map(values) => values,
            other => {
                let kind = other.kind();
                return Err(problem(format!("it must be a mapping from keys to values, not a {kind}")));
            }
        };
        let mut file = ConfigFile::default();
        for (key, value) in values.iter() {
            match value.as_map() {
                _ if &**key == SERVICES => file.services = value.clone(),
                Some(inner) if &**key == "configurable" => {
                    file.values.extend(inner.iter().map(|(key, value)| (key.to_string(), value.clone())));
                }
                _ => file.values.push((plain_key(key), value.clone())),
            }
        }
        Ok(file)
    }
}

/// What the configuration files say of the run as a whole.
#[derive(Default)]
pub(super) struct Files {
    pub(super) fallbacks: Option<Fallbacks>,
    pub(super) services: Value,
    /// Where each of their values comes from.
    pub(super) origins: BTreeMap<String, Origin>,
}

impl Files {
    /// Reads one more file, which goes before those that were read. What is left are values of keys.
    ///
    /// # Errors
    ///
    /// It can not be read; what it says of the run as a whole does not fit.
    pub(super) fn read(&mut self, bundle: &Bundle, path: &Path) -> Result<Vec<(String, Value)>, CliError> {
        let ConfigFile { mut values, services } = ConfigFile::read(path)?;
        let fallbacks = fallbacks::take(bundle, &Origin::File(path.to_owned()), &mut values)?;
        self.fallbacks = fallbacks.or(self.fallbacks.take());
        // What is wrong is told with the file that it stands in.
        Services::read(&services).map_err(|error| match error {
            CliError::Config(wrong) => {
                CliError::ConfigFile { path: path.to_owned(), problem: wrong.join("; ") }
            }
            other => other,
        })?;
        let origin = Origin::File(path.to_owned());
        self.origins.extend(leaves(SERVICES, &services).into_iter().map(|(name, _)| (name, origin.clone())));
        self.services = merged(&self.services, &services);
        Ok(values)
    }
}

/// The values of mappings within mappings, each with its keys joined by points.
pub fn leaves(name: &str, value: &Value) -> Vec<(String, Value)> {
    match value {
        Value::Null => Vec::new(),
        Value::Map(entries) if !entries.is_empty() => {
            entries.iter().flat_map(|(key, value)| leaves(&format!("{name}.{key}"), value)).collect()
        }
        other => vec![(name.to_owned(), other.clone())],
    }
}

/// One value over another: mappings key by key, anything else as a whole.
fn merged(below: &Value, above: &Value) -> Value {
    match (below, above) {
        (_, Value::Null) => below.clone(),
        (Value::Map(below), Value::Map(above)) => {
            let mut all = (**below).clone();
            for (key, value) in above.iter() {
                let under = all.get(key).cloned().unwrap_or_default();
                all.insert(key.clone(), merged(&under, value));
            }
            Value::from(all)
        }
        _ => above.clone(),
    }
}

/// A key of the user's own file that is none of this graph and looks much like one.
pub(super) fn doubt(bundle: &Bundle, path: &Path, key: &str) -> Option<String> {
    let alike = |known: &&str| strsim::normalized_damerau_levenshtein(key, known) >= 0.75;
    let of_graph = bundle.config.keys().map(|known| &**known);
    let near = [SERVICES, fallbacks::KEY].into_iter().chain(of_graph).find(alike)?;
    Some(format!("{key} in {} sets nothing in this graph; did you mean {near}?", path.display()))
}
