//! What was found, on either side of a refold.
//!
//! Facts count by their key, passages by their id. A line of a handoff counts as found as long as one of the passages
//! that it cites is: a handoff whose research ended earlier is answered with the recorded text, which may hold more.

use std::collections::{BTreeMap, BTreeSet};

use deepgraph_engine::Machine;
use deepgraph_graph::Type;
use deepgraph_protocol::{ScopePath, Value};
use serde::Serialize;

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// The fact's text, the line of the handoff, the title of the passage's document.
    pub text: String,
    /// The id of the passage; of a line, the first that it cites; "" where there is none.
    pub source: String,
}

/// What a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// A line of a handoff.
    Statement,
    /// A fact.
    Fact,
    /// A passage.
    Source,
}

/// What the instances of a run found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Text and source, by key.
    facts: BTreeMap<String, (String, String)>,
    /// The title of the document, by id.
    sources: BTreeMap<String, String>,
    /// Lines of handoffs.
    lines: BTreeSet<String>,
}

impl Found {
    pub(super) fn of(machines: &BTreeMap<ScopePath, Machine>) -> Found {
        let mut found = Found::default();
        for machine in machines.values() {
            for channel in &machine.plan().channels {
                if let Some(value) = machine.channel(&channel.name) {
                    found.gather(&channel.field.ty, value);
                }
            }
        }
        found
    }

    fn gather(&mut self, ty: &Type, value: &Value) {
        match (ty, value) {
            (Type::List(item), Value::List(values)) => values.iter().for_each(|v| self.gather(item, v)),
            (Type::Map(item), Value::Map(values)) => values.values().for_each(|v| self.gather(item, v)),
            (Type::Record(record), Value::Map(_)) => match record.name.as_deref() {
                Some("fact") => {
                    let (text, source) = (value.text("text").to_owned(), value.text("source").to_owned());
                    self.facts.entry(value.text("key").to_owned()).or_insert((text, source));
                }
                Some("source") => {
                    let title = match value.text("title") {
                        "" => value.text("document"),
                        title => title,
                    };
                    self.sources.insert(value.text("id").to_owned(), title.to_owned());
                }
                Some("handoff") => {
                    let lines = value.text("text").lines().map(str::trim).filter(|line| line.contains('['));
                    self.lines.extend(lines.map(str::to_owned));
                }
                _ => {}
            },
            _ => {}
        }
    }

    /// The lines of handoffs that hold, of those that were handed over: they cite a passage that was found.
    fn holds(&self, line: &str, of: &Found) -> bool {
        let cited: Vec<&str> = of.cited(line).collect();
        self.lines.contains(line)
            && (cited.is_empty() || cited.iter().any(|id| self.sources.contains_key(*id)))
    }

    /// The passages that a line cites, of those that were found.
    fn cited<'l>(&'l self, line: &'l str) -> impl Iterator<Item = &'l str> {
        let ids = line.split('[').skip(1).filter_map(|rest| rest.split(']').next());
        ids.flat_map(|ids| ids.split([',', ' '])).filter(|id| self.sources.contains_key(*id))
    }

    /// How much was found: facts, else lines of handoffs, else passages.
    pub(super) fn count(&self) -> u64 {
        let counts = [self.facts.len(), self.lines.len(), self.sources.len()];
        counts.into_iter().find(|n| *n > 0).unwrap_or(0) as u64
    }

    /// How much of what another run found was found here too, counted as [`Found::count`] does there.
    pub(super) fn kept(&self, of: &Found) -> u64 {
        if !of.facts.is_empty() {
            return of.facts.keys().filter(|key| self.facts.contains_key(*key)).count() as u64;
        }
        if !of.lines.is_empty() {
            return of.lines.iter().filter(|line| self.holds(line, of)).count() as u64;
        }
        of.sources.keys().filter(|id| self.sources.contains_key(*id)).count() as u64
    }

    /// What another run found and this one did not: lines of handoffs, then facts, then passages.
    pub(super) fn missed(&self, of: &Found) -> Vec<Finding> {
        let mut missed: Vec<Finding> = Vec::new();
        for line in of.lines.iter().filter(|line| !self.holds(line, of)) {
            let source = of.cited(line).next().unwrap_or_default().to_owned();
            missed.push(Finding { kind: FindingKind::Statement, text: line.clone(), source });
        }
        for (text, source) in
            of.facts.iter().filter(|(key, _)| !self.facts.contains_key(*key)).map(|(_, f)| f)
        {
            missed.push(Finding { kind: FindingKind::Fact, text: text.clone(), source: source.clone() });
        }
        for (id, title) in of.sources.iter().filter(|(id, _)| !self.sources.contains_key(*id)) {
            missed.push(Finding { kind: FindingKind::Source, text: title.clone(), source: id.clone() });
        }
        missed.sort();
        missed
    }
}
