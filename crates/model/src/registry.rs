//! Models by name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::endpoint::{Endpoint, known_names};
use crate::extractive::Extractive;
use crate::learnt::Learnt;
use crate::settings::{ModelFacts, ModelSettings, Protocol};
use crate::{Account, ChatModel, ModelError, Price, Scripted, facts};

/// How alike a name must be to be proposed, from 0 to 1.
const ALIKE: f64 = 0.75;

/// The context that models of Ollama are asked to have where nothing is said of it, in tokens. Its own default depends
/// on the machine, so that nobody could know what fits; this much fits almost everywhere.
const OLLAMA_WINDOW: u64 = 8192;

/// What the names of models begin with that are often written without their provider.
const FAMILIES: [(&str, &str); 5] = [
    ("claude-", "anthropic"),
    ("deepseek-", "deepseek"),
    ("gemini-", "gemini"),
    ("gpt-", "openai"),
    ("mistral-", "mistral"),
];

/// The models that can be had, by their configured names. Cheap to ask: what models share (connections, the script's
/// counts, what calls have taught) is made once, when the first one that needs it is asked for.
pub struct Models {
    settings: ModelSettings,
    registered: BTreeMap<String, Arc<dyn ChatModel>>,
    scripted: OnceLock<Result<Arc<Scripted>, ModelError>>,
    /// By the full name of the model.
    learnt: Mutex<BTreeMap<String, Arc<Learnt>>>,
    /// By the server's address and the variable with the key.
    accounts: Mutex<BTreeMap<(String, String), Arc<Account>>>,
    /// By the name of the provider.
    #[cfg(feature = "providers")]
    servers: Mutex<BTreeMap<String, Result<crate::providers::Server, ModelError>>>,
}

impl Models {
    /// The models that these settings reach. Nothing is connected or read yet.
    pub fn new(settings: ModelSettings) -> Models {
        Models {
            settings,
            registered: BTreeMap::new(),
            scripted: OnceLock::new(),
            learnt: Mutex::default(),
            accounts: Mutex::default(),
            #[cfg(feature = "providers")]
            servers: Mutex::default(),
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
        if let Some(own) = self.own(model) {
            return Ok(own.clone());
        }
        match split(model) {
            ("scripted", _) => return Ok(self.scripted()?),
            ("extractive", None) => return Ok(Arc::new(Extractive)),
            _ => {}
        }
        let (provider, name) = split(model);
        let endpoint = Endpoint::of(&self.settings, provider)?;
        match (endpoint, name) {
            (Some(_), Some("")) => Err(ModelError::NoName { provider: provider.to_owned() }),
            (Some(endpoint), Some(name)) => self.remote(model, name, endpoint),
            _ => Err(self.unknown(model)),
        }
    }

    /// Looks whether the settings can work: every provider, every fallback, and every model of which facts are given.
    ///
    /// # Errors
    ///
    /// [`ModelError`]: the first mistake.
    pub fn check(&self) -> Result<(), ModelError> {
        for (name, provider) in &self.settings.providers {
            if let Some(problem) = provider.mistakes().into_iter().next() {
                return Err(ModelError::Provider { provider: name.clone(), problem });
            }
            if name.is_empty() || name.contains("::") || matches!(name.as_str(), "scripted" | "extractive") {
                let problem = "a provider can not have this name: it stands before `::`".to_owned();
                return Err(ModelError::Provider { provider: name.clone(), problem });
            }
            self.get(&format!("{name}::any"))?;
        }
        for model in &self.settings.fallbacks {
            self.get(model)?;
        }
        for model in self.settings.models.keys().filter(|model| self.own(model).is_none()) {
            if Endpoint::of(&self.settings, split(model).0)?.is_none() {
                return Err(self.unknown(model));
            }
        }
        Ok(())
    }

    /// The models that are asked for this one, in order: itself, then the fallbacks, each once. Only models that reach
    /// outside have fallbacks, and those that the program registers itself.
    pub fn route(&self, model: &str) -> Vec<String> {
        let mut route = vec![model.to_owned()];
        if self.own(model).is_some() || self.is_remote(model) {
            for fallback in &self.settings.fallbacks {
                if !route.contains(fallback) {
                    route.push(fallback.clone());
                }
            }
        }
        route
    }

    /// Whether a model is asked of a provider's server.
    pub fn is_remote(&self, model: &str) -> bool {
        self.endpoint(model).is_some()
    }

    /// The price of a model's tokens, where it is known: nothing for models that are computed here, and for those of an
    /// Ollama on this machine.
    pub fn price(&self, model: &str) -> Option<Price> {
        if self.is_computed(model) { Some(Price::FREE) } else { self.facts(model).price }
    }

    /// Whether a model is no language model, but computed here: it writes no tokens.
    pub fn is_computed(&self, model: &str) -> bool {
        self.own(model).is_none() && matches!(split(model).0, "scripted" | "extractive")
    }

    /// The longest reply of a model in tokens, where it is known: from the settings or the built-in table.
    pub fn max_output(&self, model: &str) -> Option<u64> {
        self.facts(model).max_output
    }

    /// The context window of a model in tokens, request and reply together, where it is known: from the settings, from
    /// the built-in table, or from what its provider said when a request was too long.
    pub fn window(&self, model: &str) -> Option<u64> {
        let told = self.lock(&self.learnt).get(model).and_then(|learnt| learnt.window());
        // Both are upper bounds, of which the lower one holds.
        match (self.facts(model).context_window, told) {
            (Some(known), Some(told)) => Some(known.min(told)),
            (known, told) => known.or(told),
        }
    }

    /// The limiter of the account that a model is reached by, shared by all models of the account; none for models that
    /// are not asked of a provider.
    pub fn account(&self, model: &str) -> Option<Arc<Account>> {
        self.endpoint(model).map(|endpoint| self.account_of(&endpoint))
    }

    /// The environment variables whose contents may be sent for a model.
    pub fn variables(&self, model: &str) -> Vec<String> {
        self.endpoint(model)
            .map_or_else(Vec::new, |endpoint| endpoint.variables().map(str::to_owned).collect())
    }

    /// The environment variables that have to be set before a model can be called, and are not.
    pub fn missing_variables(&self, model: &str) -> Vec<String> {
        let Some(endpoint) = self.endpoint(model) else { return Vec::new() };
        let is_missing = |variable: &&str| std::env::var_os(variable).is_none_or(|value| value.is_empty());
        endpoint.needed().filter(is_missing).map(str::to_owned).collect()
    }

    pub(crate) fn settings(&self) -> &ModelSettings {
        &self.settings
    }

    /// The model that the program registered under this name.
    fn own(&self, model: &str) -> Option<&Arc<dyn ChatModel>> {
        self.registered.get(model).or_else(|| self.registered.get(split(model).0))
    }

    /// Where a model is asked, if it is asked of a provider.
    fn endpoint(&self, model: &str) -> Option<Endpoint> {
        let (provider, name) = split(model);
        let computed_here = matches!(provider, "scripted" | "extractive");
        if computed_here || name.is_none() || self.own(model).is_some() {
            return None;
        }
        Endpoint::of(&self.settings, provider).ok().flatten()
    }

    /// What is known of a model before it is called.
    pub(crate) fn facts(&self, model: &str) -> ModelFacts {
        let given = self.settings.models.get(model).copied().unwrap_or_default();
        let Some(endpoint) = self.endpoint(model) else { return given };
        let mut known = ModelFacts::default();
        if endpoint.is_own_server {
            known = facts::of(&endpoint.provider, split(model).1.unwrap_or_default());
        }
        if endpoint.protocol == Protocol::Ollama {
            let price = endpoint.is_local().then_some(Price::FREE);
            known =
                known.or(ModelFacts { context_window: Some(OLLAMA_WINDOW), price, ..ModelFacts::default() });
        }
        given.or(known)
    }

    fn account_of(&self, endpoint: &Endpoint) -> Arc<Account> {
        let of = |endpoint: &Endpoint| {
            (endpoint.base_url.clone(), endpoint.key.variable().unwrap_or_default().to_owned())
        };
        let key = of(endpoint);
        let mut accounts = self.lock(&self.accounts);
        if let Some(account) = accounts.get(&key) {
            return account.clone();
        }
        // Providers that use the same account share its limits: the lowest that any of them names.
        let same = self.settings.providers.iter().filter(|(name, _)| {
            Endpoint::of(&self.settings, name).ok().flatten().is_some_and(|other| of(&other) == key)
        });
        let limits: Vec<_> = same.map(|(_, p)| (p.requests_per_minute, p.tokens_per_minute)).collect();
        let account = Arc::new(Account::new(
            &endpoint.provider,
            limits.iter().filter_map(|(requests, _)| *requests).min(),
            limits.iter().filter_map(|(_, tokens)| *tokens).min(),
        ));
        accounts.insert(key, account.clone());
        account
    }

    #[cfg(feature = "providers")]
    fn remote(&self, model: &str, name: &str, endpoint: Endpoint) -> Result<Arc<dyn ChatModel>, ModelError> {
        let account = self.account_of(&endpoint);
        let server = self
            .lock(&self.servers)
            .entry(endpoint.provider.clone())
            .or_insert_with(|| crate::providers::Server::new(endpoint, account))
            .clone()?;
        let learnt = self.lock(&self.learnt).entry(model.to_owned()).or_default().clone();
        Ok(Arc::new(server.model(name, self.facts(model), learnt)))
    }

    #[cfg(not(feature = "providers"))]
    fn remote(&self, model: &str, _: &str, _: Endpoint) -> Result<Arc<dyn ChatModel>, ModelError> {
        Err(ModelError::NotBuilt { model: model.to_owned(), feature: "providers" })
    }

    fn lock<'a, T>(&self, shared: &'a Mutex<T>) -> std::sync::MutexGuard<'a, T> {
        shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn scripted(&self) -> Result<Arc<Scripted>, ModelError> {
        let script = self.settings.script.as_ref().ok_or(ModelError::NoScript)?;
        self.scripted.get_or_init(|| Scripted::new(script.clone()).map(Arc::new)).clone()
    }

    /// The names of the providers whose models have names of their own.
    fn provider_names(&self) -> impl Iterator<Item = &str> {
        let own = self.settings.providers.keys().map(String::as_str);
        known_names().chain(own.filter(|own| !known_names().any(|known| known == *own)))
    }

    fn unknown(&self, model: &str) -> ModelError {
        let mut known: Vec<String> =
            self.provider_names().map(|provider| format!("{provider}::NAME")).collect();
        known.extend(["extractive".to_owned(), "scripted".to_owned()]);
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
        let family = FAMILIES.iter().find(|(start, _)| model.starts_with(start)).filter(|_| name.is_none());
        if let Some((_, provider)) = family {
            return Some(format!("{provider}::{}", model.trim()));
        }
        let single = ["extractive", "scripted"].into_iter().chain(self.registered.keys().map(String::as_str));
        let known = self.provider_names().chain(single);
        let alike = |known: &str| strsim::jaro_winkler(&provider.to_lowercase(), known);
        let best = known.max_by(|a, b| alike(a).total_cmp(&alike(b))).filter(|best| alike(best) >= ALIKE);
        let is_provider = |best: &str| self.provider_names().any(|provider| provider == best);
        match (best, name) {
            (Some(best), Some(name)) if is_provider(best) => Some(format!("{best}::{name}")),
            (Some(best), None) if is_provider(best) => Some(format!("{best}::NAME")),
            (Some(best), _) => Some(best.to_owned()),
            (None, None) if !model.trim().is_empty() => Some(format!("openai::{}", model.trim())),
            (None, _) => None,
        }
    }
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let registered: Vec<&String> = self.registered.keys().collect();
        f.debug_struct("Models")
            .field("settings", &self.settings)
            .field("registered", &registered)
            .finish_non_exhaustive()
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
mod tests;
