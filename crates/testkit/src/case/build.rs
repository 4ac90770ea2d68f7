//! Cases that are built in Rust.
//!
//! A builder writes what would stand in a case file, and that is read: the same keys, the same checks, the same
//! player.

mod answer;

use std::path::Path;
use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_protocol::{Map, Value};

use self::answer::By;
pub use self::answer::{Answer, Answers};

use super::difference::Difference;
use super::file::Case;
use super::mistakes::Mistakes;
use super::play::Played;
use super::read::Reader;
use super::tree::{Key, Node, Parts, Place};

/// A case of a graph, to be told what goes in, what models, ops and people do, and what is to come.
///
/// The words are those of case files (`docs/cases.md`): steps are written `say.1`, or as patterns with `*`; the keys of
/// [`expect`](CaseBuilder::expect) are those of `expect` in a file.
#[derive(Clone, Debug)]
pub struct CaseBuilder {
    bundle: Arc<Bundle>,
    /// The keys of the case with their entries, each in the order in which it was given.
    sections: Vec<(&'static str, Entries)>,
    /// Keys that hold one value.
    values: Vec<(&'static str, Node)>,
    /// What is expected of other instances than the root, by the step that started them.
    scopes: Entries,
}

/// The entries of a mapping.
type Entries = Vec<(Arc<str>, Node)>;

impl Case {
    /// A case of this graph.
    pub fn of(bundle: &Arc<Bundle>) -> CaseBuilder {
        CaseBuilder { bundle: bundle.clone(), sections: Vec::new(), values: Vec::new(), scopes: Vec::new() }
    }
}

impl CaseBuilder {
    /// An input channel.
    pub fn input(self, channel: &str, value: impl Into<Value>) -> CaseBuilder {
        self.entry("input", channel, Node::unplaced(&value.into()))
    }

    /// A value of the configuration that differs from its default.
    pub fn config(self, key: &str, value: impl Into<Value>) -> CaseBuilder {
        self.entry("config", key, Node::unplaced(&value.into()))
    }

    /// What a channel that is kept between runs held last.
    pub fn kept(self, channel: &str, value: impl Into<Value>) -> CaseBuilder {
        self.entry("kept", channel, Node::unplaced(&value.into()))
    }

    /// What a model answers in a step: a text, a reply, a failure, or a list of these, one for each attempt; where the
    /// step ends in `*`, one for each visit.
    pub fn model(self, step: &str, answers: impl Into<Answers>) -> CaseBuilder {
        self.answered(By::Model, step, answers.into())
    }

    /// What an op brings back: in a step, or, by its name, always.
    pub fn op(self, step_or_op: &str, answers: impl Into<Answers>) -> CaseBuilder {
        self.answered(By::Op, step_or_op, answers.into())
    }

    /// What the person says to a question.
    pub fn answer(self, step: &str, answers: impl Into<Answers>) -> CaseBuilder {
        self.answered(By::Person, step, answers.into())
    }

    /// How long a step or an op takes, in virtual time: `"15s"`, `"500ms"`.
    pub fn latency(self, step_or_op: &str, takes: &str) -> CaseBuilder {
        self.entry("latency", step_or_op, Node::unplaced(&Value::from(takes)))
    }

    /// In which order steps come back. Without it several orders are tried.
    pub fn order<S: AsRef<str>>(self, steps: impl IntoIterator<Item = S>) -> CaseBuilder {
        let steps = steps.into_iter().map(|step| Value::from(step.as_ref())).collect();
        self.value("order", &steps)
    }

    /// How many completion orders are tried; 8 where it is not said.
    pub fn seeds(self, orders: u32) -> CaseBuilder {
        self.value("seeds", &Value::Int(i64::from(orders)))
    }

    /// Without trying crashes.
    pub fn without_crashes(self) -> CaseBuilder {
        self.value("crash", &Value::from("never"))
    }

    /// When the run starts: at midnight UTC of this day, `"2026-03-01"`.
    pub fn date(self, day: &str) -> CaseBuilder {
        self.value("date", &Value::from(day))
    }

    /// Cancelled as soon as this step is out.
    pub fn cancel_during(self, step: &str) -> CaseBuilder {
        self.entry("cancel", "during", Node::unplaced(&Value::from(step)))
    }

    /// Cancelled as soon as this step is over.
    pub fn cancel_after(self, step: &str) -> CaseBuilder {
        self.entry("cancel", "after", Node::unplaced(&Value::from(step)))
    }

    /// Something that is to come: a key of `expect` and its value.
    pub fn expect(self, key: &str, value: impl Into<Value>) -> CaseBuilder {
        self.entry("expect", key, Node::unplaced(&value.into()))
    }

    /// Something that is to come of the instance that a step started.
    pub fn expect_of(mut self, scope: &str, key: &str, value: impl Into<Value>) -> CaseBuilder {
        let wanted = (Key::unplaced(key), Node::unplaced(&value.into()));
        match self.scopes.iter_mut().find(|(name, _)| &**name == scope) {
            Some((_, node)) => node.push(wanted),
            None => self.scopes.push((scope.into(), Node::map([wanted]))),
        }
        self
    }

    /// The case.
    ///
    /// # Errors
    ///
    /// What does not fit the format: a text that names no step, an unknown key of `expect`, a duration that is none.
    pub fn build(mut self) -> Result<Case, Mistakes> {
        let mut reader = Reader::new("case", "");
        let mut case = Case::empty("case");
        if !self.scopes.is_empty() {
            let scopes = std::mem::take(&mut self.scopes);
            let scopes = scopes.into_iter().map(|(name, node)| (Key::unplaced(&name), node));
            self = self.entry("expect", "scopes", Node::map(scopes));
        }
        let sections = self.sections.into_iter().map(|(key, entries)| {
            (key, Node::map(entries.into_iter().map(|(name, node)| (Key::unplaced(&name), node))))
        });
        for (key, node) in sections.chain(self.values) {
            case.read_key(&mut reader, key, &node);
        }
        case.scripted = std::mem::take(&mut reader.scripted);
        reader.sink.finish()?;
        case.graph = Ok(self.bundle);
        Ok(case)
    }

    /// Plays the case. What does not fit the format is among the differences.
    pub fn play(self) -> Played {
        match self.build() {
            Ok(case) => case.play(),
            Err(mistakes) => {
                let notes = mistakes.0.0.iter().map(|mistake| {
                    let help = mistake.help.iter().map(|help| format!("; {help}"));
                    Difference::Note(std::iter::once(mistake.message.clone()).chain(help).collect())
                });
                Played::unread(notes.collect())
            }
        }
    }

    fn answered(self, by: By, step: &str, answers: Answers) -> CaseBuilder {
        self.entry(by.section(), step, answers.node(by))
    }

    fn entry(mut self, section: &'static str, key: &str, node: Node) -> CaseBuilder {
        let entry = (Arc::from(key), node);
        match self.sections.iter_mut().find(|(name, _)| *name == section) {
            Some((_, entries)) => {
                entries.retain(|(name, _)| **name != *key);
                entries.push(entry);
            }
            None => self.sections.push((section, vec![entry])),
        }
        self
    }

    fn value(mut self, key: &'static str, value: &Value) -> CaseBuilder {
        self.values.retain(|(name, _)| *name != key);
        self.values.push((key, Node::unplaced(value)));
        self
    }
}

impl Key {
    fn unplaced(name: &str) -> Key {
        Key { name: name.into(), place: Place::default() }
    }
}

impl Node {
    /// A value that stands in no file.
    fn unplaced(value: &Value) -> Node {
        let parts = match value {
            Value::List(items) => Parts::List(items.iter().map(Node::unplaced).collect()),
            Value::Map(fields) => {
                let entry = |(name, value): (&Arc<str>, &Value)| (Key::unplaced(name), Node::unplaced(value));
                Parts::Map(fields.iter().map(entry).collect())
            }
            _ => Parts::Plain,
        };
        Node { value: value.clone(), place: Place::default(), end: Place::default(), parts }
    }

    /// A mapping whose keys keep their order.
    fn map(entries: impl IntoIterator<Item = (Key, Node)>) -> Node {
        let mut map = Node::unplaced(&Value::empty_map());
        entries.into_iter().for_each(|entry| map.push(entry));
        map
    }

    /// Adds an entry to a mapping.
    fn push(&mut self, (key, node): (Key, Node)) {
        let mut fields: Map = self.value.as_map().cloned().unwrap_or_default();
        fields.insert(key.name.clone(), node.value.clone());
        self.value = Value::from(fields);
        if let Parts::Map(entries) = &mut self.parts {
            entries.retain(|(there, _)| there.name != key.name);
            entries.push((key, node));
        }
    }
}

impl Case {
    /// A case file: [`Case::load`] with its mistakes as differences, then [`Case::play`].
    pub fn play_file(path: impl AsRef<Path>) -> Played {
        match Case::load(path.as_ref()) {
            Ok(case) => case.play(),
            Err(mistakes) => Played::unread(vec![Difference::Note(mistakes.to_string())]),
        }
    }
}
