//! The sources that an instance has collected.

use std::collections::BTreeSet;

use deepgraph_engine::Machine;
use deepgraph_graph::Type;
use deepgraph_protocol::Value;

/// Sources, each once.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// Ids of passages.
    passages: BTreeSet<String>,
    /// Paths of documents.
    documents: BTreeSet<String>,
    /// Ids of passages that facts and handoffs name.
    named: BTreeSet<String>,
}

impl Sources {
    /// Takes in what stands in the channels of an instance.
    pub fn add(&mut self, machine: &Machine) {
        for channel in &machine.plan().channels {
            if let Some(value) = machine.channel(&channel.name) {
                self.collect(&channel.field.ty, value);
            }
        }
    }

    /// Documents and passages. A graph that keeps facts and no sources names passages alone: each counts as a document.
    pub fn counts(&self) -> (u64, u64) {
        let (documents, passages) = match self.passages.is_empty() {
            true => (self.named.len(), self.named.len()),
            false => (self.documents.len(), self.passages.len()),
        };
        (documents as u64, passages as u64)
    }

    fn collect(&mut self, ty: &Type, value: &Value) {
        match (ty, value) {
            (Type::List(item), Value::List(values)) => {
                values.iter().for_each(|value| self.collect(item, value));
            }
            (Type::Map(item), Value::Map(values)) => {
                values.values().for_each(|value| self.collect(item, value));
            }
            (Type::Record(record), value) => match record.name.as_deref() {
                Some("source") => {
                    note(&mut self.passages, value.get("id"));
                    note(&mut self.documents, value.get("document"));
                }
                Some("fact") => note(&mut self.named, value.get("source")),
                Some("handoff") => {
                    let sources = value.get("sources").and_then(Value::as_list).unwrap_or_default();
                    sources.iter().for_each(|source| note(&mut self.named, Some(source)));
                }
                _ => {}
            },
            _ => {}
        }
    }
}

fn note(set: &mut BTreeSet<String>, id: Option<&Value>) {
    if let Some(id) = id.and_then(Value::as_str).filter(|id| !id.is_empty() && !set.contains(*id)) {
        set.insert(id.to_owned());
    }
}
