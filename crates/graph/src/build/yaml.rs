//! The text of a built graph: YAML as the source of a graph file is read, laid out as people would.

use super::tree::{Mapping, Tree};
use crate::types::duration;

/// The longest line that a mapping or list may make when it stands in one.
const WIDTH: usize = 100;

/// Words that other readers of YAML take for something else than text.
const WORDS: [&str; 10] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "none"];

/// The text of a document: what stands at each key, in the order of the mapping; short lists and mappings in one line,
/// texts with lines as blocks.
pub fn write(root: &Mapping) -> String {
    let mut out = String::new();
    for (key, value) in root.entries() {
        out += &key_text(key);
        out.push(':');
        match value {
            // The parts of a graph stand one below the other, however few they are.
            Tree::Map(entries) if !entries.is_empty() => {
                out.push('\n');
                block_map(entries, 2, &mut out);
            }
            other => after_key(other, 0, key.len(), &mut out),
        }
    }
    out
}

fn block_map(map: &Mapping, indent: usize, out: &mut String) {
    for (key, value) in map.entries() {
        let key = key_text(key);
        *out += &" ".repeat(indent);
        *out += &key;
        out.push(':');
        after_key(value, indent, indent + key.len(), out);
    }
}

/// What stands at a key, from behind its colon to the end of its last line.
fn after_key(value: &Tree, indent: usize, column: usize, out: &mut String) {
    if let Some(line) = in_one_line(value).filter(|line| column + line.len() <= WIDTH || is_plain(value)) {
        *out += &format!(" {line}\n");
        return;
    }
    match value {
        Tree::Map(entries) => {
            out.push('\n');
            block_map(entries, indent + 2, out);
        }
        Tree::List(items) => {
            out.push('\n');
            block_list(items, indent + 2, out);
        }
        Tree::Text(text) => *out += &block_text(text, indent + 2),
        _ => {}
    }
}

fn block_list(items: &[Tree], indent: usize, out: &mut String) {
    for item in items {
        *out += &" ".repeat(indent);
        out.push('-');
        let line = in_one_line(item).filter(|line| indent + line.len() <= WIDTH || is_plain(item));
        match (line, item) {
            (Some(line), _) => *out += &format!(" {line}\n"),
            (None, Tree::Text(text)) => *out += &block_text(text, indent + 2),
            (None, nested) => {
                // The first line of what is nested stands behind the dash.
                let mut block = String::new();
                match nested {
                    Tree::Map(entries) => block_map(entries, indent + 2, &mut block),
                    Tree::List(items) => block_list(items, indent + 2, &mut block),
                    _ => {}
                }
                *out += &format!(" {}", block.trim_start_matches(' '));
            }
        }
    }
}

/// Whether it is no mapping or list, which could be broken into lines.
fn is_plain(value: &Tree) -> bool {
    !matches!(value, Tree::Map(_) | Tree::List(_))
}

/// What fits in one line, as it stands at a key or in a list; none for a text with lines.
fn in_one_line(value: &Tree) -> Option<String> {
    match value {
        Tree::Text(text) if is_block(text) => None,
        Tree::Text(text) if is_bare(text, false) => Some(text.clone()),
        other => flow(other),
    }
}

/// In the form with brackets; none where a text in it has lines.
fn flow(value: &Tree) -> Option<String> {
    Some(match value {
        Tree::Null => "null".to_owned(),
        Tree::Bool(b) => b.to_string(),
        Tree::Int(i) => i.to_string(),
        // The shortest form that reads as the same number, and as no whole one.
        Tree::Float(f) => format!("{f:?}"),
        Tree::Text(text) if is_block(text) => return None,
        Tree::Text(text) if is_bare(text, true) => text.clone(),
        Tree::Text(text) => quoted(text),
        Tree::List(items) => {
            let items: Vec<String> = items.iter().map(flow).collect::<Option<_>>()?;
            format!("[{}]", items.join(", "))
        }
        Tree::Map(entries) => {
            let pair = |(key, value): &(String, Tree)| Some(format!("{}: {}", key_text(key), flow(value)?));
            let pairs: Vec<String> = entries.entries().iter().map(pair).collect::<Option<_>>()?;
            format!("{{{}}}", pairs.join(", "))
        }
    })
}

fn key_text(key: &str) -> String {
    if is_bare(key, true) { key.to_owned() } else { quoted(key) }
}

/// Whether a text can stand without quotes and is read as itself; `flow`: between brackets.
fn is_bare(text: &str, flow: bool) -> bool {
    let starts = text.starts_with(|c: char| c.is_alphabetic() || c == '_') || is_duration(text);
    let bracketed = |c: char| flow && matches!(c, ',' | '[' | ']' | '{' | '}');
    starts
        && text == text.trim()
        && !WORDS.contains(&text.to_lowercase().as_str())
        && !text.chars().any(|c| is_special(c) || bracketed(c))
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with(':')
}

/// `30m` and the like: digits and then a unit, which is no number in any reading.
fn is_duration(text: &str) -> bool {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    unit.len() < text.len() && duration::is_unit(unit)
}

/// Whether a character has to be escaped: controls, and what YAML takes for the end of a line or for nothing.
fn is_special(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Whether a text is written as a block: it has lines, and nothing that a block can not hold.
fn is_block(text: &str) -> bool {
    let lines = text.strip_suffix('\n').unwrap_or(text);
    let blank = |line: &str| !line.is_empty() && line.trim().is_empty();
    text.contains('\n')
        && !lines.is_empty()
        && !lines.ends_with('\n')
        && !lines.starts_with(['\n', ' '])
        && !lines.split('\n').any(|line| blank(line) || line.chars().any(is_special))
}

/// A block, from its sign to the end of its last line.
fn block_text(text: &str, indent: usize) -> String {
    let (sign, lines) = match text.strip_suffix('\n') {
        Some(lines) => (" |", lines),
        None => (" |-", text),
    };
    let mut out = format!("{sign}\n");
    for line in lines.split('\n') {
        if !line.is_empty() {
            out += &" ".repeat(indent);
            out += line;
        }
        out.push('\n');
    }
    out
}

/// In double quotes.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '\t' => out += "\\t",
            c if is_special(c) => out += &format!("\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
