//! What servers say of failures in many ways, and what it comes down to.

use deepgraph_protocol::ErrorKind;

use super::*;

/// What comes of a status with a body, the same streaming and not.
async fn failure(status: u16, body: Json) -> StepError {
    let answer = Answer::error(status, &body);
    let at_once = spoken(Protocol::OpenAi, answer.clone(), false, &plain()).await.result.unwrap_err();
    let in_pieces = spoken(Protocol::OpenAi, answer, true, &plain()).await.result.unwrap_err();
    assert_eq!(at_once.kind, in_pieces.kind, "{at_once} / {in_pieces}");
    assert_eq!(
        at_once.message.replace(char::is_numeric, ""),
        in_pieces.message.replace(char::is_numeric, "")
    );
    at_once
}

fn said(message: &str, kind: &str, code: &str) -> Json {
    json!({"error": {"message": message, "type": kind, "code": code}})
}

#[tokio::test]
async fn keys_are_named_by_variable_and_provider() {
    for status in [401, 403] {
        let error = failure(status, said("no", "authentication_error", "")).await;
        assert_eq!(error.kind, ErrorKind::Unauthorized);
        assert!(
            error.message.contains("CARGO_PKG_NAME") && error.message.contains("mine::test-model"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn an_account_that_is_used_up_is_told_apart() {
    for (status, message, code) in [
        (
            429,
            "You exceeded your current quota, please check your plan and billing details.",
            "insufficient_quota",
        ),
        (400, "Your credit balance is too low to access the API.", ""),
        (402, "Insufficient Balance", ""),
        (402, "This request requires more credits", ""),
    ] {
        let error = failure(status, said(message, "", code)).await;
        assert_eq!(error.kind, ErrorKind::RateLimited, "{message}");
        assert!(error.message.contains("used up"), "{error}");
    }
    let error = failure(429, said("Rate limit reached", "", "rate_limit_exceeded")).await;
    assert!(!error.message.contains("used up"), "{error}");
}

#[tokio::test]
async fn the_time_to_wait_stands_in_words_too() {
    let wait = |message: &str, status: u16| failure(status, said(message, "", ""));
    assert_eq!(wait("Rate limit reached. Please try again in 2.3s.", 429).await.retry_after_ms, Some(2300));
    assert_eq!(wait("Overloaded, retry in 500ms", 503).await.retry_after_ms, Some(500));
    assert_eq!(wait("try again in 2.3s", 400).await.retry_after_ms, None);
    let header = Answer::new(429, &[("Retry-After", "7")], r#"{"error": {"message": "try again in 2.3s"}}"#);
    let error = spoken(Protocol::OpenAi, header, false, &plain()).await.result.unwrap_err();
    assert_eq!(error.retry_after_ms, Some(7000), "the header goes before the words");
}

#[tokio::test]
async fn what_is_no_overflow_is_not_taken_for_one() {
    for message in [
        "Unrecognized request argument supplied: context_window",
        "max_tokens is too large: 50000. This model supports at most 16384 completion tokens",
        "the tool description talks of a context window",
    ] {
        let error = failure(400, said(message, "invalid_request_error", "")).await;
        assert_eq!((error.kind, error.window), (ErrorKind::InvalidRequest, None), "{message}");
    }
    assert_eq!(failure(413, said("Request too large", "", "")).await.kind, ErrorKind::ContextOverflow);
    let llama = json!({"error": {"code": 400, "message": "the request exceeds the available context size, try increasing \
        it", "type": "exceed_context_size_error", "n_prompt_tokens": 5004, "n_ctx": 4096}});
    let error = failure(400, llama).await;
    assert_eq!(
        (error.kind, error.window, error.tokens),
        (ErrorKind::ContextOverflow, Some(4096), Some(5004))
    );
}

#[tokio::test]
async fn odd_statuses_and_types_become_kinds() {
    for (status, kind, code, expected) in [
        (408, "", "", ErrorKind::Unavailable),
        (409, "", "", ErrorKind::Unavailable),
        (425, "", "", ErrorKind::Unavailable),
        (498, "", "capacity_exceeded", ErrorKind::Unavailable),
        (400, "overloaded_error", "", ErrorKind::Unavailable),
        (529, "overloaded_error", "", ErrorKind::Unavailable),
        (400, "invalid_request_error", "tool_use_failed", ErrorKind::InvalidOutput),
        (400, "invalid_request_error", "json_validate_failed", ErrorKind::InvalidOutput),
        (400, "invalid_request_error", "content_policy_violation", ErrorKind::Refusal),
        (405, "", "", ErrorKind::InvalidRequest),
    ] {
        let error = failure(status, said("says the server", kind, code)).await;
        assert_eq!(error.kind, expected, "{status} {kind} {code}");
    }
    let flagged =
        json!({"error": {"code": 403, "message": "flagged", "metadata": {"reasons": ["violence"]}}});
    assert_eq!(failure(403, flagged).await.kind, ErrorKind::Refusal);
}

#[tokio::test]
async fn the_account_learns_from_replies_by_every_protocol() {
    let protocols =
        [Protocol::OpenAi, Protocol::OpenAiResp, Protocol::Anthropic, Protocol::Gemini, Protocol::Ollama];
    let openai = [
        ("x-ratelimit-limit-requests", "2"),
        ("x-ratelimit-remaining-requests", "0"),
        ("x-ratelimit-reset-requests", "6m0s"),
    ];
    let anthropic = [
        ("anthropic-ratelimit-requests-limit", "2"),
        ("anthropic-ratelimit-requests-remaining", "0"),
        ("anthropic-ratelimit-requests-reset", "2200-01-01T00:00:00Z"),
    ];
    for (protocol, stream) in protocols.into_iter().flat_map(|protocol| [(protocol, false), (protocol, true)])
    {
        let told = if protocol == Protocol::Anthropic { anthropic } else { openai };
        // What the reply says does not matter.
        let server = TestServer::start(vec![Answer::new(200, &told, "{}")]).await;
        let models = mine(speaking(protocol, &server), stream);
        let account = models.account("mine::m").unwrap();
        assert!(account.try_pass("mine::m", 1));
        let _ = ask_model(&models, &ModelRequest { model: "mine::m".into(), ..plain() }).await;
        assert!(!account.try_pass("mine::m", 1), "{protocol:?} {stream}");
    }
}

#[tokio::test]
async fn of_a_list_of_complaints_only_the_complaints_are_read() {
    let asks = "how a request exceeds the context length of 4096 tokens, and of json schema";
    let detail = json!({"detail": [
        {"loc": ["body", "messages", 0], "msg": "Input should be a valid string", "input": asks},
    ]});
    let error = failure(422, detail).await;
    assert_eq!((error.kind, error.window), (ErrorKind::InvalidRequest, None));
    assert!(error.message.contains("body.messages.0: Input should be a valid string"), "{error}");
    assert!(!error.message.contains("4096"), "{error}");
}

#[tokio::test]
async fn the_account_learns_from_refusals() {
    for stream in [false, true] {
        let told = [("Retry-After", "60")];
        let answer = Answer::new(429, &told, r#"{"error": {"message": "slow down"}}"#);
        let server = TestServer::start(vec![answer]).await;
        let models = mine(speaking(Protocol::OpenAi, &server), stream);
        let account = models.account("mine::m").unwrap();
        assert!(account.try_pass("mine::m", 1));
        let asking = ModelRequest { model: "mine::m".into(), ..plain() };
        assert_eq!(ask_model(&models, &asking).await.result.unwrap_err().retry_after_ms, Some(60_000));
        assert!(!account.try_pass("mine::m", 1));
        assert!(
            models.account("mine::other").unwrap().try_pass("mine::other", 1),
            "another model does not wait"
        );
    }
}
