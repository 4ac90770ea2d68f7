//! Structured output read from the text of a reply.
//!
//! Three readings, the strictest first: JSON as it is, JSON that had to be mended where what is meant is clear, and
//! guesses. Only the first two are the answer; a guess is kept beside it, for the case that the model does not do better
//! when it is shown its mistake.

use std::sync::Arc;

use deepgraph_protocol::{OutputShape, Value};
use serde::Deserialize;

use crate::weak::{json, shape};

/// How many places in a text are tried as the start of the JSON. Enough for any preamble that a model writes,
/// few enough that a text made of brackets costs no more than some passes over it.
const MOST_STARTS: usize = 16;

/// The property that holds the answer where the asked-for shape is no object: servers want an object at the root.
const WRAPPER: &str = "value";

/// The longest text that is taken for the one text that a record needs, in bytes.
const LONGEST_TEXT: usize = 20_000;

/// What was read from a text.
#[derive(Debug, Default)]
pub(crate) struct Structured {
    /// The answer; null where the text holds none that is clear.
    pub(crate) data: Value,
    /// What the text may be taken for where the answer does not fit; null: nothing.
    pub(crate) guess: Value,
    /// What had to be mended to read the answer, for people.
    pub(crate) mended: Option<Arc<str>>,
}

/// Reads the JSON that a reply was asked for: the whole text, or what stands in a fence, or the first value of
/// the wanted kind after some words; one that fits the shape goes before those that do not.
pub(crate) fn read(text: &str, wanted: &OutputShape) -> Structured {
    let text = text.trim_start_matches('\u{feff}').trim();
    let schema = &wanted.schema;
    let kind = schema.text("type");
    let unwrapped = |value: Value| if kind == "object" { value } else { unwrap(value) };

    let clean = best(strict(text, kind).into_iter().map(unwrapped).collect(), schema);
    if let Some(data) = &clean
        && shape::fits(schema, data)
    {
        return Structured { data: data.clone(), ..Structured::default() };
    }
    let loose = tolerant(text, kind);
    let clear = || loose.iter().filter(|reading| reading.guessed.is_empty());
    let mended = clear().find(|reading| shape::fits(schema, &unwrapped(reading.value.clone())));
    if let Some(reading) = mended.or_else(|| clear().next().filter(|_| clean.is_none())) {
        let words: Vec<&str> = reading.mended.iter().copied().collect();
        let data = unwrapped(reading.value.clone());
        let guess = if shape::fits(schema, &data) { None } else { shape::loosely(schema, &data) };
        let mended = (!words.is_empty()).then(|| format!("JSON: {}", words.join(", ")).into());
        return Structured { data, guess: guess.unwrap_or_default(), mended };
    }
    let read = clean.iter().cloned().chain(loose.into_iter().map(|reading| unwrapped(reading.value)));
    let guess = read.into_iter().find_map(|value| shape::loosely(schema, &value));
    let guess = guess.or_else(|| as_text(text, schema).filter(|_| clean.is_none()));
    Structured { data: clean.unwrap_or_default(), guess: guess.unwrap_or_default(), mended: None }
}

/// Structured output that a provider gave apart from the text.
pub(crate) fn of_value(data: Value, wanted: &OutputShape) -> Structured {
    let fits = data.is_null() || shape::fits(&wanted.schema, &data);
    let guess = if fits { None } else { shape::loosely(&wanted.schema, &data) };
    Structured { data, guess: guess.unwrap_or_default(), mended: None }
}

/// The value that fits, else the first.
fn best(mut values: Vec<Value>, schema: &Value) -> Option<Value> {
    let fitting = values.iter().position(|value| shape::fits(schema, value)).unwrap_or(0);
    (fitting < values.len()).then(|| values.swap_remove(fitting))
}

/// A text without any JSON, as the record that needs just one text.
fn as_text(text: &str, schema: &Value) -> Option<Value> {
    let name = shape::only_text(schema)?;
    let is_text = !text.is_empty() && text.len() <= LONGEST_TEXT && !text.contains(['{', '}']);
    is_text.then(|| shape::loosely(schema, &Value::record([(name, Value::from(text))])))?
}

fn unwrap(value: Value) -> Value {
    let only = value.as_map().filter(|fields| fields.len() == 1).and_then(|fields| fields.get(WRAPPER));
    only.cloned().unwrap_or(value)
}

/// All that reads as JSON, in the order in which it is tried.
fn strict(text: &str, kind: &str) -> Vec<Value> {
    if let Ok(value) = serde_json::from_str(text) {
        return vec![value];
    }
    let inner = fenced(text).and_then(|inner| serde_json::from_str(inner).ok());
    inner.into_iter().chain(starts(text, kind, first_value)).collect()
}

fn tolerant(text: &str, kind: &str) -> Vec<json::Reading> {
    let is_wanted = |reading: &json::Reading| match kind {
        "object" => reading.value.as_map().is_some(),
        "array" => reading.value.as_list().is_some() || reading.value.get(WRAPPER).is_some(),
        _ => true,
    };
    let inner = fenced(text).and_then(json::read).filter(is_wanted);
    let found = starts(text, kind, |rest| json::read(rest).map(|reading| (reading.bytes, reading)));
    inner.into_iter().chain(found.into_iter().filter(is_wanted)).collect()
}

/// What stands between the first fence and the next, without the language's name; up to the end where there is no next.
fn fenced(text: &str) -> Option<&str> {
    let (_, after) = text.split_once("```")?;
    let inner = after.split_once("```").map_or(after, |(inner, _)| inner);
    Some(inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).trim())
}

/// What can be read at the brackets of running text. A bracket inside another one that could not be read is no start: the
/// inner record of an answer that was cut off is not the answer.
fn starts<T>(text: &str, kind: &str, read: impl Fn(&str) -> Option<(usize, T)>) -> Vec<T> {
    let mut depth = 0_usize;
    let mut tried = 0;
    let mut behind = 0;
    let mut found = Vec::new();
    for (at, c) in text.char_indices().filter(|(_, c)| matches!(c, '{' | '[' | '}' | ']')) {
        if at < behind {
            continue;
        }
        let opens = matches!(c, '{' | '[');
        let wanted = match kind {
            "object" => c == '{',
            "array" => opens,
            _ => opens,
        };
        if depth == 0 && wanted && tried < MOST_STARTS {
            tried += 1;
            if let Some((bytes, value)) = text.get(at..).and_then(&read) {
                found.push(value);
                behind = at + bytes;
                continue;
            }
        }
        depth = if opens { depth + 1 } else { depth.saturating_sub(1) };
    }
    found
}

/// The JSON value that the text begins with, whatever follows it, and how long it is.
fn first_value(text: &str) -> Option<(usize, Value)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
    let length = values.next()?.ok().map(|_| values.byte_offset())?;
    let value = Value::deserialize(&mut serde_json::Deserializer::from_str(text)).ok()?;
    Some((length, value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shape(schema: serde_json::Value) -> OutputShape {
        OutputShape { name: "Plan".into(), schema: Value::from_json(&schema) }
    }

    fn kind(kind: &str) -> OutputShape {
        shape(json!({"type": kind}))
    }

    fn read_json(text: &str, wanted: &OutputShape) -> Value {
        read(text, wanted).data
    }

    fn object(text: &str) -> String {
        read_json(text, &kind("object")).to_json_text()
    }

    #[test]
    fn plain_fenced_and_introduced_json_is_read() {
        assert_eq!(object(r#"{"a": 1}"#), r#"{"a":1}"#);
        assert_eq!(object("\u{feff} {\"a\": 1}\n"), r#"{"a":1}"#);
        assert_eq!(object("```json\n{\"a\": 1}\n```"), r#"{"a":1}"#);
        assert_eq!(object("Sure! As [1] says:\n```\n{\"a\": [1]}\n```\nAnything else?"), r#"{"a":[1]}"#);
        assert_eq!(object("Smile :[ ```json\n{\"a\":1}```"), r#"{"a":1}"#);
        assert_eq!(object("{\"a\":1}\n{\"a\":2}"), r#"{"a":1}"#);
        assert_eq!(read_json("Here: [1, 2].", &kind("array")).to_json_text(), "[1,2]");
        assert_eq!(read_json("Here: [1, 2].", &kind("")).to_json_text(), "[1,2]");
        assert_eq!(read_json("{\"value\": [1]}", &kind("array")).to_json_text(), "[1]");
        assert_eq!(read_json("\"yes\"", &kind("string")).to_json_text(), "\"yes\"");
    }

    #[test]
    fn what_is_clear_is_mended_and_told() {
        for (text, mended) in [
            ("{'a': {\"b\": 1}}", "JSON: quotation marks"),
            ("Here:\n```json\n{\"a\": {\"b\": 1,},} // done\n```", "JSON: commas"),
            ("{a: {b: 1}}", "JSON: quotation marks"),
            ("{\"a\": {\"b\": 1 /* one */}}", "JSON: comments"),
        ] {
            let read = read(text, &kind("object"));
            assert_eq!(read.data.to_json_text(), r#"{"a":{"b":1}}"#, "{text}");
            assert_eq!(read.mended.as_deref(), Some(mended), "{text}");
            assert!(read.guess.is_null(), "{text}");
        }
    }

    #[test]
    fn the_value_that_fits_goes_before_others() {
        let wanted =
            shape(json!({"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]}));
        let read = read("Unlike {\"a\": 1}, this is right: {\"b\": 2}", &wanted);
        assert_eq!(read.data.to_json_text(), r#"{"b":2}"#);
    }

    #[test]
    fn what_is_cut_off_or_misses_something_is_a_guess() {
        let wanted = shape(json!({
            "type": "object",
            "properties": {
                "title": {"type": "string"},
                "parts": {"type": "array", "items": {"type": "string"}},
                "ok": {"type": "boolean"},
            },
            "required": ["title", "parts"],
            "additionalProperties": false,
        }));
        for (text, guess) in [
            ("{\"title\": \"T\", \"parts\": [\"a\", \"b", r#"{"parts":["a","b"],"title":"T"}"#),
            ("{\"Title\": 7, \"parts\": \"a\", \"more\": 1}", r#"{"parts":["a"],"title":"7"}"#),
            ("{\"Plan\": {\"title\": \"T\", \"ok\": \"Yes\"}}", r#"{"ok":true,"parts":[],"title":"T"}"#),
            ("Just a title", r#"{"parts":[],"title":"Just a title"}"#),
            ("{\"parts\": []}", "null"),
            ("", "null"),
        ] {
            let read = read(text, &wanted);
            assert!(!shape::fits(&wanted.schema, &read.data), "{text}");
            assert_eq!(read.guess.to_json_text(), guess, "{text}");
        }
    }

    #[test]
    fn what_is_no_complete_json_gives_null() {
        for text in [
            "",
            "this is not json",
            "{\"a\": 1",
            "{\"a\": {\"b\": 1}",
            "{\"a\": [{\"b\": 1}], \"c\": \"cut of",
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
