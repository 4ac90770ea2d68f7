//! The shape of structured output, as OpenAI-compatible servers want it.
//!
//! In strict mode the server guarantees the shape, but it takes only a part of JSON Schema: every object is
//! closed and requires all of its properties, and nothing is left untyped. Shapes that fit are sent strict
//! (optional properties become nullable ones); others are sent as they are, without the guarantee. The root has
//! to be an object either way, so any other root is wrapped into one.

use deepgraph_protocol::OutputShape;
use serde_json::{Map, Value as Json, json};

/// The property that holds the answer where the asked-for shape is no object.
const WRAPPER: &str = "value";

/// Deepest nesting of a schema that is made strict; servers allow less.
const DEEPEST: usize = 32;

/// Keywords that say nothing about the shape, or nothing that strict mode takes; leaving them out only loosens.
const DROPPED: [&str; 5] = ["$schema", "default", "uniqueItems", "minLength", "maxLength"];

/// Whether the shape is sent inside a wrapper; the answer is taken out of it where the reply is read.
fn is_wrapped(shape: &OutputShape) -> bool {
    shape.schema.text("type") != "object"
}

/// The `response_format` of a request by chat completions.
pub(super) fn response_format(shape: &OutputShape) -> Json {
    json!({"type": "json_schema", "json_schema": named(shape)})
}

/// The `text.format` of a request to the Responses API.
pub(super) fn text_format(shape: &OutputShape) -> Json {
    let mut format = Map::from_iter([("type".to_owned(), json!("json_schema"))]);
    if let Json::Object(named) = named(shape) {
        format.extend(named);
    }
    Json::Object(format)
}

/// The schema with a record at its root.
pub(super) fn wrapped(shape: &OutputShape) -> Json {
    let schema = shape.schema.to_json();
    if !is_wrapped(shape) {
        return schema;
    }
    json!({"type": "object", "properties": {WRAPPER: schema}, "required": [WRAPPER]})
}

/// The wrapped schema with all objects closed; none where that can not express it.
pub(super) fn closed(shape: &OutputShape) -> Option<Json> {
    strict(&wrapped(shape), DEEPEST)
}

/// The shape's name as servers take it.
pub(super) fn name(shape: &OutputShape) -> String {
    safe_name(&shape.name, "output")
}

fn named(shape: &OutputShape) -> Json {
    let strict = closed(shape);
    json!({"name": name(shape), "strict": strict.is_some(), "schema": strict.unwrap_or_else(|| wrapped(shape))})
}

/// A name of letters, digits, `_` and `-`, at most 64 of them.
pub(super) fn safe_name(name: &str, otherwise: &str) -> String {
    let safe: String =
        name.chars().take(64).map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    if safe.is_empty() { otherwise.to_owned() } else { safe }
}

/// The schema under the rules of strict mode, or none where they can not express it.
fn strict(schema: &Json, deepest: usize) -> Option<Json> {
    let fields = schema.as_object()?;
    let deeper = deepest.checked_sub(1)?;
    let typed = ["type", "$ref", "anyOf", "enum", "const"].iter().any(|key| fields.contains_key(*key));
    if !typed {
        return None;
    }
    let mut out = Map::new();
    for (key, value) in fields {
        match key.as_str() {
            dropped if DROPPED.contains(&dropped) => {}
            "properties" | "required" | "additionalProperties" => {}
            "items" => {
                out.insert(key.clone(), strict(value, deeper)?);
            }
            "anyOf" => {
                let branches = value.as_array()?.iter().map(|branch| strict(branch, deeper));
                out.insert(key.clone(), branches.collect::<Option<Json>>()?);
            }
            "$defs" | "definitions" => {
                let named = value.as_object()?.iter();
                let named = named.map(|(name, schema)| Some((name.clone(), strict(schema, deeper)?)));
                out.insert(key.clone(), Json::Object(named.collect::<Option<Map<_, _>>>()?));
            }
            "oneOf"
            | "allOf"
            | "not"
            | "if"
            | "then"
            | "else"
            | "prefixItems"
            | "patternProperties"
            | "propertyNames"
            | "unevaluatedProperties"
            | "dependentSchemas"
            | "dependentRequired" => return None,
            _ => {
                out.insert(key.clone(), value.clone());
            }
        }
    }
    if fields.get("type") == Some(&json!("array")) && !fields.contains_key("items") {
        return None;
    }
    if fields.get("type") == Some(&json!("object")) || fields.contains_key("properties") {
        close(fields, &mut out, deeper)?;
    }
    Some(Json::Object(out))
}

/// Closes an object schema: all properties required, none besides them.
fn close(fields: &Map<String, Json>, out: &mut Map<String, Json>, deeper: usize) -> Option<()> {
    let properties = fields.get("properties")?.as_object()?;
    if !matches!(fields.get("additionalProperties"), None | Some(Json::Bool(false))) {
        return None;
    }
    let required: Vec<&str> = fields
        .get("required")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect();
    if required.iter().any(|name| !properties.contains_key(*name)) {
        return None;
    }
    let mut closed = Map::new();
    for (name, schema) in properties {
        let schema = strict(schema, deeper)?;
        let schema = if required.contains(&name.as_str()) { schema } else { nullable(schema) };
        closed.insert(name.clone(), schema);
    }
    out.insert("required".into(), closed.keys().cloned().map(Json::String).collect());
    out.insert("properties".into(), Json::Object(closed));
    out.insert("additionalProperties".into(), Json::Bool(false));
    Some(())
}

/// The schema with null allowed: how strict mode spells "optional".
fn nullable(schema: Json) -> Json {
    let plain = schema.get("type").and_then(Json::as_str).map(str::to_owned);
    match (schema, plain) {
        (schema, Some(kind)) if kind == "null" => schema,
        (Json::Object(mut fields), Some(kind)) if !fields.contains_key("const") => {
            fields.insert("type".into(), json!([kind, "null"]));
            if let Some(Json::Array(options)) = fields.get_mut("enum")
                && !options.contains(&Json::Null)
            {
                options.push(Json::Null);
            }
            Json::Object(fields)
        }
        (schema, _) if allows_null(&schema) => schema,
        (schema, _) => json!({"anyOf": [schema, {"type": "null"}]}),
    }
}

fn allows_null(schema: &Json) -> bool {
    let has = |key: &str, wanted: &Json| {
        schema.get(key).and_then(Json::as_array).is_some_and(|a| a.contains(wanted))
    };
    has("type", &json!("null")) || has("anyOf", &json!({"type": "null"}))
}

#[cfg(test)]
mod tests {
    use deepgraph_protocol::Value;

    use super::*;

    fn shape(name: &str, schema: Json) -> OutputShape {
        OutputShape { name: name.into(), schema: Value::from_json(&schema) }
    }

    fn sent(schema: Json) -> Json {
        response_format(&shape("Plan", schema))["json_schema"].clone()
    }

    #[test]
    fn a_record_is_closed_and_its_optional_fields_are_nullable() {
        let sent = sent(json!({
            "type": "object",
            "properties": {
                "question": {"type": "string", "description": "q", "minLength": 1},
                "period": {"type": "string", "enum": ["week", "year"], "default": "week"},
                "parts": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}}}},
            },
            "required": ["question"],
        }));
        assert_eq!(sent["strict"], true);
        let schema = &sent["schema"];
        assert_eq!(schema["additionalProperties"], false);
        let mut required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        required.sort_unstable();
        assert_eq!(required, ["parts", "period", "question"]);
        let properties = &schema["properties"];
        assert_eq!(properties["question"], json!({"type": "string", "description": "q"}));
        assert_eq!(properties["period"], json!({"type": ["string", "null"], "enum": ["week", "year", null]}));
        assert_eq!(properties["parts"]["type"], json!(["array", "null"]));
        assert_eq!(properties["parts"]["items"]["additionalProperties"], false);
        assert_eq!(properties["parts"]["items"]["properties"]["a"]["type"], json!(["integer", "null"]));
    }

    #[test]
    fn shapes_that_strict_mode_lacks_are_sent_as_they_are() {
        for schema in [
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object", "properties": {"a": {}}, "required": ["a"]}),
            json!({"type": "object", "properties": {"a": {"type": "array"}}, "required": ["a"]}),
            json!({"type": "object", "properties": {}, "required": ["a"]}),
            json!({"type": "object", "properties": {"a": {"oneOf": [{"type": "string"}]}}}),
            json!({"type": "object"}),
        ] {
            let sent = sent(schema.clone());
            assert_eq!(sent["strict"], false, "{schema}");
            assert_eq!(sent["schema"], schema);
        }
    }

    #[test]
    fn any_other_root_is_wrapped() {
        let list = shape("Topics", json!({"type": "array", "items": {"type": "string"}}));
        let sent = response_format(&list)["json_schema"].clone();
        assert_eq!(sent["strict"], true);
        assert_eq!(sent["schema"]["properties"]["value"]["type"], "array");
        let record = shape("Plan", json!({"type": "object", "properties": {"value": {"type": "string"}}}));
        assert_eq!(wrapped(&record), record.schema.to_json());
    }

    #[test]
    fn names_hold_only_what_servers_take() {
        assert_eq!(safe_name("Plan v2.1/ü", "output"), "Plan_v2_1__");
        assert_eq!(safe_name("", "output"), "output");
        assert_eq!(safe_name(&"x".repeat(100), "output").len(), 64);
    }

    #[test]
    fn endless_nesting_is_not_followed() {
        let mut schema = json!({"type": "string"});
        for _ in 0..100 {
            schema = json!({"type": "object", "properties": {"a": schema}, "required": ["a"]});
        }
        assert_eq!(sent(schema)["strict"], false);
    }
}
