//! The sources of a run: documents and pages that it found, what of them it read, and what its report cites.
//!
//! It is a fold of the run's trace: what searches and reads brought stands in their results.

use std::collections::BTreeMap;

use deepgraph_protocol::{Citation, Hit, Map, Source, StepError, Value};
use serde::Serialize;

use crate::tree::{Node, NodeKind, Outcome, Trace};

/// A document or a page of the web.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Found {
    /// What the ids of its passages begin with; "" where nothing of it was read.
    pub id: String,
    /// Its path, or its canonical URL.
    pub document: String,
    /// Where it was read; of a page that was not read, its canonical URL. None of a document. What a page says that its
    /// canonical URL is may never have been asked.
    pub url: Option<String>,
    /// Its title.
    pub title: String,
    /// Who wrote it, as it says.
    pub author: Option<String>,
    /// Its date, as it states it.
    pub date: Option<String>,
    /// When it was fetched, ISO 8601 in UTC; none of a document.
    pub fetched: Option<String>,
    /// SHA-256 of what was fetched.
    pub hash: Option<String>,
    /// How it was found, each way once, in order.
    pub found: Vec<How>,
    /// Ids of its passages that were read, in the order of the document.
    pub passages: Vec<String>,
    /// Ids of those that the report cites.
    pub cited: Vec<String>,
}

/// How a document or a page was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum How {
    /// By a search.
    Search {
        /// What was searched for.
        query: String,
        /// The engines that named it; none: the user's documents were searched.
        #[serde(skip_serializing_if = "Option::is_none")]
        engines: Option<String>,
    },
    /// By a link.
    Link {
        /// The page that has it.
        page: String,
    },
    /// It was asked for by name, and nothing in the run had told of it.
    Name,
    /// Another op brought it.
    Op {
        /// Its name.
        op: String,
    },
}

impl Found {
    /// Whether something of it was read. What only a search named was not: there is just a snippet.
    pub fn is_read(&self) -> bool {
        !self.passages.is_empty()
    }
}

/// What became of the citations of a run's report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CitationCounts {
    /// Citations that the draft had.
    pub total: u64,
    /// Those that stand.
    pub verified: u64,
    /// Those that were taken out: not read, or not borne out.
    pub removed: u64,
}

/// What became of the citations: as the last check of the root says, or, where only instances below it have checked some,
/// their last ones together. None where nothing was checked.
pub fn citations(trace: &Trace) -> Option<CitationCounts> {
    let last = |steps: Vec<&Node>| steps.into_iter().rev().find_map(checked);
    if let Some(own) = last(trace.root.steps().collect()) {
        return Some(own);
    }
    let below = trace.root.instances().into_iter().filter_map(|one| last(one.steps().collect()));
    below.reduce(|sum, one| CitationCounts {
        total: sum.total.saturating_add(one.total),
        verified: sum.verified.saturating_add(one.verified),
        removed: sum.removed.saturating_add(one.removed),
    })
}

fn checked(node: &Node) -> Option<CitationCounts> {
    let (op, _, result) = brought(node)?;
    let checked = result.get("checked").filter(|_| op == "cite")?;
    let count = |name: &str| checked.get(name).and_then(Value::as_int).and_then(|n| u64::try_from(n).ok());
    Some(CitationCounts { total: count("total")?, verified: count("verified")?, removed: count("removed")? })
}

/// All that a run found, in the order in which it was first told of.
pub fn sources(trace: &Trace) -> Vec<Found> {
    let mut all = Gathered::default();
    let steps = trace.root.all_steps();
    for (op, input, result) in steps.into_iter().filter_map(brought) {
        all.add(op, input, result);
    }
    all.close()
}

/// How each search of a run ended: with what it brought, or why it failed.
pub fn searches(trace: &Trace) -> Vec<Result<&Value, &StepError>> {
    let steps = trace.root.all_steps().into_iter();
    steps
        .filter_map(|node| match (&node.kind, &node.outcome) {
            (NodeKind::Op { op, .. }, _) if &**op != "search" => None,
            (NodeKind::Op { .. }, Some(Outcome::Value(result))) => Some(Ok(result)),
            (NodeKind::Op { .. }, Some(Outcome::Failed(error))) => Some(Err(error)),
            _ => None,
        })
        .collect()
}

/// What an op was asked and what it brought.
fn brought(node: &Node) -> Option<(&str, &Map, &Value)> {
    match (&node.kind, &node.outcome) {
        (NodeKind::Op { op, input, .. }, Some(Outcome::Value(result))) => Some((op, input, result)),
        _ => None,
    }
}

#[derive(Default)]
struct Gathered {
    /// By document, each with its place in the list.
    found: BTreeMap<String, (usize, Found)>,
    /// Where each passage stands in its document.
    places: BTreeMap<String, (Option<u64>, u64)>,
    /// Which page links where.
    links: BTreeMap<String, String>,
    cited: Vec<String>,
}

impl Gathered {
    fn add(&mut self, op: &str, input: &Map, result: &Value) {
        let query = input.get("query").and_then(Value::as_str).unwrap_or("");
        let hits = result.get("hits").and_then(Value::as_list).unwrap_or_default();
        for hit in hits.iter().filter_map(|hit| hit.to::<Hit>().ok()).filter(|hit| hit.url.is_some()) {
            let document = if hit.document.is_empty() {
                hit.url.clone().unwrap_or_default()
            } else {
                hit.document.clone()
            };
            let how =
                How::Search { query: query.to_owned(), engines: Some(hit.found.clone().unwrap_or_default()) };
            let found = self.of(&document);
            note(&mut found.found, how);
            found.url.get_or_insert(document);
            fill(&mut found.title, hit.title);
            found.date = found.date.take().or(hit.date);
        }
        let passages = result.get("sources").and_then(Value::as_map);
        for (id, value) in passages.into_iter().flatten() {
            if let Ok(source) = value.to::<Source>() {
                let how = self.how(op, query, &source);
                self.read(id, source, how);
            }
        }
        let page = result.text("document");
        for link in result.get("links").and_then(Value::as_list).unwrap_or_default() {
            if let Some(link) = link.as_str() {
                self.links.entry(link.to_owned()).or_insert_with(|| page.to_owned());
            }
        }
        let citations = result.get("citations").and_then(Value::as_list).unwrap_or_default();
        self.cited
            .extend(citations.iter().filter_map(|c| c.to::<Citation>().ok()).map(|citation| citation.source));
    }

    /// How a passage was found; none where its document is known already.
    fn how(&self, op: &str, query: &str, source: &Source) -> Option<How> {
        let is_known = self.found.get(&source.document).is_some_and(|(_, found)| !found.found.is_empty());
        match op {
            "search" => Some(How::Search {
                query: query.to_owned(),
                engines: source.url.is_some().then(|| source.found.clone()).flatten(),
            })
            .filter(|_| source.url.is_none() || !is_known),
            "read" if !is_known => Some(match self.links.get(&source.document) {
                Some(page) => How::Link { page: page.clone() },
                None => How::Name,
            }),
            "read" => None,
            other => Some(How::Op { op: other.to_owned() }).filter(|_| !is_known),
        }
    }

    fn read(&mut self, id: &str, source: Source, how: Option<How>) {
        self.places.insert(id.to_owned(), (source.span.page, source.span.start));
        let found = self.of(&source.document);
        found.id = id.rsplit_once('-').map_or(id, |(key, _)| key).to_owned();
        // What it calls itself goes before what a search engine called it.
        if found.passages.is_empty() && !source.title.is_empty() {
            found.title = source.title;
        }
        how.into_iter().for_each(|how| note(&mut found.found, how));
        found.url = source.url.or(found.url.take());
        found.author = source.author.or(found.author.take());
        found.date = source.date.or(found.date.take());
        found.fetched = found.fetched.take().or(source.fetched);
        found.hash = found.hash.take().or(source.hash);
        if !found.passages.iter().any(|known| known == id) {
            found.passages.push(id.to_owned());
        }
    }

    fn of(&mut self, document: &str) -> &mut Found {
        let place = self.found.len();
        let new = || (place, Found { document: document.to_owned(), ..Found::default() });
        &mut self.found.entry(document.to_owned()).or_insert_with(new).1
    }

    fn close(self) -> Vec<Found> {
        let mut all: Vec<(usize, Found)> = self.found.into_values().collect();
        all.sort_by_key(|(place, _)| *place);
        for (_, found) in &mut all {
            found.passages.sort_by_key(|id| self.places.get(id).copied());
            let cited = found.passages.iter().filter(|id| self.cited.contains(id));
            found.cited = cited.cloned().collect();
        }
        all.into_iter().map(|(_, found)| found).collect()
    }
}

fn note(list: &mut Vec<How>, how: How) {
    if !list.contains(&how) {
        list.push(how);
    }
}

fn fill(text: &mut String, with: String) {
    if text.is_empty() {
        *text = with;
    }
}
