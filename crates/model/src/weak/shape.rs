//! Values held against a JSON Schema, strictly and loosely.
//!
//! Only the keywords that shapes of graphs are made of are looked at (`type`, `properties`, `required`,
//! `additionalProperties`, `items`, `enum`, `const`, `anyOf`, `default`); whatever else a schema says is for the graph's own
//! check, which comes after. So a value that does not fit here does not fit there.

use deepgraph_protocol::{Map, Value};

/// Deepest nesting that is followed.
const DEEPEST: usize = 64;

/// Whether a value fits a schema.
pub(crate) fn fits(schema: &Value, value: &Value) -> bool {
    fits_within(schema, value, DEEPEST)
}

fn fits_within(schema: &Value, value: &Value, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    if let Some(options) = options(schema) {
        return options.contains(value);
    }
    if let Some(branches) = schema.get("anyOf").and_then(Value::as_list) {
        return branches.iter().any(|branch| fits_within(branch, value, depth));
    }
    let kinds = kinds(schema);
    if !kinds.is_empty() && !kinds.iter().any(|kind| is_of(kind, value)) {
        return false;
    }
    match value {
        Value::List(items) => {
            schema.get("items").is_none_or(|item| items.iter().all(|one| fits_within(item, one, depth)))
        }
        Value::Map(fields) => {
            let required = required(schema).all(|name| fields.contains_key(name));
            required
                && fields.iter().all(|(name, value)| match property(schema, name) {
                    // A field that may be left out may be null.
                    Some(field) => {
                        fits_within(field, value, depth) || (value.is_null() && !is_required(schema, name))
                    }
                    None => match schema.get("additionalProperties") {
                        Some(Value::Bool(allowed)) => *allowed,
                        Some(other) => fits_within(other, value, depth),
                        None => true,
                    },
                })
        }
        _ => true,
    }
}

/// The value that a value is taken for under a schema, by guessing: texts that are numbers, truth values or options in
/// other letters; one thing where a list is wanted, or a list of one where one thing is; names in other letters; a record
/// within another one; unknown fields left out; missing lists and maps empty. None where that does not help: texts, numbers
/// and truth values are not invented.
pub(crate) fn loosely(schema: &Value, value: &Value) -> Option<Value> {
    let guess = loosely_within(schema, value, DEEPEST)?;
    fits(schema, &guess).then_some(guess)
}

fn loosely_within(schema: &Value, value: &Value, depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    if fits_within(schema, value, depth) {
        return Some(value.clone());
    }
    if let Some(options) = options(schema) {
        let given = loose_name(&plain(value)?);
        return options.iter().find(|option| plain(option).is_some_and(|o| loose_name(&o) == given)).cloned();
    }
    if let Some(branches) = schema.get("anyOf").and_then(Value::as_list) {
        return branches.iter().find_map(|branch| loosely_within(branch, value, depth));
    }
    kinds(schema).iter().find_map(|kind| match *kind {
        "string" => plain(value).map(Value::from),
        "integer" => value.as_str().and_then(|text| text.trim().parse::<i64>().ok()).map(Value::Int),
        "number" => value
            .as_str()
            .and_then(|text| text.trim().parse::<f64>().ok())
            .filter(|number| number.is_finite())
            .map(Value::from),
        "boolean" => truth(value),
        "array" => list(schema, value, depth),
        "object" => record(schema, value, depth),
        _ => None,
    })
}

fn list(schema: &Value, value: &Value, depth: usize) -> Option<Value> {
    let any = Value::Null;
    let item = schema.get("items").unwrap_or(&any);
    match value {
        Value::Null => Some(Value::empty_list()),
        Value::List(items) => items.iter().map(|one| loosely_within(item, one, depth)).collect(),
        one => loosely_within(item, one, depth).map(|one| Value::from(vec![one])),
    }
}

fn record(schema: &Value, value: &Value, depth: usize) -> Option<Value> {
    let fields = match value {
        Value::Map(fields) => fields,
        Value::List(items) => match items.as_slice() {
            [one] => return loosely_within(schema, one, depth),
            _ => return None,
        },
        _ => return None,
    };
    let Some(properties) = schema.get("properties").and_then(Value::as_map) else {
        let item = schema.get("additionalProperties").filter(|item| item.as_map().is_some())?;
        let loose = |(name, value): (&std::sync::Arc<str>, &Value)| {
            Some((name.clone(), loosely_within(item, value, depth)?))
        };
        return fields.iter().map(loose).collect::<Option<Map>>().map(Value::from);
    };
    let known = |name: &str| properties.keys().find(|known| loose_name(known) == loose_name(name));
    // A record in a record of one field: `{"Plan": {...}}`.
    if let (1, Some((name, inner))) = (fields.len(), fields.iter().next())
        && known(name).is_none()
        && inner.as_map().is_some()
    {
        return loosely_within(schema, inner, depth);
    }
    let mut out = Map::new();
    for (name, value) in fields.iter() {
        match known(name) {
            Some(known) if out.contains_key(known) => {}
            Some(known) => {
                let field = properties.get(known)?;
                match loosely_within(field, value, depth) {
                    Some(value) => drop(out.insert(known.clone(), value)),
                    None if is_required(schema, known) => return None,
                    None => {}
                }
            }
            None if schema.get("additionalProperties") == Some(&Value::Bool(true)) => {
                out.insert(name.clone(), value.clone());
            }
            None => {}
        }
    }
    for name in required(schema) {
        if !out.contains_key(name) {
            out.insert(name.into(), nothing(property(schema, name)?)?);
        }
    }
    Some(Value::from(out))
}

/// What stands for a missing field: its default, or an empty list or map.
fn nothing(schema: &Value) -> Option<Value> {
    if let Some(default) = schema.get("default") {
        return Some(default.clone());
    }
    let is_map = schema.get("properties").is_none();
    kinds(schema).iter().find_map(|kind| match *kind {
        "array" => Some(Value::empty_list()),
        "object" if is_map => Some(Value::empty_map()),
        "null" => Some(Value::Null),
        _ => None,
    })
}

/// The one text that a record is made of, by name, where nothing but a text is needed to make it.
pub(crate) fn only_text(schema: &Value) -> Option<&str> {
    let mut needed = required(schema).filter(|name| property(schema, name).and_then(nothing).is_none());
    let only = needed.next().filter(|_| needed.next().is_none())?;
    let field = property(schema, only)?;
    (kinds(field).contains(&"string") && options(field).is_none()).then_some(only)
}

fn kinds(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::Text(kind)) => vec![kind],
        Some(Value::List(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn options(schema: &Value) -> Option<Vec<Value>> {
    let constant = schema.get("const").map(|one| vec![one.clone()]);
    constant.or_else(|| schema.get("enum").and_then(Value::as_list).map(<[Value]>::to_vec))
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_list).into_iter().flatten().filter_map(Value::as_str)
}

fn is_required(schema: &Value, name: &str) -> bool {
    required(schema).any(|required| required == name)
}

fn property<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    schema.get("properties")?.get(name)
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => matches!(value, Value::Bool(_)),
        "integer" => value.as_int().is_some(),
        "number" => value.as_float().is_some(),
        "string" => value.as_str().is_some(),
        "array" => value.as_list().is_some(),
        "object" => value.as_map().is_some(),
        _ => true,
    }
}

fn truth(value: &Value) -> Option<Value> {
    let text = value.as_str()?.trim().to_lowercase();
    match text.trim_end_matches('.') {
        "true" | "yes" => Some(Value::Bool(true)),
        "false" | "no" => Some(Value::Bool(false)),
        _ => None,
    }
}

/// A text, number or truth value as text.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.to_string()),
        Value::Int(_) | Value::Float(_) | Value::Bool(_) => Some(value.to_json_text()),
        _ => None,
    }
}

/// A name without what models like to change in it: capitals, blanks, `_` and `-`.
fn loose_name(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
