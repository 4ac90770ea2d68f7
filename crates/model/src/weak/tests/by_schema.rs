use deepgraph_protocol::{FinishReason, Message, Role, ToolCall, Value};
use serde_json::json;

use super::{reply, request};
use crate::weak::by_schema::{ask, read};
use crate::weak::{mend, shape};

#[test]
fn tools_are_offered_in_words_and_as_a_shape() {
    let asked = ask(&request(&["search", "done"], None));
    assert!(asked.tools.is_empty());
    let system = &asked.messages[0].content;
    assert!(system.starts_with("Be brief.\n\nYou can use tools."), "{system}");
    assert!(
        system.contains("- search: Looks something up.\n  with: {") && system.contains("what to look for")
    );
    let schema = asked.output.unwrap().schema;
    let branches = schema.get("anyOf").and_then(Value::as_list).unwrap();
    assert_eq!(branches.len(), 3);
    assert_eq!(
        branches[0].to_json(),
        json!({
            "type": "object",
            "properties": {
                "tool": {"const": "search"},
                "with": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
            },
            "required": ["tool", "with"],
            "additionalProperties": false,
        })
    );
    for (text, fits) in [
        (r#"{"tool": "search", "with": {"query": "tides"}}"#, true),
        (r#"{"answer": "Sixty."}"#, true),
        (r#"{"tool": "guess", "with": {}}"#, false),
        (r#"{"tool": "search", "with": {}}"#, false),
        ("{}", false),
    ] {
        assert_eq!(shape::fits(&schema, &serde_json::from_str(text).unwrap()), fits, "{text}");
    }
}

#[test]
fn earlier_calls_and_their_answers_are_told_and_the_sides_take_turns() {
    let mut before = request(&["search"], None);
    let call = ToolCall { id: "1".into(), name: "search".into(), arguments: "{\"query\": \"tides\"}".into() };
    before.messages.push(Message::assistant("I look.", vec![call.clone(), call.clone()]));
    before.messages.push(Message::tool(&call, "high"));
    before.messages.push(Message::tool(&call, "low"));
    before.messages.push(Message::user("Go on."));
    let asked = ask(&before);
    let roles: Vec<Role> = asked.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::User]);
    let line = r#"{"tool": "search", "with": {"query":"tides"}}"#;
    assert_eq!(&*asked.messages[2].content, format!("I look.\n{line}\n{line}"));
    assert_eq!(&*asked.messages[3].content, "Result of search:\nhigh\n\nResult of search:\nlow\n\nGo on.");
    assert!(
        asked.messages.iter().all(|message| message.tool_calls.is_empty() && message.tool_call_id.is_none())
    );
}

#[test]
fn replies_are_read_back_as_calls_or_answers() {
    let own = request(&["search"], None);
    let whole = |text: &str| read(mend(reply(text), &ask(&own)), &own);
    let call = whole(r#"{"tool": "search", "with": {"query": "tides"}}"#);
    assert_eq!((&*call.text, call.finish, &call.data), ("", FinishReason::ToolCalls, &Value::Null));
    assert_eq!(
        (&*call.tool_calls[0].name, &*call.tool_calls[0].arguments),
        ("search", r#"{"query":"tides"}"#)
    );
    let answer = whole(r#"{"answer": "Sixty."}"#);
    assert_eq!((&*answer.text, answer.finish, answer.tool_calls.len()), ("Sixty.", FinishReason::Stop, 0));
    // What a server that holds to no shape lets through.
    assert_eq!(
        whole("Here:\n```json\n{'tool': 'search', 'with': {'query': 'tides'}}\n```").tool_calls.len(),
        1
    );
    assert_eq!(whole(r#"{"name": "search", "arguments": {"query": "tides"}}"#).tool_calls.len(), 1);
    assert_eq!(&*whole(r#"{"tool": "guess", "with": {}}"#).tool_calls[0].name, "guess");
    assert_eq!(&*whole("Sixty metres.").text, "Sixty metres.");
    assert!(whole("Sixty metres.").guess.is_null());
}

#[test]
fn an_answer_may_have_a_shape_and_ids_are_new() {
    let mut own = request(
        &["search"],
        Some(json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})),
    );
    let whole = |own: &deepgraph_protocol::ModelRequest, text: &str| read(mend(reply(text), &ask(own)), own);
    assert_eq!(whole(&own, r#"{"answer": {"n": 1}}"#).data.to_json_text(), r#"{"n":1}"#);
    let call = r#"{"tool": "search", "with": {"query": "tides"}}"#;
    let first = whole(&own, call).tool_calls[0].clone();
    own.messages.push(Message::assistant("", vec![first.clone()]));
    assert_ne!(whole(&own, call).tool_calls[0].id, first.id);
}

#[test]
fn a_request_without_tools_stays_as_it_is() {
    let own = request(&[], None);
    assert_eq!(ask(&own), own);
    assert_eq!(read(reply("{\"answer\": 1}"), &own), reply("{\"answer\": 1}"));
}
