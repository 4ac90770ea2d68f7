use deepgraph_protocol::{Map as Context, Message, Value};
use serde_json::json;

use super::*;
use crate::extractive::answer;

/// The structured output for a schema, given what the templates read.
fn structured(schema: Json, context: &[(&str, Value)]) -> Json {
    let request = ModelRequest {
        model: "extractive".into(),
        messages: vec![Message::user("prompt")],
        tools: Vec::new(),
        output: Some(OutputShape { name: "Shape".into(), schema: Value::from_json(&schema) }),
        max_output: None,
        options: Context::new(),
        context: context.iter().map(|(name, value)| ((*name).into(), value.clone())).collect(),
    };
    let reply = answer(&request);
    assert_eq!(serde_json::from_str::<Json>(&reply.text).unwrap(), reply.data.to_json());
    reply.data.to_json()
}

#[test]
fn clarification_is_asked_for_only_when_nothing_was_asked() {
    let schema = json!({"type": "object", "required": ["need_clarification"], "properties": {
        "need_clarification": {"type": "boolean"},
        "question": {"type": "string"},
        "verification": {"type": "string"}
    }});
    let asked = [("question", Value::from("Area of Chile"))];
    assert_eq!(structured(schema.clone(), &asked), json!({"need_clarification": false}));
    let nothing = [("question", Value::from("?"))];
    let asks = json!({"need_clarification": true, "question": "What would you like to know?"});
    assert_eq!(structured(schema, &nothing), asks);
}

#[test]
fn a_schema_that_requires_all_fields_gets_all() {
    let schema = json!({"type": "object", "required": ["need_clarification", "question", "verification"], "properties": {
        "need_clarification": {"type": "boolean"}, "question": {"type": "string"}, "verification": {"type": "string"}
    }});
    let filled = structured(schema, &[("question", Value::from("Area of Chile"))]);
    assert_eq!(
        filled,
        json!({"need_clarification": false, "question": "", "verification": "I will look into this: Area of Chile"})
    );
}

#[test]
fn schemas_are_filled_from_the_question() {
    let question = [("question", Value::from("Compare Chile and Peru on area"))];
    let brief = json!({"type": "object", "required": ["research_brief"],
        "properties": {"research_brief": {"type": "string"}}});
    assert_eq!(structured(brief, &question), json!({"research_brief": "Compare Chile and Peru on area"}));
    let plan = json!({"type": "object", "required": ["objective", "sub_questions", "depth", "tone", "done", "todo"],
        "properties": {
            "objective": {"type": "string", "maxLength": 7},
            "period": {"type": ["string", "null"]},
            "sub_questions": {"type": "array", "items": {"type": "string"}, "maxItems": 1},
            "depth": {"type": "integer", "minimum": 2},
            "tone": {"enum": ["plain", "rich"]},
            "done": {"anyOf": [{"type": "null"}, {"type": "boolean"}]},
            "todo": {"type": "array", "items": {"$ref": "#/$defs/todo"}}
        },
        "$defs": {"todo": {"type": "object", "required": ["text", "status"], "properties": {
            "text": {"type": "string"}, "status": {"enum": ["open", "done"]}}}}
    });
    assert_eq!(
        structured(plan, &question),
        json!({
            "objective": "Compare", "sub_questions": ["Chile: area"], "depth": 2, "tone": "plain", "done": false,
            "todo": [{"text": "Chile: area", "status": "open"}, {"text": "Peru: area", "status": "open"}]
        })
    );
}

#[test]
fn lists_of_findings_are_filled_from_passages() {
    let hits = Value::from_json(&json!([
        {"source": "cl-2", "document": "cl.json", "title": "Chile", "text": "Area: 756,102 sq km", "score": 1.0},
    ]));
    let schema = json!({"type": "object", "required": ["learnings"], "properties": {
        "learnings": {"type": "array", "items": {"type": "string"}}}});
    let context = [("goal", Value::from("Area of Chile")), ("hits", hits)];
    assert_eq!(structured(schema, &context), json!({"learnings": ["Chile — Area: 756,102 sq km. [cl-2]"]}));
}

#[test]
fn no_schema_breaks_it() {
    for schema in [
        json!({}),
        json!(null),
        json!({"$ref": "#"}),
        json!({"type": "array", "minItems": 1_000_000_000, "items": {"$ref": "#"}}),
        json!({"properties": {"a": {"$ref": "#"}}, "required": ["a", "b"]}),
        json!({"anyOf": []}),
        json!({"enum": []}),
        json!({"type": "integer", "minimum": 1e300}),
    ] {
        let _ = structured(schema, &[("question", Value::from("Area of Chile"))]);
    }
}
