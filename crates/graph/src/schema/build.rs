//! Pieces of a JSON Schema.

use deepgraph_protocol::Value;

/// A type by its name.
pub(super) fn named(name: &str) -> Value {
    Value::record([("type", Value::from(name))])
}

/// A schema with more keywords.
pub(super) fn with<'k>(schema: Value, more: impl IntoIterator<Item = (&'k str, Value)>) -> Value {
    let mut all = schema.as_map().cloned().unwrap_or_default();
    for (key, value) in more {
        all.insert(key.into(), value);
    }
    Value::from(all)
}

/// What stands under a definition.
pub(super) fn reference(definition: &str) -> Value {
    Value::record([("$ref", Value::from(format!("#/$defs/{definition}")))])
}

/// One of these schemas at least.
pub(super) fn any_of(schemas: impl IntoIterator<Item = Value>) -> Value {
    group("anyOf", schemas)
}

/// All of these schemas.
pub(super) fn all_of(schemas: impl IntoIterator<Item = Value>) -> Value {
    group("allOf", schemas)
}

/// Exactly one of these schemas.
pub(super) fn one_of(schemas: impl IntoIterator<Item = Value>) -> Value {
    group("oneOf", schemas)
}

fn group(keyword: &str, schemas: impl IntoIterator<Item = Value>) -> Value {
    Value::record([(keyword, schemas.into_iter().collect())])
}

/// Whatever does not fit a schema.
pub(super) fn not(schema: Value) -> Value {
    Value::record([("not", schema)])
}

/// One of these words.
pub(super) fn words<'w>(list: impl IntoIterator<Item = &'w str>) -> Value {
    Value::record([("enum", list.into_iter().map(Value::from).collect())])
}

/// One of these words, which an editor offers, or another one.
pub(super) fn open_words<'w>(list: impl IntoIterator<Item = &'w str>) -> Value {
    any_of([words(list), with(named("string"), [("minLength", Value::Int(1))])])
}

/// Text of a form.
pub(super) fn pattern(form: &str) -> Value {
    with(named("string"), [("pattern", Value::from(form))])
}

/// A list of at least some items.
pub(super) fn array(items: Value, least: i64) -> Value {
    let list = with(named("array"), [("items", items)]);
    if least == 0 { list } else { with(list, [("minItems", Value::Int(least))]) }
}

/// A mapping with all these keys.
pub(super) fn requires<'k>(keys: impl IntoIterator<Item = &'k str>) -> Value {
    Value::record([("required", keys.into_iter().map(Value::from).collect())])
}

/// A mapping from names of a form; or nothing, where that is the same as an empty one.
pub(super) fn object_of(names: &str, values: Value, may_be_nothing: bool) -> Value {
    let kinds = if may_be_nothing { vec!["object", "null"] } else { vec!["object"] };
    Value::record([
        ("type", kinds.into_iter().map(Value::from).collect()),
        ("propertyNames", Value::record([("pattern", Value::from(names))])),
        ("additionalProperties", values),
    ])
}
