//! Reading the parts of a case, with every key checked.

use std::sync::Arc;

use deepgraph_graph::{Field, Type};
use deepgraph_protocol::{ErrorKind, Map, Millis, StepError, Value};

use super::mistakes::{Sink, hint};
use super::money;
use super::tree::{Key, Node, Place};
use super::words;

/// Reads a case file and collects its mistakes.
pub(crate) struct Reader {
    pub(crate) sink: Sink,
    /// Label and place of each scripted answer, by its number.
    pub(crate) scripted: Vec<(String, Place)>,
}

impl Reader {
    pub(crate) fn new(file: &str, text: &str) -> Reader {
        Reader { sink: Sink::new(file, text), scripted: Vec::new() }
    }

    pub(crate) fn error(&mut self, at: Place, message: impl Into<String>) {
        self.sink.error(at, message);
    }

    /// The entries of a mapping. A key that is none of the known ones is a mistake.
    pub(crate) fn entries<'n>(
        &mut self,
        node: &'n Node,
        what: &str,
        known: &[&str],
    ) -> Vec<(&'n Key, &'n Node)> {
        if !node.is_map() {
            self.error(node.place, format!("{what} is a mapping, not {}", kind(node)));
        }
        let mut entries = Vec::new();
        for (key, value) in node.entries() {
            if known.contains(&&*key.name) {
                entries.push((key, value));
                continue;
            }
            let message = format!("unknown key \"{}\" in {what}", key.name);
            let help = hint(&key.name, known.iter().copied());
            self.sink.error_with_help(key.place, message, help);
        }
        entries
    }

    pub(crate) fn text(&mut self, node: &Node, what: &str) -> Option<Arc<str>> {
        match &node.value {
            Value::Text(text) => Some(text.clone()),
            _ => self.wrong(node, what, "text"),
        }
    }

    /// One text, or a list of texts.
    pub(crate) fn texts(&mut self, node: &Node, what: &str) -> Vec<Arc<str>> {
        if node.is_list() {
            return node.items().iter().filter_map(|item| self.text(item, what)).collect();
        }
        self.text(node, what).into_iter().collect()
    }

    pub(crate) fn whole(&mut self, node: &Node, what: &str) -> Option<u64> {
        match node.value.as_int().and_then(|n| u64::try_from(n).ok()) {
            Some(n) => Some(n),
            None => self.wrong(node, what, "a whole number"),
        }
    }

    /// A duration in milliseconds: `500ms`, `2s`, `1h30m`, or seconds.
    pub(crate) fn duration(&mut self, node: &Node, what: &str) -> Option<Millis> {
        let seconds = Field::of(Type::Duration).check(&node.value).ok().and_then(|v| v.as_float());
        match seconds {
            Some(seconds) => Some((seconds * 1000.0).round() as Millis),
            None => self.wrong(node, what, "a duration such as 500ms, 2s or 1h30m"),
        }
    }

    /// Micro-dollars, written as dollars.
    pub(crate) fn dollars(&mut self, node: &Node, what: &str) -> Option<u64> {
        match node.value.as_float().filter(|n| *n >= 0.0) {
            Some(dollars) => Some(money::micro_usd(dollars)),
            None => self.wrong(node, what, "an amount in dollars"),
        }
    }

    /// A mapping from names to anything.
    pub(crate) fn map(&mut self, node: &Node, what: &str) -> Option<Map> {
        match &node.value {
            Value::Map(map) => Some((**map).clone()),
            _ => self.wrong(node, what, "a mapping"),
        }
    }

    /// One of a set of names.
    pub(crate) fn one_of<T>(&mut self, node: &Node, what: &str, known: &[(&str, T)]) -> Option<T>
    where
        T: Clone,
    {
        let name = self.text(node, what)?;
        if let Some((_, found)) = known.iter().find(|(n, _)| *n == &*name) {
            return Some(found.clone());
        }
        let help = hint(&name, known.iter().map(|(n, _)| *n));
        self.sink.error_with_help(node.place, format!("{what} can not be \"{name}\""), help);
        None
    }

    /// A failure: its kind, or a mapping.
    pub(crate) fn failure(&mut self, node: &Node) -> Option<StepError> {
        let kinds: Vec<(&str, ErrorKind)> =
            words::ERROR_KINDS.iter().map(|kind| (kind.name(), *kind)).collect();
        if !node.is_map() {
            let kind = self.one_of(node, "the kind of an error", &kinds)?;
            return Some(StepError::new(kind, "as scripted"));
        }
        let mut kind = None;
        let mut error = StepError::new(ErrorKind::Tool, "as scripted");
        for (key, value) in self.entries(node, "an error", &words::ERROR) {
            match &*key.name {
                "kind" => kind = self.one_of(value, "the kind of an error", &kinds),
                "message" => error.message = self.text(value, "`message`")?.to_string(),
                "after" => error.retry_after_ms = self.duration(value, "`after`").map(Millis::unsigned_abs),
                "window" => error.window = self.whole(value, "`window`"),
                "tokens" => error.tokens = self.whole(value, "`tokens`"),
                _ => error.unsent = value.value.is_true(),
            }
        }
        if node.get("kind").is_none() {
            self.error(node.place, "an error needs its `kind`");
        }
        Some(StepError { kind: kind?, ..error })
    }

    pub(crate) fn wrong<T>(&mut self, node: &Node, what: &str, wanted: &str) -> Option<T> {
        self.error(node.place, format!("{what} is {wanted}, not {}", kind(node)));
        None
    }
}

/// What a value is, as messages name it.
fn kind(node: &Node) -> String {
    match &node.value {
        Value::Null => "nothing".to_owned(),
        Value::List(_) => "a list".to_owned(),
        Value::Map(_) => "a mapping".to_owned(),
        plain => plain.to_json_text(),
    }
}
