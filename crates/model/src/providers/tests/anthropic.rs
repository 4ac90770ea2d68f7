//! Anthropic's Messages API.

use deepgraph_protocol::{ErrorKind, FinishReason, Usage};

use super::*;
use crate::CacheMarks;

const SPEAKS: Protocol = Protocol::Anthropic;

fn message(content: Json, stop: &str) -> Json {
    json!({"type": "message", "role": "assistant", "model": "served", "content": content, "stop_reason": stop,
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 16, "cache_creation_input_tokens": 4, "output_tokens": 8}})
}

fn start() -> Json {
    json!({"type": "message_start", "message": {"model": "served", "content": [], "usage": {
        "input_tokens": 10, "cache_read_input_tokens": 16, "cache_creation_input_tokens": 4, "output_tokens": 1}}})
}

fn block(index: u64, block: Json, deltas: &[Json]) -> Vec<Json> {
    let mut events = vec![json!({"type": "content_block_start", "index": index, "content_block": block})];
    let deltas =
        deltas.iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta}));
    events.extend(deltas);
    events.push(json!({"type": "content_block_stop", "index": index}));
    events
}

fn end(stop: &str) -> Vec<Json> {
    vec![
        json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 8}}),
        json!({"type": "message_stop"}),
    ]
}

fn streamed(blocks: &[Vec<Json>], stop: &str) -> Answer {
    let mut events = vec![start(), json!({"type": "ping"})];
    events.extend(blocks.concat());
    events.extend(end(stop));
    Answer::named_events(&events)
}

#[tokio::test]
async fn a_conversation_with_calls_is_sent_as_it_wants_it() {
    let mut asking = conversation();
    asking.max_output = Some(500);
    asking.options =
        options(json!({"temperature": 0.2, "stop": "END", "seed": 7, "reasoning_effort": "low"}));
    let (head, body) = sent_to(|server| speaking(SPEAKS, server), "some-max", &asking).await;
    assert!(head.starts_with("post /v1/messages http/1.1"), "{head}");
    assert!(
        head.contains("x-api-key: deepgraph-model\r\n") && head.contains("anthropic-version: "),
        "{head}"
    );
    assert_eq!((&body["model"], &body["max_tokens"]), (&json!("some-max"), &json!(500)));
    assert_eq!((&body["temperature"], &body["stop_sequences"]), (&json!(0.2), &json!(["END"])));
    for absent in ["seed", "reasoning_effort", "thinking", "output_config", "stop"] {
        assert!(body.get(absent).is_none(), "{absent}: {body}");
    }
    assert_eq!(body["system"][0]["text"], "Be brief.");
    let tool = &body["tools"][0];
    assert_eq!((&tool["name"], &tool["input_schema"]["required"]), (&json!("web_search"), &json!(["query"])));
    assert!(tool.get("type").is_none(), "it is the graph's tool of that name, not the provider's: {tool}");
    let messages = body["messages"].as_array().unwrap();
    let roles: Vec<&Json> = messages.iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    let calls = messages[1]["content"].as_array().unwrap();
    assert_eq!(calls[0]["input"], json!({"query": "tides"}));
    assert!(calls[1]["input"].is_object(), "it takes nothing else: {}", calls[1]);
    let answers = messages[2]["content"].as_array().unwrap();
    assert_eq!(answers[0]["tool_use_id"], "c1");
    assert_eq!(answers[1]["tool_use_id"], calls[1]["id"], "both made to fit in the same way");
    assert_ne!(answers[1]["tool_use_id"], "c/2");
}

#[tokio::test]
async fn what_will_be_asked_again_is_marked_for_the_cache() {
    let marked = |body: &Json| {
        let last = body["messages"].as_array().and_then(|messages| messages.last()).unwrap();
        let in_last =
            last["content"].as_array().and_then(|parts| parts.last()?.get("cache_control").cloned());
        (body["system"].is_array(), in_last)
    };
    let ephemeral = Some(json!({"type": "ephemeral"}));
    let (_, body) = sent_to(|server| speaking(SPEAKS, server), "m", &conversation()).await;
    assert_eq!(body["system"][0]["cache_control"], json!({"type": "ephemeral"}));
    assert_eq!(marked(&body), (true, ephemeral));
    let (_, body) = sent_to(|server| speaking(SPEAKS, server), "m", &plain()).await;
    assert_eq!(marked(&body), (false, None), "a prompt without tools is asked once");
    let none =
        |server: &TestServer| ProviderSettings { cache: Some(CacheMarks::None), ..speaking(SPEAKS, server) };
    assert_eq!(marked(&sent_to(none, "m", &conversation()).await.1), (false, None));
}

#[tokio::test]
async fn tools_of_a_history_are_declared_although_they_can_not_be_called_any_more() {
    let mut asking = conversation();
    asking.tools.clear();
    asking.messages.push(Message::user("Sum it up."));
    let (_, body) = sent_to(|server| speaking(SPEAKS, server), "m", &asking).await;
    assert_eq!(body["tools"].as_array().map(Vec::len), Some(1));
    assert_eq!(body["tools"][0]["name"], body["messages"][1]["content"][0]["name"]);
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
}

#[tokio::test]
async fn output_of_a_given_shape_is_asked_for_and_read() {
    let mut asking = plain();
    asking.output = Some(shape());
    let (_, body) = sent_to(|server| speaking(SPEAKS, server), "m", &asking).await;
    let format = &body["output_config"]["format"];
    assert_eq!(
        (&format["type"], &format["schema"]["additionalProperties"]),
        (&json!("json_schema"), &json!(false))
    );
    let answer = Answer::json(&message(json!([{"type": "text", "text": r#"{"a": 1}"#}]), "end_turn"));
    let reply = spoken(SPEAKS, answer, false, &asking).await.result.unwrap();
    assert_eq!(reply.data.to_json_text(), r#"{"a":1}"#);
}

#[tokio::test]
async fn text_calls_and_usage_are_read_and_thoughts_are_not() {
    let mut asking = plain();
    asking.tools = vec![tool("web.search")];
    let whole = json!([
        {"type": "thinking", "thinking": "hm, secret", "signature": "x"},
        {"type": "redacted_thinking", "data": "y"},
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "a", "name": "web_search", "input": {"query": "x"}},
        {"type": "tool_use", "id": "b", "name": "odd", "input": {}},
    ]);
    let blocks = [
        block(
            0,
            json!({"type": "thinking", "thinking": ""}),
            &[
                json!({"type": "thinking_delta", "thinking": "hm, secret"}),
                json!({"type": "signature_delta", "signature": "x"}),
            ],
        ),
        block(1, json!({"type": "redacted_thinking", "data": "y"}), &[]),
        block(
            2,
            json!({"type": "text", "text": ""}),
            &[
                json!({"type": "text_delta", "text": "Let me "}),
                json!({"type": "text_delta", "text": "see."}),
            ],
        ),
        block(
            3,
            json!({"type": "tool_use", "id": "a", "name": "web_search", "input": {}}),
            &[
                json!({"type": "input_json_delta", "partial_json": ""}),
                json!({"type": "input_json_delta", "partial_json": r#"{"query":"#}),
                json!({"type": "input_json_delta", "partial_json": r#""x"}"#}),
            ],
        ),
        block(4, json!({"type": "tool_use", "id": "b", "name": "odd", "input": {}}), &[]),
    ];
    let reply =
        same(SPEAKS, Answer::json(&message(whole, "tool_use")), streamed(&blocks, "tool_use"), &asking).await;
    assert_eq!(&*reply.text, "Let me see.");
    assert_eq!(made(&reply), [("a", "web.search", r#"{"query":"x"}"#), ("b", "odd", "{}")]);
    assert_eq!((reply.finish, reply.model.as_str()), (FinishReason::ToolCalls, "served"));
    let expected = Usage { input_tokens: 30, output_tokens: 8, cached_tokens: 16, ..Usage::default() };
    assert_eq!(reply.usage, expected);
}

#[tokio::test]
async fn what_goes_into_the_cache_is_paid_as_such() {
    let answer = Answer::json(&message(json!([{"type": "text", "text": "Hi."}]), "end_turn"));
    let server = TestServer::start(vec![answer]).await;
    let facts = crate::ModelFacts {
        price: crate::Price::dollars(10.0, 100.0, Some(1.0), Some(20.0)),
        ..Default::default()
    };
    let models = Models::new(ModelSettings {
        stream: false,
        providers: BTreeMap::from([("mine".to_owned(), speaking(SPEAKS, &server))]),
        models: BTreeMap::from([("mine::m".to_owned(), facts)]),
        ..ModelSettings::default()
    });
    let asking = ModelRequest { model: "mine::m".into(), ..plain() };
    let reply = ask_model(&models, &asking).await.result.unwrap();
    assert_eq!(reply.cost_micro_usd, Some(10 * 10 + 16 + 4 * 20 + 8 * 100));
}

#[tokio::test]
async fn reasons_to_stop_are_read() {
    let text = || json!([{"type": "text", "text": "Well"}]);
    let blocks =
        [block(0, json!({"type": "text", "text": ""}), &[json!({"type": "text_delta", "text": "Well"})])];
    for (said, finish) in [
        ("end_turn", FinishReason::Stop),
        ("max_tokens", FinishReason::Length),
        ("model_context_window_exceeded", FinishReason::Length),
        ("pause_turn", FinishReason::Other),
    ] {
        let reply =
            same(SPEAKS, Answer::json(&message(text(), said)), streamed(&blocks, said), &plain()).await;
        assert_eq!(reply.finish, finish, "{said}");
    }
    for (answer, stream) in
        [(Answer::json(&message(text(), "refusal")), false), (streamed(&blocks, "refusal"), true)]
    {
        let error = spoken(SPEAKS, answer, stream, &plain()).await.result.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Refusal);
    }
}

#[tokio::test]
async fn arguments_that_were_cut_off_stay_as_they_are() {
    let blocks = [block(
        0,
        json!({"type": "tool_use", "id": "a", "name": "search", "input": {}}),
        &[json!({"type": "input_json_delta", "partial_json": r#"{"query": "unfi"#})],
    )];
    let reply = spoken(SPEAKS, streamed(&blocks, "max_tokens"), true, &plain()).await.result.unwrap();
    assert_eq!(made(&reply), [("a", "search", r#"{"query": "unfi"#)]);
    assert_eq!(reply.finish, FinishReason::Length);
}

#[tokio::test]
async fn streams_that_fail_or_break_are_failures() {
    let text =
        block(0, json!({"type": "text", "text": ""}), &[json!({"type": "text_delta", "text": "half"})]);
    for (kind, expected) in [
        ("overloaded_error", ErrorKind::Unavailable),
        ("rate_limit_error", ErrorKind::RateLimited),
        ("api_error", ErrorKind::Unavailable),
        ("authentication_error", ErrorKind::Unauthorized),
        ("invalid_request_error", ErrorKind::InvalidRequest),
    ] {
        let mut events = vec![start()];
        events.extend(text.clone());
        events.push(json!({"type": "error", "error": {"type": kind, "message": "trouble"}}));
        let outcome = spoken(SPEAKS, Answer::named_events(&events), true, &plain()).await;
        assert_eq!(outcome.result.unwrap_err().kind, expected, "{kind}");
        assert_eq!(outcome.preview, ["half"]);
    }
    let mut events = vec![start()];
    events.extend(text);
    let ended = spoken(SPEAKS, Answer::named_events(&events), true, &plain()).await.result;
    assert_eq!(ended.unwrap_err().kind, ErrorKind::Network);
    let cut = spoken(SPEAKS, Answer::named_events(&events).cut(30), true, &plain()).await.result;
    assert_eq!(cut.unwrap_err().kind, ErrorKind::Network);
}

#[tokio::test]
async fn thinking_and_tools_do_not_go_together() {
    let mut asking = conversation();
    asking.options = options(json!({"thinking": {"type": "enabled", "budget_tokens": 1024}}));
    let answer = || Answer::json(&message(json!([{"type": "text", "text": "Hi."}]), "end_turn"));
    let error = spoken(SPEAKS, answer(), false, &asking).await.result.unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidRequest);
    assert!(error.message.contains("\"thinking\"") && error.message.contains("signed"), "{error}");
    asking.options = options(json!({"thinking": {"type": "disabled"}}));
    assert!(spoken(SPEAKS, answer(), false, &asking).await.result.is_ok());
    let alone = ModelRequest { options: options(json!({"thinking": {"type": "adaptive"}})), ..plain() };
    assert!(spoken(SPEAKS, answer(), false, &alone).await.result.is_ok());
}
