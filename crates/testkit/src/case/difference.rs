//! What differs from what was expected, as people read it.

use std::fmt;

use deepgraph_protocol::Value;
use deepgraph_trace::diff::of_texts;
use similar::{ChangeTag, TextDiff};

/// One thing that is not as the case says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Something was expected and something else came.
    Value {
        /// The key of the case: `expect.output.answer`.
        key: String,
        /// Its line.
        line: usize,
        /// What was expected, a line each item.
        expected: String,
        /// What came.
        came: String,
    },
    /// Anything else, in whole sentences.
    Note(String),
}

impl Difference {
    /// A value that is not the expected one.
    pub(crate) fn value(key: impl Into<String>, line: usize, expected: &Value, came: &Value) -> Difference {
        let one_line = is_short(expected) && is_short(came);
        let lines = |value: &Value| if one_line { value.to_json_text() } else { lines(value) };
        Difference::Value { key: key.into(), line, expected: lines(expected), came: lines(came) }
    }
}

/// Whether a value is read at a glance as one line of JSON.
fn is_short(value: &Value) -> bool {
    let json = value.to_json_text();
    json.len() <= 100 && !json.contains("\\n")
}

/// A value as lines: an item of a list each, a key of a mapping each, the lines of a text, else JSON.
fn lines(value: &Value) -> String {
    let items: Vec<String> = match value {
        Value::List(items) => items.iter().map(Value::to_json_text).collect(),
        Value::Map(fields) => fields.iter().map(|(k, v)| format!("{k}: {v}")).collect(),
        Value::Text(text) if text.contains('\n') => return text.to_string(),
        plain => return plain.to_json_text(),
    };
    items.join("\n")
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Note(note) => write!(f, "{note}"),
            Difference::Value { key, line, expected, came } => {
                write!(f, "{key} (line {line})")?;
                if !expected.contains('\n') && !came.contains('\n') {
                    return write!(f, "\n  expected {expected}\n  came     {came}");
                }
                write!(f, ": - is what was expected, + what came")?;
                write_diff(f, expected, came)
            }
        }
    }
}

/// Both texts, line by line.
fn write_diff(f: &mut fmt::Formatter<'_>, expected: &str, came: &str) -> fmt::Result {
    for change in TextDiff::from_lines(expected, came).iter_all_changes() {
        let sign = match change.tag() {
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
            ChangeTag::Equal => ' ',
        };
        write!(f, "\n  {sign} {}", change.value().trim_end_matches('\n'))?;
    }
    Ok(())
}

/// What two traces did differently; where that is nothing, as of their JSON forms, the lines in which they differ.
pub(crate) fn between(one: &str, other: &str) -> String {
    let diff = of_texts(one, other);
    if !diff.is_empty() && !one.starts_with('{') {
        return diff.to_string().lines().map(|line| format!("\n  {line}")).collect();
    }
    let diff = TextDiff::from_lines(one, other);
    let text = diff.unified_diff().context_radius(3).to_string();
    let shown: Vec<&str> = text.lines().filter(|line| !line.starts_with("@@")).take(60).collect();
    shown.iter().map(|line| format!("\n  {line}")).collect()
}
