//! One HTTP client, one server, one key: what all models of the provider share.

use deepgraph_protocol::{ErrorKind, StepError};
use genai::adapter::AdapterKind;
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use reqwest::Url;

use crate::ModelError;

/// Where requests go if nothing else is said.
const OPENAI: &str = "https://api.openai.com/v1/";

/// What is sent as the key to servers that want none.
const NO_KEY: &str = "none";

/// The connections to one server.
pub(super) struct Connection {
    /// Pools the connections.
    pub(super) client: Client,
    /// Host and port, for messages.
    pub(super) host: String,
    /// The environment variable that holds the key.
    pub(super) variable: String,
    endpoint: Endpoint,
    keyless: bool,
}

impl Connection {
    /// Prepares connections to a base URL, or to OpenAI. Nothing is connected and no key is read yet.
    pub(super) fn new(base_url: Option<&str>, variable: &str) -> Result<Connection, ModelError> {
        let url = parse(base_url.unwrap_or(OPENAI))?;
        let host = match (url.host_str(), url.port()) {
            (Some(host), Some(port)) => format!("{host}:{port}"),
            (Some(host), None) => host.to_owned(),
            (None, _) => return Err(unusable(&url, "it has no host")),
        };
        Ok(Connection {
            client: Client::builder()
                .with_reqwest(http_client(&url)?)
                .build()
                .map_err(|error| ModelError::Client { problem: error.to_string() })?,
            host,
            variable: variable.to_owned(),
            endpoint: Endpoint::from_owned(url.as_str()),
            keyless: base_url.is_some(),
        })
    }

    /// The key from the environment. A server of one's own needs none.
    pub(super) fn key(&self) -> Result<String, StepError> {
        let variable = &self.variable;
        let refused = |problem: String| Err(StepError::new(ErrorKind::Unauthorized, problem));
        match std::env::var(variable) {
            Ok(key) if key.trim().bytes().any(|byte| !byte.is_ascii_graphic()) => {
                refused(format!("the key in {variable} has a character that no key has; set it again"))
            }
            Ok(key) if !key.trim().is_empty() => Ok(key.trim().to_owned()),
            Err(std::env::VarError::NotUnicode(_)) => {
                refused(format!("the key in {variable} has a character that no key has; set it again"))
            }
            _ if self.keyless => Ok(NO_KEY.to_owned()),
            _ => refused(format!(
                "no key for {}: set the variable {variable}, or give the base URL of a server that needs none",
                self.host
            )),
        }
    }

    /// The target of a request to the model of that name.
    pub(super) fn target(&self, name: &str, key: &str) -> ServiceTarget {
        ServiceTarget {
            endpoint: self.endpoint.clone(),
            auth: AuthData::from_single(key),
            model: ModelIden::new(AdapterKind::OpenAI, name),
        }
    }
}

/// Reads a base URL, with or without a slash at its end, with or without the path of the chat endpoint.
fn parse(text: &str) -> Result<Url, ModelError> {
    let text = text.trim();
    let problem = |problem: &str| ModelError::BaseUrl { url: text.to_owned(), problem: problem.to_owned() };
    let mut url = Url::parse(text).map_err(|error| match text.rsplit_once('@') {
        None => problem(&error.to_string()),
        Some((_, host)) => ModelError::BaseUrl { url: host.to_owned(), problem: error.to_string() },
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(unusable(&url, "it has to begin with http:// or https://"));
    }
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/chat/completions").unwrap_or(path);
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
/// hide a wrong base URL), no timeouts (they are the caller's).
fn http_client(url: &Url) -> Result<reqwest::Client, ModelError> {
    // Fails if there is a process-wide choice already: then that one is used.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder =
        reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).tcp_nodelay(true);
    if url.scheme() == "http" {
        // Needs no certificates, so it works on systems that have none.
        builder = builder.tls_certs_only([]);
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
        match parse(text) {
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
