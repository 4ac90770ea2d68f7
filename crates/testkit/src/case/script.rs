//! What is scripted for which step: an answer, one per attempt, or one per visit.

use std::sync::Arc;

use deepgraph_protocol::StepId;

use super::pattern::{StepPattern, number};
use super::read::Reader;
use super::tree::{Key, Node};

/// The scripted answers of one section of a case.
#[derive(Clone, Debug)]
pub(crate) struct Script<T> {
    entries: Vec<Entry<T>>,
}

#[derive(Clone, Debug)]
struct Entry<T> {
    key: Target,
    answers: Answers<T>,
}

/// Whom an entry answers.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    Steps(StepPattern),
    /// Every call of an op.
    Op(Arc<str>),
}

#[derive(Clone, Debug)]
enum Answers<T> {
    /// Whatever the attempt.
    Always(Scripted<T>),
    /// One per attempt.
    Attempts(Vec<Scripted<T>>),
    /// One per visit of a node.
    Visits(Vec<Answers<T>>),
}

/// A scripted answer and its number among all of the case.
#[derive(Clone, Debug)]
pub(crate) struct Scripted<T> {
    pub(crate) number: usize,
    pub(crate) answer: T,
}

/// A scripted answer, or why there is none for an attempt or a visit.
pub(crate) type Found<'s, T> = Result<&'s Scripted<T>, String>;

impl<T> Default for Script<T> {
    fn default() -> Script<T> {
        Script { entries: Vec::new() }
    }
}

impl<T> Script<T> {
    /// Reads a section: a mapping from steps (or, where `ops`, names of ops) to answers.
    pub(crate) fn read(
        reader: &mut Reader,
        section: &str,
        node: &Node,
        ops: bool,
        one: &dyn Fn(&mut Reader, &Node) -> Option<T>,
    ) -> Script<T> {
        if !node.is_map() {
            reader.error(node.place, format!("`{section}` is a mapping from steps to what they answer"));
        }
        let mut entries = Vec::new();
        for (key, value) in node.entries() {
            let target = match ops && is_name(&key.name) {
                true => Target::Op(key.name.clone()),
                false => Target::Steps(step_pattern(reader, key)),
            };
            let visits = matches!(&target, Target::Steps(pattern) if pattern.is_open());
            let label = format!("{section}.{}", key.name);
            entries.push(Entry { answers: read_answers(reader, label, value, visits, one), key: target });
        }
        Script { entries }
    }

    /// The answer of a step's attempt, or why there is none; none where no entry names the step.
    pub(crate) fn find(&self, step: &StepId, op: Option<&str>, attempt: u32) -> Option<Found<'_, T>> {
        let fits = |entry: &&Entry<T>| match &entry.key {
            Target::Steps(pattern) => pattern.fits(step),
            Target::Op(name) => op == Some(&**name),
        };
        let is_exact = |entry: &&Entry<T>| matches!(&entry.key, Target::Steps(p) if p.is_exact());
        let is_step = |entry: &&Entry<T>| matches!(&entry.key, Target::Steps(_));
        let mut fitting = self.entries.iter().filter(fits).collect::<Vec<_>>();
        // An exact position goes before a pattern, a pattern before the name of an op; else the first of the file.
        fitting.sort_by_key(|entry| (!is_exact(entry), !is_step(entry)));
        fitting.first().map(|entry| entry.answers.find(step, attempt))
    }
}

impl<T> Answers<T> {
    fn find(&self, step: &StepId, attempt: u32) -> Found<'_, T> {
        match self {
            Answers::Always(scripted) => Ok(scripted),
            Answers::Attempts(list) => list
                .get((attempt as usize).saturating_sub(1))
                .ok_or_else(|| format!("{} attempts are scripted, this is attempt {attempt}", list.len())),
            Answers::Visits(list) => {
                let visit = number(step).unwrap_or(0);
                match visit.checked_sub(1).and_then(|i| list.get(i)) {
                    Some(answers) => answers.find(step, attempt),
                    None => Err(format!("{} are scripted, this is number {visit}", list.len())),
                }
            }
        }
    }
}

fn read_answers<T>(
    reader: &mut Reader,
    label: String,
    node: &Node,
    visits: bool,
    one: &dyn Fn(&mut Reader, &Node) -> Option<T>,
) -> Answers<T> {
    if !node.is_list() {
        let number = reader.scripted.len();
        reader.scripted.push((label, node.place));
        let scripted = one(reader, node).map(|answer| Scripted { number, answer });
        return scripted.map_or(Answers::Attempts(Vec::new()), Answers::Always);
    }
    if node.items().is_empty() {
        reader.error(node.place, format!("`{label}` is an empty list: nothing is answered"));
    }
    let items = node.items().iter().enumerate().map(|(i, item)| (format!("{label}[{}]", i + 1), item));
    if visits {
        return Answers::Visits(
            items.map(|(label, item)| read_answers(reader, label, item, false, one)).collect(),
        );
    }
    let mut attempts = Vec::new();
    for (label, item) in items {
        let number = reader.scripted.len();
        reader.scripted.push((label, item.place));
        attempts.extend(one(reader, item).map(|answer| Scripted { number, answer }));
    }
    Answers::Attempts(attempts)
}

/// Whether a key is the name of an op: no position.
fn is_name(key: &str) -> bool {
    let visit = key.rsplit_once('.').is_some_and(|(_, n)| n.chars().all(|c| c.is_ascii_digit()));
    !visit && !key.contains(['/', '*'])
}

/// The steps that a key names.
pub(crate) fn step_pattern(reader: &mut Reader, key: &Key) -> StepPattern {
    if is_name(&key.name) {
        let message = format!(
            "\"{}\" is no position of a step: write its node and visit, `{}.1`, or `{}.*` for all visits",
            key.name, key.name, key.name
        );
        reader.error(key.place, message);
    }
    StepPattern::new(&key.name)
}
