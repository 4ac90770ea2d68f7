//! The effective configuration: from seven places, each value with its origin.

pub mod fallbacks;
pub mod file;
mod known_as;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use deepgraph_graph::{Bundle, Field, Type};
use deepgraph_protocol::{Map, Value};
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::fallbacks::Fallbacks;
use self::file::{Files, doubt};
use crate::error::CliError;
use crate::services::Services;

/// Keys may be written with this before them, as other tools do.
const ALIAS: &str = "configurable.";

/// Where a value comes from, weakest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The graph file.
    Default,
    /// The class of the question, by its name.
    Intent(String),
    /// The recording of `--replay`.
    Recording,
    /// A file named with `--config`.
    File(PathBuf),
    /// An environment variable.
    Environment(String),
    /// `--model`.
    CommandLine,
    /// Another option of the command line.
    Option(String),
    /// `--set`: for this run.
    Run,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::Intent(name) => write!(f, "intent {name}"),
            Origin::Recording => f.write_str("recording"),
            Origin::File(path) => write!(f, "file {}", path.display()),
            Origin::Environment(name) => write!(f, "environment {name}"),
            Origin::CommandLine => f.write_str("--model"),
            Origin::Option(name) => f.write_str(name),
            Origin::Run => f.write_str("--set"),
        }
    }
}

impl Origin {
    /// Its name for programs.
    fn name(&self) -> &'static str {
        match self {
            Origin::Default => "default",
            Origin::Intent(_) => "intent",
            Origin::Recording => "recording",
            Origin::File(_) => "file",
            Origin::Environment(_) => "environment",
            Origin::CommandLine | Origin::Option(_) => "command_line",
            Origin::Run => "run",
        }
    }

    /// The file, variable or option.
    fn source(&self) -> Option<String> {
        match self {
            Origin::Default | Origin::Recording => None,
            Origin::File(path) => Some(path.display().to_string()),
            Origin::Environment(name) | Origin::Intent(name) => Some(name.clone()),
            Origin::CommandLine | Origin::Option(_) | Origin::Run => Some(self.to_string()),
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
    /// The user's own file, which holds for every graph: keys that this one does not have are passed over.
    pub own_file: Option<PathBuf>,
    /// `--config`.
    pub file: Option<PathBuf>,
    /// `--fallback`, in order.
    pub fallbacks: Vec<String>,
    /// The class of the question.
    pub intent: Option<String>,
    /// The values of a recording.
    pub recorded: Option<BTreeMap<String, Value>>,
}

/// The configuration of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Effective {
    /// The values in force.
    pub values: Map,
    /// Where each comes from.
    pub origins: BTreeMap<String, Origin>,
    /// Keys and variables that look like a misspelt key and were passed over.
    pub doubts: Vec<String>,
    /// The models that are asked where one can not serve, in order.
    pub fallbacks: Vec<String>,
    /// The services that the run may use.
    pub services: Services,
}

/// The environment: its variables by name.
pub type Environment = BTreeMap<OsString, OsString>;

/// What is said about the configuration in all places but the graph, not yet held against it.
#[derive(Clone, Debug)]
pub struct Given {
    /// By key, each from the strongest place that has it.
    values: BTreeMap<String, (Origin, Value)>,
    /// Variables that can not be read.
    wrong: Vec<String>,
    doubts: Vec<String>,
    fallbacks: Option<Fallbacks>,
    services: Services,
    /// Where each value of the services comes from.
    of_services: BTreeMap<String, Origin>,
}

/// Puts the configuration together: `--set` before `--model` before the environment before the file before the class of
/// the question before the defaults of the graph.
///
/// # Errors
///
/// All values that do not fit, each with its key and origin; a file that can not be read.
pub fn effective(bundle: &Bundle, wanted: &Wanted, environment: &Environment) -> Result<Effective, CliError> {
    given(bundle, wanted, environment)?.effective(bundle)
}

/// Reads what is said about the configuration.
///
/// # Errors
///
/// A file that can not be read, a `--set` that is none, a `--model` that sets nothing.
pub fn given(bundle: &Bundle, wanted: &Wanted, environment: &Environment) -> Result<Given, CliError> {
    let mut given: BTreeMap<String, (Origin, Value)> = BTreeMap::new();
    let mut wrong = Vec::new();
    let intent = wanted.intent.as_deref().and_then(|name| bundle.intent(name));
    for (key, value) in intent.iter().flat_map(|intent| &intent.set) {
        let origin = Origin::Intent(wanted.intent.clone().unwrap_or_default());
        given.insert(key.to_string(), (origin, value.clone()));
    }
    for (key, value) in wanted.recorded.iter().flatten() {
        given.insert(key.clone(), (Origin::Recording, value.clone()));
    }
    let mut files = Files::default();
    let mut doubts = doubts(bundle, environment);
    if let Some(path) = &wanted.own_file {
        let of_graph = |key: &str| bundle.config.contains_key(key) || known_as::is_other(bundle, key);
        let values = files.read(bundle, path)?;
        let (known, other): (Vec<_>, Vec<_>) = values.into_iter().partition(|(key, _)| of_graph(key));
        doubts.extend(other.iter().filter_map(|(key, _)| doubt(bundle, path, key)));
        for (key, value) in known_as::own_keys(bundle, known) {
            given.insert(key, (Origin::File(path.clone()), value));
        }
    }
    if let Some(path) = &wanted.file {
        for (key, value) in known_as::own_keys(bundle, files.read(bundle, path)?) {
            given.insert(key, (Origin::File(path.clone()), value));
        }
    }
    let Files { mut fallbacks, services, origins } = files;
    let named = |origin: Origin, value: Value| {
        fallbacks::take(bundle, &origin, &mut vec![(fallbacks::KEY.to_owned(), value)])
    };
    let name = variable(fallbacks::KEY);
    if let Some(text) =
        environment.get(&OsString::from(&name)).and_then(|text| text.to_str()).filter(|t| !t.is_empty())
    {
        fallbacks = named(Origin::Environment(name), Value::from(text))?.or(fallbacks);
    }
    if !wanted.fallbacks.is_empty() {
        fallbacks = Some((Origin::Option("--fallback".to_owned()), wanted.fallbacks.clone()));
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
    let set: Result<Vec<(String, Value)>, CliError> = wanted
        .set
        .iter()
        .map(|text| read_setting(text).map(|(key, value)| (key, Value::from(value))))
        .collect();
    let mut set = set?;
    fallbacks = fallbacks::take(bundle, &Origin::Run, &mut set)?.or(fallbacks);
    for (key, value) in known_as::own_keys(bundle, set) {
        given.insert(key, (Origin::Run, value));
    }
    Ok(Given {
        values: given,
        wrong,
        doubts,
        fallbacks,
        services: Services::read(&services)?,
        of_services: origins,
    })
}

impl Given {
    /// The configuration of a run.
    ///
    /// # Errors
    ///
    /// All values that do not fit, each with its key and origin.
    pub fn effective(&self, bundle: &Bundle) -> Result<Effective, CliError> {
        let overrides = self.values.iter().map(|(key, (_, value))| (key.clone(), value.clone())).collect();
        match bundle.config_of(overrides) {
            Ok(values) if self.wrong.is_empty() => Ok(self.with_origins(values)),
            Ok(_) => Err(CliError::Config(self.wrong.clone())),
            Err(mismatches) => {
                let told = mismatches.iter().map(|mismatch| {
                    let key = mismatch.path.split(['.', '[']).next().unwrap_or_default();
                    format!("{} ({}): {}", mismatch.path, self.origin(key), mismatch.message)
                });
                Err(CliError::Config(self.wrong.iter().cloned().chain(told).collect()))
            }
        }
    }

    /// The services that are said to be there.
    pub fn services(&self) -> &Services {
        &self.services
    }

    /// The same as it is said, whether it fits or not.
    pub fn unchecked(&self, bundle: &Bundle) -> Effective {
        let said = |key: &str| self.values.get(key).map(|(_, value)| value.clone());
        let value = |key: &Arc<str>, field: &Field| said(key).or_else(|| field.default.clone());
        let values = bundle.config.iter().filter_map(|(key, field)| Some((key.clone(), value(key, field)?)));
        self.with_origins(values.collect())
    }

    fn origin(&self, key: &str) -> Origin {
        self.values.get(key).map_or(Origin::Default, |(origin, _)| origin.clone())
    }

    fn with_origins(&self, values: Map) -> Effective {
        let mut origins: BTreeMap<String, Origin> =
            values.keys().map(|key| (key.to_string(), self.origin(key))).collect();
        // A graph may have a key of that name: it says the same then.
        let of_graph = values.get(fallbacks::KEY).and_then(fallbacks::names);
        let fallbacks = match (&self.fallbacks, of_graph) {
            (_, Some(names)) => names,
            (Some((origin, names)), None) => {
                origins.insert(fallbacks::KEY.to_owned(), origin.clone());
                names.clone()
            }
            (None, None) => Vec::new(),
        };
        origins.extend(self.of_services.clone());
        let (doubts, services) = (self.doubts.clone(), self.services.clone());
        Effective { values, origins, doubts, fallbacks, services }
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

/// The key and the text of a `--set`.
///
/// # Errors
///
/// It is none.
pub fn read_setting(text: &str) -> Result<(String, &str), CliError> {
    let (key, value) = text.split_once('=').unwrap_or_default();
    match plain_key(key.trim()) {
        key if key.is_empty() => Err(CliError::BadSetting { text: text.to_owned() }),
        key => Ok((key, value.trim())),
    }
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

/// The values of all keys, null where one has none, the fallbacks and the services.
fn whole(bundle: &Bundle, config: &Effective) -> Map {
    let mut values: Map = bundle.config.keys().map(|key| (key.clone(), Value::Null)).collect();
    values.extend(config.values.clone());
    let fallbacks = || config.fallbacks.iter().map(|name| Value::from(name.as_str())).collect();
    values.entry(fallbacks::KEY.into()).or_insert_with(fallbacks);
    values.extend(config.services.values().into_iter().map(|(name, value)| (name.into(), value)));
    values
}

/// The configuration as lines, keys without a value included: `null`.
pub fn whole_table(bundle: &Bundle, config: &Effective) -> String {
    table(&whole(bundle, config), &config.origins)
}

/// The configuration as one JSON document, keys without a value included.
pub fn document(bundle: &Bundle, config: &Effective) -> serde_json::Value {
    let values = whole(bundle, config);
    let rows = values.iter().map(|(key, value)| {
        let origin = config.origins.get(&**key).unwrap_or(&Origin::Default);
        let mut row = json!({"key": key, "value": value, "origin": origin.name()});
        if let Some(source) = origin.source() {
            row["source"] = source.into();
        }
        row
    });
    let rows: Vec<_> = rows.collect();
    json!({"version": 1, "graph": bundle.root().name, "config": rows})
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
