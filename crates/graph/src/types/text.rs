//! Values written as text, as the command line has them.

use deepgraph_protocol::Value;

use super::{Field, Mismatch, Type};
use crate::source;

impl Field {
    /// The value that a text stands for under this type: `6`, `true`, `30m`, `[a, b]`, `{a: 1}`.
    ///
    /// The text of a string field is taken as it is. Lists, maps and records are read as YAML or JSON.
    pub fn parse_text(&self, text: &str) -> Result<Value, Mismatch> {
        let given = Value::from(text);
        let value = match &self.ty {
            Type::String => given,
            Type::Integer => match text.trim().parse::<i64>() {
                Ok(n) => Value::Int(n),
                Err(_) => self.whole_float(text).ok_or_else(|| self.wanted(&given))?,
            },
            Type::Number => match (text.trim().parse::<i64>(), text.trim().parse::<f64>()) {
                (Ok(n), _) => Value::Int(n),
                (Err(_), Ok(f)) if f.is_finite() => Value::Float(f),
                _ => return Err(self.wanted(&given)),
            },
            Type::Boolean => match text.trim() {
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                _ => return Err(self.wanted(&given)),
            },
            Type::Duration => match text.trim().parse::<f64>() {
                Ok(seconds) if seconds.is_finite() => Value::Float(seconds),
                _ => given,
            },
            Type::Any => source::value_of(text).unwrap_or(given),
            Type::List(_) | Type::Map(_) | Type::Record(_) => source::value_of(text)
                .map_err(|message| Mismatch::here(format!("must be {}: {message}", self.phrase())))?,
        };
        self.check(&value)
    }

    fn whole_float(&self, text: &str) -> Option<Value> {
        let float = text.trim().parse::<f64>().ok()?;
        Value::from(float).as_int().map(Value::Int)
    }
}
