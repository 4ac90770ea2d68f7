//! Values that must be in nothing that is kept or shown: keys, tokens, passwords.

use std::fmt;
use std::sync::Arc;

use crate::{Map, Value};

/// Shorter values are not looked for in texts: to take them out would garble every text.
const SHORTEST: usize = 6;

/// Characters behind `sk-` or `Bearer ` from which on it looks like a key.
const KEY_LENGTH: usize = 8;

/// What stands where a secret stood.
pub const HIDDEN: &str = "***";

/// Secrets that are taken out of texts and values. Clones share them.
#[derive(Clone, Default)]
pub struct Hidden(Arc<[String]>);

/// Their number only.
impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} secrets", self.0.len())
    }
}

impl Hidden {
    /// Hides these values wherever they stand, also as a string of JSON has them. White space around them does not
    /// count; values of less than six bytes are left where they are.
    pub fn new(values: impl IntoIterator<Item = String>) -> Hidden {
        let values = values.into_iter().map(|value| value.trim().to_owned());
        let mut values: Vec<String> = values.filter(|value| value.len() >= SHORTEST).collect();
        // Arguments of calls and replies with data are texts of JSON.
        let escaped: Vec<String> = values.iter().filter_map(|value| in_json(value)).collect();
        values.extend(escaped);
        // The longest first, so that no rest of one is left where it holds another.
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        Hidden(values.into())
    }

    /// The same secrets and these.
    pub fn and(&self, values: impl IntoIterator<Item = String>) -> Hidden {
        Hidden::new(self.0.iter().cloned().chain(values))
    }

    /// A text with every secret taken out.
    pub fn text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| {
            if text.contains(secret.as_str()) { text.replace(secret.as_str(), HIDDEN) } else { text }
        })
    }

    /// A value with every secret taken out of its texts and keys.
    pub fn value(&self, value: &Value) -> Value {
        match value {
            _ if self.0.is_empty() => value.clone(),
            Value::Text(text) => Value::from(self.text(text)),
            Value::List(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Map(fields) => Value::from(self.map(fields)),
            plain => plain.clone(),
        }
    }

    /// A record with every secret taken out.
    pub fn map(&self, fields: &Map) -> Map {
        fields.iter().map(|(name, field)| (self.text(name).into(), self.value(field))).collect()
    }
}

/// A secret as it stands in a string of JSON; none where that is the same.
fn in_json(value: &str) -> Option<String> {
    let quoted = Value::from(value).to_json_text();
    let escaped = quoted.strip_prefix('"')?.strip_suffix('"')?;
    (escaped != value).then(|| escaped.to_owned())
}

/// What looks like a key in a text, whosever it is: `sk-...`, and what stands behind `Bearer` or `Basic`. For the words
/// of services, which like to repeat a key that was wrong, in part or in full.
pub fn keys_in(text: &str) -> Vec<String> {
    let is_sign = |c: char| c.is_ascii_alphanumeric() || "-._~+/=*".contains(c);
    let mut keys = Vec::new();
    let mut is_behind_scheme = false;
    // A key holds no white space and no quotes.
    for word in text.split(|c: char| !is_sign(c)).filter(|word| !word.is_empty()) {
        let own = marked(word);
        let behind = Some(word).filter(|word| own.is_none() && is_behind_scheme && word.len() >= KEY_LENGTH);
        let key = own.or(behind).map(|key| key.trim_end_matches(['.', '=', '/']));
        keys.extend(key.map(str::to_owned));
        is_behind_scheme = ["bearer", "basic"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme));
    }
    keys
}

/// The part of a word that begins as a key does: `sk-` where no letter or digit stands before it.
fn marked(word: &str) -> Option<&str> {
    let places = word.match_indices("sk-").map(|(at, _)| at);
    let begins = |at: &usize| !word[..*at].ends_with(|c: char| c.is_ascii_alphanumeric());
    let mut keys = places.filter(begins).map(|at| &word[at..]);
    keys.find(|key| key.trim_end_matches(['.', '=', '/']).len() >= KEY_LENGTH + "sk-".len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(values: &[&str]) -> Hidden {
        Hidden::new(values.iter().map(|value| (*value).to_owned()))
    }

    #[test]
    fn secrets_are_taken_out_of_texts_and_values() {
        let hidden = hidden(&["abcdefgh\n", "abcdefgh-ijkl", "blue"]);
        assert_eq!(hidden.text("abcdefgh-ijkl and abcdefgh, in blue"), "*** and ***, in blue");
        let said = r#"{"abcdefgh":[1,"x abcdefgh y",null],"b":{"c":true}}"#;
        let said: Value = serde_json::from_str(said).unwrap();
        assert_eq!(hidden.value(&said).to_json_text(), r#"{"***":[1,"x *** y",null],"b":{"c":true}}"#);
        assert_eq!(format!("{hidden:?}"), "2 secrets");
        let arguments = Value::record([("key", Value::from("a \"quoted\" one"))]).to_json_text();
        let quoted = Hidden::new(["a \"quoted\" one".to_owned()]);
        assert_eq!(quoted.text(&arguments), r#"{"key":"***"}"#);
        assert_eq!(hidden.and(["in blue".to_owned()]).text("abcdefgh in blue"), "*** ***");
    }

    #[test]
    fn what_looks_like_a_key_is_found() {
        for (text, keys) in [
            ("Incorrect key: 'sk-abc***xyz'? Be off.", &["sk-abc***xyz"][..]),
            ("(sk-proj-0123456789).", &["sk-proj-0123456789"]),
            ("Authorization: Bearer abc.def.123, bearer of news", &["abc.def.123"]),
            ("?api_key=sk-0123456789&x=1", &["sk-0123456789"]),
            ("https://keys.example/sk-0123456789/", &["sk-0123456789"]),
            ("Authorization: Basic dXNlcjpwYXNz", &["dXNlcjpwYXNz"]),
            ("the bearer is late; sk-12", &[]),
            ("task-0123456789", &[]),
            ("", &[]),
        ] {
            assert_eq!(keys_in(text), keys, "{text}");
        }
    }
}
