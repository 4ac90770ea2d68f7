//! The configuration of a run.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_protocol::{Map, Value};

use crate::{Bundle, ConfigUse, Field, Mismatch, Type, nearest};

/// Keys may be written with this before them, as LangGraph clients do.
const ALIAS: &str = "configurable.";

impl Bundle {
    /// The effective configuration: defaults and what is set, checked against the declared types. Everything
    /// that does not fit is reported, each with the key as its path.
    ///
    /// A text is read as the declared type wants it (`"6"`, `"true"`, `"30m"`, `"[a, b]"`). A key may have
    /// `configurable.` before it. A key without a value and default is left out where it is optional; null, an empty text
    /// and, but for texts, `"null"` take its value away.
    pub fn config_of(&self, overrides: BTreeMap<String, Value>) -> Result<Map, Vec<Mismatch>> {
        let mut config = Map::new();
        let mut wrong = Vec::new();
        let mut given: BTreeMap<Arc<str>, Value> = BTreeMap::new();
        for (key, value) in overrides {
            let name = key.strip_prefix(ALIAS).unwrap_or(&key);
            match self.config.get_key_value(name) {
                None => wrong.push(self.unknown_key(name)),
                Some((name, _)) if given.contains_key(name) => {
                    wrong.push(Mismatch { path: name.to_string(), message: "is set twice".to_owned() });
                }
                Some((name, _)) => {
                    given.insert(name.clone(), value);
                }
            }
        }
        for (key, field) in &self.config {
            let checked = match given.get(key).filter(|value| !unsets(field, value)) {
                Some(Value::Text(text)) if field.ty != Type::Any => field.parse_text(text),
                Some(value) => field.check(value),
                None if field.default.is_none() && field.optional => continue,
                None => match &field.default {
                    Some(default) => Ok(default.clone()),
                    None => Err(Mismatch::here(format!("needs a value: {}", field.phrase()))),
                },
            };
            match checked {
                Ok(value) => {
                    config.insert(key.clone(), value);
                }
                Err(mismatch) => wrong.push(mismatch.at_field(key)),
            }
        }
        wrong.extend(self.config_uses.iter().filter_map(|of| of.mismatch(config.get(&of.key)?)));
        if wrong.is_empty() { Ok(config) } else { Err(wrong) }
    }

    fn unknown_key(&self, name: &str) -> Mismatch {
        let help = nearest::hint(name, self.config.keys().map(|k| &**k));
        let help = help.map(|h| format!("; {h}")).unwrap_or_default();
        Mismatch { path: nearest::shortened(name), message: format!("is no key of the configuration{help}") }
    }
}

/// Whether a value says that an optional key is to have none.
fn unsets(field: &Field, value: &Value) -> bool {
    let takes_texts = matches!(field.ty, Type::String | Type::Any);
    let says_nothing = match value {
        Value::Null => true,
        Value::Text(text) => text.trim().is_empty() || (text.trim() == "null" && !takes_texts),
        _ => false,
    };
    says_nothing && field.optional && field.default.is_none()
}

impl ConfigUse {
    /// Why the setting can not have this value.
    pub(crate) fn mismatch(&self, value: &Value) -> Option<Mismatch> {
        let why = self.takes.check(value).err().filter(|_| !value.is_null())?;
        let why = Mismatch { message: format!("{}; it is read by {}", why.message, self.by), ..why };
        Some(why.at_field(&self.key))
    }
}
