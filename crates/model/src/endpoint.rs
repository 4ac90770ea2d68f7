//! Where the models of a provider are asked: what is built in, with what the settings change.

use std::collections::BTreeMap;

use crate::ModelError;
use crate::settings::{CacheMarks, ModelSettings, Protocol, ProviderSettings};

/// A provider that is built in.
struct Known {
    name: &'static str,
    protocol: Protocol,
    base_url: &'static str,
    /// The variable with its key; none where its server wants none.
    key: Option<&'static str>,
}

const KNOWN: [Known; 9] = [
    known("anthropic", Protocol::Anthropic, "https://api.anthropic.com/v1/", Some("ANTHROPIC_API_KEY")),
    known("deepseek", Protocol::OpenAi, "https://api.deepseek.com/v1/", Some("DEEPSEEK_API_KEY")),
    known(
        "gemini",
        Protocol::Gemini,
        "https://generativelanguage.googleapis.com/v1beta/",
        Some("GEMINI_API_KEY"),
    ),
    known("groq", Protocol::OpenAi, "https://api.groq.com/openai/v1/", Some("GROQ_API_KEY")),
    known("mistral", Protocol::OpenAi, "https://api.mistral.ai/v1/", Some("MISTRAL_API_KEY")),
    known("ollama", Protocol::Ollama, "http://127.0.0.1:11434/", None),
    known("openai", Protocol::OpenAi, "https://api.openai.com/v1/", Some("OPENAI_API_KEY")),
    known("openai_resp", Protocol::OpenAiResp, "https://api.openai.com/v1/", Some("OPENAI_API_KEY")),
    known("openrouter", Protocol::OpenAi, "https://openrouter.ai/api/v1/", Some("OPENROUTER_API_KEY")),
];

const fn known(
    name: &'static str,
    protocol: Protocol,
    base_url: &'static str,
    key: Option<&'static str>,
) -> Known {
    Known { name, protocol, base_url, key }
}

/// The names of the providers that are built in, in alphabetical order.
pub(crate) fn known_names<'a>() -> impl Iterator<Item = &'a str> {
    KNOWN.iter().map(|known| known.name)
}

/// The key of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// None is sent.
    None,
    /// That of the variable, where it is set.
    Optional(String),
    /// That of the variable, which has to be set.
    Required(String),
}

impl Key {
    /// The variable with the key.
    pub(crate) fn variable(&self) -> Option<&str> {
        match self {
            Key::None => None,
            Key::Optional(variable) | Key::Required(variable) => Some(variable),
        }
    }
}

/// Where and how the models of one provider are asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// The provider's name.
    pub(crate) provider: String,
    pub(crate) protocol: Protocol,
    /// The address as it was given.
    pub(crate) base_url: String,
    /// Whether the address is the built-in one, so that the built-in facts of its models hold.
    pub(crate) is_own_server: bool,
    pub(crate) key: Key,
    pub(crate) headers: BTreeMap<String, String>,
    /// Headers by the variable with their value.
    pub(crate) headers_env: BTreeMap<String, String>,
    pub(crate) cache: CacheMarks,
    pub(crate) stream: bool,
}

impl Endpoint {
    /// The endpoint of the provider of that name; none where there is no such provider.
    ///
    /// # Errors
    ///
    /// [`ModelError::Provider`]: a provider of one's own without a base URL.
    pub(crate) fn of(settings: &ModelSettings, provider: &str) -> Result<Option<Endpoint>, ModelError> {
        let known = KNOWN.iter().find(|known| known.name == provider);
        let own = settings.providers.get(provider);
        if known.is_none() && own.is_none() {
            return Ok(None);
        }
        let unset = ProviderSettings::default();
        let own = own.unwrap_or(&unset);
        let is_openai = provider == "openai";
        let given = settings.base_url.as_ref().filter(|_| is_openai).or(own.base_url.as_ref());
        let base_url = match (given, known) {
            (Some(url), _) => url.clone(),
            (None, Some(known)) => known.base_url.to_owned(),
            (None, None) => {
                return Err(ModelError::Provider {
                    provider: provider.to_owned(),
                    problem: "it has no base_url, such as http://127.0.0.1:8000/v1".to_owned(),
                });
            }
        };
        let built_in = known.and_then(|known| known.key);
        let named_openai = settings.key_variable.as_str();
        let key = match (&own.key_env, built_in) {
            (Some(variable), _) => Key::Required(variable.clone()),
            (None, Some(_)) if is_openai && given.is_some() => Key::Optional(named_openai.to_owned()),
            (None, Some(_)) if is_openai => Key::Required(named_openai.to_owned()),
            (None, Some(variable)) if given.is_some() => Key::Optional(variable.to_owned()),
            (None, Some(variable)) => Key::Required(variable.to_owned()),
            (None, None) => Key::None,
        };
        Ok(Some(Endpoint {
            provider: provider.to_owned(),
            protocol: own.protocol.or(known.map(|known| known.protocol)).unwrap_or(Protocol::OpenAi),
            base_url,
            is_own_server: given.is_none(),
            key,
            headers: own.headers.clone(),
            headers_env: own.headers_env.clone(),
            cache: own.cache.unwrap_or_default(),
            stream: own.stream.unwrap_or(settings.stream),
        }))
    }

    /// The variables whose contents may be sent to the server.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        self.key.variable().into_iter().chain(self.headers_env.values().map(String::as_str))
    }

    /// The variables that have to be set.
    pub(crate) fn needed(&self) -> impl Iterator<Item = &str> {
        let key = match &self.key {
            Key::Required(variable) => Some(variable.as_str()),
            Key::None | Key::Optional(_) => None,
        };
        key.into_iter().chain(self.headers_env.values().map(String::as_str))
    }

    /// Whether the server is Mistral's, which is stricter than others that speak chat completions.
    #[cfg(feature = "providers")]
    pub(crate) fn is_mistral(&self) -> bool {
        self.provider == "mistral" || self.authority().ends_with("api.mistral.ai")
    }

    /// What stands between the scheme and the path of the address.
    fn authority(&self) -> &str {
        let rest = self.base_url.trim().split_once("://").map_or("", |(_, rest)| rest);
        rest.split(['/', '?', '#']).next().unwrap_or_default()
    }

    /// Whether the server is on this machine.
    pub(crate) fn is_local(&self) -> bool {
        let authority = self.authority();
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let host = match host.strip_prefix('[') {
            Some(v6) => v6.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        host.eq_ignore_ascii_case("localhost")
            || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(settings: &ModelSettings, provider: &str) -> Endpoint {
        Endpoint::of(settings, provider).unwrap().unwrap()
    }

    fn with(name: &str, provider: ProviderSettings) -> ModelSettings {
        ModelSettings { providers: BTreeMap::from([(name.to_owned(), provider)]), ..ModelSettings::default() }
    }

    #[test]
    fn built_in_providers_need_their_keys_and_servers_of_ones_own_need_none() {
        let plain = ModelSettings::default();
        assert_eq!(endpoint(&plain, "anthropic").key, Key::Required("ANTHROPIC_API_KEY".into()));
        assert_eq!(endpoint(&plain, "ollama").key, Key::None);
        assert!(endpoint(&plain, "ollama").is_local());
        assert_eq!(Endpoint::of(&plain, "mine"), Ok(None));

        let url = Some("http://10.0.0.1:8000/v1".to_owned());
        let moved = with("groq", ProviderSettings { base_url: url.clone(), ..Default::default() });
        let groq = endpoint(&moved, "groq");
        assert_eq!((groq.key, groq.is_own_server), (Key::Optional("GROQ_API_KEY".into()), false));

        let mine = with("mine", ProviderSettings { base_url: url, ..Default::default() });
        let own = endpoint(&mine, "mine");
        assert_eq!((own.key.clone(), own.protocol), (Key::None, Protocol::OpenAi));
        assert!(!own.is_local() && own.needed().next().is_none());

        let nowhere = with("mine", ProviderSettings::default());
        assert!(Endpoint::of(&nowhere, "mine").unwrap_err().to_string().contains("base_url"));
    }

    #[test]
    fn what_is_set_for_openai_alone_is_of_openai_alone() {
        let settings = ModelSettings {
            base_url: Some("http://127.0.0.1:1/v1".into()),
            key_variable: "MINE".into(),
            ..ModelSettings::default()
        };
        assert_eq!(endpoint(&settings, "openai").key, Key::Optional("MINE".into()));
        assert_eq!(endpoint(&settings, "openai_resp").key, Key::Required("OPENAI_API_KEY".into()));
        assert!(endpoint(&settings, "openai_resp").is_own_server);
    }

    #[test]
    fn hosts_of_this_machine_are_known() {
        let local = |url: &str| {
            let settings = ProviderSettings { base_url: Some(url.into()), ..Default::default() };
            endpoint(&with("x", settings), "x").is_local()
        };
        for url in ["http://localhost:1", "http://127.8.0.1/v1", "http://[::1]:80/", "http://me@LOCALHOST"] {
            assert!(local(url), "{url}");
        }
        for url in ["http://localhost.example/", "http://10.0.0.1", "127.0.0.1", "http://127.0.0.1.example"] {
            assert!(!local(url), "{url}");
        }
    }
}
