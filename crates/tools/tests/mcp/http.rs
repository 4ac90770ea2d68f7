//! Calls of a server behind an HTTP address.

use std::time::Duration;

use deepgraph_protocol::{ErrorKind, Map, StepError, Value};
use deepgraph_tools::mcp::{Options, Server};

use crate::http_server::{Form, HttpServer, Instead, http, status};
use crate::script::Manner;
use crate::support::{LONG, arguments, failure, hasty, options, refused, text, until};

async fn connect(server: &HttpServer) -> Server {
    Server::connect("crm", server.transport(), options()).await.unwrap()
}

#[tokio::test]
async fn tools_are_listed_and_called_whatever_form_answers_have() {
    for (manner, form) in [
        (Manner::Plain, Form::Json),
        (Manner::Plain, Form::Events),
        (Manner::Pages, Form::Events),
        (Manner::Modern, Form::Json),
    ] {
        let site = HttpServer::start(manner, form).await;
        let server = connect(&site).await;
        assert_eq!(server.tools().len(), 18, "{manner:?} {form:?}");
        let sum = arguments(&[("a", Value::Int(40)), ("b", Value::Int(2))]);
        let result = server.call("add", &sum, LONG).await.unwrap();
        assert_eq!(result.to_json_text(), r#"{"data":{"sum":42},"text":"42"}"#, "{manner:?} {form:?}");
        let said = "Grüße — 漢字 🦀\nline \u{2028} two";
        let result = server.call("echo", &arguments(&[("text", Value::from(said))]), LONG).await.unwrap();
        assert_eq!(result.text("text"), said, "{manner:?} {form:?}");
        let error = failure(&server, "fail").await;
        assert_eq!(error, StepError::new(ErrorKind::Tool, "crm.fail: no such customer: 17"));
        let error = failure(&server, "echo").await;
        assert_eq!(error.kind, ErrorKind::InvalidInput, "{error}");
        let error = failure(&server, "odd").await;
        assert_eq!(error.kind, ErrorKind::InvalidOutput, "{error}");
    }
}

#[tokio::test]
async fn headers_go_with_every_request_and_a_session_is_ended() {
    let site = HttpServer::start(Manner::Plain, Form::Events).await;
    let server = connect(&site).await;
    text(&server, "picture").await;
    server.close().await;
    let asked = site.asked();
    assert!(asked.len() >= 5, "{asked:#?}");
    for request in &asked {
        assert!(request.head.contains("\r\nauthorization: bearer s3cr3t-key\r\n"), "{}", request.head);
        assert!(request.head.contains("\r\nuser-agent: deepgraph/"), "{}", request.head);
    }
    let last = &asked[asked.len() - 1].head;
    assert!(last.starts_with("delete /mcp ") && last.contains("mcp-session-id: session-1"), "{last}");
}

#[tokio::test]
async fn a_key_that_is_missing_or_wrong_is_told_with_its_header() {
    let challenge = "WWW-Authenticate: Bearer error=\"invalid_token\"";
    for (code, headers) in [(401, vec![]), (401, vec![challenge]), (403, vec![]), (403, vec![challenge])] {
        let answers = headers.clone();
        let site = HttpServer::with(Manner::Plain, Form::Json, move |_| {
            Some(status(code, &answers, "you sent s3cr3t-key"))
        })
        .await;
        let place = format!("http://127.0.0.1:{}/mcp", site.port());
        let error = refused(site.transport(), options()).await;
        let expected = match code {
            401 => "refuses its header Authorization (HTTP 401): check the key under mcp.files.headers",
            _ => {
                "does not allow this with its header Authorization (HTTP 403): use a key with more rights under \
                 mcp.files.headers"
            }
        };
        assert_eq!(
            error.to_string(),
            format!("the MCP server \"files\" ({place}) {expected}"),
            "{headers:?}"
        );
        assert_eq!(error.kind(), ErrorKind::Unauthorized);
        let error = refused(http(&place, &[]), options()).await.to_string();
        let expected = format!(
            "wants a key (HTTP {code}): give one under mcp.files.headers, most often as Authorization"
        );
        assert_eq!(error, format!("the MCP server \"files\" ({place}) {expected}"), "{headers:?}");
    }
}

#[tokio::test]
async fn a_key_that_ends_during_the_run_is_told_too() {
    let site = HttpServer::with(Manner::Plain, Form::Json, |request| {
        (request.tool() == "echo").then(|| status(401, &[], ""))
    })
    .await;
    let server = connect(&site).await;
    let error = failure(&server, "echo").await;
    assert_eq!(error.kind, ErrorKind::Unauthorized);
    assert!(error.message.contains("refuses its header Authorization (HTTP 401)"), "{error}");
}

#[tokio::test]
async fn what_an_address_answers_instead_is_told() {
    let html = "Content-Type: text/html";
    let json = "Content-Type: application/json";
    for (code, headers, body, expected, kind) in [
        (503, vec![], "", "can not serve now (HTTP 503)", ErrorKind::Unavailable),
        (429, vec!["Retry-After: 7"], "", "asks to slow down (HTTP 429)", ErrorKind::RateLimited),
        (404, vec![html], "<h1>Not\nfound</h1>", "answers with HTTP 404: is that", ErrorKind::NotFound),
        (
            405,
            vec![],
            "",
            "answers with HTTP 405: is that the address of the MCP endpoint of \"files\"? Check mcp.files.url",
            ErrorKind::InvalidRequest,
        ),
        (301, vec!["Location: /elsewhere"], "", "answers with HTTP 301: is that", ErrorKind::InvalidRequest),
        (
            400,
            vec![json],
            r#"{"error":"s3cr3t-key?"}"#,
            "answers with HTTP 400 ({\"error\":\"***?\"}): is",
            ErrorKind::InvalidRequest,
        ),
        (
            200,
            vec![html],
            "<h1>Hello</h1>",
            "does not answer as an MCP server: it sends text/html where JSON or events",
            ErrorKind::InvalidRequest,
        ),
        (
            200,
            vec![json],
            "{}",
            "does not answer as an MCP server: could not parse JSON",
            ErrorKind::InvalidRequest,
        ),
        (200, vec![json], "", "does not answer as an MCP server", ErrorKind::InvalidRequest),
        (
            200,
            vec!["Content-Type: text/event-stream"],
            "data: hello\n\n",
            "does not answer as an MCP server: its answer to the greeting broke off",
            ErrorKind::InvalidRequest,
        ),
        (202, vec![], "", "does not answer as an MCP server", ErrorKind::InvalidRequest),
    ] {
        let site =
            HttpServer::with(Manner::Plain, Form::Json, move |_| Some(status(code, &headers, body))).await;
        let error = refused(site.transport(), options()).await;
        assert!(error.to_string().contains(expected), "{code}: {error}");
        assert_eq!(error.kind(), kind, "{error}");
    }
}

#[tokio::test]
async fn a_wait_that_a_server_asks_for_is_handed_on() {
    let site = HttpServer::with(Manner::Plain, Form::Json, |request| {
        (request.tool() == "echo").then(|| status(429, &["Retry-After: 7"], ""))
    })
    .await;
    let error = failure(&connect(&site).await, "echo").await;
    assert_eq!((error.kind, error.retry_after_ms), (ErrorKind::RateLimited, Some(7000)));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_and_used_again_when_it_is_back() {
    let site = HttpServer::start(Manner::Plain, Form::Json).await;
    let port = site.port();
    let server = connect(&site).await;
    text(&server, "picture").await;
    drop(site);
    tokio::time::sleep(Duration::from_millis(50)).await;
    for _ in 0..2 {
        let error = failure(&server, "picture").await;
        assert!(
            error.message.starts_with(&format!(
                "the MCP server \"crm\" can not be reached at http://127.0.0.1:{port}/mcp: Connection refused"
            )),
            "{error}"
        );
        assert!(error.message.ends_with("is it running, and is mcp.crm.url right?"), "{error}");
        assert_eq!((error.kind, error.unsent), (ErrorKind::Unavailable, true));
    }
    let _back = HttpServer::again(port).await;
    // It was left alone for a second.
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    assert_eq!(text(&server, "picture").await, "[image image/png, 4 bytes]");
}

#[tokio::test]
async fn an_answer_that_breaks_off_fails_its_call() {
    for form in [Form::Json, Form::Events] {
        let site = HttpServer::with(Manner::Plain, form, |request| {
            (request.tool() == "slow").then(|| Instead::Bytes(Vec::new()))
        })
        .await;
        let server = connect(&site).await;
        let error = failure(&server, "slow").await;
        assert!(error.message.contains("the connection to the MCP server \"crm\""), "{error}");
        assert_eq!((error.kind, error.unsent), (ErrorKind::Network, false));
        assert_eq!(text(&server, "picture").await, "[image image/png, 4 bytes]");
    }
    // Within the events.
    let site = HttpServer::with(Manner::Plain, Form::Events, |request| {
        (request.tool() == "slow")
            .then(|| status(200, &["Content-Type: text/event-stream"], "data: {\"jsonrpc\":\"2.0\","))
    })
    .await;
    let server = connect(&site).await;
    let error = failure(&server, "slow").await;
    assert!(error.message.contains("broke off: the answer of slow did not come to its end"), "{error}");
    assert_eq!(text(&server, "picture").await, "[image image/png, 4 bytes]");
}

#[tokio::test]
async fn an_answer_that_is_too_large_fails_alone() {
    for form in [Form::Json, Form::Events] {
        let site = HttpServer::start(Manner::Plain, form).await;
        let small = Options { most_answer_bytes: 100_000, ..options() };
        let server = Server::connect("crm", site.transport(), small).await.unwrap();
        let huge = |bytes| arguments(&[("bytes", Value::Int(bytes))]);
        let error = server.call("huge", &huge(3_000_000), LONG).await.unwrap_err();
        let message =
            "the answer of huge of the MCP server \"crm\" is larger than 97.7 KiB: ask for less at once";
        assert_eq!(error, StepError::new(ErrorKind::InvalidRequest, message), "{form:?}");
        let result = server.call("huge", &huge(90_000), LONG).await.unwrap();
        assert_eq!(result.text("text").len(), 90_000);
        assert_eq!(site.count("initialize"), 1);
    }
}

#[tokio::test]
async fn a_slow_tool_is_given_up_and_told_to_stop() {
    let site = HttpServer::start(Manner::Plain, Form::Events).await;
    let server = connect(&site).await;
    let error = server.call("slow", &Map::new(), Duration::from_millis(200)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::StepTimeout);
    until("the server is told", || site.count("notifications/cancelled") == 1).await;
    assert_eq!(text(&server, "picture").await, "[image image/png, 4 bytes]");
}

#[tokio::test]
async fn a_session_that_the_server_forgot_is_made_anew() {
    let site = HttpServer::start(Manner::Plain, Form::Json).await;
    let server = connect(&site).await;
    site.forget_sessions();
    assert_eq!(text(&server, "picture").await, "[image image/png, 4 bytes]");
    assert_eq!(site.count("initialize"), 2);
    // Where it says so in its own way, the call fails and the next one makes a new session.
    let error = failure(&server, "lost_session").await;
    assert_eq!(error.kind, ErrorKind::Network, "{error}");
    assert!(error.message.ends_with("broke off: Bad Request: No valid session ID provided"), "{error}");
    assert_eq!(text(&server, "picture").await, "[image image/png, 4 bytes]");
    assert_eq!(site.count("initialize"), 3);
}

#[tokio::test]
async fn redirects_are_followed_at_the_same_place_only() {
    let site = HttpServer::with(Manner::Plain, Form::Json, |request| {
        request.head.starts_with("post /mcp ").then(|| status(307, &["Location: /mcp/"], ""))
    })
    .await;
    let server = connect(&site).await;
    assert_eq!(text(&server, "picture").await, "[image image/png, 4 bytes]");

    let other = HttpServer::start(Manner::Plain, Form::Json).await;
    let elsewhere = format!("Location: http://127.0.0.1:{}/mcp", other.port());
    let site =
        HttpServer::with(Manner::Plain, Form::Json, move |_| Some(status(307, &[&elsewhere], ""))).await;
    let error = refused(site.transport(), options()).await.to_string();
    assert!(error.contains("answers with HTTP 307"), "{error}");
    assert!(other.asked().is_empty(), "the key must not go there");
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let site = HttpServer::with(Manner::Plain, Form::Json, |_| Some(Instead::Silence)).await;
    let error = refused(site.transport(), hasty()).await;
    assert_eq!(error.kind(), ErrorKind::StepTimeout);
    assert!(error.to_string().contains("/mcp) was not ready after 1.5 s"), "{error}");
}

#[tokio::test]
async fn what_can_not_be_sent_is_told_before_anything_is() {
    for (url, expected) in [
        ("crm.example.com/mcp", "relative URL without a base"),
        ("ftp://crm.example.com/mcp", "it has to begin with http:// or https://"),
        ("", "relative URL without a base"),
        ("http://", "empty host"),
    ] {
        let error = refused(http(url, &[]), options()).await.to_string();
        let start = "the MCP server \"files\" can not be reached: its address can not be used: ";
        assert!(error.starts_with(start) && error.contains(expected), "{error}");
        assert!(error.ends_with("give one such as https://example.com/mcp under mcp.files.url"), "{error}");
    }
    for (name, value, expected) in [
        ("X Key", "abc", "it is no name of a header"),
        ("X-Key", "a\nb", "its value has a character that no header can have"),
        ("Mcp-Session-Id", "abc", "the protocol sets it; leave it out"),
    ] {
        let error = refused(http("http://127.0.0.1:9/mcp", &[(name, value)]), options()).await.to_string();
        assert_eq!(
            error,
            format!("the header \"{name}\" under mcp.files.headers can not be sent: {expected}")
        );
    }
}
