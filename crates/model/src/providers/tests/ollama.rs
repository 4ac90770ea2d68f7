//! Ollama's own chat.

use deepgraph_protocol::{ErrorKind, FinishReason, Usage};

use super::*;
use crate::ModelFacts;

const SPEAKS: Protocol = Protocol::Ollama;

fn line(message: Json) -> Json {
    json!({"model": "served", "message": message, "done": false})
}

fn end(reason: &str) -> Json {
    json!({"model": "served", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": reason,
        "prompt_eval_count": 30, "prompt_eval_cached_count": 16, "eval_count": 8})
}

fn whole(message: Json, reason: &str) -> Json {
    let mut body = end(reason);
    body["message"] = message;
    body
}

fn call(name: &str, arguments: Json) -> Json {
    json!({"function": {"name": name, "arguments": arguments}})
}

#[tokio::test]
async fn a_conversation_is_sent_with_the_size_of_its_context() {
    let server = TestServer::start(vec![Answer::json(&whole(json!({"content": "Hi."}), "stop"))]).await;
    let local = ProviderSettings { base_url: Some(server.base_url()), ..ProviderSettings::default() };
    let facts = ModelFacts { context_window: Some(20_000), ..ModelFacts::default() };
    let models = Models::new(ModelSettings {
        stream: false,
        providers: BTreeMap::from([("ollama".to_owned(), local)]),
        models: BTreeMap::from([("ollama::known".to_owned(), facts)]),
        ..ModelSettings::default()
    });
    let mut asking = conversation();
    asking.model = "ollama::known".into();
    asking.max_output = Some(500);
    asking.options = options(json!({"temperature": 0.2, "think": true, "seed": 7}));
    ask_model(&models, &asking).await.result.unwrap();
    asking.model = "ollama::other-high".into();
    asking.options = options(json!({"num_ctx": 4096}));
    ask_model(&models, &asking).await.result.unwrap();
    let asked = server.asked();
    let (head, body) = &asked[0];
    assert!(head.starts_with("post /api/chat http/1.1") && !head.contains("authorization"), "{head}");
    assert_eq!(
        body["options"],
        json!({"temperature": 0.2, "seed": 7, "num_predict": 500, "num_ctx": 20_000})
    );
    assert_eq!(
        (&body["think"], &body["truncate"], &body["stream"]),
        (&json!(true), &json!(false), &json!(false))
    );
    let messages = &body["messages"];
    assert_eq!(messages[2]["tool_calls"][0]["function"]["arguments"], json!({"query": "tides"}));
    assert!(messages[2]["tool_calls"][1]["function"]["arguments"].is_object(), "{messages}");
    assert_eq!(messages[3], json!({"role": "tool", "content": "Twice a day.", "tool_name": "web_search"}));
    assert_eq!(
        (&asked[1].1["model"], &asked[1].1["options"]["num_ctx"]),
        (&json!("other-high"), &json!(4096))
    );
    assert!(asked[1].1.get("think").is_none(), "no effort is read into a name");
}

#[tokio::test]
async fn what_stands_before_it_may_want_a_key() {
    let (head, _) = sent_to(|server| speaking(SPEAKS, server), "m", &plain()).await;
    assert!(head.contains("authorization: bearer deepgraph-model\r\n"), "{head}");
}

#[tokio::test]
async fn output_of_a_given_shape_is_asked_for_and_read() {
    let mut asking = plain();
    asking.output = Some(shape());
    let (_, body) = sent_to(|server| speaking(SPEAKS, server), "m", &asking).await;
    assert_eq!(body["format"]["required"], json!(["a"]));
    asking.tools = vec![tool("search")];
    let (_, body) = sent_to(|server| speaking(SPEAKS, server), "m", &asking).await;
    assert!(body.get("format").is_none(), "it could call no tool: {body}");
}

#[tokio::test]
async fn text_calls_and_usage_are_read_and_thoughts_are_not() {
    let mut asking = plain();
    asking.tools = vec![tool("web.search")];
    let calls = || [call("web_search", json!({"query": "x"})), call("web_search", json!({"query": "y"}))];
    let at_once =
        whole(json!({"content": "Let me see.", "thinking": "hm, secret", "tool_calls": calls()}), "stop");
    let lines = [
        line(json!({"content": "", "thinking": "hm, "})),
        line(json!({"content": "", "thinking": "secret"})),
        line(json!({"content": "Let me "})),
        line(json!({"content": "see.", "tool_calls": [calls()[0]]})),
        line(json!({"content": "", "tool_calls": [calls()[1]]})),
        end("stop"),
    ];
    let reply = same(SPEAKS, Answer::json(&at_once), Answer::lines(&lines), &asking).await;
    assert_eq!((&*reply.text, reply.finish), ("Let me see.", FinishReason::ToolCalls));
    let arguments: Vec<&str> = reply.tool_calls.iter().map(|call| &*call.arguments).collect();
    assert_eq!(arguments, [r#"{"query":"x"}"#, r#"{"query":"y"}"#]);
    let expected = Usage { input_tokens: 30, output_tokens: 8, cached_tokens: 16, ..Usage::default() };
    assert_eq!(reply.usage, expected);

    let at_once = Answer::json(&whole(json!({"content": "Well"}), "length"));
    let lines = Answer::lines(&[line(json!({"content": "Well"})), end("length")]);
    assert_eq!(same(SPEAKS, at_once, lines, &plain()).await.finish, FinishReason::Length);
}

#[tokio::test]
async fn its_own_ways_of_failing_are_understood() {
    for (status, words, kind) in [
        (404, "model 'x' not found", ErrorKind::NotFound),
        (400, "the input length exceeds the context length", ErrorKind::ContextOverflow),
        (500, "llama runner process has terminated", ErrorKind::Unavailable),
        (400, "invalid options", ErrorKind::InvalidRequest),
    ] {
        for stream in [false, true] {
            let answer = Answer::error(status, &json!({"error": words}));
            let error = spoken(SPEAKS, answer, stream, &plain()).await.result.unwrap_err();
            assert_eq!(error.kind, kind, "{words}");
            assert!(error.message.contains(words), "{error}");
        }
    }
    let half = line(json!({"content": "half"}));
    let failed = Answer::lines(&[half.clone(), json!({"error": "an error was encountered"})]);
    let error = spoken(SPEAKS, failed, true, &plain()).await.result.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    let ended = spoken(SPEAKS, Answer::lines(&[half]), true, &plain()).await;
    assert_eq!(ended.result.unwrap_err().kind, ErrorKind::Network);
    assert_eq!(ended.preview, ["half"]);
}
