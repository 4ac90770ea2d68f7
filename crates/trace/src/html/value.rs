//! Values: records and lists field by field, large ones folded and only once.
//!
//! State grows by a little from step to step. A list or map that is mostly what was shown last under the same name
//! refers to that for what is equal, so that the page grows with what happened and not with state × steps.

use askama::Template;
use askama::filters::HtmlSafe;
use deepgraph_protocol::{Map, Value};

use super::amount::{counted, head, size, up_to};
use super::index::Link;
use super::pool::{Block, Pool, Wanted};
use super::text::Text;

/// The most bytes of a value that is not folded.
const SMALL: usize = 160;

/// Characters of a folded value that can be seen.
const HEAD: usize = 90;

/// Levels that are shown field by field; what is deeper is shown as JSON.
const DEEPEST: usize = 8;

/// The fewest equal items for which a value refers to another.
const FEWEST_EQUAL: usize = 3;

/// A value as the page shows it.
#[derive(Debug, Template)]
pub(super) enum Shown<'a> {
    #[template(ext = "html", source = r#"<code dir="auto">{{ json }}</code>"#)]
    Plain { json: String },
    #[template(ext = "html", source = "{{ text }}")]
    Text { text: Text<'a> },
    /// A large list or map, at its first place.
    #[template(
        ext = "html",
        source = r#"<details class="value"><summary><code class="head">{{ head }}</code> <span class="more">{{ count }}, {{ size }}</span></summary><div id="b{{ block }}">{{ parts }}</div></details>"#
    )]
    Large { block: usize, head: String, count: String, size: String, parts: Parts<'a> },
    /// A large list or map that stands elsewhere.
    #[template(
        ext = "html",
        source = r##"<a class="again" href="#b{{ block }}"><code class="head">{{ head }}</code> <span class="more">{{ count }}, {{ size }}, as in {{ place.label }}</span></a>"##
    )]
    Again { block: usize, head: String, count: String, size: String, place: Link },
}

/// The parts of a list or map, those left out that are equal to the parts of another.
#[derive(Debug, Template)]
#[template(
    ext = "html",
    whitespace = "minimize",
    source = r##"
{% if let Some(same) = same %}
  <p class="same"><a class="again" href="#b{{ same.block.number }}">{{ same.what }} as in {{ same.block.place.label }}</a></p>
{% endif %}
{% if !parts.is_empty() %}
  <dl class="fields">
  {% for (name, value) in parts %}<div><dt dir="auto">{{ name }}</dt><dd>{{ value }}</dd></div>{% endfor %}
  </dl>
{% endif %}
"##
)]
pub(super) struct Parts<'a> {
    same: Option<Same>,
    parts: Vec<(String, Shown<'a>)>,
}

#[derive(Debug)]
struct Same {
    what: String,
    block: Block,
}

impl HtmlSafe for Shown<'_> {}
impl HtmlSafe for Parts<'_> {}

impl<'a> Parts<'a> {
    /// The fields of a record that stands on its own: an input, an output, arguments.
    pub(super) fn of_fields(pool: &mut Pool<'a>, fields: &'a Map) -> Parts<'a> {
        let parts = fields.iter().map(|(name, value)| (key(name), Shown::of(pool, name, value, 0))).collect();
        Parts { same: None, parts }
    }

    /// The fields that hold something.
    pub(super) fn of_set_fields(pool: &mut Pool<'a>, fields: &'a Map) -> Parts<'a> {
        let set = fields.iter().filter(|(_, value)| !value.is_null());
        let parts = set.map(|(name, value)| (key(name), Shown::of(pool, name, value, 0))).collect();
        Parts { same: None, parts }
    }

    /// The parts of any value that stands on its own.
    pub(super) fn of_value(pool: &mut Pool<'a>, name: &str, value: &'a Value) -> Parts<'a> {
        match value {
            Value::Map(fields) => Parts::of_fields(pool, fields),
            other => Parts { same: None, parts: vec![(name.to_owned(), Shown::of(pool, name, other, 0))] },
        }
    }

    /// Nothing.
    pub(super) fn none() -> Parts<'a> {
        Parts { same: None, parts: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.same.is_none()
    }
}

impl<'a> Shown<'a> {
    /// `name`: what the value is called, or the list that it is an item of.
    pub(super) fn of(pool: &mut Pool<'a>, name: &str, value: &'a Value, depth: usize) -> Shown<'a> {
        let count = match value {
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {
                return Shown::Plain { json: value.to_json_text() };
            }
            Value::Text(text) => return Shown::Text { text: Text::of(pool, &**text) },
            Value::List(items) => counted(items.len() as u64, "item", "items"),
            Value::Map(fields) => counted(fields.len() as u64, "field", "fields"),
        };
        let mark = pool.prints.of(value);
        if mark.bytes <= SMALL {
            return Shown::Plain { json: value.to_json_text() };
        }
        if depth >= DEEPEST {
            return Shown::Text { text: Text::of(pool, value.to_json_text()) };
        }
        let (head, size) = (beginning(value), size(mark.bytes));
        match pool.want(mark.print) {
            Wanted::There(block) => {
                pool.remember(name, block.clone(), value);
                Shown::Again { block: block.number, head, count, size, place: block.place }
            }
            Wanted::Here(block) => {
                let parts = Parts::of_large(pool, name, value, depth);
                pool.remember(name, block.clone(), value);
                Shown::Large { block: block.number, head, count, size, parts }
            }
        }
    }
}

impl<'a> Parts<'a> {
    /// The parts of a list or map that is shown for the first time, without those that the one of the recent values
    /// has that has most of them.
    fn of_large(pool: &mut Pool<'a>, name: &str, value: &'a Value, depth: usize) -> Parts<'a> {
        let mut best: Option<(usize, Block, &'a Value)> = None;
        for (block, known) in pool.recent(name) {
            let equal = equal_parts(pool, value, known);
            if equal >= FEWEST_EQUAL.max(best.as_ref().map_or(0, |(most, ..)| *most)) {
                best = Some((equal, block, known));
            }
        }
        let (equal, known) = best.as_ref().map_or((0, &Value::Null), |(equal, _, known)| (*equal, *known));
        let parts = match value {
            Value::List(items) => items
                .iter()
                .enumerate()
                .skip(equal)
                .map(|(i, item)| {
                    ((i + 1).to_string(), Shown::of(pool, &format!("{name}[]"), item, depth + 1))
                })
                .collect(),
            Value::Map(fields) => {
                let mut parts = Vec::new();
                for (name, value) in fields.iter() {
                    if !(equal > 0 && has(pool, known, name, value)) {
                        parts.push((key(name), Shown::of(pool, name, value, depth + 1)));
                    }
                }
                parts
            }
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) => Vec::new(),
        };
        let same = best.map(|(equal, block, _)| match value {
            Value::List(_) => {
                Same { what: format!("the first {}", counted(equal as u64, "item", "items")), block }
            }
            _ => Same { what: counted(equal as u64, "field", "fields"), block },
        });
        Parts { same, parts }
    }
}

/// How many parts two values have in common: items from the beginning of lists, fields of maps.
fn equal_parts<'a>(pool: &mut Pool<'a>, value: &'a Value, known: &'a Value) -> usize {
    match (value, known) {
        (Value::List(items), Value::List(known)) => {
            items.iter().zip(known.iter()).take_while(|(a, b)| is_same(pool, a, b)).count()
        }
        (Value::Map(fields), Value::Map(_)) => {
            fields.iter().filter(|(name, value)| has(pool, known, name, value)).count()
        }
        _ => 0,
    }
}

/// Whether a map has this field with this value.
fn has<'a>(pool: &mut Pool<'a>, map: &'a Value, name: &str, value: &'a Value) -> bool {
    map.get(name).is_some_and(|other| is_same(pool, value, other))
}

fn is_same<'a>(pool: &mut Pool<'a>, a: &'a Value, b: &'a Value) -> bool {
    pool.prints.of(a).print == pool.prints.of(b).print
}

/// A key as it is shown: it can be any text.
fn key(name: &str) -> String {
    head(name, 80)
}

/// The beginning of a value's JSON.
pub(super) fn beginning(value: &Value) -> String {
    let mut out = String::new();
    begin(value, &mut out);
    head(&out, HEAD)
}

/// Writes JSON until there is enough of it.
fn begin(value: &Value, out: &mut String) {
    match value {
        Value::List(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                begin(item, out);
                if out.len() > HEAD * 4 {
                    return;
                }
            }
            out.push(']');
        }
        Value::Map(fields) => {
            out.push('{');
            for (i, (name, value)) in fields.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                out.push_str(&head(name, HEAD));
                out.push_str(": ");
                begin(value, out);
                if out.len() > HEAD * 4 {
                    return;
                }
            }
            out.push('}');
        }
        Value::Text(text) => {
            out.push_str(&Value::from(up_to(text, HEAD * 4)).to_json_text());
        }
        plain => out.push_str(&plain.to_json_text()),
    }
}
