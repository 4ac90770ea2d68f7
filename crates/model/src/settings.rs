//! What can be set about models: providers, facts of models, fallbacks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Price, Script};

/// The variable with the key of `openai::` models, if nothing else is said.
pub(crate) const KEY_VARIABLE: &str = "OPENAI_API_KEY";

/// How models are reached. The default is the providers' own servers, streaming, each with the key in its own
/// variable (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, ...).
#[derive(Clone, Debug)]
pub struct ModelSettings {
    /// The server of `openai::` models, up to but without `/chat/completions`: `http://127.0.0.1:8000/v1`. None:
    /// what `providers` says of `openai`, or else OpenAI.
    pub base_url: Option<String>,
    /// Whether replies are asked for in pieces, where the provider's settings do not say.
    pub stream: bool,
    /// The environment variable with the key of `openai::` models. It may be unset where `base_url` is given.
    pub key_variable: String,
    /// What the model `scripted` answers.
    pub script: Option<Script>,
    /// Providers by the name that stands before `::`. Those that are built in can be changed in part.
    pub providers: BTreeMap<String, ProviderSettings>,
    /// Facts of models by their full names (`PROVIDER::MODEL`). Each goes before the same fact of the built-in table.
    pub models: BTreeMap<String, ModelFacts>,
    /// The models that are asked in turn when one that reaches outside can not answer.
    pub fallbacks: Vec<String>,
}

impl Default for ModelSettings {
    fn default() -> ModelSettings {
        ModelSettings {
            base_url: None,
            stream: true,
            key_variable: KEY_VARIABLE.into(),
            script: None,
            providers: BTreeMap::new(),
            models: BTreeMap::new(),
            fallbacks: Vec::new(),
        }
    }
}

/// How the models of one provider are reached. What is left out is as it is built in for the provider of that name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderSettings {
    /// What the server speaks. A provider of one's own speaks `openai` if nothing else is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// The server's address, up to but without the protocol's own path (`/chat/completions`, `/responses`,
    /// `/messages`, `/models/...`, `/api/chat`). A provider of one's own needs one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable with the key. Where it is named here, it has to be set. A server of one's own for
    /// which none is named is asked without a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    /// Headers that go with each request, for gateways that route by them. Secrets belong into `headers_env`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Headers whose values are secret: the name of the header and the environment variable with its value.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers_env: BTreeMap<String, String>,
    /// Whether prompts that will come back are kept in the provider's cache, where that takes a mark (`anthropic`) or costs
    /// more (newer models of OpenAI).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheMarks>,
    /// Whether replies are asked for in pieces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<bool>,
    /// The most requests a minute that the account allows, over all models of the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u64>,
    /// The most tokens a minute that the account allows, requests and replies together, over all models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_per_minute: Option<u64>,
}

/// What a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Protocol {
    /// OpenAI's chat completions, which most servers and gateways understand.
    #[serde(rename = "openai")]
    OpenAi,
    /// OpenAI's Responses API.
    #[serde(rename = "openai_resp")]
    OpenAiResp,
    /// Anthropic's Messages API.
    #[serde(rename = "anthropic")]
    Anthropic,
    /// Google's `generateContent`.
    #[serde(rename = "gemini")]
    Gemini,
    /// Ollama's own `/api/chat`, which takes the size of the context.
    #[serde(rename = "ollama")]
    Ollama,
}

/// Marks on a prompt that tell the provider what to keep in its cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheMarks {
    /// On the system message and the last message of requests that offer tools. Such conversations come back, longer,
    /// within minutes, and what was kept costs a tenth then; a prompt without tools is asked once, and keeping it
    /// would only cost a quarter more.
    #[default]
    Ephemeral,
    /// No marks.
    None,
}

/// How a model is told of tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolMode {
    /// In the protocol's own way.
    #[default]
    Native,
    /// In words, with the answer as JSON of a given shape: for models that know no tools.
    Schema,
}

/// Facts of a model, where they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelFacts {
    /// The context window, in tokens: request and reply together.
    pub context_window: Option<u64>,
    /// The longest reply, in tokens.
    pub max_output: Option<u64>,
    /// How it is told of tools.
    pub tools: Option<ToolMode>,
    /// What it costs, in US dollars for a million tokens.
    pub price: Option<Price>,
}

impl ModelFacts {
    /// These facts, and where one is missing, the other's.
    pub(crate) fn or(self, other: ModelFacts) -> ModelFacts {
        ModelFacts {
            context_window: self.context_window.or(other.context_window),
            max_output: self.max_output.or(other.max_output),
            tools: self.tools.or(other.tools),
            price: self.price.or(other.price),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn providers_and_facts_are_read_and_unknown_keys_refused() {
        let provider = json!({
            "protocol": "anthropic", "base_url": "http://127.0.0.1:8000/v1", "key_env": "MINE",
            "headers": {"x-route": "eu"}, "headers_env": {"x-secret": "SECRET"}, "cache": "none",
            "requests_per_minute": 60, "tokens_per_minute": 100_000,
        });
        let read: ProviderSettings = serde_json::from_value(provider).unwrap();
        assert_eq!(read.protocol, Some(Protocol::Anthropic));
        assert_eq!(read.cache, Some(CacheMarks::None));
        assert_eq!(read.headers["x-route"], "eu");
        assert!(serde_json::from_value::<ProviderSettings>(json!({"api_key": "sk-x"})).is_err());
        assert!(serde_json::from_value::<ProviderSettings>(json!({"protocol": "telnet"})).is_err());

        let facts = json!({"context_window": 32768, "tools": "schema",
            "price": {"input": 0.5, "output": 1.5, "cached_input": 0.05}});
        let facts: ModelFacts = serde_json::from_value(facts).unwrap();
        assert_eq!(facts.context_window, Some(32768));
        assert_eq!(facts.tools, Some(ToolMode::Schema));
        let price = facts.price.unwrap();
        assert_eq!((price.input, price.output, price.cached_input), (500_000, 1_500_000, Some(50_000)));
        for wrong in [
            json!({"window": 1}),
            json!({"price": {"input": -1, "output": 1}}),
            json!({"price": {"input": 1}}),
            json!({"price": {"input": 1, "output": 1e30}}),
        ] {
            assert!(serde_json::from_value::<ModelFacts>(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
