//! Whether a value fits a type.

use std::sync::Arc;

use deepgraph_protocol::{Map, Message, Value};

use super::{Field, Mismatch, RecordType, Type, builtin, duration};
use crate::nearest;

impl Field {
    /// Checks a value and completes it: defaults are filled in for missing fields of records, durations become
    /// seconds, `6.0` becomes `6` where an integer is wanted, short messages (`{user: TEXT}`) become messages.
    /// A value that needs none of this is returned as it is, without a copy.
    ///
    /// Text is never taken for a number. Null passes where the field is optional and is replaced by the default
    /// where it has one.
    pub fn check(&self, value: &Value) -> Result<Value, Mismatch> {
        Ok(self.fit(value)?.unwrap_or_else(|| value.clone()))
    }

    /// As [`Field::check`]; none: the value fits as it is.
    fn fit(&self, value: &Value) -> Result<Option<Value>, Mismatch> {
        if value.is_null() {
            return match &self.default {
                Some(default) => Ok(Some(default.clone())),
                None if self.optional || self.ty == Type::Any => Ok(None),
                None => Err(self.wanted(value)),
            };
        }
        let changed = match &self.ty {
            Type::Any => None,
            Type::String if value.as_str().is_some() => None,
            Type::Boolean if matches!(value, Value::Bool(_)) => None,
            Type::Integer => match value {
                Value::Int(_) => None,
                _ => Some(value.as_int().map(Value::Int).ok_or_else(|| self.wanted(value))?),
            },
            Type::Number if value.as_float().is_some() => None,
            Type::Duration => self.fit_duration(value)?,
            Type::List(item) => self.fit_list(item, value)?,
            Type::Map(item) => self.fit_map(item, value)?,
            Type::Record(record) => self.fit_record(record, value)?,
            Type::String | Type::Boolean | Type::Number => return Err(self.wanted(value)),
        };
        self.fit_bounds(changed.as_ref().unwrap_or(value))?;
        Ok(changed)
    }

    fn fit_duration(&self, value: &Value) -> Result<Option<Value>, Mismatch> {
        match value {
            Value::Int(n) if *n >= 0 => Ok(None),
            Value::Float(f) if *f >= 0.0 => Ok(None),
            Value::Text(text) => duration::parse(text).map(Some).ok_or_else(|| self.wanted(value)),
            _ => Err(self.wanted(value)),
        }
    }

    fn fit_list(&self, item: &Type, value: &Value) -> Result<Option<Value>, Mismatch> {
        let items = value.as_list().ok_or_else(|| self.wanted(value))?;
        if self.max_items.is_some_and(|max| items.len() as u64 > max) {
            return Err(self.wanted(value));
        }
        if *item == Type::Any {
            return Ok(None);
        }
        let item = Field::of(item.clone());
        let mut changed: Option<Vec<Value>> = None;
        for (i, v) in items.iter().enumerate() {
            if let Some(new) = item.fit(v).map_err(|m| m.at_index(i))?
                && let Some(slot) = changed.get_or_insert_with(|| items.to_vec()).get_mut(i)
            {
                *slot = new;
            }
        }
        Ok(changed.map(Value::from))
    }

    fn fit_map(&self, item: &Type, value: &Value) -> Result<Option<Value>, Mismatch> {
        let fields = value.as_map().ok_or_else(|| self.wanted(value))?;
        if *item == Type::Any {
            return Ok(None);
        }
        let item = Field::of(item.clone());
        let mut changed: Option<Map> = None;
        for (key, v) in fields {
            if let Some(new) = item.fit(v).map_err(|m| m.at_field(key))? {
                changed.get_or_insert_with(|| fields.clone()).insert(key.clone(), new);
            }
        }
        Ok(changed.map(Value::from))
    }

    fn fit_record(&self, record: &RecordType, value: &Value) -> Result<Option<Value>, Mismatch> {
        let fields = value.as_map().ok_or_else(|| self.wanted(value))?;
        if record.is_message()
            && let Some(full) = full_message(fields, value)?
        {
            return Ok(Some(full));
        }
        let mut changed: Option<Map> = None;
        for (name, field) in &record.fields {
            let given = fields.get(name);
            let new = match given {
                None if field.default.is_none() && !field.optional => {
                    return Err(Mismatch::here("is missing").at_field(name));
                }
                None => field.default.clone(),
                Some(v) => field.fit(v).map_err(|m| m.at_field(name))?,
            };
            if let Some(new) = new {
                changed.get_or_insert_with(|| fields.clone()).insert(name.clone(), new);
            }
        }
        if !record.open {
            for key in fields.keys() {
                if record.field(key).is_none() {
                    return Err(record.unknown_field(key));
                }
            }
        }
        Ok(changed.map(Value::from))
    }

    fn fit_bounds(&self, value: &Value) -> Result<(), Mismatch> {
        if !self.options.is_empty() && !self.options.contains(value) {
            return Err(self.wanted(value));
        }
        let Some(number) = value.as_float() else { return Ok(()) };
        let fits =
            self.minimum.is_none_or(|min| number >= min) && self.maximum.is_none_or(|max| number <= max);
        if fits { Ok(()) } else { Err(self.wanted(value)) }
    }

    /// The mismatch of a value with this field.
    pub(crate) fn wanted(&self, value: &Value) -> Mismatch {
        let size = match self.ty {
            Type::Integer => out_of_range(value),
            Type::Duration if value.as_str().is_some_and(duration::is_too_fine) => {
                ", and `ms` is the finest unit"
            }
            _ => "",
        };
        Mismatch::here(format!("must be {}, is {}{size}", self.phrase(), shown(value)))
    }

    /// What it wants, as a sentence says it: `an integer of at least 1`.
    pub(crate) fn phrase(&self) -> String {
        if !self.options.is_empty() {
            let names: Vec<String> = self.options.iter().map(plain).collect();
            return format!("one of {}", nearest::listed(names.iter().map(String::as_str)));
        }
        let mut phrase = match &self.ty {
            Type::String => "a string".to_owned(),
            Type::Integer => "an integer".to_owned(),
            Type::Number => "a number".to_owned(),
            Type::Boolean => "true or false".to_owned(),
            Type::Duration => "a duration such as 30s, 10m or 1h".to_owned(),
            Type::Any => "a value".to_owned(),
            Type::List(_) => match self.max_items {
                Some(max) => format!("a list of at most {max} items"),
                None => "a list".to_owned(),
            },
            Type::Map(_) => "a map".to_owned(),
            Type::Record(record) => match &record.name {
                Some(name) => format!("a record of type {name}"),
                None => "a record".to_owned(),
            },
        };
        let bound = |n: f64| Value::from(n).to_json_text().trim_end_matches(".0").to_owned();
        match (self.minimum, self.maximum) {
            (Some(min), Some(max)) => phrase += &format!(" from {} to {}", bound(min), bound(max)),
            (Some(min), None) => phrase += &format!(" of at least {}", bound(min)),
            (None, Some(max)) => phrase += &format!(" of at most {}", bound(max)),
            (None, None) => {}
        }
        phrase
    }
}

impl RecordType {
    /// The field of a name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|(n, _)| &**n == name).map(|(_, f)| f)
    }

    /// Whether it is the built-in `message`.
    pub(crate) fn is_message(&self) -> bool {
        self.open && self.name.as_deref() == Some(builtin::MESSAGE)
    }

    fn unknown_field(&self, key: &Arc<str>) -> Mismatch {
        let names = self.fields.iter().map(|(n, _)| &**n);
        let help = nearest::hint(key, names).map(|h| format!(" ({h})")).unwrap_or_default();
        Mismatch::here(format!("is no field of {}{help}", self.title())).at_field(key)
    }

    /// Its name, or "this record".
    pub(crate) fn title(&self) -> &str {
        self.name.as_deref().unwrap_or("this record")
    }
}

/// A short message written out; none where it is written out already.
fn full_message(fields: &Map, value: &Value) -> Result<Option<Value>, Mismatch> {
    if fields.contains_key("role") {
        return Ok(None);
    }
    Message::from_value(value).map(|message| Some(message.to_value())).map_err(|_| {
        Mismatch::here(
            "must be a message: {user: TEXT}, {assistant: TEXT}, {system: TEXT}, or with role and content",
        )
    })
}

impl Mismatch {
    /// A mismatch of the value itself.
    pub(crate) fn here(message: impl Into<String>) -> Mismatch {
        Mismatch { path: String::new(), message: message.into() }
    }

    /// The same, seen from the list that holds the value.
    pub(crate) fn at_index(self, index: usize) -> Mismatch {
        self.under(&format!("[{index}]"))
    }

    /// The same, seen from the record that holds the value.
    pub(crate) fn at_field(self, name: &str) -> Mismatch {
        self.under(name)
    }

    fn under(self, outer: &str) -> Mismatch {
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        Mismatch { path: format!("{outer}{dot}{}", self.path), message: self.message }
    }
}

/// A value as a message shows it: short, texts in quotes.
fn shown(value: &Value) -> String {
    let text = match value {
        Value::List(items) => return format!("a list of {}", items.len()),
        Value::Map(_) => return "a record".to_owned(),
        other => other.to_json_text(),
    };
    if text.chars().count() <= 60 {
        return text;
    }
    let short: String = text.chars().take(57).collect();
    format!("{short}...")
}

/// What is added to a whole number that no integer can hold.
fn out_of_range(value: &Value) -> &'static str {
    let number = match value {
        Value::Float(number) => Some(*number),
        Value::Text(text) => text.trim().parse::<f64>().ok(),
        _ => None,
    };
    match number {
        Some(number) if number >= i64::MAX as f64 => {
            ", which is too large: integers end at 9223372036854775807"
        }
        Some(number) if number < i64::MIN as f64 => {
            ", which is too small: integers begin at -9223372036854775808"
        }
        _ => "",
    }
}

/// An option as a list of options shows it.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_json_text(), str::to_owned)
}
