//! Reading JSON of which nothing is sure.

use serde_json::Value as Json;

/// The text of a field; "" where there is none.
pub(super) fn text<'a>(object: &'a Json, name: &str) -> &'a str {
    object.get(name).and_then(Json::as_str).unwrap_or_default()
}

/// The items of a field that is a list; none where it is none.
pub(super) fn list<'a>(object: &'a Json, name: &str) -> Option<&'a Vec<Json>> {
    object.get(name).and_then(Json::as_array)
}

/// The first text of a field that is a list of texts.
pub(super) fn first<'a>(object: &'a Json, name: &str) -> &'a str {
    list(object, name).and_then(|items| items.first()).and_then(Json::as_str).unwrap_or_default()
}

/// Names, the first three of them.
pub(super) fn names(all: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = all.filter(|name| !name.is_empty()).take(4).collect();
    if names.len() == 4 {
        names.pop();
        names.push("and others".to_owned());
    }
    names.join(", ")
}

/// Parts of a snippet, one behind the other.
pub(super) fn joined(parts: &[&str]) -> String {
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(". ")
}
