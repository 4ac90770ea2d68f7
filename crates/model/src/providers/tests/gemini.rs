//! Google's `generateContent`.

use deepgraph_protocol::{ErrorKind, FinishReason, Usage};

use super::*;

const SPEAKS: Protocol = Protocol::Gemini;

fn answer(parts: Json, finish: Json) -> Json {
    json!({
        "modelVersion": "served",
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}],
        "usageMetadata": {"promptTokenCount": 30, "candidatesTokenCount": 5, "thoughtsTokenCount": 3,
            "cachedContentTokenCount": 16, "totalTokenCount": 38},
    })
}

fn pieces(pieces: &[Json]) -> Answer {
    Answer::events(&pieces.iter().map(Json::to_string).collect::<Vec<_>>())
}

#[tokio::test]
async fn a_conversation_with_calls_is_sent_as_it_wants_it() {
    let mut asking = conversation();
    asking.max_output = Some(500);
    asking.options = options(json!({"temperature": 0.2, "top_p": 0.5, "stop": ["END"], "max_tokens": 900,
        "safetySettings": [], "generationConfig": {"topK": 4}}));
    let (head, body) = sent_to(|server| speaking(SPEAKS, server), "gemini-3-x-high", &asking).await;
    assert!(head.starts_with("post /v1/models/gemini-3-x-high:generatecontent http/1.1"), "{head}");
    assert!(head.contains("x-goog-api-key: deepgraph-model\r\n"), "{head}");
    let config =
        json!({"temperature": 0.2, "topP": 0.5, "stopSequences": ["END"], "maxOutputTokens": 500, "topK": 4});
    assert_eq!(body["generationConfig"], config);
    assert_eq!(body["safetySettings"], json!([]));
    assert_eq!(body["systemInstruction"]["parts"][0]["text"], "Be brief.");
    let tool = &body["tools"][0]["functionDeclarations"][0];
    assert_eq!(
        (&tool["name"], &tool["parametersJsonSchema"]["required"]),
        (&json!("web_search"), &json!(["query"]))
    );
    let contents = body["contents"].as_array().unwrap();
    let roles: Vec<&Json> = contents.iter().map(|content| &content["role"]).collect();
    assert_eq!(roles, ["user", "model", "user"]);
    let calls = &contents[1]["parts"];
    assert_eq!(calls[0]["functionCall"]["args"], json!({"query": "tides"}));
    assert!(calls[1]["functionCall"]["args"].is_object(), "{calls}");
    assert!(
        calls[0]["thoughtSignature"].is_string() && calls[1].get("thoughtSignature").is_none(),
        "{calls}"
    );
    assert_eq!(contents[2]["parts"][1]["functionResponse"]["name"], "web_search");

    let (_, body) = sent_to(|server| speaking(SPEAKS, server), "gemini-2.5-flash", &conversation()).await;
    assert!(!body.to_string().contains("thoughtSignature"), "older models know none: {body}");
    assert!(body.get("generationConfig").is_none(), "no effort is read into a name: {body}");
}

#[tokio::test]
async fn output_of_a_given_shape_is_asked_for_and_read() {
    let mut asking = plain();
    asking.output = Some(shape());
    let (_, body) = sent_to(|server| speaking(SPEAKS, server), "gemini-2.5-pro", &asking).await;
    assert_eq!(body["generationConfig"]["responseMimeType"], "application/json");
    assert_eq!(body["generationConfig"]["responseJsonSchema"]["required"], json!(["a"]));
    asking.tools = vec![tool("search")];
    let (_, body) = sent_to(|server| speaking(SPEAKS, server), "gemini-2.5-pro", &asking).await;
    assert!(body.get("generationConfig").is_none(), "older models do not take it beside tools: {body}");
    assert!(body["contents"].to_string().contains("JSON Schema"), "{body}");
    let reply = spoken(
        SPEAKS,
        Answer::json(&answer(json!([{"text": r#"{"a": 1}"#}]), json!("STOP"))),
        false,
        &asking,
    );
    assert_eq!(reply.await.result.unwrap().data.to_json_text(), r#"{"a":1}"#);
}

#[tokio::test]
async fn text_calls_and_usage_are_read_and_thoughts_are_not() {
    let mut asking = plain();
    asking.tools = vec![tool("web.search")];
    let call = |name: &str, args: Json| json!({"functionCall": {"name": name, "args": args}, "thoughtSignature": "x"});
    let whole = json!([
        {"text": "hm, secret", "thought": true},
        {"text": "Let me see."},
        call("web_search", json!({"query": "x"})),
        call("web_search", json!({"query": "y"})),
    ]);
    let in_pieces = [
        answer(json!([{"text": "hm, ", "thought": true}]), Json::Null),
        answer(json!([{"text": "secret", "thought": true}, {"text": "Let me "}]), Json::Null),
        answer(json!([{"text": "see."}, call("web_search", json!({"query": "x"}))]), Json::Null),
        answer(json!([call("web_search", json!({"query": "y"}))]), json!("STOP")),
    ];
    let reply = same(SPEAKS, Answer::json(&answer(whole, json!("STOP"))), pieces(&in_pieces), &asking).await;
    assert_eq!(&*reply.text, "Let me see.");
    let arguments: Vec<&str> = reply.tool_calls.iter().map(|call| &*call.arguments).collect();
    assert_eq!(arguments, [r#"{"query":"x"}"#, r#"{"query":"y"}"#]);
    assert!(reply.tool_calls.iter().all(|call| &*call.name == "web.search" && call.id.starts_with("call_")));
    assert_eq!((reply.finish, reply.model.as_str()), (FinishReason::ToolCalls, "served"));
    let expected = Usage {
        input_tokens: 30,
        output_tokens: 8,
        cached_tokens: 16,
        reasoning_tokens: 3,
        estimated: false,
    };
    assert_eq!(reply.usage, expected);
}

#[tokio::test]
async fn reasons_to_stop_are_read() {
    for (said, finish) in [
        ("STOP", FinishReason::Stop),
        ("MAX_TOKENS", FinishReason::Length),
        ("LANGUAGE", FinishReason::Other),
    ] {
        let body = answer(json!([{"text": "Well"}]), json!(said));
        let reply = same(SPEAKS, Answer::json(&body), pieces(&[body]), &plain()).await;
        assert_eq!(reply.finish, finish, "{said}");
    }
    let malformed =
        json!({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "print(x)"}]});
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}});
    for (body, kind) in [
        (answer(json!([]), json!("SAFETY")), ErrorKind::Refusal),
        (answer(json!([]), json!("PROHIBITED_CONTENT")), ErrorKind::Refusal),
        (blocked, ErrorKind::Refusal),
        (malformed, ErrorKind::InvalidOutput),
    ] {
        for (answer, stream) in [(Answer::json(&body), false), (pieces(std::slice::from_ref(&body)), true)] {
            let error = spoken(SPEAKS, answer, stream, &plain()).await.result.unwrap_err();
            assert_eq!(error.kind, kind, "{body}");
        }
    }
}

#[tokio::test]
async fn streams_that_fail_or_break_are_failures() {
    let half = answer(json!([{"text": "half"}]), Json::Null);
    let error = json!({"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}});
    let failed = spoken(SPEAKS, pieces(&[half.clone(), error]), true, &plain()).await.result;
    assert_eq!(failed.unwrap_err().kind, ErrorKind::Unavailable);
    let ended = spoken(SPEAKS, pieces(&[half]), true, &plain()).await;
    assert_eq!(ended.result.unwrap_err().kind, ErrorKind::Network);
    assert_eq!(ended.preview, ["half"]);
}

#[tokio::test]
async fn its_own_ways_of_failing_are_understood() {
    let told = |code: u16, status: &str, message: &str, details: Json| {
        Answer::error(
            code,
            &json!({"error": {"code": code, "message": message, "status": status, "details": details}}),
        )
    };
    let slow = told(
        429,
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota, please check your plan and billing \
        details.",
        json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}]),
    );
    let key = told(400, "INVALID_ARGUMENT", "API key not valid.", json!([{"reason": "API_KEY_INVALID"}]));
    let long = told(
        400,
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        json!([]),
    );
    for stream in [false, true] {
        let error = spoken(SPEAKS, slow.clone(), stream, &plain()).await.result.unwrap_err();
        assert_eq!((error.kind, error.retry_after_ms), (ErrorKind::RateLimited, Some(34_500)), "{error}");
        let error = spoken(SPEAKS, key.clone(), stream, &plain()).await.result.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unauthorized);
        assert!(error.message.contains("CARGO_PKG_NAME"), "{error}");
        let error = spoken(SPEAKS, long.clone(), stream, &plain()).await.result.unwrap_err();
        assert_eq!((error.kind, error.window), (ErrorKind::ContextOverflow, Some(1_048_576)));
    }
}
