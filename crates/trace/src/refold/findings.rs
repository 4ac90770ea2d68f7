//! What was found, on either side of a refold.
//!
//! Three things are counted, each under the name that the figures of a run have for it: *findings*, the statements of
//! the root's handoffs that cite a source (of a graph without handoffs, its facts), *facts* by their key, and *passages*
//! by their id, both of all instances. A statement holds as long as one of the passages that it cites was found: a
//! handoff whose research ended earlier is answered with the recorded text, which may hold more.

use std::collections::{BTreeMap, BTreeSet};

use deepgraph_engine::Machine;
use deepgraph_graph::Type;
use deepgraph_protocol::{ScopePath, Value};
use serde::Serialize;

/// Something that was found, and would not have been.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Missed {
    /// What it is.
    pub kind: MissedKind,
    /// The statement, the fact's text, the title of the passage's document.
    pub text: String,
    /// The id of the passage; of a statement, the first that it cites; "" where there is none.
    pub source: String,
}

/// What would have been missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MissedKind {
    /// A statement of a handoff that cites a source.
    Finding,
    /// A fact.
    Fact,
    /// A passage.
    Passage,
}

/// How much was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FoundCounts {
    /// Statements of handoffs that cite a source; of a graph without handoffs, its facts.
    pub findings: u64,
    /// Distinct facts, of all instances.
    pub facts: u64,
    /// Distinct passages, of all instances.
    pub passages: u64,
}

/// What the instances of a run found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Text and source, by key.
    facts: BTreeMap<String, (String, String)>,
    /// The title of the document, by id.
    sources: BTreeMap<String, String>,
    /// Statements of the root's handoffs, with how often each stands there.
    statements: BTreeMap<String, u64>,
    /// How many the handoffs say that they have.
    counted: u64,
    /// Facts of the root.
    own_facts: u64,
    /// Whether the root has channels for handoffs only, or handoffs in them.
    by_handoffs: bool,
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
        if let Some(root) = machines.get(&ScopePath::root()) {
            found.gather_findings(root);
        }
        found
    }

    /// The findings of the root, by the rule of the exit's `findings`.
    fn gather_findings(&mut self, root: &Machine) {
        let (mut has_facts, mut has_handoffs) = (false, false);
        for channel in &root.plan().channels {
            let Some(value) = root.channel(&channel.name) else { continue };
            match record_name(&channel.field.ty) {
                Some("fact") => {
                    has_facts = true;
                    self.own_facts += value.as_list().map_or(0, <[Value]>::len) as u64;
                }
                Some("handoff") => {
                    has_handoffs |= value.is_true();
                    match value {
                        Value::List(handoffs) => handoffs.iter().for_each(|one| self.handoff(one)),
                        one => self.handoff(one),
                    }
                }
                _ => {}
            }
        }
        self.by_handoffs = has_handoffs || !has_facts;
    }

    fn handoff(&mut self, handoff: &Value) {
        let counted = handoff.get("findings").and_then(Value::as_int).unwrap_or(0);
        let counted = u64::try_from(counted).unwrap_or(0);
        self.counted += counted;
        if counted > 0 {
            for statement in statements(handoff.text("text")) {
                *self.statements.entry(statement).or_default() += 1;
            }
        }
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
                _ => {}
            },
            _ => {}
        }
    }

    /// How often a statement of another run holds here: it is handed over, and cites a passage that was found.
    fn holds(&self, statement: &str, of: &Found) -> u64 {
        let cited: BTreeSet<&str> = of.cited(statement).collect();
        let is_backed = cited.is_empty() || cited.iter().any(|id| self.sources.contains_key(*id));
        self.statements.get(statement).copied().filter(|_| is_backed).unwrap_or(0)
    }

    /// The passages that a statement cites, of those that were found.
    fn cited<'l>(&'l self, statement: &'l str) -> impl Iterator<Item = &'l str> {
        let ids = statement.split('[').skip(1).filter_map(|rest| rest.split(']').next());
        ids.flat_map(|ids| ids.split([',', ' '])).filter(|id| self.sources.contains_key(*id))
    }

    /// How much was found.
    pub(super) fn counts(&self) -> FoundCounts {
        let findings = if self.by_handoffs { self.counted } else { self.own_facts };
        FoundCounts { findings, facts: self.facts.len() as u64, passages: self.sources.len() as u64 }
    }

    /// How much of what another run found was found here too, so that what was not is in [`Found::missed`].
    pub(super) fn kept(&self, of: &Found) -> FoundCounts {
        let missed = self.missed(of);
        let left = |all: u64, kind: MissedKind| {
            all.saturating_sub(missed.iter().filter(|missed| missed.kind == kind).count() as u64)
        };
        let all = of.counts();
        let of_findings = if of.by_handoffs { MissedKind::Finding } else { MissedKind::Fact };
        FoundCounts {
            findings: left(all.findings, of_findings),
            facts: left(all.facts, MissedKind::Fact),
            passages: left(all.passages, MissedKind::Passage),
        }
    }

    /// What another run found and this one did not: findings, then facts, then passages.
    pub(super) fn missed(&self, of: &Found) -> Vec<Missed> {
        let mut missed: Vec<Missed> = Vec::new();
        for (text, times) in &of.statements {
            let source = of.cited(text).next().unwrap_or_default().to_owned();
            let one = Missed { kind: MissedKind::Finding, text: text.clone(), source };
            let times = usize::try_from(times.saturating_sub(self.holds(text, of))).unwrap_or(0);
            missed.extend(std::iter::repeat_n(one, times));
        }
        for (text, source) in
            of.facts.iter().filter(|(key, _)| !self.facts.contains_key(*key)).map(|(_, f)| f)
        {
            missed.push(Missed { kind: MissedKind::Fact, text: text.clone(), source: source.clone() });
        }
        for (id, title) in of.sources.iter().filter(|(id, _)| !self.sources.contains_key(*id)) {
            missed.push(Missed { kind: MissedKind::Passage, text: title.clone(), source: id.clone() });
        }
        missed.sort();
        missed
    }
}

/// The name of the record type that a channel holds, alone or in a list.
fn record_name(ty: &Type) -> Option<&str> {
    match ty {
        Type::Record(record) => record.name.as_deref(),
        Type::List(item) => record_name(item),
        _ => None,
    }
}

/// The sentences of a text that cite something: a mark such as `[a-1]` stands in them or directly behind them.
fn statements(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut rest = line.trim();
        while let Some(end) = sentence(rest) {
            let (one, behind) = rest.split_at(end);
            if one.contains('[') {
                found.push(one.trim().to_owned());
            }
            rest = behind;
        }
    }
    found
}

/// Where the first sentence of a line ends, the marks behind it included; none of an empty line.
fn sentence(line: &str) -> Option<usize> {
    if line.trim().is_empty() {
        return None;
    }
    for (at, c) in line.char_indices() {
        let behind = at + c.len_utf8();
        let Some(rest) = line.get(behind..) else { break };
        if matches!(c, '.' | '!' | '?' | '\u{3002}') && rest.starts_with([' ', '[']) {
            return Some(behind + marks(rest));
        }
    }
    Some(line.len())
}

/// How long the marks are with which a text begins.
fn marks(text: &str) -> usize {
    let mut length = 0;
    while let Some(rest) = text.get(length..) {
        let mark = rest.trim_start();
        match mark.strip_prefix('[').and_then(|mark| mark.find(']')) {
            Some(end) => length = text.len() - mark.len() + end + 2,
            None => return length,
        }
    }
    length
}

#[cfg(test)]
mod tests {
    use super::statements;

    #[test]
    fn a_statement_ends_behind_its_marks() {
        let text = "The range is 42 km. [a-1] It was measured in 2025 [a-2], twice.\nNot found: price\n- C70: 66 km [b-1]";
        assert_eq!(
            statements(text),
            ["The range is 42 km. [a-1]", "It was measured in 2025 [a-2], twice.", "- C70: 66 km [b-1]"]
        );
        assert!(statements("").is_empty() && statements("nothing is cited").is_empty());
        assert_eq!(statements("open [ mark. [").len(), 2, "whatever a model writes");
    }
}
