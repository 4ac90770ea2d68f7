//! Fields from JSON Schema, as servers describe the input of their tools.
//!
//! Strings, numbers, booleans, lists, objects, `enum` and `description` are read. What types do not have (`anyOf`,
//! `$ref`, patterns, bounds, ...) is left to the server: such a value is anything.

use std::sync::Arc;

use deepgraph_protocol::Value;

use super::{Field, RecordType, Type};

/// Objects deeper than this are anything.
const MAX_NESTING: usize = 16;

/// The properties of an object's schema, and whether others are let through.
pub(crate) fn properties(schema: &Value) -> (Vec<(Arc<str>, Field)>, bool) {
    record(schema, 0)
}

fn read(schema: &Value, depth: usize) -> Field {
    let (name, nullable) = type_name(schema);
    let ty = match name {
        "string" => Type::String,
        "integer" => Type::Integer,
        "number" => Type::Number,
        "boolean" => Type::Boolean,
        "array" if depth < MAX_NESTING => {
            let item = schema.get("items").map_or(Type::Any, |items| read(items, depth + 1).ty);
            Type::List(Box::new(item))
        }
        "object" if depth < MAX_NESTING => object(schema, depth),
        _ => Type::Any,
    };
    let mut field =
        Field { optional: nullable, description: schema.text("description").into(), ..Field::of(ty) };
    field.options = options(schema, &field);
    field
}

/// The name of the type, and whether null is one of its values. "" where there is none, or more than one.
fn type_name(schema: &Value) -> (&str, bool) {
    match schema.get("type") {
        Some(Value::Text(name)) => (name, false),
        Some(Value::List(names)) => {
            let named: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            let nullable = named.contains(&"null");
            match named.iter().filter(|n| **n != "null").collect::<Vec<_>>().as_slice() {
                [one] if named.len() == names.len() => (one, nullable),
                _ => ("", nullable),
            }
        }
        _ => ("", false),
    }
}

fn object(schema: &Value, depth: usize) -> Type {
    let (fields, open) = record(schema, depth + 1);
    if fields.is_empty() {
        return Type::Map(Box::new(Type::Any));
    }
    Type::Record(Arc::new(RecordType { name: None, fields, open }))
}

fn record(schema: &Value, depth: usize) -> (Vec<(Arc<str>, Field)>, bool) {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_list)
        .map(|list| list.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let mut fields = Vec::new();
    for (name, property) in schema.get("properties").and_then(Value::as_map).into_iter().flatten() {
        let mut field = read(property, depth);
        field.optional |= !required.contains(&&**name);
        fields.push((name.clone(), field));
    }
    (fields, schema.get("additionalProperties") != Some(&Value::Bool(false)))
}

/// The values to choose from, if all of them are values of the type.
fn options(schema: &Value, field: &Field) -> Vec<Value> {
    let Some(listed) = schema.get("enum").and_then(Value::as_list) else { return Vec::new() };
    let listed: Vec<Value> = listed.iter().filter(|v| !v.is_null()).cloned().collect();
    let plain = |v: &Value| !matches!(v, Value::List(_) | Value::Map(_)) && field.check(v).is_ok();
    if listed.iter().all(plain) { listed } else { Vec::new() }
}
