//! What is read from whole and streamed replies: the same.

use deepgraph_protocol::{FinishReason, Usage};

use super::*;

const USAGE: &str = r#"{"prompt_tokens": 30, "completion_tokens": 8, "total_tokens": 38,
    "prompt_tokens_details": {"cached_tokens": 16}, "completion_tokens_details": {"reasoning_tokens": 3}}"#;

fn usage() -> Json {
    serde_json::from_str(USAGE).unwrap()
}

fn call(id: &str, name: &str, arguments: &str) -> Json {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

/// A piece of a streamed call.
fn piece(index: Json, id: &str, name: &str, arguments: &str) -> Json {
    let mut function = json!({"arguments": arguments});
    if !name.is_empty() {
        function["name"] = json!(name);
    }
    let mut call = json!({"function": function});
    if !index.is_null() {
        call["index"] = index;
    }
    if !id.is_empty() {
        call["id"] = json!(id);
    }
    json!({"tool_calls": [call]})
}

async fn both(message: Json, deltas: &[Json], finish: &str, request: &ModelRequest) -> ModelReply {
    let at_once =
        ask_once(Answer::json(&whole(message, finish, usage())), false, request).await.result.unwrap();
    let in_pieces =
        ask_once(Answer::events(&chunks(deltas, finish, usage())), true, request).await.result.unwrap();
    assert_eq!(at_once, in_pieces);
    at_once
}

#[tokio::test]
async fn text_usage_and_model_are_read() {
    let deltas =
        [json!({"role": "assistant", "content": ""}), json!({"content": " Hé"}), json!({"content": "llo\n"})];
    let reply = both(json!({"role": "assistant", "content": " Héllo\n"}), &deltas, "stop", &plain()).await;
    assert_eq!(&*reply.text, " Héllo\n");
    assert_eq!(reply.finish, FinishReason::Stop);
    assert_eq!(reply.model, "served");
    assert_eq!(reply.cost_micro_usd, None);
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
async fn previews_are_the_pieces_of_the_text() {
    let deltas = [json!({"content": "one "}), json!({"reasoning_content": "hm"}), json!({"content": "two"})];
    let outcome = ask_once(Answer::events(&chunks(&deltas, "stop", usage())), true, &plain()).await;
    assert_eq!(outcome.preview, ["one ", "two"]);
    assert_eq!(&*outcome.result.unwrap().text, "one two");
}

#[tokio::test]
async fn calls_keep_order_ids_and_arguments_that_are_no_json() {
    let mut asking = plain();
    asking.tools = vec![tool("search"), tool("web.read")];
    let message = json!({"content": null, "tool_calls": [
        call("a", "search", r#"{"query": "x"}"#), call("b", "web_read", r#"{"query": "unfini"#), call("c", "odd", "")]});
    let deltas = [
        piece(json!(0), "a", "search", ""),
        piece(json!(0), "", "", r#"{"query": "#),
        piece(json!(1), "b", "web_read", ""),
        piece(json!(1), "", "", r#"{"query": "un"#),
        piece(json!(0), "", "", r#""x"}"#),
        piece(json!(1), "", "", "fini"),
        piece(json!(2), "c", "odd", ""),
    ];
    let reply = both(message, &deltas, "tool_calls", &asking).await;
    let expected =
        [("a", "search", r#"{"query": "x"}"#), ("b", "web.read", r#"{"query": "unfini"#), ("c", "odd", "{}")];
    assert_eq!(made(&reply), expected);
    assert_eq!(reply.finish, FinishReason::ToolCalls);
    assert_eq!(&*reply.text, "");
}

#[tokio::test]
async fn missing_and_repeated_ids_are_replaced_by_stable_ones() {
    let calls = json!([
        call("", "a", "{}"),
        call("x", "b", "{}"),
        call("x", "c", "{}"),
        {"function": {"name": "d", "arguments": {"k": 1}}},
    ]);
    let answer = Answer::json(&whole(json!({"tool_calls": calls}), "stop", usage()));
    let first = ask_once(answer, false, &plain()).await.result.unwrap();
    assert_eq!(first.finish, FinishReason::ToolCalls, "whatever the server says");
    let ids: Vec<&str> = first.tool_calls.iter().map(|call| &*call.id).collect();
    assert_eq!(ids.len(), 4);
    assert!(ids[0].starts_with("call_") && ids[0].ends_with("_0"), "{ids:?}");
    assert_eq!(ids[1], "x");
    assert!(ids[2].ends_with("_2") && ids[3].ends_with("_3"), "{ids:?}");
    assert_eq!(&*first.tool_calls[3].arguments, r#"{"k":1}"#);

    // A server that begins to count anew in every turn.
    let mut next = plain();
    next.messages.push(Message::assistant("", first.tool_calls.clone()));
    let answer = Answer::json(&whole(json!({"tool_calls": [call("x", "b", "{}")]}), "tool_calls", usage()));
    let second = ask_once(answer.clone(), false, &next).await.result.unwrap();
    assert!(!ids.contains(&&*second.tool_calls[0].id), "{:?}", second.tool_calls);
    assert_eq!(ask_once(answer, false, &next).await.result.unwrap(), second);
}

#[tokio::test]
async fn servers_that_count_calls_oddly_are_understood() {
    let streamed = |deltas: Vec<Json>| async move {
        ask_once(Answer::events(&chunks(&deltas, "tool_calls", usage())), true, &plain())
            .await
            .result
            .unwrap()
    };
    // All calls under index 0.
    let reply = streamed(vec![piece(json!(0), "a", "one", "{}"), piece(json!(0), "b", "two", "{}")]).await;
    assert_eq!(made(&reply), [("a", "one", "{}"), ("b", "two", "{}")]);
    // No index at all.
    let no = Json::Null;
    let deltas = vec![
        piece(no.clone(), "a", "one", "{"),
        piece(no.clone(), "", "", "}"),
        piece(no.clone(), "b", "two", "{}"),
    ];
    assert_eq!(made(&streamed(deltas).await), [("a", "one", "{}"), ("b", "two", "{}")]);
    // Id and name again with every piece, later calls first, an index from outer space.
    let deltas = vec![
        piece(json!(4_294_967_295_u64), "z", "last", "{}"),
        piece(json!(0), "a", "one", "{"),
        piece(json!(0), "a", "one", "}"),
    ];
    assert_eq!(made(&streamed(deltas).await), [("a", "one", "{}"), ("z", "last", "{}")]);
}

#[tokio::test]
async fn output_is_read_from_the_text_and_not_repaired() {
    let mut asking = plain();
    asking.output = Some(shape());
    for (text, data) in [
        (r#"{"a": 1}"#, r#"{"a":1}"#),
        ("Here:\n```json\n{\"a\": 1}\n```", r#"{"a":1}"#),
        ("{\"a\": 1", "null"),
    ] {
        let reply = both(json!({"content": text}), &[json!({"content": text})], "stop", &asking).await;
        assert_eq!(reply.data.to_json_text(), data);
        assert_eq!(&*reply.text, text);
    }
    let reply =
        both(json!({"content": "{\"a\": 1}"}), &[json!({"content": "{\"a\": 1}"})], "stop", &plain()).await;
    assert!(reply.data.is_null(), "none was asked for");
}

#[tokio::test]
async fn usage_is_estimated_where_none_is_reported() {
    let at_once = Answer::json(&whole(json!({"content": "Hi there."}), "stop", Json::Null));
    let in_pieces = Answer::events(&chunks(&[json!({"content": "Hi there."})], "stop", Json::Null));
    for (answer, stream) in [(at_once, false), (in_pieces, true)] {
        let reply = ask_once(answer, stream, &plain()).await.result.unwrap();
        // "Be brief." and "Hello?" are 15 bytes, "Hi there." is 9.
        let expected = Usage { input_tokens: 4, output_tokens: 3, estimated: true, ..Usage::default() };
        assert_eq!(reply.usage, expected);
    }
}

#[tokio::test]
async fn finish_reasons_are_mapped() {
    for (said, finish) in [
        ("stop", FinishReason::Stop),
        ("length", FinishReason::Length),
        ("something_new", FinishReason::Other),
    ] {
        let reply = both(json!({"content": "x"}), &[json!({"content": "x"})], said, &plain()).await;
        assert_eq!(reply.finish, finish, "{said}");
    }
}

#[tokio::test]
async fn lenient_readings() {
    // Content in parts, `error: null` in every chunk, no `[DONE]`, a wrong content type.
    let parts = json!([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
    let reply = both(json!({"content": parts}), &[json!({"content": parts})], "stop", &plain()).await;
    assert_eq!(&*reply.text, "ab");

    let chunk =
        r#"{"error": null, "choices": [{"index": 0, "delta": {"content": "ok"}, "finish_reason": "stop"}]}"#;
    let open = Answer::events_until_close(&format!(": ping\n\ndata: {chunk}\n\n"));
    let reply = ask_once(open, true, &plain()).await.result.unwrap();
    assert_eq!((&*reply.text, reply.finish), ("ok", FinishReason::Stop));
    assert_eq!(reply.model, "openai::test-model");

    let body = whole(json!({"content": "ok"}), "stop", Json::Null).to_string();
    let reply = ask_once(Answer::new(200, &[("Content-Type", "text/plain")], &body), false, &plain()).await;
    assert_eq!(&*reply.result.unwrap().text, "ok");
}

#[tokio::test]
async fn one_server_serves_many_at_once_over_few_connections() {
    let answers = vec![Answer::events(&chunks(&[json!({"content": "Hi."})], "stop", usage()))];
    let server = TestServer::start(answers).await;
    let models = client(Some(&server.base_url()), UNSET, true);
    for _ in 0..5 {
        models.get("openai::a").unwrap().reply(&plain(), &|_| {}).await.unwrap();
        models.get("openai::b").unwrap().reply(&plain(), &|_| {}).await.unwrap();
    }
    let connections = server.connections();
    assert!(connections < 10, "connections are kept, but one that is still being put back is not waited for");
    let model = models.get("openai::c").unwrap();
    let asking = plain();
    let replies = futures::future::join_all((0..20).map(|_| model.reply(&asking, &|_| {}))).await;
    assert!(replies.iter().all(Result::is_ok));
    assert_eq!(server.asked().len(), 30);
}
