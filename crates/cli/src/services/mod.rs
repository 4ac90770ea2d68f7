//! What a run may use outside: the key `services` of configuration files. Keys of services are never in it, only the
//! names of the variables that hold them.

use std::collections::BTreeMap;

use deepgraph_model::{ModelFacts, ProviderSettings};
use deepgraph_protocol::{Map, Value};
use deepgraph_runtime::{McpServerSettings, McpSettings};
#[cfg(feature = "web")]
use deepgraph_tools::web::{SearchSettings, WebSettings};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::config::file::{SERVICES, leaves};
use crate::error::CliError;

/// The sections.
const SECTIONS: [&str; 5] = ["providers", "models", "search", "web", "mcp"];

/// The services of a run as the files say them, each section read and found right.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Services(Map);

impl Services {
    /// Reads what stands below `services`.
    ///
    /// # Errors
    ///
    /// All that does not fit, each with its place.
    pub fn read(value: &Value) -> Result<Services, CliError> {
        let sections = match value {
            Value::Null => return Ok(Services::default()),
            Value::Map(sections) => sections,
            other => {
                let problem = format!("services: must be a mapping, not a {}", other.kind());
                return Err(CliError::Config(vec![problem]));
            }
        };
        let mut wrong = Vec::new();
        for (name, section) in sections.iter() {
            match &**name {
                "providers" => check_providers(section, &mut wrong),
                "models" => check_entries::<ModelFacts>(name, section, &mut wrong),
                #[cfg(feature = "web")]
                "search" => check_section::<SearchSettings>(name, section, &mut wrong),
                #[cfg(feature = "web")]
                "web" => check_section::<WebSettings>(name, section, &mut wrong),
                "mcp" => check_servers(section, &mut wrong),
                other => wrong.push(no_section(other)),
            }
        }
        if wrong.is_empty() { Ok(Services((**sections).clone())) } else { Err(CliError::Config(wrong)) }
    }

    /// Whether none is named.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All that is said, each with its place: `services.providers.mine.base_url`.
    pub fn values(&self) -> Vec<(String, Value)> {
        if self.is_empty() { Vec::new() } else { leaves(SERVICES, &Value::from(self.0.clone())) }
    }

    /// Providers of models, by name.
    pub fn providers(&self) -> BTreeMap<String, ProviderSettings> {
        self.entries("providers")
    }

    /// Facts of models, by their full names.
    pub fn models(&self) -> BTreeMap<String, ModelFacts> {
        self.entries("models")
    }

    /// Which search engines are asked, and how.
    #[cfg(feature = "web")]
    pub fn search(&self) -> SearchSettings {
        self.section("search")
    }

    /// How pages of the web are fetched.
    #[cfg(feature = "web")]
    pub fn web(&self) -> WebSettings {
        self.section("web")
    }

    #[cfg(feature = "web")]
    fn section<T: DeserializeOwned + Default>(&self, name: &str) -> T {
        // What does not fit was refused when it was read.
        self.0.get(name).and_then(|section| section.to().ok()).unwrap_or_default()
    }

    /// MCP servers whose tools are offered to researchers.
    pub fn mcp(&self) -> McpSettings {
        McpSettings(self.entries("mcp"))
    }

    fn entries<T: DeserializeOwned>(&self, section: &str) -> BTreeMap<String, T> {
        let entries = self.0.get(section).and_then(Value::as_map).into_iter().flatten();
        // What does not fit was refused when it was read.
        entries.filter_map(|(name, entry)| Some((name.to_string(), entry.to().ok()?))).collect()
    }
}

/// Sees that a section can be read as a whole.
#[cfg(feature = "web")]
fn check_section<T: DeserializeOwned>(section: &str, value: &Value, wrong: &mut Vec<String>) {
    if !value.is_null() {
        wrong.extend(misfit::<T>(&format!("services.{section}"), value));
    }
}

/// Sees that a section is a mapping from names to entries of a kind.
fn check_entries<T: DeserializeOwned>(section: &str, value: &Value, wrong: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::Map(entries) => {
            let misfits = entries.iter();
            wrong.extend(
                misfits.filter_map(|(name, entry)| misfit::<T>(&format!("services.{section}.{name}"), entry)),
            );
        }
        other => {
            wrong.push(format!(
                "services.{section}: must be a mapping from names to settings, not a {}",
                other.kind()
            ));
        }
    }
}

/// Why a value is not of a kind, with the place in it.
fn misfit<T: DeserializeOwned>(place: &str, value: &Value) -> Option<String> {
    let error = serde_path_to_error::deserialize::<_, T>(value.to_json()).err()?;
    let inner = error.path().to_string();
    let place = if inner == "." { place.to_owned() } else { format!("{place}.{inner}") };
    Some(format!("{place}: {}", error.into_inner()))
}

/// The same of providers, whose settings are written down and must not hold keys.
fn check_providers(section: &Value, wrong: &mut Vec<String>) {
    let before = wrong.len();
    check_entries::<ProviderSettings>("providers", section, wrong);
    if wrong.len() == before {
        for (name, entry) in section.as_map().into_iter().flatten() {
            let mistakes = entry.to::<ProviderSettings>().map(|settings| settings.mistakes());
            let placed = |mistake: String| format!("services.providers.{name}: {mistake}");
            wrong.extend(mistakes.unwrap_or_default().into_iter().map(placed));
        }
    }
}

/// The same of MCP servers, whose settings have to fit each other.
fn check_servers(section: &Value, wrong: &mut Vec<String>) {
    let before = wrong.len();
    check_entries::<McpServerSettings>("mcp", section, wrong);
    if wrong.len() == before && !section.is_null() {
        wrong.extend(section.to::<McpSettings>().map(|servers| servers.mistakes()).unwrap_or_default());
    }
}

fn no_section(name: &str) -> String {
    let near = SECTIONS.iter().find(|known| strsim::jaro_winkler(known, name) > 0.8);
    let hint = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
    format!("services.{name}: there is no such section, only {}{hint}", SECTIONS.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Services, String> {
        let value = deepgraph_graph::read_data("config.yaml", text).expect("it is YAML");
        Services::read(&value).map_err(|error| error.to_string())
    }

    #[test]
    fn sections_are_read_and_come_back_from_a_record() {
        let services = read(
            "providers:\n  mine: {base_url: 'http://127.0.0.1:8000/v1', headers: {x-route: eu}}\n\
             models:\n  mine::qwen3: {context_window: 32768, price: {input: 0.5, output: 1.5}}\n",
        )
        .unwrap();
        assert_eq!(services.providers()["mine"].headers["x-route"], "eu");
        assert_eq!(services.models()["mine::qwen3"].context_window, Some(32768));
        let back: Services = serde_json::from_value(serde_json::to_value(&services).unwrap()).unwrap();
        assert_eq!(back, services);
        assert!(read("").unwrap().is_empty());
    }

    #[test]
    fn what_does_not_fit_is_told_with_its_place() {
        for (text, place, hint) in [
            ("provider: {}", "services.provider", "did you mean providers?"),
            ("providers: [a]", "services.providers", "must be a mapping"),
            ("providers: {mine: {api_key: x}}", "services.providers.mine", "api_key"),
            (
                "providers: {mine: {key_env: sk-live-1}}",
                "services.providers.mine",
                "name of an environment variable",
            ),
            ("providers: {mine: {headers: {Authorization: x}}}", "services.providers.mine", "headers_env"),
            ("models: {'m::x': {price: {input: free}}}", "services.models.m::x", "free"),
            (
                "providers: {mine: {requests_per_minute: many}}",
                "services.providers.mine.requests_per_minute",
                "many",
            ),
            ("text", "services", "must be a mapping"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(place) && error.contains(hint), "{text}: {error}");
            assert!(!error.contains("sk-live"), "{error}");
        }
    }
}
