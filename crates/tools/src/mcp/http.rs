//! A server behind an HTTP address.

use std::collections::HashMap;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;
use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::redirect::{Attempt, Policy};
use rmcp::model::{ClientJsonRpcMessage, RequestId};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::FixedInterval;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use serde_json::json;
use sse_stream::Sse;

use super::declared::Declared;
use super::error::McpError;
use super::stdout::TOO_LARGE;

/// Headers that the protocol itself sets.
const RESERVED: [&str; 7] = [
    "accept",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-protocol-version",
    "mcp-session-id",
];
/// How often an answer that broke off is asked for again, a second after the other.
const MOST_RESUMPTIONS: usize = 3;
/// Redirects that are followed for one request.
const MOST_REDIRECTS: usize = 5;
/// What is read of the text of an error.
const MOST_ERROR_BYTES: usize = 4096;

/// Events that come back from a server.
type Events = BoxStream<'static, Result<Sse, SseError>>;

/// Prepares the exchange with a server. Nothing is sent yet.
///
/// # Errors
///
/// For an address or a header that can not be used.
pub(super) fn exchange(
    declared: &Declared,
    url: &str,
    headers: &[(String, String)],
) -> Result<StreamableHttpClientTransport<HttpClient>, McpError> {
    let url = parse(declared, url)?;
    let most_bytes = declared.options.most_answer_bytes;
    let mut resumption = FixedInterval::default();
    resumption.max_times = Some(MOST_RESUMPTIONS);
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
        .custom_headers(header_map(declared, headers)?)
        .max_sse_event_size(most_bytes)
        .max_json_response_size(most_bytes)
        .max_error_response_size(MOST_ERROR_BYTES);
    config.retry_config = Arc::new(resumption);
    Ok(StreamableHttpClientTransport::with_client(HttpClient(client(declared, &url)?), config))
}

fn parse(declared: &Declared, text: &str) -> Result<Url, McpError> {
    let refused = |problem: String| McpError::Address { server: declared.name.clone(), problem };
    let url = Url::parse(text.trim()).map_err(|error| refused(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refused("it has to begin with http:// or https://".to_owned()));
    }
    Ok(url)
}

fn header_map(
    declared: &Declared,
    headers: &[(String, String)],
) -> Result<HashMap<HeaderName, HeaderValue>, McpError> {
    let mut map = HashMap::new();
    for (name, value) in headers {
        let refused = |problem: &str| McpError::Header {
            server: declared.name.clone(),
            header: name.clone(),
            problem: problem.to_owned(),
        };
        let key =
            HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused("it is no name of a header"))?;
        if RESERVED.contains(&key.as_str()) {
            return Err(refused("the protocol sets it; leave it out"));
        }
        let mut value = HeaderValue::from_str(value.trim())
            .map_err(|_| refused("its value has a character that no header can have"))?;
        value.set_sensitive(true);
        map.insert(key, value);
    }
    Ok(map)
}

/// The client: ring for TLS, the system's CA certificates, a connection for each request (servers close idle ones
/// just when they are used again), no timeouts (they are the caller's).
fn client(declared: &Declared, url: &Url) -> Result<reqwest::Client, McpError> {
    // Fails if there is a process-wide choice already: then that one is used.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("deepgraph/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::custom(redirect))
        .tcp_nodelay(true)
        .pool_max_idle_per_host(0);
    if url.scheme() == "http" {
        // Needs no certificates, so it works on systems that have none.
        builder = builder.tls_certs_only([]);
    }
    builder.build().map_err(|error| McpError::Client {
        server: declared.name.clone(),
        problem: declared.hide(&root_cause(&error)),
    })
}

/// Follows only redirects that keep the message whole, and never to another place, which the headers are not meant
/// for. Many servers redirect `/mcp` to `/mcp/`.
fn redirect(attempt: Attempt) -> reqwest::redirect::Action {
    let keeps_message = matches!(attempt.status().as_u16(), 307 | 308);
    let from = attempt.previous().first().map(Url::origin);
    if keeps_message && from == Some(attempt.url().origin()) && attempt.previous().len() <= MOST_REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

/// The first cause of an error: what the system says.
pub(super) fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

/// The HTTP client, with one thing more: where an answer that comes as events is too large, it says so to the request
/// instead of going silent.
#[derive(Clone)]
pub(super) struct HttpClient(reqwest::Client);

impl StreamableHttpClient for HttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, StreamableHttpError<reqwest::Error>> {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, session_id, auth_header, custom_headers, limits)
            .await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, StreamableHttpError<reqwest::Error>> {
        let request = match &message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let posted = self
            .0
            .post_message_with_response_limits(uri, message, session_id, auth_header, custom_headers, limits)
            .await?;
        Ok(match (posted, request) {
            (StreamableHttpPostResponse::Sse(events, session), Some(id)) => {
                StreamableHttpPostResponse::Sse(with_word_on_size(events, id), session)
            }
            (posted, _) => posted,
        })
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), StreamableHttpError<reqwest::Error>> {
        self.0.delete_session(uri, session_id, auth_header, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Events, StreamableHttpError<reqwest::Error>> {
        self.0.get_stream(uri, session_id, last_event_id, auth_header, custom_headers).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        max_sse_event_size: usize,
    ) -> Result<Events, StreamableHttpError<reqwest::Error>> {
        self.0
            .get_stream_with_max_sse_event_size(
                uri,
                session_id,
                last_event_id,
                auth_header,
                custom_headers,
                max_sse_event_size,
            )
            .await
    }
}

/// The events of an answer; where one is too large, an error for the request in its place.
fn with_word_on_size(events: Events, request: RequestId) -> Events {
    events
        .map(move |event| match event {
            // The error has no type that could be told; its text is the only sign.
            Err(SseError::Body(error)) if error.to_string().contains("exceeded the maximum size") => {
                let error = json!({"code": TOO_LARGE, "message": "the answer is too large"});
                Ok(Sse::default().data(json!({"jsonrpc": "2.0", "id": request, "error": error}).to_string()))
            }
            event => event,
        })
        .boxed()
}
