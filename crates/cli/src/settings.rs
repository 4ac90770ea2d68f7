//! How a run is set up: kept in its record, so that a resume sets the same things up again. Never holds keys.

use std::collections::{BTreeMap, BTreeSet};

use deepgraph_model::Script;
use deepgraph_protocol::{IntentChoice, Map};
use deepgraph_runtime::DownServer;
use deepgraph_store::RunRecord;
use serde::{Deserialize, Serialize};

use crate::config::Origin;
use crate::error::CliError;
use crate::services::Services;

/// The set-up of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The paths of the documents, absolute.
    pub docs: Vec<String>,
    /// Whether the web is searched and read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub web: bool,
    /// The search engines that are asked, by name; empty: those of `services.search`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub search: Vec<String>,
    /// The server of `openai::` models; none: OpenAI.
    pub base_url: Option<String>,
    /// Whether replies are asked for in pieces.
    pub stream: bool,
    /// The name of the environment variable that holds the server's key.
    pub key_env: String,
    /// The names of the variables that held a key for its models whenever it was driven; none: that was not noted.
    pub keys: Option<BTreeSet<String>>,
    /// What the model `scripted` answers.
    pub script: Option<Script>,
    /// The root's input.
    pub input: Map,
    /// The effective configuration.
    pub config: Map,
    /// The conversation that the run belongs to.
    pub thread: Option<String>,
    /// The class of its question, and why it is that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<IntentChoice>,
    /// The models that are asked where one can not serve, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fallback_models: Vec<String>,
    /// The services that it may use.
    #[serde(skip_serializing_if = "Services::is_empty")]
    pub services: Services,
    /// The MCP servers that could not be reached when it began, and without which it went on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub servers_down: Vec<DownServer>,
    /// The recording that it was answered from; none: models and documents were asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// Where its values come from.
    pub origins: BTreeMap<String, Origin>,
}

impl Settings {
    /// The set-up of a stored run.
    ///
    /// # Errors
    ///
    /// The record does not hold one.
    pub fn of(record: &RunRecord) -> Result<Settings, CliError> {
        serde_json::from_value(record.settings.clone())
            .map_err(|e| CliError::Settings { run: record.run_id.to_string(), detail: e.to_string() })
    }

    /// The form that goes into the record.
    pub fn to_record(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_up_comes_back_from_its_record() {
        let settings = Settings {
            docs: vec!["/documents".into()],
            base_url: Some("http://127.0.0.1:8000/v1".into()),
            key_env: "KEY".into(),
            keys: Some(BTreeSet::from(["KEY".into()])),
            origins: BTreeMap::from([
                ("a".to_owned(), Origin::Environment("DEEPGRAPH_A".into())),
                ("b".to_owned(), Origin::File("b.yaml".into())),
                ("c".to_owned(), Origin::Default),
            ]),
            ..Settings::default()
        };
        let back: Settings = serde_json::from_value(settings.to_record()).unwrap();
        assert_eq!(back, settings);
    }
}
