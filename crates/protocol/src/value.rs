//! Shared, immutable data.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeOwned, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A record or a map: keys in byte order, so that its JSON form is canonical.
pub type Map = BTreeMap<Arc<str>, Value>;

/// A JSON-shaped value whose texts, lists and maps are shared: a clone copies a pointer, whatever the size.
///
/// State, inputs and results are all values. Integers and floats are kept apart (`6` is not `6.0`); numbers
/// that do not fit an `i64` become floats.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// Nothing: an unset channel, a missing field.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number. Never NaN or infinite: those become [`Value::Null`] when built from JSON.
    Float(f64),
    /// Text.
    Text(Arc<str>),
    /// A list.
    List(Arc<Vec<Value>>),
    /// A record or a map.
    Map(Arc<Map>),
}

impl Value {
    /// An empty list.
    pub fn empty_list() -> Value {
        Value::List(Arc::default())
    }

    /// An empty map.
    pub fn empty_map() -> Value {
        Value::Map(Arc::default())
    }

    /// A record from its fields.
    pub fn record<K: Into<Arc<str>>>(fields: impl IntoIterator<Item = (K, Value)>) -> Value {
        Value::Map(Arc::new(fields.into_iter().map(|(k, v)| (k.into(), v)).collect()))
    }

    /// The value of anything that serialises to JSON. Values that JSON can not express become null.
    pub fn of<T: Serialize>(thing: &T) -> Value {
        serde_json::to_value(thing).map(|json| Value::from_json(&json)).unwrap_or_default()
    }

    /// Reads the value as a typed record.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_value(self.to_json())
    }

    /// From `serde_json`'s tree.
    pub fn from_json(json: &serde_json::Value) -> Value {
        use serde_json::Value as Json;
        match json {
            Json::Null => Value::Null,
            Json::Bool(b) => Value::Bool(*b),
            Json::Number(n) => match n.as_i64() {
                Some(i) => Value::Int(i),
                None => n.as_f64().map_or(Value::Null, Value::from),
            },
            Json::String(s) => Value::from(s.as_str()),
            Json::Array(items) => items.iter().map(Value::from_json).collect(),
            Json::Object(fields) => {
                Value::record(fields.iter().map(|(k, v)| (k.as_str(), Value::from_json(v))))
            }
        }
    }

    /// As `serde_json`'s tree.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match self {
            Value::Null => Json::Null,
            Value::Bool(b) => Json::Bool(*b),
            Value::Int(i) => Json::from(*i),
            Value::Float(f) => Json::from(*f),
            Value::Text(s) => Json::String(s.to_string()),
            Value::List(items) => Json::Array(items.iter().map(Value::to_json).collect()),
            Value::Map(fields) => {
                Json::Object(fields.iter().map(|(k, v)| (k.to_string(), v.to_json())).collect())
            }
        }
    }

    /// Compact JSON, keys in byte order.
    pub fn to_json_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The field of a record, or [`None`] where this is no record or has no such field.
    pub fn get(&self, field: &str) -> Option<&Value> {
        self.as_map().and_then(|m| m.get(field))
    }

    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        if let Value::Text(s) = self { Some(s) } else { None }
    }

    /// The text of a field, or "" where it is missing or no text.
    pub fn text(&self, field: &str) -> &str {
        self.get(field).and_then(Value::as_str).unwrap_or("")
    }

    /// The items, if it is a list.
    pub fn as_list(&self) -> Option<&[Value]> {
        if let Value::List(items) = self { Some(items) } else { None }
    }

    /// The fields, if it is a record or map.
    pub fn as_map(&self) -> Option<&Map> {
        if let Value::Map(fields) = self { Some(fields) } else { None }
    }

    /// The whole number, if it is one (a float without fraction counts).
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(i) => Some(*i),
            Value::Float(f) if f.fract() == 0.0 && f.abs() < 9.0e15 => Some(*f as i64),
            _ => None,
        }
    }

    /// The number, if it is one.
    pub fn as_float(&self) -> Option<f64> {
        match self {
            Value::Int(i) => Some(*i as f64),
            Value::Float(f) => Some(*f),
            _ => None,
        }
    }

    /// Whether it is [`Value::Null`].
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// What a condition makes of it: null, false, 0, "" and empty lists and maps do not hold.
    pub fn is_true(&self) -> bool {
        match self {
            Value::Null => false,
            Value::Bool(b) => *b,
            Value::Int(i) => *i != 0,
            Value::Float(f) => *f != 0.0,
            Value::Text(s) => !s.is_empty(),
            Value::List(items) => !items.is_empty(),
            Value::Map(fields) => !fields.is_empty(),
        }
    }

    /// How many lists and maps stand within each other at the deepest place; 0 for plain values.
    pub fn depth(&self) -> usize {
        match self {
            Value::List(items) => 1 + items.iter().map(Value::depth).max().unwrap_or(0),
            Value::Map(fields) => 1 + fields.values().map(Value::depth).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// The name of its kind as error messages use it.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Int(_) => "integer",
            Value::Float(_) => "number",
            Value::Text(_) => "string",
            Value::List(_) => "list",
            Value::Map(_) => "record",
        }
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Value {
        Value::Bool(b)
    }
}

impl From<i64> for Value {
    fn from(i: i64) -> Value {
        Value::Int(i)
    }
}

impl From<f64> for Value {
    fn from(f: f64) -> Value {
        if f.is_finite() { Value::Float(f) } else { Value::Null }
    }
}

impl From<&str> for Value {
    fn from(s: &str) -> Value {
        Value::Text(s.into())
    }
}

impl From<String> for Value {
    fn from(s: String) -> Value {
        Value::Text(s.into())
    }
}

impl From<Arc<str>> for Value {
    fn from(s: Arc<str>) -> Value {
        Value::Text(s)
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Value {
        Value::List(Arc::new(items))
    }
}

impl From<Map> for Value {
    fn from(fields: Map) -> Value {
        Value::Map(Arc::new(fields))
    }
}

impl FromIterator<Value> for Value {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Value {
        Value::List(Arc::new(items.into_iter().collect()))
    }
}

/// Compact JSON.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_json_text())
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => s.serialize_unit(),
            Value::Bool(b) => s.serialize_bool(*b),
            Value::Int(i) => s.serialize_i64(*i),
            Value::Float(f) => s.serialize_f64(*f),
            Value::Text(t) => s.serialize_str(t),
            Value::List(items) => items.serialize(s),
            Value::Map(fields) => fields.serialize(s),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Value, D::Error> {
        struct AnyValue;

        impl<'de> Visitor<'de> for AnyValue {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any JSON value")
            }
            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }
            fn visit_none<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }
            fn visit_some<D: Deserializer<'de>>(self, d: D) -> Result<Value, D::Error> {
                Value::deserialize(d)
            }
            fn visit_bool<E>(self, b: bool) -> Result<Value, E> {
                Ok(Value::Bool(b))
            }
            fn visit_i64<E>(self, i: i64) -> Result<Value, E> {
                Ok(Value::Int(i))
            }
            fn visit_u64<E>(self, u: u64) -> Result<Value, E> {
                Ok(i64::try_from(u).map_or_else(|_| Value::from(u as f64), Value::Int))
            }
            fn visit_f64<E>(self, f: f64) -> Result<Value, E> {
                Ok(Value::from(f))
            }
            fn visit_str<E>(self, s: &str) -> Result<Value, E> {
                Ok(Value::from(s))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Value::from(items))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
                let mut fields = Map::new();
                while let Some((key, value)) = map.next_entry::<String, Value>()? {
                    if fields.insert(key.as_str().into(), value).is_some() {
                        return Err(A::Error::custom(format!("the key \"{key}\" occurs twice")));
                    }
                }
                Ok(Value::from(fields))
            }
        }

        d.deserialize_any(AnyValue)
    }
}
