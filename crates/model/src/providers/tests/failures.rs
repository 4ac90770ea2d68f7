//! What goes wrong, and what is said about it.

use std::time::Duration;

use deepgraph_protocol::ErrorKind;

use super::*;

/// The failure of a call, the same streaming and not.
async fn failure(answer: Answer) -> StepError {
    let at_once = ask_once(answer.clone(), false, &plain()).await.result.unwrap_err();
    let in_pieces = ask_once(answer, true, &plain()).await.result.unwrap_err();
    assert_eq!(at_once.kind, in_pieces.kind, "{at_once} / {in_pieces}");
    assert_eq!(at_once.retry_after_ms, in_pieces.retry_after_ms);
    assert!(at_once.message.contains("openai::test-model at 127.0.0.1:"), "{at_once}");
    at_once
}

fn told(message: &str, code: &str) -> Json {
    json!({"error": {"message": message, "type": "some_error", "code": code}})
}

#[tokio::test]
async fn statuses_become_kinds() {
    for (status, code, kind) in [
        (400, "bad", ErrorKind::InvalidRequest),
        (400, "context_length_exceeded", ErrorKind::ContextOverflow),
        (400, "content_filter", ErrorKind::Refusal),
        (401, "invalid_api_key", ErrorKind::Unauthorized),
        (403, "forbidden", ErrorKind::Unauthorized),
        (404, "model_not_found", ErrorKind::NotFound),
        (408, "", ErrorKind::Unavailable),
        (413, "context_length_exceeded", ErrorKind::ContextOverflow),
        (422, "bad", ErrorKind::InvalidRequest),
        (429, "rate_limit_exceeded", ErrorKind::RateLimited),
        (500, "", ErrorKind::Unavailable),
        (503, "", ErrorKind::Unavailable),
        (529, "overloaded", ErrorKind::Unavailable),
    ] {
        let error = failure(Answer::error(status, &told("says the server", code))).await;
        assert_eq!(error.kind, kind, "{status} {code}");
        assert!(error.message.contains("says the server"), "{error}");
    }
}

#[tokio::test]
async fn overflow_is_known_by_its_words_too() {
    for words in [
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
        "the request exceeds the available context size, try increasing it",
        "prompt is too long: 210000 tokens > 200000 maximum",
    ] {
        assert_eq!(
            failure(Answer::error(400, &told(words, ""))).await.kind,
            ErrorKind::ContextOverflow,
            "{words}"
        );
        let plain_text = Answer::new(400, &[("Content-Type", "text/plain")], words);
        assert_eq!(failure(plain_text).await.kind, ErrorKind::ContextOverflow, "{words}");
        let detail = Answer::error(400, &json!({"detail": words}));
        assert_eq!(failure(detail).await.kind, ErrorKind::ContextOverflow, "{words}");
    }
}

#[tokio::test]
async fn the_time_to_wait_is_read() {
    let slow = |header: (&str, &str)| Answer::new(429, &[header], &told("slow down", "").to_string());
    assert_eq!(failure(slow(("Retry-After", "3"))).await.retry_after_ms, Some(3000));
    assert_eq!(failure(slow(("retry-after-ms", "250"))).await.retry_after_ms, Some(250));
    assert_eq!(failure(slow(("X-Other", "3"))).await.retry_after_ms, None);
}

#[tokio::test]
async fn keys_are_not_repeated() {
    // Set by cargo for every test: "deepgraph-model".
    let said = told("Incorrect key: deepgraph-model, or was it 'sk-abc***xyz'? Be off.", "invalid_api_key");
    let server = TestServer::start(vec![Answer::error(401, &said)]).await;
    for stream in [true, false] {
        let models = client(Some(&server.base_url()), "CARGO_PKG_NAME", stream);
        let error = models.get("openai::m").unwrap().reply(&plain(), &|_| {}).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unauthorized);
        assert!(error.message.contains("CARGO_PKG_NAME") && error.message.contains("127.0.0.1"), "{error}");
        assert!(!error.message.contains("deepgraph-model") && !error.message.contains("sk-abc"), "{error}");
    }
}

#[tokio::test]
async fn broken_connections_are_network_errors() {
    let at_once = Answer::json(&whole(json!({"content": "A long reply."}), "stop", Json::Null));
    let in_pieces = Answer::events(&chunks(
        &[json!({"content": "A long "}), json!({"content": "reply."})],
        "stop",
        Json::Null,
    ));
    assert_eq!(failure(Answer::reset()).await.kind, ErrorKind::Network);
    let error = ask_once(at_once.cut(20), false, &plain()).await.result.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Network, "{error}");
    let outcome = ask_once(in_pieces.cut(150), true, &plain()).await;
    assert_eq!(outcome.result.unwrap_err().kind, ErrorKind::Network);
    assert_eq!(outcome.preview, ["A long "]);

    // Nothing listens here any more.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    for stream in [true, false] {
        let models = client(Some(&format!("http://127.0.0.1:{port}")), UNSET, stream);
        let error = models.get("openai::m").unwrap().reply(&plain(), &|_| {}).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Network);
        assert!(error.message.contains("refused") && error.message.contains(&port.to_string()), "{error}");
    }
}

#[tokio::test]
async fn a_stream_that_ends_without_a_reason_is_no_reply() {
    let text = r#"data: {"choices": [{"index": 0, "delta": {"content": "half"}}]}"#;
    for rest in ["", "\n\n", "\n\ndata: {\"choices\": [{\"index\": 0, \"del"] {
        let error = ask_once(Answer::events_until_close(&format!("{text}{rest}")), true, &plain()).await;
        assert_eq!(error.result.unwrap_err().kind, ErrorKind::Network, "{rest:?}");
    }
}

#[tokio::test]
async fn a_stream_that_breaks_after_the_reason_is_a_reply_without_usage() {
    let whole = chunks(
        &[json!({"content": "All of it."})],
        "stop",
        json!({"prompt_tokens": 1, "completion_tokens": 1}),
    );
    let text: String = whole[..2].iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    let length = text.len() + 100;
    let head = [("Content-Type", "text/event-stream")];
    let answer = Answer::new(200, &head, &format!("{text}{}", " ".repeat(length - text.len()))).cut(100);
    let reply = ask_once(answer, true, &plain()).await.result.unwrap();
    assert_eq!(&*reply.text, "All of it.");
    assert!(reply.usage.estimated);
}

#[tokio::test]
async fn answers_that_are_no_json_are_invalid_output() {
    let html = Answer::new(200, &[("Content-Type", "text/html")], "<html>Welcome to nginx</html>");
    let error = ask_once(html.clone(), false, &plain()).await.result.unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidOutput);
    assert!(error.message.contains("nginx") && error.message.contains("/v1"), "{error}");
    assert_eq!(failure(html).await.kind, ErrorKind::InvalidOutput);
    let empty = Answer::new(200, &[("Content-Type", "application/json")], "");
    assert_eq!(failure(empty).await.kind, ErrorKind::InvalidOutput);
    let cut = Answer::new(200, &[("Content-Type", "text/event-stream")], "");
    assert_eq!(ask_once(cut, true, &plain()).await.result.unwrap_err().kind, ErrorKind::Network);
    let whole = Answer::new(200, &[("Content-Type", "application/json")], "{\"choices\": []}");
    let error = ask_once(whole, true, &plain()).await.result.unwrap_err();
    assert!(error.message.contains("--no-stream"), "{error}");
    let broken = Answer::new(200, &[("Content-Type", "application/json")], "{\"choices\": [");
    assert_eq!(ask_once(broken, false, &plain()).await.result.unwrap_err().kind, ErrorKind::InvalidOutput);
    for nothing in [json!({}), json!({"choices": []}), json!([]), json!(null), json!("hello")] {
        let error = ask_once(Answer::json(&nothing), false, &plain()).await.result.unwrap_err();
        assert_eq!(error.kind, ErrorKind::InvalidOutput, "{nothing}");
    }
    let done = Answer::events(&["[DONE]".to_owned()]);
    assert_eq!(ask_once(done, true, &plain()).await.result.unwrap_err().kind, ErrorKind::InvalidOutput);
    let torn = Answer::events(&["{\"choices\": [".to_owned(), "[DONE]".to_owned()]);
    assert_eq!(ask_once(torn, true, &plain()).await.result.unwrap_err().kind, ErrorKind::InvalidOutput);
}

#[tokio::test]
async fn failures_inside_an_answer_are_failures() {
    let head = r#"{"choices": [{"index": 0, "delta": {"content": "half"}}]}"#.to_owned();
    for (error, kind) in [
        (json!({"error": {"message": "boom", "type": "server_error"}}), ErrorKind::Unavailable),
        (json!({"error": {"message": "slow", "code": 429}}), ErrorKind::RateLimited),
        (
            json!({"error": {"message": "long", "code": "context_length_exceeded", "type": "invalid_request_error"}}),
            ErrorKind::ContextOverflow,
        ),
        (json!({"error": "boom"}), ErrorKind::Unavailable),
    ] {
        let outcome = ask_once(Answer::events(&[head.clone(), error.to_string()]), true, &plain()).await;
        assert_eq!(outcome.result.unwrap_err().kind, kind, "{error}");
        assert_eq!(
            ask_once(Answer::json(&error), false, &plain()).await.result.unwrap_err().kind,
            kind,
            "{error}"
        );
    }
}

#[tokio::test]
async fn refusals_are_told_apart_from_replies() {
    for (message, finish) in [
        (json!({"content": null, "refusal": "I can not help with that."}), "stop"),
        (json!({"content": "Well, first you"}), "content_filter"),
    ] {
        let at_once = Answer::json(&whole(message.clone(), finish, Json::Null));
        let in_pieces = Answer::events(&chunks(&[message], finish, Json::Null));
        for (answer, stream) in [(at_once, false), (in_pieces, true)] {
            let error = ask_once(answer, stream, &plain()).await.result.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Refusal, "{error}");
        }
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let error = failure(Answer::new(301, &[("Location", "http://127.0.0.1:1/")], "")).await;
    assert_eq!(error.kind, ErrorKind::InvalidRequest);
    assert!(error.message.contains("redirects"), "{error}");
}

#[tokio::test]
async fn long_and_binary_words_of_a_server_are_quoted_in_part() {
    let long = Answer::new(500, &[], &"words \u{1f30a} ".repeat(10_000));
    assert!(failure(long).await.message.len() < 1500);
    let one = Answer::new(500, &[], &"\u{1f30a}".repeat(10_000));
    assert!(failure(one).await.message.len() < 1500);
    assert!(failure(Answer::new(500, &[], "")).await.message.contains("no reason given"));
}

#[tokio::test]
async fn dropping_the_future_gives_the_call_up() {
    let head = Answer::new(200, &[("Content-Type", "application/json")], &" ".repeat(1000));
    // The server says less than it promised and keeps the connection open.
    let server = TestServer::start(vec![head.clone().held(900)]).await;
    for stream in [true, false] {
        let asking = plain();
        let call = ask(&server, stream, &asking);
        assert!(tokio::time::timeout(Duration::from_millis(50), call).await.is_err());
    }
    assert_eq!(server.asked().len(), 2);
}
