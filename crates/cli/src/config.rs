//! The effective configuration: from five places, each value with its origin.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use deepgraph_graph::{Bundle, Type};
use deepgraph_protocol::{Map, Value};
use serde::{Deserialize, Serialize};

use crate::error::CliError;

/// Keys may be written with this before them, as other tools do.
const ALIAS: &str = "configurable.";

/// Where a value comes from, weakest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The graph file.
    Default,
    /// A file named with `--config`.
    File(PathBuf),
    /// An environment variable.
    Environment(String),
    /// `--model`.
    CommandLine,
    /// `--set`: for this run.
    Run,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::File(path) => write!(f, "file {}", path.display()),
            Origin::Environment(name) => write!(f, "environment {name}"),
            Origin::CommandLine => f.write_str("--model"),
            Origin::Run => f.write_str("--set"),
        }
    }
}

/// What a user says about the configuration.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// `--set KEY=VALUE`, as given.
    pub set: Vec<String>,
    /// `--model`.
    pub model: Option<String>,
    /// `--config`.
    pub file: Option<PathBuf>,
}

/// The configuration of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Effective {
    /// The values in force.
    pub values: Map,
    /// Where each comes from.
    pub origins: BTreeMap<String, Origin>,
    /// Variables that look like a misspelt key and were passed over.
    pub doubts: Vec<String>,
}

/// The environment: its variables by name.
pub type Environment = BTreeMap<OsString, OsString>;

/// Puts the configuration together: `--set` before `--model` before the environment before the file before the
/// defaults of the graph.
///
/// # Errors
///
/// All values that do not fit, each with its key and origin; a file that can not be read.
pub fn effective(bundle: &Bundle, wanted: &Wanted, environment: &Environment) -> Result<Effective, CliError> {
    let mut given: BTreeMap<String, (Origin, Value)> = BTreeMap::new();
    let mut wrong = Vec::new();
    if let Some(path) = &wanted.file {
        for (key, value) in read_file(path)? {
            given.insert(key, (Origin::File(path.clone()), value));
        }
    }
    for key in bundle.config.keys() {
        let name = variable(key);
        match environment.get(&OsString::from(&name)).map(|value| value.to_str()) {
            None | Some(Some("")) => {}
            Some(Some(text)) => {
                given.insert(key.to_string(), (Origin::Environment(name), Value::from(text)));
            }
            Some(None) => wrong.push(format!("{key} (environment {name}): is not UTF-8 text")),
        }
    }
    if let Some(model) = &wanted.model {
        let keys = model_keys(bundle);
        if keys.is_empty() {
            return Err(CliError::NoModelKey { graph: bundle.root().name.to_string() });
        }
        for key in keys {
            given.insert(key, (Origin::CommandLine, Value::from(model.as_str())));
        }
    }
    for text in &wanted.set {
        let (key, value) = read_setting(text)?;
        given.insert(key, (Origin::Run, Value::from(value)));
    }
    let origin = |key: &str| given.get(key).map_or(Origin::Default, |(origin, _)| origin.clone());
    let overrides = given.iter().map(|(key, (_, value))| (key.clone(), value.clone())).collect();
    match bundle.config_of(overrides) {
        Ok(values) if wrong.is_empty() => {
            let origins = values.keys().map(|key| (key.to_string(), origin(key))).collect();
            Ok(Effective { values, origins, doubts: doubts(bundle, environment) })
        }
        Ok(_) => Err(CliError::Config(wrong)),
        Err(mismatches) => {
            wrong.extend(mismatches.iter().map(|mismatch| {
                let key = mismatch.path.split(['.', '[']).next().unwrap_or_default();
                format!("{} ({}): {}", mismatch.path, origin(key), mismatch.message)
            }));
            Err(CliError::Config(wrong))
        }
    }
}

/// The keys that name a model.
fn model_keys(bundle: &Bundle) -> Vec<String> {
    let names_model = |key: &str| key == "model" || key.ends_with("_model");
    let keys = bundle.config.iter().filter(|(key, field)| names_model(key) && field.ty == Type::String);
    keys.map(|(key, _)| key.to_string()).collect()
}

/// The variable that sets a key.
pub fn variable(key: &str) -> String {
    format!("DEEPGRAPH_{}", key.to_uppercase().replace('-', "_"))
}

fn plain_key(key: &str) -> String {
    key.strip_prefix(ALIAS).unwrap_or(key).to_owned()
}

fn read_setting(text: &str) -> Result<(String, &str), CliError> {
    let (key, value) = text.split_once('=').unwrap_or_default();
    match plain_key(key.trim()) {
        key if key.is_empty() => Err(CliError::BadSetting { text: text.to_owned() }),
        key => Ok((key, value.trim())),
    }
}

/// The keys and values of a configuration file. What stands below `configurable` counts as if it stood above.
fn read_file(path: &Path) -> Result<Vec<(String, Value)>, CliError> {
    let problem = |problem: String| CliError::ConfigFile { path: path.to_owned(), problem };
    let text = std::fs::read_to_string(path).map_err(|e| problem(e.to_string()))?;
    let data = deepgraph_graph::read_data(&path.to_string_lossy(), &text)
        .map_err(|mistakes| problem(format!("\n\n{mistakes}")))?;
    let values = match &data {
        Value::Null => return Ok(Vec::new()),
        Value::Map(values) => values,
        other => {
            return Err(problem(format!("it must be a mapping from keys to values, not a {}", other.kind())));
        }
    };
    let mut all = Vec::new();
    for (key, value) in values.iter() {
        match value.as_map() {
            Some(inner) if &**key == "configurable" => {
                all.extend(inner.iter().map(|(key, value)| (key.to_string(), value.clone())));
            }
            _ => all.push((plain_key(key), value.clone())),
        }
    }
    Ok(all)
}

/// Variables of our prefix that are no key and look much like one.
fn doubts(bundle: &Bundle, environment: &Environment) -> Vec<String> {
    let known: Vec<String> = bundle.config.keys().map(|key| variable(key)).collect();
    let ours =
        environment.keys().filter_map(|name| name.to_str()).filter(|name| name.starts_with("DEEPGRAPH_"));
    let strange = ours.filter(|name| *name != "DEEPGRAPH_HOME" && !known.iter().any(|k| k == name));
    let mut doubts = Vec::new();
    for name in strange {
        let near = known.iter().find(|known| strsim::normalized_damerau_levenshtein(name, known) >= 0.85);
        if let Some(near) = near {
            doubts.push(format!("{name} sets nothing in this graph; did you mean {near}?"));
        }
    }
    doubts
}

/// The configuration as lines, keys without a value included: `null`.
pub fn whole_table(bundle: &Bundle, config: &Effective) -> String {
    let mut values: Map = bundle.config.keys().map(|key| (key.clone(), Value::Null)).collect();
    values.extend(config.values.clone());
    table(&values, &config.origins)
}

/// The configuration as lines: key, value, origin.
pub fn table(values: &Map, origins: &BTreeMap<String, Origin>) -> String {
    let rows: Vec<(String, String, String)> = values
        .iter()
        .map(|(key, value)| {
            let origin = origins.get(&**key).unwrap_or(&Origin::Default);
            (key.to_string(), value.to_json_text(), origin.to_string())
        })
        .collect();
    let width = |of: fn(&(String, String, String)) -> &String| {
        rows.iter().map(|row| of(row).chars().count()).max().unwrap_or(0)
    };
    let (keys, values) = (width(|row| &row.0), width(|row| &row.1));
    rows.iter().map(|(key, value, origin)| format!("{key:keys$}  {value:values$}  {origin}\n")).collect()
}

#[cfg(test)]
mod tests;
