//! A JSON text as a tree of named leaves, each with the bytes of its value.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::mapped::Mapped;

use super::html;
use super::outline::Outline;

/// Deepest nesting that is read.
const MAX_DEPTH: usize = 128;
/// Keys that only say "the content of the key above".
const WRAPPERS: [&str; 4] = ["text", "value", "#text", "@value"];

/// A value with its key.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The key without white space around; "" for the content of the key above.
    pub key: String,
    /// The value.
    pub kind: Kind,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A text, number, boolean, or list of such. Never empty.
    Leaf(Mapped),
    /// An object. Never empty.
    Object(Vec<Node>),
    /// A list of objects or lists. Never empty.
    List(Vec<Node>),
}

impl Node {
    /// The nodes right below.
    pub fn children(&self) -> &[Node] {
        match &self.kind {
            Kind::Leaf(_) => &[],
            Kind::Object(nodes) | Kind::List(nodes) => nodes,
        }
    }

    /// The text of a leaf.
    pub fn leaf(&self) -> Option<&Mapped> {
        if let Kind::Leaf(text) = &self.kind { Some(text) } else { None }
    }
}

/// Reads a JSON text that is a part of `origin`. None where it holds nothing but empty values.
pub fn read(text: &str, origin: &str) -> Result<Option<Node>, String> {
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| error.to_string())?;
    node("", raw, origin, 0)
}

fn node(key: &str, raw: &RawValue, origin: &str, depth: usize) -> Result<Option<Node>, String> {
    if depth > MAX_DEPTH {
        return Err(format!("nested deeper than {MAX_DEPTH} levels"));
    }
    let text = raw.get();
    let kind = match text.as_bytes().first() {
        Some(b'{') => object(text, origin, depth)?,
        Some(b'[') => list(text, origin, depth)?,
        _ => scalar(text, origin).map(Kind::Leaf),
    };
    Ok(kind.map(|kind| Node { key: key.trim().into(), kind }))
}

fn object(text: &str, origin: &str, depth: usize) -> Result<Option<Kind>, String> {
    let fields: Fields = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut nodes = Vec::new();
    for (key, raw) in &fields.0 {
        let Some(mut child) = node(key, raw, origin, depth + 1)? else { continue };
        if WRAPPERS.contains(&child.key.as_str()) && child.leaf().is_some() {
            child.key.clear();
        }
        nodes.push(child);
    }
    Ok(match nodes.as_mut_slice() {
        [] => None,
        [Node { key, kind: Kind::Leaf(text) }] if key.is_empty() => Some(Kind::Leaf(std::mem::take(text))),
        _ => Some(Kind::Object(nodes)),
    })
}

fn list(text: &str, origin: &str, depth: usize) -> Result<Option<Kind>, String> {
    let items: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut nodes = Vec::new();
    for (number, raw) in items.iter().enumerate() {
        if let Some(mut child) = node("", raw, origin, depth + 1)? {
            child.key = (number + 1).to_string();
            nodes.push(child);
        }
    }
    name_records(&mut nodes);
    let leaves: Vec<&Mapped> = nodes.iter().filter_map(Node::leaf).collect();
    if leaves.len() < nodes.len() {
        return Ok(Some(Kind::List(nodes)));
    }
    let separator = if leaves.iter().any(|leaf| leaf.len() > 80) { "\n" } else { ", " };
    let mut joined = Mapped::default();
    for leaf in leaves {
        if !joined.is_empty() {
            joined.push_added(separator);
        }
        joined.push(leaf);
    }
    Ok((!joined.is_empty()).then_some(Kind::Leaf(joined)))
}

/// Gives the records of a list their names for keys: what they call themselves; else the text of their first
/// field, where that tells them all apart.
pub fn name_records(records: &mut [Node]) {
    let first = |record: &Node| -> Option<(String, String)> {
        let Kind::Object(fields) = &record.kind else { return None };
        let field = fields.first()?;
        let text = field.leaf()?.text();
        let is_name =
            text.chars().count() <= 60 && text.chars().any(char::is_alphabetic) && !text.contains('\n');
        is_name.then(|| (field.key.clone(), text.to_owned()))
    };
    let firsts: Vec<Option<(String, String)>> = records.iter().map(first).collect();
    let different: BTreeSet<&(String, String)> = firsts.iter().flatten().collect();
    let fields: BTreeSet<&str> = firsts.iter().flatten().map(|(field, _)| field.as_str()).collect();
    let tell_apart = records.len() > 1 && different.len() == records.len() && fields.len() == 1;
    for (record, first) in records.iter_mut().zip(&firsts) {
        let first = first.as_ref().filter(|_| tell_apart).map(|(_, text)| text.clone());
        if let Some(name) = own_name(record).or(first) {
            record.key = name;
        }
    }
}

/// What a record calls itself: its own field `title`, `name`, `headline` or `label`, in this order.
pub fn own_name(node: &Node) -> Option<String> {
    let Kind::Object(fields) = &node.kind else { return None };
    ["title", "name", "headline", "label"].iter().find_map(|wanted| {
        let field = fields.iter().find(|field| field.key.eq_ignore_ascii_case(wanted))?;
        let name = field.leaf()?.text().split_whitespace().collect::<Vec<_>>().join(" ");
        (!name.is_empty() && name.chars().count() <= 120).then_some(name)
    })
}

/// The text of a scalar: a string without quotes, escapes and markup, anything else as it stands. None for null
/// and empty strings.
fn scalar(text: &str, origin: &str) -> Option<Mapped> {
    // `text` is a part of `origin`, so the distance of the two is the place of the one in the other.
    let start = (text.as_ptr() as usize).checked_sub(origin.as_ptr() as usize)?;
    if text == "null" {
        return None;
    }
    let Some(inside) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return Some(Mapped::verbatim(text, start));
    };
    let value = without_markup(unescape(inside, start + 1)).trim();
    (!value.is_empty()).then_some(value)
}

/// The text of a JSON string, given its raw inside.
fn unescape(raw: &str, start: usize) -> Mapped {
    let mut text = Mapped::default();
    let mut at = 0;
    while let Some(rest) = raw.get(at..).filter(|rest| !rest.is_empty()) {
        let plain = rest.find('\\').unwrap_or(rest.len());
        let (before, escape) = rest.split_at(plain);
        text.push_even(before, start + at);
        at += plain;
        if let Some((char, len)) = escaped_char(escape) {
            text.push_run(char.encode_utf8(&mut [0; 4]), start + at, start + at + len);
            at += len;
        }
    }
    text
}

/// The character of an escape at the start of a text, and the length of the escape. Half a surrogate pair is
/// told as the replacement character. None at the end of the text.
fn escaped_char(text: &str) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    let letter = text.chars().nth(1)?;
    let char = match letter {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' | 'f' => ' ',
        'u' => {
            let high = unit(0).unwrap_or(0xFFFD);
            if let Some(low @ 0xDC00..0xE000) = unit(6)
                && (0xD800..0xDC00).contains(&high)
            {
                let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                return Some((char::from_u32(code).unwrap_or('\u{FFFD}'), 12));
            }
            return Some((char::from_u32(high).unwrap_or('\u{FFFD}'), text.len().min(6)));
        }
        other => other,
    };
    Some((char, 1 + letter.len_utf8()))
}

/// Many records keep pieces of web pages in their strings: those are read as such.
fn without_markup(text: Mapped) -> Mapped {
    if !holds_markup(text.text()) {
        return text;
    }
    let mut outline = Outline::default();
    html::read(&text, &mut outline);
    let mut result = Mapped::default();
    for block in outline.finish("") {
        if !result.is_empty() {
            result.push_added("\n");
        }
        result.push(&block.text);
    }
    result
}

/// Whether a text has a tag of a common element or a character reference.
fn holds_markup(text: &str) -> bool {
    const TAGS: [&str; 29] = [
        "p",
        "br",
        "b",
        "i",
        "u",
        "em",
        "strong",
        "a",
        "ul",
        "ol",
        "li",
        "div",
        "span",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "table",
        "tr",
        "td",
        "th",
        "sub",
        "sup",
        "font",
        "img",
        "hr",
        "blockquote",
    ];
    let name_of = |rest: &str| -> String {
        rest.chars().take_while(char::is_ascii_alphanumeric).take(12).collect::<String>().to_ascii_lowercase()
    };
    let is_tag = |at: usize| {
        let rest = text.get(at + 1..).unwrap_or_default();
        TAGS.contains(&name_of(rest.strip_prefix('/').unwrap_or(rest)).as_str()) && rest.contains('>')
    };
    let is_reference = |at: usize| {
        let rest = text.get(at + 1..).unwrap_or_default();
        let name = name_of(rest.strip_prefix('#').unwrap_or(rest));
        let after = rest.trim_start_matches('#').get(name.len()..).unwrap_or_default();
        !name.is_empty() && after.starts_with(';')
    };
    text.match_indices('<').any(|(at, _)| is_tag(at))
        || text.match_indices('&').any(|(at, _)| is_reference(at))
}

/// The fields of an object in their order.
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyObject;

        impl<'de> Visitor<'de> for AnyObject {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(AnyObject)
    }
}
