//! Values by chance that fit what is asked for.

use deepgraph_graph::{Field, Type};
use deepgraph_protocol::{Map, Value};

use crate::dice::Dice;

/// How deep values are nested; below, only what is required is made.
const DEEPEST: usize = 6;

/// A text of few, so that conditions on texts hold now and then.
pub(super) fn word(dice: &mut Dice) -> &'static str {
    dice.one(&["a", "b", "c"])
}

/// A value that fits a JSON Schema. What it can not read (references to elsewhere, patterns) it leaves out of account.
pub(super) fn fitting(schema: &Value, dice: &mut Dice) -> Value {
    Maker { root: schema, dice }.make(schema, 0)
}

struct Maker<'s, 'd> {
    root: &'s Value,
    dice: &'d mut Dice,
}

impl<'s> Maker<'s, '_> {
    fn make(&mut self, schema: &'s Value, depth: usize) -> Value {
        if let Some(fixed) = schema.get("const") {
            return fixed.clone();
        }
        if let Some(options) = schema.get("enum").and_then(Value::as_list)
            && let Some(option) = options.get(self.dice.below(options.len()))
        {
            return option.clone();
        }
        if let Some(default) = schema.get("default").filter(|d| !d.is_null())
            && self.dice.below(3) == 0
        {
            return default.clone();
        }
        for several in ["anyOf", "oneOf", "allOf"] {
            let ways = schema.get(several).and_then(Value::as_list);
            let not_null = |way: &&Value| way.text("type") != "null";
            if let Some(first) = ways.and_then(|ways| ways.iter().find(not_null)).filter(|_| depth < 20) {
                return self.make(first, depth + 1);
            }
        }
        if let Some(target) = schema.get("$ref").and_then(Value::as_str).and_then(|path| self.find(path))
            && depth < 20
        {
            return self.make(target, depth + 1);
        }
        match kind(schema) {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            "integer" => {
                let (least, most) = bounds(schema);
                Value::Int(self.dice.between(least.ceil() as i64, most.floor() as i64))
            }
            "number" => {
                let (least, most) = bounds(schema);
                Value::from(least + (most - least) * self.dice.below(9) as f64 / 8.0)
            }
            "boolean" => Value::Bool(self.dice.below(2) == 0),
            "null" => Value::Null,
            _ => self.text(),
        }
    }

    /// Mostly one of few words, now and then another one: something new.
    fn text(&mut self) -> Value {
        match self.dice.below(4) {
            0 => Value::from(format!("w{}", self.dice.below(50))),
            _ => Value::from(word(self.dice)),
        }
    }

    fn find(&self, path: &str) -> Option<&'s Value> {
        path.strip_prefix("#/")?.split('/').try_fold(self.root, |at, name| at.get(name))
    }

    fn object(&mut self, schema: &'s Value, depth: usize) -> Value {
        let properties = schema.get("properties").and_then(Value::as_map);
        if properties.is_some_and(|p| p.contains_key("role") && p.contains_key("tool_call_id")) {
            return Value::record([("role", Value::from("user")), ("content", Value::from(word(self.dice)))]);
        }
        let required = schema.get("required").and_then(Value::as_list).unwrap_or_default();
        let mut made = Map::new();
        for (name, property) in properties.into_iter().flatten() {
            let is_required = required.iter().any(|r| r.as_str() == Some(name));
            if is_required || (depth < DEEPEST && self.dice.below(2) == 0) {
                made.insert(name.clone(), self.make(property, depth + 1));
            }
        }
        if let Some(others) = schema.get("additionalProperties").filter(|o| o.as_map().is_some()) {
            let count = if depth < DEEPEST { self.dice.below(3) } else { 0 };
            for _ in 0..count {
                let key = format!("w{}", self.dice.below(9));
                made.insert(key.into(), self.make(others, depth + 1));
            }
        }
        Value::from(made)
    }

    fn array(&mut self, schema: &'s Value, depth: usize) -> Value {
        let count =
            |name: &str| schema.get(name).and_then(Value::as_int).and_then(|n| usize::try_from(n).ok());
        let least = count("minItems").unwrap_or(0);
        let most = count("maxItems").unwrap_or(least + 3).min(least + 3);
        let count = if depth < DEEPEST { least + self.dice.below(most + 1 - least.min(most)) } else { least };
        let Some(items) = schema.get("items") else { return Value::empty_list() };
        (0..count).map(|_| self.make(items, depth + 1)).collect()
    }
}

/// What a schema wants, of several the one that is easiest to make right.
fn kind(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::Text(name)) => name,
        Some(Value::List(names)) => {
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            let found = ["number", "integer", "string", "object", "array", "boolean"]
                .into_iter()
                .find(|name| names.contains(name));
            found.unwrap_or("null")
        }
        _ if schema.get("properties").is_some() => "object",
        _ if schema.get("items").is_some() => "array",
        _ => "string",
    }
}

fn bounds(schema: &Value) -> (f64, f64) {
    let number = |name: &str| schema.get(name).and_then(Value::as_float);
    let least = number("minimum").or_else(|| number("exclusiveMinimum").map(|n| n + 1.0));
    let most = number("maximum").or_else(|| number("exclusiveMaximum").map(|n| n - 1.0));
    match (least, most) {
        (Some(least), Some(most)) => (least, most.min(least + 1000.0).max(least)),
        (Some(least), None) => (least, least + 5.0),
        (None, Some(most)) => (most - 5.0, most),
        (None, None) => (0.0, 5.0),
    }
}

/// A value for a key of the configuration; none: its default. Limits become small, so that they are met.
pub(super) fn setting(field: &Field, dice: &mut Dice) -> Option<Value> {
    let by_default = dice.below(2) == 0 || (field.optional && dice.below(4) > 0);
    if by_default {
        return None;
    }
    if !field.options.is_empty() {
        return field.options.get(dice.below(field.options.len())).cloned();
    }
    let least = field.minimum.unwrap_or(0.0);
    let default = field.default.as_ref().and_then(Value::as_float);
    // As often between 1 and 10 as between 100 and 1000.
    let mut scaled = |most: f64| {
        let share = dice.below(1001) as f64 / 1000.0;
        let span = (most - least).max(0.0);
        (least + (span + 1.0).powf(share) - 1.0).min(field.maximum.unwrap_or(f64::INFINITY))
    };
    match &field.ty {
        Type::Integer => Some(Value::Int(scaled(default.unwrap_or(6.0)).round() as i64)),
        Type::Number => Some(Value::from(scaled(default.map_or(0.01, |d| d * 2.0)))),
        Type::Duration => {
            let seconds = scaled(default.unwrap_or(60.0)).max(0.01);
            Some(Value::from((seconds * 1000.0).round() / 1000.0))
        }
        Type::Boolean => Some(Value::Bool(dice.below(2) == 0)),
        _ => None,
    }
}
