//! Values by chance that fit what is asked for.

use deepgraph_graph::{Field, Type};
use deepgraph_protocol::{Map, Value};

use crate::dice::Dice;

/// How deep values are nested; below, only what is required is made.
const DEEPEST: usize = 6;

/// The most items of one list and the most bytes of one text, whatever a schema asks for: a value that is too short for
/// it is one more that does not fit.
const MOST_ITEMS: usize = 200;
const MOST_BYTES: usize = 20_000;

/// The most values within one value; what is beyond is null.
const MOST_VALUES: usize = 5_000;

/// A text of few, so that conditions on texts hold now and then.
pub(super) fn word(dice: &mut Dice) -> &'static str {
    dice.one(&["a", "b", "c"])
}

/// A value that fits a JSON Schema. What it can not read (references to elsewhere, patterns) it leaves out of account.
pub(super) fn fitting(schema: &Value, dice: &mut Dice) -> Value {
    Maker { root: schema, dice, left: MOST_VALUES }.make(schema, 0)
}

struct Maker<'s, 'd> {
    root: &'s Value,
    dice: &'d mut Dice,
    /// How many values may still be made.
    left: usize,
}

impl<'s> Maker<'s, '_> {
    fn make(&mut self, schema: &'s Value, depth: usize) -> Value {
        if self.left == 0 {
            return Value::Null;
        }
        self.left -= 1;
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
            _ => self.text(schema),
        }
    }

    /// Mostly one of few words, now and then another one: something new.
    fn text(&mut self, schema: &Value) -> Value {
        let mut text = match self.dice.below(4) {
            0 => format!("w{}", self.dice.below(50)),
            _ => word(self.dice).to_owned(),
        };
        let least = count(schema, "minLength").unwrap_or(0).min(MOST_BYTES);
        let most = count(schema, "maxLength").unwrap_or(MOST_BYTES).max(least);
        while text.len() < least {
            text.push('a');
        }
        text.truncate(most);
        Value::from(text)
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
        let least = count(schema, "minItems").unwrap_or(0).min(MOST_ITEMS);
        let most = count(schema, "maxItems").unwrap_or(usize::MAX).clamp(least, (least + 3).min(MOST_ITEMS));
        let count = if depth < DEEPEST { least + self.dice.below(most + 1 - least) } else { least };
        let Some(items) = schema.get("items") else { return Value::empty_list() };
        (0..count).map_while(|_| (self.left > 0).then(|| self.make(items, depth + 1))).collect()
    }
}

/// A count that a schema names; beyond all bounds where it is greater than memory.
fn count(schema: &Value, name: &str) -> Option<usize> {
    let count = schema.get(name)?.as_int()?;
    Some(usize::try_from(count.max(0)).unwrap_or(usize::MAX))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn made(schema: &str) -> Value {
        let schema: Value = serde_json::from_str(schema).unwrap();
        fitting(&schema, &mut Dice::of(1, "value", 0))
    }

    fn values(value: &Value) -> usize {
        match value {
            Value::List(items) => 1 + items.iter().map(values).sum::<usize>(),
            Value::Map(fields) => 1 + fields.values().map(values).sum::<usize>(),
            _ => 1,
        }
    }

    #[test]
    fn counts_and_lengths_are_as_the_schema_asks() {
        let list = made(r#"{"type": "array", "minItems": 7, "maxItems": 7, "items": {"type": "integer"}}"#);
        assert_eq!(list.as_list().map(<[Value]>::len), Some(7));
        let text = made(r#"{"type": "string", "minLength": 12}"#);
        assert!(text.as_str().is_some_and(|text| text.len() >= 12), "{text}");
        let text = made(r#"{"type": "string", "minLength": 5, "maxLength": 5}"#);
        assert_eq!(text.as_str().map(str::len), Some(5));
    }

    #[test]
    fn whatever_a_schema_asks_for_values_stay_small() {
        let list = made(r#"{"type": "array", "minItems": 1000000000, "items": {"type": "string"}}"#);
        assert_eq!(list.as_list().map(<[Value]>::len), Some(MOST_ITEMS));
        let text = made(r#"{"type": "string", "minLength": 1000000000}"#);
        assert_eq!(text.as_str().map(str::len), Some(MOST_BYTES));
        let mut nested = r#"{"type": "integer"}"#.to_owned();
        for _ in 0..10 {
            nested = format!(r#"{{"type": "array", "minItems": 1000, "items": {nested}}}"#);
        }
        assert!(values(&made(&nested)) <= MOST_VALUES);
        let itself = r##"{"$ref": "#/$defs/t", "$defs": {"t": {"type": "object", "required": ["a", "b", "c"],
            "properties": {"a": {"$ref": "#/$defs/t"}, "b": {"$ref": "#/$defs/t"}, "c": {"$ref": "#/$defs/t"}}}}}"##;
        assert!(values(&made(itself)) <= 4 * MOST_VALUES);
    }
}
