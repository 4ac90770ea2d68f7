//! JSON as models write it.
//!
//! A reader that takes what is meant where that is clear, and says what it had to mend: trailing and missing commas,
//! comments, single and typographic quotation marks, names without quotation marks, Python's `True` and `None`, escapes
//! that JSON lacks (`\_`, `\upcite`), line breaks in texts. What is not clear it reads as well, but calls it a guess:
//! an end that was cut off, a quotation mark within a text, words without quotation marks, a name that stands twice.
//! One pass from left to right with a bounded nesting, so it ends in linear time whatever it is given.

#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeSet;
use std::sync::Arc;

use deepgraph_protocol::{Map, Value};

/// Deepest nesting that is read; journals allow no more.
const DEEPEST: usize = 64;

/// The longest word that is read without quotation marks, in bytes.
const LONGEST_WORD: usize = 2000;

/// A value that was read.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    /// The value.
    pub(crate) value: Value,
    /// How many bytes of the text it took.
    pub(crate) bytes: usize,
    /// What had to be mended, in words, each once.
    pub(crate) mended: BTreeSet<&'static str>,
    /// What had to be guessed, in words.
    pub(crate) guessed: BTreeSet<&'static str>,
}

/// Reads the value that a text begins with. None where it begins with none, or where it is nested too deeply.
pub(crate) fn read(text: &str) -> Option<Reading> {
    let mut reader = Reader { text, at: 0, mended: BTreeSet::new(), guessed: BTreeSet::new() };
    reader.skip();
    let value = reader.value(DEEPEST)?;
    Some(Reading { value, bytes: reader.at, mended: reader.mended, guessed: reader.guessed })
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    mended: BTreeSet<&'static str>,
    guessed: BTreeSet<&'static str>,
}

/// What came of a value within a list or a record.
enum Part {
    Value(Value),
    /// The text ended before it, or within it.
    Cut,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn pass(&mut self, c: char) -> bool {
        let is_there = self.peek() == Some(c);
        self.at += if is_there { c.len_utf8() } else { 0 };
        is_there
    }

    /// Passes over blanks and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            let rest = self.rest();
            let comment = if rest.starts_with("//") || rest.starts_with('#') {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            } else {
                return;
            };
            self.at += comment;
            self.mended.insert("comments");
        }
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        match self.part(depth)? {
            Part::Value(value) => Some(value),
            Part::Cut => None,
        }
    }

    /// A value. None where it can not be one.
    fn part(&mut self, depth: usize) -> Option<Part> {
        let Some(c) = self.peek() else { return Some(Part::Cut) };
        match c {
            '{' => self.record(depth.checked_sub(1)?).map(Part::Value),
            '[' => self.list(depth.checked_sub(1)?).map(Part::Value),
            _ if text::closing(c).is_some() => Some(Part::Value(Value::from(self.quoted(c)))),
            _ => self.bare(),
        }
    }

    /// Whether something stands before the bracket that ends this, which is passed; `other` is the bracket of what is around
    /// it: this one was forgotten then.
    fn has_more(&mut self, own: char, other: char) -> bool {
        loop {
            self.skip();
            match self.peek() {
                None => {
                    self.guessed.insert("an end that was cut off");
                    return false;
                }
                Some(',') => {
                    self.at += 1;
                    self.mended.insert("commas");
                }
                Some(c) if c == own => {
                    self.at += 1;
                    return false;
                }
                Some(c) if c == other => {
                    self.guessed.insert("brackets");
                    return false;
                }
                Some(_) => return true,
            }
        }
    }

    fn record(&mut self, depth: usize) -> Option<Value> {
        self.at += 1;
        let mut fields = Map::new();
        while self.has_more('}', ']') {
            let name = self.name()?;
            self.skip();
            if self.peek().is_none() {
                self.guessed.insert("an end that was cut off");
                break;
            }
            if !self.pass(':') {
                return None;
            }
            self.skip();
            match self.part(depth)? {
                Part::Cut => {
                    self.guessed.insert("an end that was cut off");
                    break;
                }
                Part::Value(value) => {
                    if fields.insert(name, value).is_some() {
                        self.guessed.insert("a name that stands twice");
                    }
                }
            }
            self.between('}');
        }
        Some(Value::from(fields))
    }

    fn list(&mut self, depth: usize) -> Option<Value> {
        self.at += 1;
        let mut items = Vec::new();
        while self.has_more(']', '}') {
            match self.part(depth)? {
                Part::Cut => {
                    self.guessed.insert("an end that was cut off");
                    break;
                }
                Part::Value(value) => items.push(value),
            }
            self.between(']');
        }
        Some(Value::from(items))
    }

    /// What stands behind a value: a comma, or the end of what it is in.
    fn between(&mut self, end: char) {
        self.skip();
        if self.pass(',') {
            self.skip();
            if self.peek() == Some(end) {
                self.mended.insert("commas");
            }
        } else if !matches!(self.peek(), None | Some('}' | ']')) {
            self.mended.insert("commas");
        }
    }

    /// The name of a field.
    fn name(&mut self) -> Option<Arc<str>> {
        let c = self.peek()?;
        if text::closing(c).is_some() {
            return Some(self.quoted(c).into());
        }
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '.')));
        let name = rest.get(..end.unwrap_or(rest.len()))?;
        if name.is_empty() {
            return None;
        }
        self.at += name.len();
        self.mended.insert("quotation marks");
        Some(name.into())
    }

    /// A value without quotation marks: a number, a word that stands for one, or any other word.
    fn bare(&mut self) -> Option<Part> {
        let rest = self.rest();
        let end = rest.find([',', '}', ']', '\n', '\r']).unwrap_or(rest.len());
        let whole = rest.get(..end)?;
        // A comment behind it is none of it.
        let comment = [" //", " /*", " #"].iter().filter_map(|mark| whole.find(mark)).min();
        let comment = comment.unwrap_or(whole.len());
        let word = whole.get(..comment)?.trim_end();
        if word.is_empty() || word.len() > LONGEST_WORD || word.starts_with(':') {
            return None;
        }
        self.at += word.len();
        if word.len() == rest.len() && !matches!(word, "true" | "false" | "null") {
            // It may have been longer.
            return Some(Part::Cut);
        }
        if let Ok(value) = serde_json::from_str::<Value>(word) {
            return Some(Part::Value(value));
        }
        let known = match word {
            "True" | "TRUE" => Some(Value::Bool(true)),
            "False" | "FALSE" => Some(Value::Bool(false)),
            "None" | "NULL" | "Null" | "nil" | "undefined" => Some(Value::Null),
            _ => None,
        };
        if let Some(value) = known {
            self.mended.insert("words of another language");
            return Some(Part::Value(value));
        }
        if let Some(number) = number(word) {
            self.mended.insert("numbers");
            return Some(Part::Value(number));
        }
        self.guessed.insert("texts without quotation marks");
        Some(Part::Value(match word {
            "NaN" | "Infinity" | "-Infinity" => Value::Null,
            word => Value::from(word),
        }))
    }

    fn quoted(&mut self, open: char) -> String {
        let mut notes = text::Notes::default();
        let (read, bytes) = text::read(self.rest(), open, &mut notes);
        self.at += bytes;
        self.mended.extend(notes.mended);
        self.guessed.extend(notes.guessed);
        read
    }
}

/// A number with a plus sign, or without digits on one side of its point.
fn number(word: &str) -> Option<Value> {
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let (sign, size) = match word.strip_prefix('-') {
        Some(size) => ("-", size),
        None => ("", word.strip_prefix('+').unwrap_or(word)),
    };
    let (whole, part) = size.split_once('.').unwrap_or((size, ""));
    let is_number = digits(whole) && digits(part) && !(whole.is_empty() && part.is_empty());
    if !is_number {
        return None;
    }
    let whole = if whole.is_empty() { "0" } else { whole };
    let text = if part.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part}") };
    serde_json::from_str(&text).ok()
}
