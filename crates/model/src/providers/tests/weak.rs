//! Thoughts, calls in the text and endless repetition, over the wire.

use deepgraph_protocol::{FinishReason, Value};
use serde_json::json;

use super::server::{Answer, TestServer};
use super::{ask, plain, shape, tool};

/// Deltas as a stream of chunks; `ends`: with a finish, the tokens and `[DONE]`.
fn chunks(deltas: &[serde_json::Value], ends: bool) -> Vec<String> {
    let chunk = |delta: &serde_json::Value, finish: Option<&str>| {
        json!({"model": "served", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
            .to_string()
    };
    let mut all: Vec<String> = deltas.iter().map(|delta| chunk(delta, None)).collect();
    if ends {
        all.push(chunk(&json!({}), Some("stop")));
        all.push("[DONE]".to_owned());
    }
    all
}

fn texts(pieces: &[&str]) -> Vec<serde_json::Value> {
    pieces.iter().map(|piece| json!({"content": piece})).collect()
}

#[tokio::test]
async fn thoughts_are_neither_shown_nor_said() {
    let pieces = texts(&["<thi", "nk>hm", ", sixty</th", "ink>\n\n", "Six", "ty."]);
    let server = TestServer::start(vec![Answer::events(&chunks(&pieces, true))]).await;
    let outcome = ask(&server, true, &plain()).await;
    assert_eq!(outcome.preview.concat(), "Sixty.");
    let reply = outcome.result.unwrap();
    assert_eq!(&*reply.text, "Sixty.");
    assert_eq!(reply.mended.iter().map(|m| &**m).collect::<Vec<_>>(), ["thoughts in the text, taken out"]);
    // Thoughts in a field of their own are no text in any spelling.
    let apart =
        [json!({"reasoning_content": "hm"}), json!({"reasoning": "hm"}), json!({"content": "Sixty."})];
    let server = TestServer::start(vec![Answer::events(&chunks(&apart, true))]).await;
    let outcome = ask(&server, true, &plain()).await;
    assert_eq!((outcome.preview.concat().as_str(), &*outcome.result.unwrap().text), ("Sixty.", "Sixty."));
}

#[tokio::test]
async fn calls_in_the_text_are_calls_by_their_own_names() {
    let call = "<tool_call>{\"name\": \"web_search\", \"arguments\": {'query': 'tides'}}</tool_call>";
    let mut asking = plain();
    asking.tools = vec![tool("web.search")];
    for stream in [false, true] {
        let body =
            json!({"model": "served", "choices": [{"message": {"content": call}, "finish_reason": "stop"}]});
        let answer =
            if stream { Answer::events(&chunks(&texts(&[call]), true)) } else { Answer::json(&body) };
        let server = TestServer::start(vec![answer]).await;
        let reply = ask(&server, stream, &asking).await.result.unwrap();
        assert_eq!((&*reply.text, reply.finish), ("", FinishReason::ToolCalls));
        let call = &reply.tool_calls[0];
        assert_eq!((&*call.name, &*call.arguments), ("web.search", r#"{"query":"tides"}"#));
    }
}

#[tokio::test]
async fn a_reply_that_repeats_itself_is_not_waited_for() {
    let text: Vec<&str> = vec!["End of document\n"; 900];
    let thoughts = vec![json!({"reasoning_content": "But wait, is it so? "}); 900];
    let arguments = vec![
        json!({"tool_calls": [{"index": 0, "id": "1", "function":
        {"name": "search", "arguments": "tides and more tides "}}]});
        900
    ];
    for (deltas, said) in [(texts(&text), "End of document"), (thoughts, ""), (arguments, "")] {
        // The server never says that it is done, and keeps the connection open.
        let answer = Answer::events(&chunks(&deltas, false));
        let server = TestServer::start(vec![answer]).await;
        let mut asking = plain();
        asking.tools = vec![tool("search")];
        let reply = ask(&server, true, &asking).await.result.unwrap();
        assert_eq!(reply.finish, FinishReason::Repetition);
        assert_eq!(reply.text.trim(), said);
        assert!(reply.usage.estimated && reply.usage.output_tokens > 300, "{:?}", reply.usage);
        assert!(reply.tool_calls.iter().all(|call| call.arguments.len() < 100));
        assert_eq!(reply.guess, Value::Null);
    }
}

#[tokio::test]
async fn how_a_reply_ended_says_whether_it_is_endless() {
    let often = |times| "End of document\n".repeat(times);
    let whole = |text: &str, thoughts: &str, finish: &str| {
        let message = json!({"content": text, "reasoning_content": thoughts});
        json!({"model": "served", "choices": [{"message": message, "finish_reason": finish}]})
    };
    let in_pieces = |text: &str, thoughts: &str, finish: &str| {
        let deltas = [json!({"reasoning_content": thoughts}), json!({"content": text})];
        let mut all = chunks(&deltas, true);
        let at = all.len() - 2;
        all[at] = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}).to_string();
        all
    };
    let (some, thoughts) = (often(500), "But wait, is it so? ".repeat(300));
    for (text, thoughts, finish, read, kept) in [
        // The model found its end.
        (some.as_str(), "", "stop", FinishReason::Stop, some.as_str()),
        ("Sixty.", thoughts.as_str(), "stop", FinishReason::Stop, "Sixty."),
        ("Sixty.", thoughts.as_str(), "length", FinishReason::Length, "Sixty."),
        // It did not.
        (some.as_str(), "", "length", FinishReason::Repetition, "End of document\n"),
        ("", thoughts.as_str(), "length", FinishReason::Repetition, ""),
    ] {
        let answers = [
            Answer::json(&whole(text, thoughts, finish)),
            Answer::events(&in_pieces(text, thoughts, finish)),
        ];
        for (stream, answer) in [false, true].into_iter().zip(answers) {
            let server = TestServer::start(vec![answer]).await;
            let reply = ask(&server, stream, &plain()).await.result.unwrap();
            assert_eq!((reply.finish, &*reply.text), (read, kept), "{finish}, {stream}");
        }
    }
}

#[tokio::test]
async fn structured_output_is_mended_or_guessed() {
    let mut asking = plain();
    asking.output = Some(shape());
    for (text, data, guess) in [
        ("<think>{\"a\": 2}</think>```json\n{'a': 1,}\n```", r#"{"a":1}"#, "null"),
        ("{\"a\": \"1\", \"b\": [", r#"null"#, r#"{"a":1}"#),
    ] {
        let server = TestServer::start(vec![Answer::events(&chunks(&texts(&[text]), true))]).await;
        let reply = ask(&server, true, &asking).await.result.unwrap();
        assert_eq!(
            (reply.data.to_json_text().as_str(), reply.guess.to_json_text().as_str()),
            (data, guess),
            "{text}"
        );
    }
}
