use deepgraph_protocol::{Map, Value};

use super::*;

fn tool(name: &str, schema: &str) -> ServerTool {
    let input_schema = serde_json::from_str(schema).unwrap();
    ServerTool { description: "Does it.".into(), ..ServerTool::new(name, input_schema) }
}

fn op(schema: &str) -> Op {
    OpTable::default().with_server("crm", vec![tool("find", schema)]).get("crm.find").unwrap().clone()
}

/// The input as a graph file would write it: `name: type`, a `?` at what is optional.
fn input(schema: &str) -> Vec<String> {
    let mark = |field: &Field| if field.optional { "?" } else { "" };
    op(schema).input.iter().map(|(name, field)| format!("{name}{}: {}", mark(field), field.ty)).collect()
}

#[test]
fn a_tool_of_a_server_is_an_op() {
    let schema = r#"{"type": "object", "properties": {"name": {"type": "string", "description": "Whose."}}}"#;
    let found = op(schema);
    assert_eq!((&*found.name, &*found.description, found.writes), ("crm.find", "Does it.", true));
    assert_eq!(found.schema, Some(serde_json::from_str(schema).unwrap()), "models see it as it is");
    assert_eq!(&*found.input[0].1.description, "Whose.");
    let result: Vec<String> = found.result.fields.iter().map(|(n, f)| format!("{n}: {}", f.ty)).collect();
    assert_eq!(result, ["text: string", "data: any", "sources: {string: source}", "facts: [fact]"]);
    let read_only = |said: Option<bool>| {
        let tool = ServerTool { read_only: said, ..tool("find", "{}") };
        !OpTable::default().with_server("crm", vec![tool]).get("crm.find").unwrap().writes
    };
    assert_eq!([None, Some(false), Some(true)].map(read_only), [false, false, true]);
}

#[test]
fn schemas_are_read_as_far_as_types_can_say_them() {
    let properties = |text: &str| format!(r#"{{"type": "object", "properties": {{{text}}}}}"#);
    for (schema, wanted) in [
        (r#""a": {"type": "string"}, "b": {"type": "integer"}"#, vec!["a?: string", "b?: integer"]),
        (r#""a": {"type": "number"}, "b": {"type": "boolean"}"#, vec!["a?: number", "b?: boolean"]),
        (r#""a": {"type": "array", "items": {"type": "string"}}"#, vec!["a?: [string]"]),
        (r#""a": {"type": "array"}, "b": {"type": "object"}"#, vec!["a?: [any]", "b?: {string: any}"]),
        (
            r#""a": {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}"#,
            vec!["a?: {x: string}"],
        ),
        (r#""a": {"type": ["string", "null"]}"#, vec!["a?: string"]),
        (r#""a": {"type": ["string", "integer"]}"#, vec!["a?: any"]),
        (r#""a": {"anyOf": [{"type": "string"}, {"type": "null"}]}"#, vec!["a?: any"]),
        (r##""a": {"$ref": "#/$defs/b"}, "b": true, "c": {}"##, vec!["a?: any", "b?: any", "c?: any"]),
        (r#""a": {"enum": ["x", "y"]}"#, vec!["a?: any"]),
        (r#""a-b": {"type": "string"}"#, vec!["a-b?: string"]),
    ] {
        assert_eq!(input(&properties(schema)), wanted, "{schema}");
    }
    let required = r#"{"type": "object", "properties": {"a": {"type": ["string", "null"]}, "b": {"type": "string"}}, "required": ["a", "b"]}"#;
    assert_eq!(input(required), ["a?: string", "b: string"], "null may be given for `a`");
}

#[test]
fn values_to_choose_from_are_kept_where_they_are_of_the_type() {
    let options = |field: &str| {
        let schema = format!(r#"{{"type": "object", "properties": {{"a": {field}}}}}"#);
        op(&schema).input[0].1.options.clone()
    };
    assert_eq!(options(r#"{"type": "string", "enum": ["x", "y"]}"#), ["x", "y"].map(Value::from));
    assert_eq!(options(r#"{"type": "integer", "enum": [1, 2]}"#), [1, 2].map(Value::Int));
    assert_eq!(options(r#"{"type": "string", "enum": ["x", null]}"#), [Value::from("x")]);
    assert_eq!(options(r#"{"type": "string", "enum": ["x", 1]}"#), []);
    assert_eq!(options(r#"{"enum": [["x"]]}"#), []);
}

#[test]
fn what_is_no_schema_of_an_object_takes_anything() {
    for schema in
        ["{}", "null", "true", "[]", r#"{"type": "string"}"#, r#"{"type": "object", "properties": 3}"#]
    {
        let found = op(schema);
        assert_eq!((found.input.len(), found.open), (0, true), "{schema}");
        let raw = found.schema.unwrap();
        assert_eq!(raw.text("type"), "object", "{schema}");
    }
    let deep = (0..40).fold(r#"{"type": "string"}"#.to_owned(), |inner, _| {
        format!(r#"{{"type": "object", "properties": {{"a": {inner}}}}}"#)
    });
    let shown = input(&deep).remove(0);
    assert!(shown.contains("any") && shown.len() < 120, "{shown}");
}

#[test]
fn arguments_that_a_schema_does_not_name_pass_unless_it_says_otherwise() {
    let given = Map::from([("a".into(), Value::from("x")), ("b".into(), Value::Int(1))]);
    let said = |more: &str| {
        let schema = format!(r#"{{"type": "object", "properties": {{"a": {{"type": "string"}}}}{more}}}"#);
        op(&schema).check_input(&given).map_err(|e| e.to_string())
    };
    assert_eq!(said(""), Ok(given.clone()));
    let closed = said(r#", "additionalProperties": false"#).unwrap_err();
    assert!(closed.starts_with("b: is no field of crm.find"), "{closed}");
}

#[test]
fn a_list_takes_the_place_of_the_one_before() {
    let table = OpTable::stock()
        .with_server("crm", vec![tool("b", "{}"), tool("a", "{}"), tool("b", r#"{"type": "object"}"#)])
        .with_server("other", vec![tool("a", "{}")]);
    let names = |table: &OpTable| -> Vec<String> {
        table.server("crm").unwrap().iter().map(|t| t.name.to_string()).collect()
    };
    assert_eq!(names(&table), ["a", "b"], "by name, each once");
    assert!(table.is_served("crm.a") && !table.is_served("search") && !table.is_served("crm.c"));
    let table = table.with_server("crm", vec![tool("c", "{}")]);
    assert_eq!(names(&table), ["c"]);
    let ops: Vec<&str> = table.names().filter(|n| n.contains('.')).collect();
    assert_eq!(ops, ["crm.c", "other.a"]);
    assert!(table.server("none").is_none());
}

#[test]
fn tools_of_servers_are_data() {
    let all = tool("find", r#"{"type": "object"}"#);
    let text = serde_json::to_string(&all).unwrap();
    assert_eq!(text, r#"{"name":"find","description":"Does it.","input_schema":{"type":"object"}}"#);
    assert_eq!(serde_json::from_str::<ServerTool>(&text).unwrap(), all);
    let short: ServerTool = serde_json::from_str(r#"{"name": "x", "input_schema": {}}"#).unwrap();
    assert_eq!((&*short.description, short.read_only), ("", None));
}
