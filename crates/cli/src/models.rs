//! The models of a run: whether they can be had is found out before it starts.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use deepgraph_graph::{Bundle, Counted, Setting, Verb};
use deepgraph_model::{ModelSettings, Models, Script};
use deepgraph_protocol::{Map, Meter, Value};

use crate::error::CliError;
use crate::settings::Settings;

/// The models that these settings reach. Nothing is connected yet.
pub fn connect(settings: &Settings) -> Models {
    Models::new(ModelSettings {
        base_url: settings.base_url.clone(),
        stream: settings.stream,
        key_variable: settings.key_env.clone(),
        script: settings.script.clone(),
        providers: settings.services.providers(),
        models: settings.services.models(),
        fallbacks: settings.fallback_models.clone(),
    })
}

/// Looks whether every model that the graph may call under this configuration can be had, with its fallbacks.
///
/// # Errors
///
/// All that can not, by name.
pub fn check(models: &Models, bundle: &Bundle, config: &Map) -> Result<(), CliError> {
    let mut wrong: Vec<String> = models.check().err().map(|error| error.to_string()).into_iter().collect();
    for name in routes(models, callable(bundle, config)) {
        let missing = models.missing_variables(&name);
        match models.get(&name) {
            Err(error) => wrong.push(error.to_string()),
            Ok(_) if !missing.is_empty() => wrong.push(format!(
                "{name} needs a key: set the variable {}, or name a server of your own that needs none ({})",
                missing.join(" and "),
                if name.starts_with("openai::") {
                    "--base-url"
                } else {
                    "services.providers of a configuration file"
                }
            )),
            Ok(_) => {}
        }
    }
    let wrong: Vec<String> = BTreeSet::from_iter(wrong).into_iter().collect();
    if wrong.is_empty() { Ok(()) } else { Err(CliError::Models(wrong)) }
}

/// All models that may be asked in place of these, themselves included.
fn routes(models: &Models, names: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    names.into_iter().flat_map(|name| models.route(&name)).collect()
}

/// Looks whether the price of each model is known that a limit of money would have to know.
///
/// # Errors
///
/// All of which it is not: no call of such a model would be let through.
pub fn check_prices(bundle: &Bundle, settings: &Settings) -> Result<(), CliError> {
    let config = &settings.config;
    let Some(budget) = bundle.graphs.iter().flat_map(|graph| &graph.limits).find(|limit| {
        let is_on = limit.max.as_ref().is_some_and(|max| max.number(config).is_some());
        is_on && matches!(limit.counted, Counted::Meter(Meter::CostUsd))
    }) else {
        return Ok(());
    };
    let models = connect(settings);
    let asked = routes(&models, callable(bundle, config));
    let unknown = asked.into_iter().filter(|name| models.price(name).is_none());
    let unknown: Vec<String> = unknown.collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let key = match &budget.max {
        Some(Setting::Config(key)) => Some(key.to_string()),
        _ => None,
    };
    Err(CliError::NoPrice { limit: budget.name.to_string(), key, models: unknown })
}

/// The names of the models that the graph's nodes call.
pub fn names(bundle: &Bundle, config: &Map) -> BTreeSet<String> {
    let nodes = bundle.graphs.iter().flat_map(|graph| &graph.nodes);
    let models =
        nodes.filter_map(|node| if let Verb::Model(model) = &node.verb { Some(model) } else { None });
    models.map(|model| model.model.resolve(config).as_str().unwrap_or_default().to_owned()).collect()
}

/// The variables with keys and other secrets that may be sent to the servers of models under these settings, as far as
/// they are set: those of all models that a node can call, and of their fallbacks.
pub fn keys_in_use(bundle: &Bundle, settings: &Settings) -> BTreeSet<String> {
    let models = connect(settings);
    let is_set = |name: &String| std::env::var(name).is_ok_and(|key| !key.trim().is_empty());
    let asked = routes(&models, callable(bundle, &settings.config));
    asked.iter().flat_map(|name| models.variables(name)).filter(is_set).collect()
}

/// Whether a node may call a model of a server.
pub fn may_need_key(bundle: &Bundle, settings: &Settings) -> bool {
    let models = connect(settings);
    callable(bundle, &settings.config).iter().any(|name| models.is_remote(name))
}

/// The names of the models that nodes may call. Calls may set other models for the graphs that they call.
fn callable(bundle: &Bundle, config: &Map) -> BTreeSet<String> {
    let graphs = || bundle.graphs.iter();
    let by_nodes = graphs().flat_map(|graph| &graph.nodes).filter_map(|node| match &node.verb {
        Verb::Call(call) => Some(call),
        _ => None,
    });
    let by_tools = graphs().flat_map(|graph| &graph.tools).filter_map(|tool| tool.call.as_ref());
    let nodes = graphs().flat_map(|graph| &graph.nodes);
    let keys: BTreeSet<&str> = nodes
        .filter_map(|node| match &node.verb {
            Verb::Model(model) => match &model.model {
                Setting::Config(key) => Some(&**key),
                Setting::Literal(_) => None,
            },
            _ => None,
        })
        .collect();
    let set = by_nodes.chain(by_tools).flat_map(|call| &call.config);
    let models = set.filter(|(key, _)| keys.contains(&**key)).map(|(_, value)| value.resolve(config));
    models.filter_map(Value::as_str).map(str::to_owned).chain(names(bundle, config)).collect()
}

/// Reads the script of `scripted` models, YAML or JSON.
///
/// # Errors
///
/// The file can not be read, or is no script.
pub fn read_script(path: &Path) -> Result<Script, CliError> {
    let problem = |problem: String| CliError::ScriptFile { path: path.to_owned(), problem };
    let text = fs::read_to_string(path).map_err(|e| problem(e.to_string()))?;
    let data = deepgraph_graph::read_data(&path.to_string_lossy(), &text)
        .map_err(|mistakes| problem(format!("\n\n{mistakes}")))?;
    data.to().map_err(|e| problem(e.to_string()))
}
