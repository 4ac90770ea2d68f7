//! Models by name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::extractive::Extractive;
use crate::{ChatModel, ModelError, Price, Script, Scripted};

/// The variable that holds the key, if nothing else is said.
const KEY_VARIABLE: &str = "OPENAI_API_KEY";

/// How alike a name must be to be proposed, from 0 to 1.
const ALIKE: f64 = 0.75;

/// How models are reached. The default is OpenAI itself, streaming, with the key in `OPENAI_API_KEY`.
#[derive(Clone, Debug)]
pub struct ModelSettings {
    /// The server of `openai::` models, up to but without `/chat/completions`: `http://127.0.0.1:8000/v1`. None:
    /// OpenAI.
    pub base_url: Option<String>,
    /// Whether replies are asked for in pieces.
    pub stream: bool,
    /// The environment variable with the server's key. It may be unset where `base_url` is given.
    pub key_variable: String,
    /// What the model `scripted` answers.
    pub script: Option<Script>,
}

impl Default for ModelSettings {
    fn default() -> ModelSettings {
        ModelSettings { base_url: None, stream: true, key_variable: KEY_VARIABLE.into(), script: None }
    }
}

/// The models that can be had, by their configured names. Cheap to ask: what models share (connections, the
/// script's counts) is made once, when the first one that needs it is asked for.
pub struct Models {
    settings: ModelSettings,
    registered: BTreeMap<String, Arc<dyn ChatModel>>,
    scripted: OnceLock<Result<Arc<Scripted>, ModelError>>,
    #[cfg(feature = "openai")]
    server: OnceLock<Result<crate::openai::Server, ModelError>>,
}

impl Models {
    /// The models that these settings reach. Nothing is connected or read yet.
    pub fn new(settings: ModelSettings) -> Models {
        Models {
            settings,
            registered: BTreeMap::new(),
            scripted: OnceLock::new(),
            #[cfg(feature = "openai")]
            server: OnceLock::new(),
        }
    }

    /// Adds a model of one's own under a name, or under all names of a provider (`mine` answers to `mine::any`
    /// too). It goes before a built-in one of the same name.
    pub fn register(&mut self, name: impl Into<String>, model: Arc<dyn ChatModel>) {
        self.registered.insert(name.into(), model);
    }

    /// The model of a name: `PROVIDER::NAME`, or the bare name of a provider that has one model.
    ///
    /// # Errors
    ///
    /// [`ModelError`]: unknown names, with the nearest known one; settings that can not work. A missing key
    /// shows only when the model is called.
    pub fn get(&self, model: &str) -> Result<Arc<dyn ChatModel>, ModelError> {
        let (provider, name) = split(model);
        if let Some(own) = self.registered.get(model).or_else(|| self.registered.get(provider)) {
            return Ok(own.clone());
        }
        match (provider, name) {
            ("openai", Some("")) => Err(ModelError::NoName { provider: provider.to_owned() }),
            ("openai", Some(name)) => self.openai(model, name),
            ("scripted", _) => Ok(self.scripted()?),
            ("extractive", None) => Ok(Arc::new(Extractive)),
            _ => Err(self.unknown(model)),
        }
    }

    /// The price of a model's tokens, where it is known: nothing for models that are computed here.
    pub fn price(&self, model: &str) -> Option<Price> {
        let (provider, _) = split(model);
        if self.registered.contains_key(model) || self.registered.contains_key(provider) {
            return None;
        }
        matches!(provider, "scripted" | "extractive").then_some(Price::FREE)
    }

    #[cfg(feature = "openai")]
    fn openai(&self, _: &str, name: &str) -> Result<Arc<dyn ChatModel>, ModelError> {
        let ModelSettings { base_url, key_variable, stream, .. } = &self.settings;
        let server = self
            .server
            .get_or_init(|| crate::openai::Server::new(base_url.as_deref(), key_variable, *stream));
        match server {
            Ok(server) => Ok(Arc::new(server.model(name))),
            Err(error) => Err(error.clone()),
        }
    }

    #[cfg(not(feature = "openai"))]
    fn openai(&self, model: &str, _: &str) -> Result<Arc<dyn ChatModel>, ModelError> {
        Err(ModelError::NotBuilt { model: model.to_owned(), feature: "openai" })
    }

    fn scripted(&self) -> Result<Arc<Scripted>, ModelError> {
        let script = self.settings.script.as_ref().ok_or(ModelError::NoScript)?;
        self.scripted.get_or_init(|| Scripted::new(script.clone()).map(Arc::new)).clone()
    }

    fn unknown(&self, model: &str) -> ModelError {
        let mut known = vec!["extractive".to_owned(), "openai::NAME".to_owned(), "scripted".to_owned()];
        known.extend(self.registered.keys().cloned());
        ModelError::UnknownModel {
            model: model.to_owned(),
            nearest: self.nearest(model),
            known: known.join(", "),
        }
    }

    /// What was probably meant: a known provider or name that is spelt alike, or a model's name without its
    /// provider.
    fn nearest(&self, model: &str) -> Option<String> {
        let (provider, name) = split(model);
        let known = ["extractive", "openai", "scripted"]
            .into_iter()
            .chain(self.registered.keys().map(String::as_str));
        let alike = |known: &str| strsim::jaro_winkler(&provider.to_lowercase(), known);
        let best = known.max_by(|a, b| alike(a).total_cmp(&alike(b))).filter(|best| alike(best) >= ALIKE);
        match (best, name) {
            (Some("openai"), Some(name)) => Some(format!("openai::{name}")),
            (Some("openai"), None) => Some("openai::NAME".to_owned()),
            (Some(best), _) => Some(best.to_owned()),
            (None, None) if !model.trim().is_empty() => Some(format!("openai::{}", model.trim())),
            (None, _) => None,
        }
    }
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let registered: Vec<&String> = self.registered.keys().collect();
        f.debug_struct("Models").field("settings", &self.settings).field("registered", &registered).finish()
    }
}

/// The provider and, behind `::`, the model's own name.
fn split(model: &str) -> (&str, Option<&str>) {
    match model.split_once("::") {
        Some((provider, name)) => (provider, Some(name)),
        None => (model, None),
    }
}

#[cfg(test)]
mod tests {
    use deepgraph_protocol::{Map, Message, ModelRequest};

    use super::*;
    use crate::scripted::Rule;

    fn says(text: &str) -> Script {
        Script::of([Rule::text(text)])
    }

    fn models() -> Models {
        Models::new(ModelSettings { script: Some(says("from the script")), ..ModelSettings::default() })
    }

    fn error(models: &Models, name: &str) -> String {
        models.get(name).err().map_or_else(|| "found".to_owned(), |error| error.to_string())
    }

    async fn answer(models: &Models, name: &str) -> String {
        let request = ModelRequest {
            model: name.into(),
            messages: vec![Message::user("?")],
            tools: Vec::new(),
            output: None,
            max_output: None,
            options: Map::new(),
            context: Map::new(),
        };
        models.get(name).unwrap().reply(&request, &|_| {}).await.unwrap().text.to_string()
    }

    #[tokio::test]
    async fn models_are_found_by_name_and_own_ones_go_first() {
        let mut models = models();
        assert_eq!(answer(&models, "scripted").await, "from the script");
        assert_eq!(answer(&models, "scripted::any").await, "from the script");
        models.register("mine", Arc::new(Scripted::new(says("mine")).unwrap()));
        models.register("scripted::special", Arc::new(Scripted::new(says("special")).unwrap()));
        assert_eq!(answer(&models, "mine").await, "mine");
        assert_eq!(answer(&models, "mine::large").await, "mine");
        assert_eq!(answer(&models, "scripted::special").await, "special");
        assert_eq!(answer(&models, "scripted::any").await, "from the script");
    }

    #[test]
    fn unknown_names_are_told_the_known_ones_and_the_nearest() {
        let mut models = models();
        models.register("mine", Arc::new(Scripted::new(says("mine")).unwrap()));
        for (name, hint) in [
            ("opnai::gpt-4o", "did you mean \"openai::gpt-4o\"?"),
            ("OpenAI", "did you mean \"openai::NAME\"?"),
            ("gpt-4o", "did you mean \"openai::gpt-4o\"?"),
            ("script", "did you mean \"scripted\"?"),
            ("min::x", "did you mean \"mine\"?"),
        ] {
            let said = error(&models, name);
            assert!(said.contains(hint) && said.contains("openai::NAME"), "{name}: {said}");
            assert!(said.contains("scripted, mine"), "{said}");
        }
        assert!(!error(&models, "").contains("mean"));
        assert!(!error(&models, "zzz::x").contains("mean"));
    }

    #[test]
    fn settings_are_looked_at_only_by_the_models_that_need_them() {
        let settings = ModelSettings { base_url: Some("nonsense".into()), ..ModelSettings::default() };
        let models = Models::new(settings);
        assert!(error(&models, "scripted").contains("has no script"));
        let two =
            Models::new(ModelSettings { script: Some(Script::of([Rule::default()])), ..Default::default() });
        assert!(error(&two, "scripted").contains("rule 1"));
        if cfg!(feature = "openai") {
            assert!(error(&models, "openai::x").contains("base URL \"nonsense\""));
            assert!(error(&models, "openai::").contains("openai::NAME"));
            let local =
                ModelSettings { base_url: Some("http://127.0.0.1:1/v1".into()), ..ModelSettings::default() };
            assert_eq!(error(&Models::new(local), "openai::x"), "found");
        } else {
            assert!(error(&models, "openai::x").contains("feature"));
        }
    }

    #[test]
    fn prices_are_known_of_models_that_are_computed_here() {
        let mut models = models();
        assert_eq!(models.price("scripted"), Some(Price::FREE));
        assert_eq!(models.price("openai::gpt-4o"), None);
        models.register("mine", Arc::new(Scripted::new(says("mine")).unwrap()));
        assert_eq!(models.price("mine"), None);
    }
}
