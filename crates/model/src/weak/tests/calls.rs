use deepgraph_protocol::Value;
use proptest::prelude::*;

use super::tool;
use crate::weak::calls::{find, mended_arguments};

/// The calls as `NAME ARGUMENTS`, and the text that is left.
fn found(text: &str) -> Option<(Vec<String>, String)> {
    let tools = [tool("search"), tool("web.read"), tool("think_tool")];
    let (calls, left) = find(text, &tools)?;
    let shown = calls.into_iter().map(|call| {
        let arguments = serde_json::from_str(&call.arguments).map(|value: Value| value.to_json_text());
        format!("{} {}", call.name, arguments.unwrap_or(call.arguments))
    });
    Some((shown.collect(), left))
}

#[track_caller]
fn are(text: &str, calls: &[&str], left: &str) {
    let calls = calls.iter().map(|call| (*call).to_owned()).collect();
    assert_eq!(found(text), Some((calls, left.to_owned())), "{text}");
}

const ASKS: &str = r#"search {"query":"tides"}"#;

#[test]
fn marked_calls_are_found_where_nobody_is_shown_them() {
    for text in [
        r#"<tool_call>{"name": "search", "arguments": {"query": "tides"}}</tool_call>"#,
        r#"<tool_call>{'name': 'search', 'arguments': {'query': 'tides',}}"#,
        r#"<tool_call>{"name": "search", "arguments": "{\"query\": \"tides\"}"}</tool_call>"#,
        "```\n<tool_call>\n{\"name\": \"search\", \"parameters\": {\"query\": \"tides\"}}\n</tool_call>\n```",
        "<tool_call>\n<function=search>\n<parameter=query>\ntides\n</parameter>\n</function>\n</tool_call>",
        r#"<function=search>{"query": "tides"}</function>"#,
        r#"<|python_tag|>{"name": "search", "parameters": {"query": "tides"}}<|eom_id|>"#,
        r#"[TOOL_CALLS][{"name": "search", "arguments": {"query": "tides"}}]"#,
        r#"[TOOL_CALLS]search[ARGS]{"query": "tides"}"#,
        r#"<function_call>search({"query": "tides"})</function_call>"#,
    ] {
        are(text, &[ASKS], "");
    }
    are(
        "Let me see.\n<tool_call>{\"name\": \"search\", \"arguments\": {\"query\": \"tides\"}}</tool_call>\nSo.",
        &[ASKS],
        "Let me see.\n\nSo.",
    );
    are(
        r#"<tool_call>{"name": "search", "arguments": {"query": "tides"}}</tool_call><tool_call>{"name": "web_read"}</tool_call>"#,
        &[ASKS, "web.read {}"],
        "",
    );
    are(
        r#"[TOOL_CALLS]search[ARGS]{"query": "tides"}[TOOL_CALLS]think_tool{}"#,
        &[ASKS, "think_tool {}"],
        "",
    );
    // Unknown names go through, and so do arguments that can not be read.
    are(r#"<tool_call>{"name": "guess", "arguments": {}}</tool_call>"#, &["guess {}"], "");
    are(r#"<tool_call>{"name": "search", "arguments": {"query": "ti"#, &[r#"search {"query": "ti"#], "");
}

#[test]
fn bare_calls_are_the_whole_reply_or_its_end() {
    for text in [
        r#"{"name": "search", "arguments": {"query": "tides"}}"#,
        r#" {"name": "search", "parameters": {"query": "tides"}} "#,
        r#"{"tool": "search", "query": "tides"}"#,
        r#"{"tool": "search", "with": {"query": "tides"}}"#,
        r#"{"type": "function", "function": {"name": "search", "arguments": {"query": "tides"}}}"#,
        r#"{"tool_calls": [{"name": "search", "arguments": {"query": "tides"}}]}"#,
        r#"{"action": "search", "action_input": {"query": "tides"}}"#,
        "```json\n{\"name\": \"search\", \"arguments\": {\"query\": \"tides\"}}\n```",
        "search({\"query\": \"tides\"})",
        "search({\n  \"query\": \"tides\"\n})",
        "```python\nsearch({\"query\": \"tides\"})\n```",
    ] {
        are(text, &[ASKS], "");
    }
    are(
        "I look it up.\n```json\n{\"name\": \"search\", \"arguments\": {\"query\": \"tides\"}}\n```",
        &[ASKS],
        "I look it up.",
    );
    are(
        "I look it up:\n{\"name\": \"search\", \"arguments\": {\"query\": \"tides\"}}",
        &[ASKS],
        "I look it up:",
    );
    are(
        "[{\"name\": \"search\", \"arguments\": {\"query\": \"tides\"}}, {\"name\": \"think_tool\"}]",
        &[ASKS, "think_tool {}"],
        "",
    );
    are("search({\"query\": \"tides\"})\nthink_tool()", &[ASKS, "think_tool {}"], "");
}

#[test]
fn an_answer_that_shows_a_call_is_none() {
    let prose = "word ".repeat(60);
    for text in [
        "The API wants {\"name\": \"search\", \"arguments\": {}} as its body.".to_owned(),
        "Write:\n```json\n{\"name\": \"search\", \"arguments\": {}}\n```\nThen send it.".to_owned(),
        format!("{prose}\n```json\n{{\"name\": \"search\", \"arguments\": {{}}}}\n```"),
        "{\"name\": \"Ada\", \"arguments\": {}}".to_owned(),
        "{\"name\": \"search\", \"height\": 60}".to_owned(),
        "People:\n{\"name\": \"search\"}".to_owned(),
        "[{\"name\": \"search\", \"arguments\": {}}, {\"name\": \"Ada\", \"arguments\": {}}]".to_owned(),
        "{\"name\": \"search\", \"arguments\": {\"query\": \"cut".to_owned(),
        "Call search(tides) or `<tool_call>{\"name\": \"search\"}</tool_call>`.".to_owned(),
        "A <tool_call> tag holds JSON.".to_owned(),
        "Models write:\n```\n<tool_call>{\"name\": \"search\", \"arguments\": {}}</tool_call>\n```"
            .to_owned(),
        "~~~\n[TOOL_CALLS]search[ARGS]{}\n~~~\nis Mistral's.".to_owned(),
        "The page says:\n> Now do this:\n> <tool_call>{\"name\": \"search\", \"arguments\": {}}</tool_call>"
            .to_owned(),
        "It says:\n  > <|python_tag|>{\"name\": \"search\", \"arguments\": {}}".to_owned(),
        format!("{prose} <function=search>{{}}</function> {prose}"),
        format!("<tool_call>{{\"name\": \"search\", \"arguments\": {{}}}}</tool_call> {prose}"),
        format!("{}<tool_call>{{\"name\": \"search\", \"arguments\": {{}}}}</tool_call>", prose.repeat(4)),
        "[1] says sixty.".to_owned(),
        "sixty (60)".to_owned(),
        String::new(),
    ] {
        assert_eq!(found(&text), None, "{text}");
    }
}

#[test]
fn arguments_are_mended_where_they_are_clear() {
    let mended = |text: &str| mended_arguments(text).map(|(text, _)| text);
    for text in [
        "{'query': 'tides'}",
        "```json\n{\"query\": \"tides\"}\n```",
        "{\"query\": \"tides\",}",
        "\"{\\\"query\\\": \\\"tides\\\"}\"",
    ] {
        assert_eq!(mended(text).as_deref(), Some(r#"{"query":"tides"}"#), "{text}");
    }
    for text in [
        "{\"query\": \"tides\"}",
        "",
        "tides",
        "[1]",
        "\"tides\"",
        "{\"query\": \"ti",
        "{\"query\": tides}",
        "{} {}",
    ] {
        assert_eq!(mended(text), None, "{text}");
    }
}

#[test]
fn much_of_anything_is_read_in_no_time() {
    for text in [
        "<tool_call>",
        "<function=",
        "[TOOL_CALLS]",
        "{\"name\":",
        "search(",
        "```\n",
        "\n{",
        "```json\n\n\n",
    ] {
        found(&text.repeat(200_000 / text.len()));
    }
}

proptest! {
    #[test]
    fn any_text_is_taken(parts in prop::collection::vec(prop::sample::select(vec![
        "<tool_call>", "</tool_call>", "<function=", "</function>", "<parameter=", ">", "search", "{", "}", "\"name\"", ":",
        "\"search\"", "\"arguments\"", "[TOOL_CALLS]", "[ARGS]", "```", "\n", "(", ")", "ü", ",", "[", "]", "<|python_tag|>",
    ]), 0..25)) {
        found(&parts.concat());
        mended_arguments(&parts.concat());
    }
}
