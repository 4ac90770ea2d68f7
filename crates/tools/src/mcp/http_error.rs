//! What went wrong on the way to a server and back.

use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::{HttpStatusError, StreamableHttpError};

use super::declared::{Declared, Transport};
use super::error::McpError;
use super::http::root_cause;
use super::words;

/// The most characters of a server's own text in a message.
const MOST_TEXT: usize = 300;

/// The error of a transport. `what` names the answer that was wanted.
pub(super) fn of_transport(declared: &Declared, error: &DynamicTransportError, what: &str) -> McpError {
    match error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(error) => of_http(declared, error, what),
        None => broken_off(declared, &error.error.to_string()),
    }
}

/// The error of a connection that broke off.
pub(super) fn broken_off(declared: &Declared, problem: &str) -> McpError {
    McpError::BrokenOff {
        server: declared.name.clone(),
        place: declared.transport.shown(),
        problem: words::line(&declared.hide(problem), MOST_TEXT),
    }
}

/// The error of a server that does something else than MCP.
pub(super) fn not_mcp(declared: &Declared, problem: &str) -> McpError {
    McpError::NotMcp {
        server: declared.name.clone(),
        place: declared.transport.shown(),
        problem: words::line(&declared.hide(problem), MOST_TEXT),
    }
}

fn of_http(declared: &Declared, error: &StreamableHttpError<reqwest::Error>, what: &str) -> McpError {
    let server = declared.name.clone();
    let place = declared.transport.shown();
    match error {
        StreamableHttpError::AuthRequired(_) => unauthorized(declared, 401),
        StreamableHttpError::InsufficientScope(_) => unauthorized(declared, 403),
        StreamableHttpError::HttpStatus(error) if error.status == 429 => {
            McpError::RateLimited { server, place, retry_after_ms: retry_after_ms(error) }
        }
        StreamableHttpError::HttpStatus(error) => {
            McpError::Unavailable { server, place, status: error.status }
        }
        StreamableHttpError::UnexpectedServerResponse(text) => match status(text) {
            Some((status @ (401 | 403), _)) => unauthorized(declared, status),
            Some((status, body)) => {
                let body = words::line(&declared.hide(body), MOST_TEXT);
                // A page says nothing that its status does not.
                let body = if body.is_empty() || body.starts_with('<') {
                    String::new()
                } else {
                    format!(" ({body})")
                };
                McpError::Status { server, place, status, body }
            }
            None => not_mcp(declared, text),
        },
        StreamableHttpError::UnexpectedContentType(kind) => {
            let kind = kind.as_deref().unwrap_or("content of no kind");
            not_mcp(declared, &format!("it sends {kind} where JSON or events should come"))
        }
        StreamableHttpError::ResponseBodyTooLarge { max_size } => {
            McpError::TooLarge { server, what: what.to_owned(), most_bytes: *max_size }
        }
        StreamableHttpError::Client(error) if error.is_connect() => McpError::Unreachable {
            server,
            place,
            problem: words::line(&declared.hide(&root_cause(error)), MOST_TEXT),
        },
        StreamableHttpError::Client(error) => broken_off(declared, &root_cause(error)),
        error => broken_off(declared, &error.to_string()),
    }
}

fn unauthorized(declared: &Declared, status: u16) -> McpError {
    let headers = match &declared.transport {
        Transport::Http { headers, .. } => headers.iter().map(|(name, _)| name.clone()).collect(),
        Transport::Command { .. } => Vec::new(),
    };
    McpError::Unauthorized {
        server: declared.name.clone(),
        place: declared.transport.shown(),
        status,
        headers,
    }
}

/// How long a server asks to wait, where it says so in seconds.
fn retry_after_ms(error: &HttpStatusError) -> Option<u64> {
    error.retry_after.as_deref()?.trim().parse::<u64>().ok()?.checked_mul(1000)
}

/// Status and body of a text such as `HTTP 404 Not Found: no such page`.
fn status(text: &str) -> Option<(u16, &str)> {
    let text = text.strip_prefix("HTTP ")?;
    let status = text.get(..3)?.parse().ok()?;
    Some((status, text.split_once(": ").map_or("", |(_, body)| body)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_with_its_body() {
        assert_eq!(status("HTTP 404 Not Found: no: such page"), Some((404, "no: such page")));
        assert_eq!(status("HTTP 301 Moved Permanently: "), Some((301, "")));
        for text in ["could not parse JSON", "HTTP", "HTTP täx", "HTTP 4"] {
            assert_eq!(status(text), None, "{text}");
        }
    }

    #[test]
    fn a_wait_in_seconds_is_read() {
        for (text, expected) in [
            (Some("7"), Some(7000)),
            (Some("Wed, 21 Oct 2026 07:28:00 GMT"), None),
            (Some("18446744073709551615"), None),
            (None, None),
        ] {
            let error = HttpStatusError::new(429, text.map(str::to_owned));
            assert_eq!(retry_after_ms(&error), expected, "{text:?}");
        }
    }
}
