//! Asking an engine over HTTP: at its pace, within its time, with its key; bounded in size, without redirects, which would
//! carry the key to another place.

use std::time::Duration;

use deepgraph_protocol::{ErrorKind, StepError};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value as Json;
use url::Url;

use super::pace::Pace;
use super::refusal::{Who, wait_of};

/// The most bytes of an answer.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// One request.
pub(super) struct Request {
    pub(super) url: Url,
    /// With a body, it is a POST of JSON.
    pub(super) body: Option<Json>,
    /// The header with the key, and what stands before it.
    pub(super) key: Option<(&'static str, &'static str)>,
    pub(super) accept: &'static str,
}

/// What asks one engine.
pub(super) struct Caller {
    pub(super) who: Who,
    /// Where it is asked; `{language}` stands for the language of the query.
    pub(super) base_url: String,
    pub(super) key: Option<String>,
    pub(super) contact: Option<String>,
    pub(super) timeout: Duration,
    pub(super) pace: Pace,
    /// The HTTP client, or why there is none.
    pub(super) client: Result<reqwest::Client, String>,
}

/// An answer that may be one: its status tells of no failure.
struct Body {
    headers: HeaderMap,
    bytes: Vec<u8>,
}

impl Caller {
    /// An address below the engine's own.
    pub(super) fn url(&self, path: &str, language: Option<&str>) -> Result<Url, StepError> {
        let base = self.base_url.replace("{language}", language.unwrap_or("en"));
        Url::parse(&format!("{}{path}", base.trim_end_matches('/'))).map_err(|error| {
            self.who
                .error(ErrorKind::InvalidRequest, format!("its base_url {base} is none: {error}"))
                .unsent()
        })
    }

    /// Asks for JSON.
    ///
    /// # Errors
    ///
    /// All that is no JSON object, or an object that tells of an error.
    pub(super) async fn json(&self, request: Request) -> Result<Json, StepError> {
        let Body { headers, bytes } = self.send(request).await?;
        let json = match serde_json::from_slice::<Json>(&bytes) {
            Ok(json @ Json::Object(_)) => json,
            _ => {
                return Err(self.note(self.who.no_answer(
                    &bytes,
                    &headers,
                    "it answers with something that is no JSON object",
                )));
            }
        };
        let error = json.get("error").filter(|error| match error {
            Json::Null | Json::Bool(false) => false,
            Json::String(text) => !text.is_empty(),
            Json::Object(fields) => !fields.is_empty(),
            _ => true,
        });
        match error {
            Some(error) => Err(self.note(self.who.told(error, wait_of(&headers)))),
            None => Ok(json),
        }
    }

    /// Asks for XML.
    pub(super) async fn xml(&self, request: Request) -> Result<String, StepError> {
        let Body { headers, bytes } = self.send(request).await?;
        let text = String::from_utf8_lossy(&bytes);
        let start: String = text.trim_start().chars().take(200).collect::<String>().to_lowercase();
        let is_xml = start.starts_with("<?xml") || start.starts_with("<feed");
        if !is_xml || start.contains("<html") {
            return Err(self.note(self.who.no_answer(
                &bytes,
                &headers,
                "it answers with something that is no XML",
            )));
        }
        Ok(text.into_owned())
    }

    /// An answer that lacks what it should have.
    pub(super) fn lacks(&self, what: &str) -> StepError {
        self.who.error(ErrorKind::InvalidOutput, format!("its answer has no `{what}`"))
    }

    /// What it was asked too often is not asked for a while.
    pub(super) fn note(&self, error: StepError) -> StepError {
        if let (ErrorKind::RateLimited, Some(ms)) = (error.kind, error.retry_after_ms) {
            self.pace.leave_in_peace(Duration::from_millis(ms));
        }
        error
    }

    async fn send(&self, request: Request) -> Result<Body, StepError> {
        let client = self.client.as_ref().map_err(|why| self.who.error(ErrorKind::Network, why).unsent())?;
        let headers = self.headers(&request)?;
        self.pace.turn().await?;
        let builder = match request.body {
            Some(json) => client.post(request.url).body(json.to_string()),
            None => client.get(request.url),
        };
        let answer = tokio::time::timeout(self.timeout, self.read(builder.headers(headers))).await;
        let (status, body) = answer.unwrap_or_else(|_| {
            let what = format!("no answer within {} s", self.timeout.as_secs_f64());
            Err(self.who.error(ErrorKind::StepTimeout, what))
        })?;
        match self.who.refusal(status, &body.headers, &body.bytes) {
            Some(error) => Err(self.note(error)),
            None => Ok(body),
        }
    }

    async fn read(&self, request: reqwest::RequestBuilder) -> Result<(u16, Body), StepError> {
        let failed = |error: reqwest::Error| {
            let told = self.who.error(ErrorKind::Network, root_cause(&error));
            if error.is_connect() { told.unsent() } else { told }
        };
        let mut response = request.send().await.map_err(failed)?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if bytes.len() + chunk.len() > MOST_BYTES {
                let what = format!("its answer is larger than {} MiB", MOST_BYTES / 1024 / 1024);
                return Err(self.who.error(ErrorKind::InvalidOutput, what));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok((status, Body { headers, bytes }))
    }

    fn headers(&self, request: &Request) -> Result<HeaderMap, StepError> {
        let mut headers = HeaderMap::new();
        headers.insert("accept", HeaderValue::from_static(request.accept));
        if request.body.is_some() {
            headers.insert("content-type", HeaderValue::from_static("application/json"));
        }
        if let (Some((name, before)), Some(key)) = (request.key, &self.key) {
            let mut value =
                HeaderValue::from_str(&format!("{before}{key}")).map_err(|_| self.who.no_key("").unsent())?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        Ok(headers)
    }
}

/// The client: ring for TLS, the system's CA certificates, no redirects, no timeouts of its own.
pub(super) fn client(base_url: &str, contact: Option<&str>) -> Result<reqwest::Client, String> {
    // Fails if there is a process-wide choice already: then that one is used.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let name = concat!("deepgraph/", env!("CARGO_PKG_VERSION"));
    let agent = contact.map_or(name.to_owned(), |contact| format!("{name} ({contact})"));
    let mut builder = reqwest::Client::builder()
        .user_agent(agent)
        .redirect(reqwest::redirect::Policy::none())
        .tcp_nodelay(true);
    if base_url.starts_with("http:") {
        // Needs no certificates, so it works on systems that have none.
        builder = builder.tls_certs_only([]);
    }
    if is_of_this_machine(base_url) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| format!("the HTTP client can not be set up: {}", root_cause(&error)))
}

/// Whether a server is on this machine, where no proxy could reach it.
fn is_of_this_machine(base_url: &str) -> bool {
    let url = url::Url::parse(base_url).ok();
    match url.as_ref().and_then(url::Url::host) {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// The first cause of an error: what the system says. It has no URL in it, where some engines want their key.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    match cause.downcast_ref::<reqwest::Error>() {
        Some(_) => "the connection failed".to_owned(),
        None => cause.to_string(),
    }
}
