use deepgraph_protocol::{FinishReason, ModelReply, ToolCall, Value};
use proptest::prelude::*;
use serde_json::json;

use super::{pieces, reply, request};
use crate::weak::{Guard, mend};

fn plan() -> Option<serde_json::Value> {
    Some(json!({
        "type": "object",
        "properties": {"goal": {"type": "string"}, "parts": {"type": "array", "items": {"type": "string"}}},
        "required": ["goal", "parts"],
    }))
}

#[test]
fn a_good_reply_stays_as_it_is() {
    let said = reply("Sixty metres.");
    assert_eq!(mend(said.clone(), &request(&["search"], None)), said);
    assert_eq!(mend(said.clone(), &request(&[], None)), said);
    let json = reply("{\"goal\": \"g\", \"parts\": []}");
    let read = mend(json.clone(), &request(&[], plan()));
    assert_eq!(read.data.to_json_text(), r#"{"goal":"g","parts":[]}"#);
    assert!(read.mended.is_empty() && read.guess.is_null());
}

#[test]
fn structured_output_is_never_read_from_thoughts_nor_holds_any() {
    let said = reply(
        "<think>{\"goal\": \"wrong\", \"parts\": []}</think>{'goal': '<think>hm</think>right', parts: []}",
    );
    let read = mend(said, &request(&[], plan()));
    assert_eq!(read.data.to_json_text(), r#"{"goal":"right","parts":[]}"#);
    assert_eq!(read.mended.len(), 2, "{:?}", read.mended);
    let inside =
        mend(reply("{\"goal\": \"\\u003cthink>hm</think>right\", \"parts\": []}"), &request(&[], plan()));
    assert_eq!(inside.data.text("goal"), "right");
}

#[test]
fn what_does_not_fit_is_kept_as_a_guess_only() {
    let read = mend(reply("{\"goal\": \"g\", \"parts\": [\"a"), &request(&[], plan()));
    assert!(read.data.is_null());
    assert_eq!(read.guess.to_json_text(), r#"{"goal":"g","parts":["a"]}"#);
    assert!(read.mended.is_empty());
}

#[test]
fn calls_in_the_text_become_calls() {
    let text = "<think>hm</think>I look.\n<tool_call>{\"name\": \"search\", \"arguments\": {query: '<think>x</think>tides'}}</tool_call>";
    let read = mend(reply(text), &request(&["search"], None));
    assert_eq!(&*read.text, "I look.");
    assert_eq!(read.finish, FinishReason::ToolCalls);
    assert_eq!(&*read.tool_calls[0].name, "search");
    assert_eq!(&*read.tool_calls[0].arguments, r#"{"query":"tides"}"#);
    assert_eq!(read.mended.len(), 2, "{:?}", read.mended);
    // The same request and reply give the same ids; without tools it is text.
    assert_eq!(mend(reply(text), &request(&["search"], None)), read);
    assert!(mend(reply(text), &request(&[], None)).tool_calls.is_empty());
    let mut asked = request(&["search"], None);
    asked.messages.push(deepgraph_protocol::Message::assistant("", read.tool_calls.clone()));
    assert_ne!(mend(reply(text), &asked).tool_calls[0].id, read.tool_calls[0].id);
}

#[test]
fn arguments_are_mended_or_go_on_as_they_are() {
    let mut said = reply("");
    for arguments in ["{'query': 'tides'}", "{\"query\": \"ti", "{\"query\": \"tides\"}"] {
        said.tool_calls.push(ToolCall { id: "1".into(), name: "search".into(), arguments: arguments.into() });
    }
    let read = mend(said, &request(&["search"], None));
    let arguments: Vec<&str> = read.tool_calls.iter().map(|call| &*call.arguments).collect();
    assert_eq!(arguments, [r#"{"query":"tides"}"#, "{\"query\": \"ti", "{\"query\": \"tides\"}"]);
    assert_eq!(
        read.mended.iter().map(|m| &**m).collect::<Vec<_>>(),
        ["arguments of `search`: quotation marks"]
    );
}

/// A reply that ran into its longest length.
fn cut_off(text: &str) -> ModelReply {
    ModelReply { finish: FinishReason::Length, ..reply(text) }
}

#[test]
fn an_endless_reply_is_cut_and_says_so() {
    let minutes =
        "The height is given as sixty metres by all of the sources. ".repeat(7) + "\n\nThat is all.\n";
    let minutes = minutes.replacen("sixty", "60", 1);
    let read = mend(cut_off(&format!("{minutes}{}", "End of document\n".repeat(300))), &request(&[], None));
    assert_eq!(read.finish, FinishReason::Repetition);
    assert_eq!(read.text.trim_end(), format!("{minutes}End of document"));
    assert_eq!(read.guess, Value::Text(read.text.clone()));
    // Little before it, or only thoughts: nothing that could stand for an answer.
    let short = mend(cut_off(&"End of document\n".repeat(300)), &request(&[], None));
    assert_eq!((short.finish, short.guess), (FinishReason::Repetition, Value::Null));
    let thoughts =
        mend(cut_off(&format!("<think>{minutes}{}", "wait, no ".repeat(900))), &request(&[], None));
    assert_eq!(
        (&*thoughts.text, thoughts.finish, thoughts.guess),
        ("", FinishReason::Repetition, Value::Null)
    );
    // In structured output, what was read before it is the guess.
    let record = format!("{{\"goal\": \"g\", \"parts\": [\"a\"{}", ", \"the same part\"".repeat(300));
    let record = mend(cut_off(&record), &request(&[], plan()));
    assert_eq!(record.finish, FinishReason::Repetition);
    assert_eq!(record.guess.to_json_text(), r#"{"goal":"g","parts":["a","the same part"]}"#);
    // In the arguments of a call.
    let mut call = cut_off("");
    let arguments = format!("{{\"query\": \"{}", "tides and ".repeat(400)).into();
    call.tool_calls.push(ToolCall { id: "1".into(), name: "search".into(), arguments });
    assert_eq!(mend(call, &request(&["search"], None)).finish, FinishReason::Repetition);
}

#[test]
fn a_reply_that_ended_by_itself_is_whole_however_often_it_says_the_same() {
    let text = "Finding about the tower: measured value 42 [1]. ".repeat(2000);
    for finish in [FinishReason::Stop, FinishReason::Other] {
        let said = ModelReply { finish, ..reply(&text) };
        assert_eq!(mend(said.clone(), &request(&[], None)), said);
    }
    let mut call = ModelReply { finish: FinishReason::ToolCalls, ..reply("") };
    let arguments = format!("{{\"query\":\"{}\"}}", "tides and ".repeat(2000)).into();
    call.tool_calls.push(ToolCall { id: "1".into(), name: "search".into(), arguments });
    assert_eq!(mend(call.clone(), &request(&["search"], None)), call);
}

proptest! {
    #[test]
    fn mending_twice_is_mending_once(text in "[<>/a-k{}\":, `\n\\[\\]]{0,80}", tools in any::<bool>(), output in any::<bool>()) {
        let tools: &[&str] = if tools { &["a", "b"] } else { &[] };
        let request = request(tools, output.then(plan).flatten());
        let once = mend(reply(&text), &request);
        prop_assert_eq!(mend(once.clone(), &request), once);
    }

    #[test]
    fn what_is_shown_is_what_a_whole_text_shows(
        parts in prop::collection::vec(prop::sample::select(vec!["<think>", "</think>", "a", "\n", "`", "<"]), 0..20),
        cuts in prop::collection::vec(0_usize..200, 0..10),
    ) {
        let text = parts.concat();
        // A closing tag that nothing opened takes back what was shown.
        prop_assume!(!text.contains("</think>") || text.starts_with("<think>"));
        let mut shown = String::new();
        let mut guard = Guard::default();
        for piece in pieces(&text, &cuts) {
            shown.push_str(guard.text(piece));
        }
        prop_assert!(!guard.repeats());
        let mut whole = Guard::default();
        prop_assert!(whole.text(&text).len() >= shown.len() || !shown.is_empty());
    }
}
