//! JSON Schema of types.

use deepgraph_protocol::Value;

use super::{Field, RecordType, Type};

impl Field {
    /// Its JSON Schema: objects closed (`additionalProperties: false`), optional fields and those with a default
    /// not in `required`, descriptions, enumerations and bounds included. Durations are seconds or text such as `30m`.
    pub fn json_schema(&self) -> Value {
        let mut schema = type_schema(&self.ty);
        if !self.options.is_empty() {
            schema.push(("enum", Value::from(self.options.clone())));
        }
        if let Some(min) = self.minimum {
            schema.push(("minimum", number(min)));
        }
        if let Some(max) = self.maximum {
            schema.push(("maximum", number(max)));
        }
        if let Some(max) = self.max_items.and_then(|n| i64::try_from(n).ok()) {
            schema.push(("maxItems", Value::Int(max)));
        }
        if !self.description.is_empty() {
            schema.push(("description", Value::from(self.description.clone())));
        }
        if let Some(default) = &self.default {
            schema.push(("default", default.clone()));
        }
        Value::record(schema)
    }
}

/// The schema of an object with these fields.
pub(crate) fn object<'a>(
    fields: impl IntoIterator<Item = (&'a str, &'a Field)>,
) -> Vec<(&'static str, Value)> {
    let mut properties = Vec::new();
    let mut required = Vec::new();
    for (name, field) in fields {
        properties.push((name, field.json_schema()));
        if !field.optional && field.default.is_none() {
            required.push(Value::from(name));
        }
    }
    vec![
        ("type", Value::from("object")),
        ("properties", Value::record(properties)),
        ("required", Value::from(required)),
        ("additionalProperties", Value::Bool(false)),
    ]
}

fn type_schema(ty: &Type) -> Vec<(&'static str, Value)> {
    let named = |name: &str| vec![("type", Value::from(name))];
    match ty {
        Type::String => named("string"),
        Type::Integer => named("integer"),
        Type::Number => named("number"),
        Type::Boolean => named("boolean"),
        // Seconds, or text such as `30m`.
        Type::Duration => vec![("type", Value::from(vec![Value::from("string"), Value::from("number")]))],
        Type::Any => Vec::new(),
        Type::List(item) => vec![("type", Value::from("array")), ("items", of_type(item))],
        Type::Map(item) => vec![("type", Value::from("object")), ("additionalProperties", of_type(item))],
        Type::Record(record) => record_schema(record),
    }
}

fn record_schema(record: &RecordType) -> Vec<(&'static str, Value)> {
    object(record.fields.iter().map(|(n, f)| (&**n, f)))
}

fn of_type(ty: &Type) -> Value {
    Value::record(type_schema(ty))
}

/// Whole numbers without a fraction, as people write them.
fn number(n: f64) -> Value {
    let float = Value::from(n);
    float.as_int().map_or(float, Value::Int)
}
