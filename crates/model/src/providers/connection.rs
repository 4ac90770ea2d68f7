//! One HTTP client, one server, one key: what all models of a provider share.

use std::sync::Arc;

use deepgraph_protocol::{ErrorKind, StepError};
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use crate::ModelError;
use crate::endpoint::{Endpoint, Key};
use crate::limiter::Account;
use crate::settings::Protocol;

/// The version of Anthropic's API: <https://docs.anthropic.com/en/api/versioning>.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// The connections to one server.
pub(super) struct Connection {
    /// Pools the connections.
    pub(super) http: reqwest::Client,
    /// Host and port, for messages.
    pub(super) host: String,
    /// What was said of the provider.
    pub(super) endpoint: Endpoint,
    /// What the account may still send.
    pub(super) account: Arc<Account>,
    /// The address up to but without the protocol's own path.
    base: Url,
}

/// What is read from the environment for one request.
pub(super) struct Secrets {
    /// The key; none where none is sent.
    key: Option<String>,
    /// Names and values of headers.
    headers: Vec<(String, String)>,
}

impl Secrets {
    /// All that must stay out of messages.
    pub(super) fn values(&self) -> impl Iterator<Item = &str> {
        self.key.as_deref().into_iter().chain(self.headers.iter().map(|(_, value)| value.as_str()))
    }
}

impl Connection {
    /// Prepares connections to an endpoint. Nothing is connected and no key is read yet.
    pub(super) fn new(endpoint: Endpoint, account: Arc<Account>) -> Result<Connection, ModelError> {
        let url = parse(&endpoint.base_url, endpoint.protocol)?;
        let host = match (url.host_str(), url.port()) {
            (Some(host), Some(port)) => format!("{host}:{port}"),
            (Some(host), None) => host.to_owned(),
            (None, _) => return Err(unusable(&url, "it has no host")),
        };
        let wrong = |problem: String| ModelError::Provider { provider: endpoint.provider.clone(), problem };
        for name in endpoint.headers.keys().chain(endpoint.headers_env.keys()) {
            if HeaderName::from_bytes(name.as_bytes()).is_err() {
                return Err(wrong(format!("\"{name}\" is no name of a header")));
            }
        }
        if let Some((name, _)) =
            endpoint.headers.iter().find(|(_, value)| HeaderValue::from_str(value).is_err())
        {
            return Err(wrong(format!("the value of the header \"{name}\" can not be sent")));
        }
        let http = http_client(&url, endpoint.is_local())?;
        Ok(Connection { http, host, base: url, endpoint, account })
    }

    /// The key and the secret headers from the environment.
    ///
    /// # Errors
    ///
    /// `unauthorized`: a variable that has to be set is not, or holds what can not be sent. It names the variable.
    pub(super) fn secrets(&self) -> Result<Secrets, StepError> {
        let provider = &self.endpoint.provider;
        let key = match &self.endpoint.key {
            Key::None => None,
            Key::Optional(variable) => variable_value(variable, "key")?,
            Key::Required(variable) => match variable_value(variable, "key")? {
                Some(key) => Some(key),
                None => {
                    let problem = format!(
                        "no key for the provider \"{provider}\" at {}: set the variable {variable}, or give the base \
                         URL of a server that needs none",
                        self.host
                    );
                    return Err(StepError::new(ErrorKind::Unauthorized, problem));
                }
            },
        };
        let mut headers = Vec::new();
        for (name, variable) in &self.endpoint.headers_env {
            let Some(value) = variable_value(variable, "header")? else {
                let problem = format!(
                    "the header \"{name}\" of the provider \"{provider}\" has no value: set the variable {variable}"
                );
                return Err(StepError::new(ErrorKind::Unauthorized, problem));
            };
            headers.push((name.clone(), value));
        }
        Ok(Secrets { key, headers })
    }

    /// The headers of a request. One of one's own takes the place of the protocol's.
    pub(super) fn headers(&self, secrets: &Secrets) -> HeaderMap {
        let key = secrets.key.as_deref();
        // Without a key no header speaks of one: a server that lets everybody in may look at what it is given.
        let of_key = key.map(|key| match self.endpoint.protocol {
            // Ollama wants no key, but what stands before it may.
            Protocol::OpenAi | Protocol::OpenAiResp | Protocol::Ollama => {
                (AUTHORIZATION.as_str(), format!("Bearer {key}"))
            }
            Protocol::Anthropic => ("x-api-key", key.to_owned()),
            Protocol::Gemini => ("x-goog-api-key", key.to_owned()),
        });
        let version = (self.endpoint.protocol == Protocol::Anthropic)
            .then(|| ("anthropic-version", ANTHROPIC_VERSION.to_owned()));
        let by_protocol: Vec<(&str, String)> = of_key.into_iter().chain(version).collect();
        let by_protocol = by_protocol.iter().map(|(name, value)| (*name, value.as_str()));
        let plain = self.endpoint.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let secret = secrets.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let mut headers = HeaderMap::new();
        for (name, value) in by_protocol.chain(plain).chain(secret) {
            // All were looked at when they were read.
            if let (Ok(name), Ok(mut value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                value.set_sensitive(true);
                headers.insert(name, value);
            }
        }
        headers
    }

    /// The address to which a request for the model of that name goes. What the base URL has behind its `?` stays there.
    pub(super) fn address(&self, model: &str) -> Url {
        let is_streamed = self.endpoint.stream;
        let path = match self.endpoint.protocol {
            Protocol::OpenAi => "chat/completions".to_owned(),
            Protocol::OpenAiResp => "responses".to_owned(),
            Protocol::Anthropic => "messages".to_owned(),
            Protocol::Gemini if is_streamed => format!("models/{model}:streamGenerateContent"),
            Protocol::Gemini => format!("models/{model}:generateContent"),
            Protocol::Ollama => "api/chat".to_owned(),
        };
        let mut address = self.base.clone();
        address.set_path(&format!("{}{path}", self.base.path()));
        if self.endpoint.protocol == Protocol::Gemini && is_streamed {
            address.query_pairs_mut().append_pair("alt", "sse");
        }
        address
    }
}

/// The value of a variable; none where it is not set or empty.
fn variable_value(variable: &str, what: &str) -> Result<Option<String>, StepError> {
    let odd = || {
        let problem = format!("the {what} in {variable} has a character that no {what} has; set it again");
        Err(StepError::new(ErrorKind::Unauthorized, problem))
    };
    match std::env::var(variable) {
        Ok(value) if value.trim().is_empty() => Ok(None),
        Ok(value) if what == "key" && value.trim().bytes().any(|byte| !byte.is_ascii_graphic()) => odd(),
        Ok(value) if HeaderValue::from_str(value.trim()).is_err() => odd(),
        Ok(value) => Ok(Some(value.trim().to_owned())),
        Err(std::env::VarError::NotUnicode(_)) => odd(),
        Err(std::env::VarError::NotPresent) => Ok(None),
    }
}

/// Reads a base URL, with or without a slash at its end, with or without the protocol's own path.
fn parse(text: &str, protocol: Protocol) -> Result<Url, ModelError> {
    let text = text.trim();
    let problem = |problem: &str| ModelError::BaseUrl { url: text.to_owned(), problem: problem.to_owned() };
    let mut url = Url::parse(text).map_err(|error| match text.rsplit_once('@') {
        None => problem(&error.to_string()),
        Some((_, host)) => ModelError::BaseUrl { url: host.to_owned(), problem: error.to_string() },
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        let needed = "it has to begin with http:// or https://";
        // Without a scheme, what stands before a colon is taken for one: it may be a user name.
        return Err(match text.rsplit_once('@') {
            None => unusable(&url, needed),
            Some((_, host)) => ModelError::BaseUrl { url: host.to_owned(), problem: needed.to_owned() },
        });
    }
    let mut path = url.path().trim_end_matches('/');
    let own: &[&str] = match protocol {
        Protocol::OpenAi => &["/chat/completions"],
        Protocol::OpenAiResp => &["/responses"],
        Protocol::Anthropic => &["/messages"],
        Protocol::Gemini => &["/models"],
        // Its address is often given as that of its OpenAI-compatible side.
        Protocol::Ollama => &["/api/chat", "/api", "/v1"],
    };
    if let Some(rest) = own.iter().find_map(|own| path.strip_suffix(own)) {
        path = rest;
    }
    let path = format!("{path}/");
    url.set_path(&path);
    url.set_fragment(None);
    Ok(url)
}

/// A URL that was read but can not be used, shown without user name and password.
fn unusable(url: &Url, problem: &str) -> ModelError {
    let mut shown = url.clone();
    // Both fail only for URLs that can not have them.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    ModelError::BaseUrl { url: shown.to_string(), problem: problem.to_owned() }
}

/// The client: ring for TLS, the system's CA certificates, no redirects (they would turn a POST into a GET and
/// hide a wrong base URL), no timeouts (they are the caller's). The proxies of the environment hold, but not for a server
/// on this machine: no proxy gets there.
fn http_client(url: &Url, is_local: bool) -> Result<reqwest::Client, ModelError> {
    // Fails if there is a process-wide choice already: then that one is used.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder =
        reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).tcp_nodelay(true);
    if url.scheme() == "http" {
        // Needs no certificates, so it works on systems that have none.
        builder = builder.tls_certs_only([]);
    }
    if is_local {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| ModelError::Client { problem: root_cause(&error) })
}

fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(text: &str) -> String {
        match parse(text, Protocol::OpenAi) {
            Ok(url) => url.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn base_urls_are_taken_in_all_their_spellings() {
        for text in [
            "http://127.0.0.1:8399/v1",
            "http://127.0.0.1:8399/v1/",
            " http://127.0.0.1:8399/v1// ",
            "http://127.0.0.1:8399/v1/chat/completions",
        ] {
            assert_eq!(base(text), "http://127.0.0.1:8399/v1/", "{text}");
        }
        assert_eq!(base("https://host"), "https://host/");
        let of = |text, protocol| parse(text, protocol).unwrap().to_string();
        assert_eq!(of("http://127.0.0.1:11434/v1", Protocol::Ollama), "http://127.0.0.1:11434/");
        assert_eq!(of("https://a.example/v1/messages", Protocol::Anthropic), "https://a.example/v1/");
        assert_eq!(base("https://host/v1?version=2#x"), "https://host/v1/?version=2");
    }

    #[test]
    fn what_is_no_base_url_is_said_without_secrets() {
        for text in ["", "127.0.0.1", "localhost:8000/v1", "ftp://me:secret@host/v1", "http://me:secret@:80"]
        {
            let said = base(text);
            assert!(said.contains("can not be used") && said.contains("http://127.0.0.1:8000/v1"), "{said}");
            assert!(!said.contains("secret"), "{said}");
        }
    }
}
