//! Structured output read from the text of a reply.

use deepgraph_protocol::{OutputShape, Value};
use serde::Deserialize;

/// How many places in a text are tried as the start of the JSON. Enough for any preamble that a model writes,
/// few enough that a text made of brackets costs no more than some passes over it.
const MOST_STARTS: usize = 16;

/// Reads the JSON that a reply was asked for: the whole text, or what stands in a fence, or the first value of
/// the wanted kind after some words. Nothing is repaired: text that holds no complete JSON gives null.
pub(crate) fn read_json(text: &str, shape: &OutputShape) -> Value {
    let text = text.trim_start_matches('\u{feff}').trim();
    if let Ok(value) = serde_json::from_str(text) {
        return value;
    }
    if let Some(value) = fenced(text).and_then(|inner| serde_json::from_str(inner).ok()) {
        return value;
    }
    embedded(text, shape.schema.text("type")).unwrap_or_default()
}

/// What stands between the first fence and the next, without the language's name.
fn fenced(text: &str) -> Option<&str> {
    let (_, after) = text.split_once("```")?;
    let (inner, _) = after.split_once("```")?;
    Some(inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).trim())
}

/// The first complete value in running text. A bracket inside another one that did not parse is no start: the
/// inner record of an answer that was cut off is not the answer.
fn embedded(text: &str, kind: &str) -> Option<Value> {
    let mut depth = 0_usize;
    let mut starts = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' | '[' => {
                let wanted = match kind {
                    "object" => c == '{',
                    "array" => c == '[',
                    _ => true,
                };
                if depth == 0 && wanted && starts < MOST_STARTS {
                    starts += 1;
                    if let Some(value) = text.get(at..).and_then(first_value) {
                        return Some(value);
                    }
                }
                depth += 1;
            }
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// The JSON value that the text begins with, whatever follows it.
fn first_value(text: &str) -> Option<Value> {
    Value::deserialize(&mut serde_json::Deserializer::from_str(text)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(kind: &str) -> OutputShape {
        OutputShape { name: "Plan".into(), schema: Value::record([("type", Value::from(kind))]) }
    }

    fn object(text: &str) -> String {
        read_json(text, &shape("object")).to_json_text()
    }

    #[test]
    fn plain_fenced_and_introduced_json_is_read() {
        assert_eq!(object(r#"{"a": 1}"#), r#"{"a":1}"#);
        assert_eq!(object("\u{feff} {\"a\": 1}\n"), r#"{"a":1}"#);
        assert_eq!(object("```json\n{\"a\": 1}\n```"), r#"{"a":1}"#);
        assert_eq!(object("Sure! As [1] says:\n```\n{\"a\": [1]}\n```\nAnything else?"), r#"{"a":[1]}"#);
        assert_eq!(object("Smile :[ ```json\n{\"a\":1}```"), r#"{"a":1}"#);
        assert_eq!(object("<think>{hm}</think>{\"a\": \"}\"}"), r#"{"a":"}"}"#);
        assert_eq!(object("{\"a\":1}\n{\"a\":2}"), r#"{"a":1}"#);
        assert_eq!(read_json("Here: [1, 2].", &shape("array")).to_json_text(), "[1,2]");
        assert_eq!(read_json("Here: [1, 2].", &shape("")).to_json_text(), "[1,2]");
        assert_eq!(read_json("\"yes\"", &shape("string")).to_json_text(), "\"yes\"");
    }

    #[test]
    fn what_is_no_complete_json_gives_null() {
        for text in [
            "",
            "this is not json",
            "{\"a\": 1",
            "{\"a\": {\"b\": 1}",
            "{\"a\": [{\"b\": 1}], \"c\": \"cut of",
            "{'a': {\"b\": 1}}",
            "{\"a\":1,\"a\":2}",
            "```json\n{\"a\": {\"b\": 1}",
            "[1, 2]x",
        ] {
            assert_eq!(object(text), "null", "{text}");
        }
    }

    #[test]
    fn depth_and_length_do_no_harm() {
        assert_eq!(object(&"{\"a\":".repeat(100_000)), "null");
        assert_eq!(object(&"{}}".repeat(100_000)), "{}");
        assert_eq!(object(&"{".repeat(1_000_000)), "null");
        assert_eq!(object(&"日本{".repeat(1000)), "null");
        assert_eq!(object("\u{0}\u{1}{\u{0}}"), "null");
    }
}
