//! The positioned tree of a case file.
//!
//! What is valid and what a value means is decided by `deepgraph_graph::read_data`, so that a case is no other
//! dialect than a graph file; here the places and the order of keys are added.

use std::sync::Arc;

use deepgraph_graph::read_data;
use deepgraph_protocol::Value;
use saphyr_parser::{Event, Parser, Span};

use super::mistakes::Mistakes;

/// A place in a file, both from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// A value of a case file.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) place: Place,
    /// Where it ends; of a block only that it is not before.
    pub(crate) end: Place,
    pub(crate) parts: Parts,
}

/// What a value is made of.
#[derive(Clone, Debug)]
pub(crate) enum Parts {
    Plain,
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

/// A key of a mapping.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) name: Arc<str>,
    pub(crate) place: Place,
}

impl Node {
    /// The entries, if this is a mapping.
    pub(crate) fn entries(&self) -> &[(Key, Node)] {
        if let Parts::Map(entries) = &self.parts { entries } else { &[] }
    }

    /// The items, if this is a list.
    pub(crate) fn items(&self) -> &[Node] {
        if let Parts::List(items) = &self.parts { items } else { &[] }
    }

    /// The value of a key, if this is a mapping that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find(|(k, _)| &*k.name == key).map(|(_, node)| node)
    }

    pub(crate) fn is_list(&self) -> bool {
        matches!(self.parts, Parts::List(_))
    }

    pub(crate) fn is_map(&self) -> bool {
        matches!(self.parts, Parts::Map(_))
    }
}

/// Reads the text of a case file.
pub(crate) fn read(file: &str, text: &str) -> Result<Node, Mistakes> {
    let value = read_data(file, text).map_err(Mistakes::of)?;
    let mut walk = Walk { parser: Parser::new_from_str(text.strip_prefix('\u{feff}').unwrap_or(text)) };
    // The text was read once, so its events are those of one document.
    Ok(walk.first(&value).unwrap_or(Node {
        value,
        place: Place { line: 1, column: 1 },
        end: Place { line: 1, column: 1 },
        parts: Parts::Plain,
    }))
}

struct Walk<'t> {
    parser: Parser<'t, saphyr_parser::StrInput<'t>>,
}

impl<'t> Walk<'t> {
    fn event(&mut self) -> Option<(Event<'t>, Span)> {
        self.parser.next_event()?.ok()
    }

    fn first(&mut self, value: &Value) -> Option<Node> {
        loop {
            match self.event()? {
                (Event::StreamStart | Event::DocumentStart(_) | Event::Nothing, _) => {}
                (event, span) => return self.node(event, &span, value),
            }
        }
    }

    fn node(&mut self, event: Event<'t>, span: &Span, value: &Value) -> Option<Node> {
        let place = start(span);
        let (parts, end) = match event {
            Event::SequenceStart(..) => self.items(value)?,
            Event::MappingStart(..) => self.entries(value)?,
            _ => (Parts::Plain, end(span)),
        };
        Some(Node { value: value.clone(), place, end, parts })
    }

    fn items(&mut self, value: &Value) -> Option<(Parts, Place)> {
        let mut items = Vec::new();
        loop {
            match self.event()? {
                (Event::SequenceEnd, span) => return Some((Parts::List(items), end(&span))),
                (event, span) => {
                    let value = value.as_list().and_then(|list| list.get(items.len())).cloned();
                    items.push(self.node(event, &span, &value.unwrap_or_default())?);
                }
            }
        }
    }

    fn entries(&mut self, value: &Value) -> Option<(Parts, Place)> {
        let mut entries = Vec::new();
        loop {
            match self.event()? {
                (Event::MappingEnd, span) => return Some((Parts::Map(entries), end(&span))),
                (Event::Scalar(name, ..), span) => {
                    let key = Key { name: Arc::from(&*name), place: start(&span) };
                    let value = value.get(&key.name).cloned().unwrap_or_default();
                    let (event, span) = self.event()?;
                    entries.push((key, self.node(event, &span, &value)?));
                }
                _ => return None,
            }
        }
    }
}

fn start(span: &Span) -> Place {
    Place { line: span.start.line().max(1), column: span.start.col() + 1 }
}

fn end(span: &Span) -> Place {
    Place { line: span.end.line().max(1), column: span.end.col() + 1 }
}
