//! OpenAI's Responses API.

use deepgraph_protocol::{ErrorKind, FinishReason, Usage};

use super::*;

const SPEAKS: Protocol = Protocol::OpenAiResp;

fn response(output: Json, status: &str) -> Json {
    json!({"id": "r", "object": "response", "status": status, "model": "served", "error": null, "output": output,
        "usage": {"input_tokens": 30, "input_tokens_details": {"cached_tokens": 16}, "output_tokens": 8,
            "output_tokens_details": {"reasoning_tokens": 3}, "total_tokens": 38}})
}

fn message(text: &str) -> Json {
    json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
}

fn call(id: &str, name: &str, arguments: &str) -> Json {
    json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments})
}

fn ends(kind: &str, response: Json) -> Json {
    json!({"type": kind, "response": response})
}

fn text(delta: &str) -> Json {
    json!({"type": "response.output_text.delta", "output_index": 0, "delta": delta})
}

#[tokio::test]
async fn a_conversation_with_calls_is_sent_as_it_wants_it() {
    let mut asking = conversation();
    asking.max_output = Some(500);
    asking.output = Some(shape());
    asking.options =
        options(json!({"temperature": 0.2, "reasoning_effort": "low", "seed": 7, "prompt_cache_key": "k",
        "text": {"verbosity": "low"}}));
    let (head, body) = sent_to(|server| speaking(SPEAKS, server), "some-high", &asking).await;
    assert!(head.starts_with("post /v1/responses http/1.1"), "{head}");
    assert!(head.contains("authorization: bearer deepgraph-model\r\n"), "{head}");
    assert_eq!((&body["model"], &body["max_output_tokens"]), (&json!("some-high"), &json!(500)));
    assert_eq!((&body["reasoning"], &body["prompt_cache_key"]), (&json!({"effort": "low"}), &json!("k")));
    assert_eq!(body["store"], json!(false));
    assert!(body.get("seed").is_none() && body.get("reasoning_effort").is_none(), "{body}");
    let format = &body["text"]["format"];
    assert_eq!(
        (&format["type"], &format["name"], &format["strict"]),
        (&json!("json_schema"), &json!("Plan"), &json!(true))
    );
    assert_eq!(body["text"]["verbosity"], "low");
    let input = body["input"].as_array().unwrap();
    assert_eq!(input[0], json!({"role": "system", "content": "Be brief."}));
    assert_eq!((&input[2]["type"], &input[2]["call_id"]), (&json!("function_call"), &json!("c1")));
    assert_eq!(input[4], json!({"type": "function_call_output", "call_id": "c1", "output": "Twice a day."}));
    let tool = &body["tools"][0];
    assert_eq!(
        (&tool["type"], &tool["name"], &tool["strict"]),
        (&json!("function"), &json!("web_search"), &json!(false))
    );
    assert_eq!(tool["parameters"]["required"], json!(["query"]), "{tool}");

    let (_, body) = sent_to(|server| speaking(SPEAKS, server), "m", &plain()).await;
    assert!(body.get("reasoning").is_none() && body.get("text").is_none(), "{body}");
}

#[tokio::test]
async fn text_calls_and_usage_are_read_and_thoughts_are_not() {
    let mut asking = plain();
    asking.tools = vec![tool("web.search")];
    let output = json!([
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm, secret"}]},
        message("Let me see."),
        call("a", "web_search", r#"{"query": "x"}"#),
        call("b", "web_search", r#"{"query": "unfini"#),
    ]);
    let added = |index: u64, item: Json| json!({"type": "response.output_item.added", "output_index": index, "item": item});
    let arguments = |index: u64, delta: &str| json!({"type": "response.function_call_arguments.delta", "output_index": index, "delta": delta});
    let done = |index: u64, item: Json| json!({"type": "response.output_item.done", "output_index": index, "item": item});
    let events = [
        json!({"type": "response.created", "response": {"model": "served", "status": "in_progress", "error": null}}),
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "hm, secret"}),
        text("Let me "),
        text("see."),
        added(2, call("a", "web_search", "")),
        arguments(2, r#"{"query""#),
        arguments(2, r#": "x"}"#),
        done(2, call("a", "web_search", r#"{"query": "x"}"#)),
        added(3, call("b", "web_search", "")),
        arguments(3, r#"{"query": "unfini"#),
        done(3, call("b", "web_search", "")),
        ends("response.completed", response(output.clone(), "completed")),
    ];
    let at_once = Answer::json(&response(output, "completed"));
    let reply = same(SPEAKS, at_once, Answer::named_events(&events), &asking).await;
    assert_eq!((&*reply.text, reply.finish), ("Let me see.", FinishReason::ToolCalls));
    assert_eq!(reply.tool_calls.len(), 2);
    assert_eq!(made(&reply)[0], ("a", "web.search", r#"{"query": "x"}"#));
    assert!(reply.tool_calls[1].arguments.contains("unfini"), "{:?}", reply.tool_calls);
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
async fn servers_that_say_all_at_the_end_are_understood() {
    let whole = response(json!([message("All.")]), "completed");
    let late = Answer::named_events(&[ends("response.completed", whole.clone())]);
    assert_eq!(&*same(SPEAKS, Answer::json(&whole), late, &plain()).await.text, "All.");
}

#[tokio::test]
async fn reasons_to_stop_are_read() {
    let mut cut = response(json!([message("Well")]), "incomplete");
    cut["incomplete_details"] = json!({"reason": "max_output_tokens"});
    let events = Answer::named_events(&[text("Well"), ends("response.incomplete", cut.clone())]);
    assert_eq!(same(SPEAKS, Answer::json(&cut), events, &plain()).await.finish, FinishReason::Length);

    let mut filtered = cut.clone();
    filtered["incomplete_details"] = json!({"reason": "content_filter"});
    let refusal = json!([{"type": "message", "content": [{"type": "refusal", "refusal": "I can not."}]}]);
    let refused = response(refusal, "completed");
    let refuses = json!({"type": "response.refusal.delta", "output_index": 0, "delta": "I can not."});
    for (answer, stream) in [
        (Answer::json(&filtered), false),
        (Answer::named_events(&[text("Well"), ends("response.incomplete", filtered)]), true),
        (Answer::json(&refused), false),
        (Answer::named_events(&[refuses, ends("response.completed", refused)]), true),
    ] {
        let error = spoken(SPEAKS, answer, stream, &plain()).await.result.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Refusal, "{error}");
    }
}

#[tokio::test]
async fn streams_that_fail_or_break_are_failures() {
    let failed = |code: &str| {
        let mut response = response(json!([]), "failed");
        response["error"] = json!({"code": code, "message": "trouble"});
        response
    };
    for (code, kind) in [
        ("server_error", ErrorKind::Unavailable),
        ("rate_limit_exceeded", ErrorKind::RateLimited),
        ("context_length_exceeded", ErrorKind::ContextOverflow),
    ] {
        for (answer, stream) in [
            (Answer::json(&failed(code)), false),
            (Answer::named_events(&[text("half"), ends("response.failed", failed(code))]), true),
            (Answer::named_events(&[json!({"type": "error", "code": code, "message": "trouble"})]), true),
        ] {
            let error = spoken(SPEAKS, answer, stream, &plain()).await.result.unwrap_err();
            assert_eq!(error.kind, kind, "{code} {stream}: {error}");
        }
    }
    let ended = spoken(SPEAKS, Answer::named_events(&[text("half")]), true, &plain()).await;
    assert_eq!(ended.result.unwrap_err().kind, ErrorKind::Network);
    assert_eq!(ended.preview, ["half"]);
}
