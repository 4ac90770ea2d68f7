//! The researcher: turns an objective into queries, searches, reads the best documents, looks once more for what is
//! missing, and stops.

use std::collections::BTreeMap;

use deepgraph_protocol::{ModelRequest, ToolSpec};
use deepgraph_research::canonical::canonical;
use deepgraph_research::passage::{Named, Passage, parse, parse_hits};
use deepgraph_research::question::{Facet, Part, Question, urls};
use deepgraph_research::select::{Lead, Selection, is_acronym, leads, select};
use deepgraph_research::text::synonyms::other_words;
use deepgraph_research::text::words::{Stems, content_stems};
use deepgraph_research::unsearched::unknown_of_all;

use super::calls::{Calls, main_parameter};
use super::history::{Past, first_user_text, past};
use super::supervise::reworded_facet;
use super::{Made, answer, compress, material};

/// The most calls of one researcher.
const MOST_CALLS: usize = 6;
/// The most calls where it has more subjects than searches.
const MOST_CALLS_OF_MANY: usize = 8;
/// The most searches of the first turn, unless there are more subjects.
const MOST_QUERIES: usize = 3;
/// The most documents that are read in one turn, unless there are more subjects.
const MOST_READS: usize = 2;
/// The most addresses of an objective that are read.
const MOST_NAMED: usize = 3;
/// The most pages of the web that are read in one turn.
const MOST_PAGES: usize = 2;
/// How many hits are asked for to see which documents share a name.
const NAMESAKES: &str = "24";
/// Behind a name in a query: asks for the document that says what it is called in full.
const FULL_NAME: &str = "conventional long form official name";
/// The most words of a query.
const LONGEST_QUERY: usize = 16;

/// The tools of a researcher.
pub(super) struct Researcher<'a> {
    /// Searches.
    pub search: &'a ToolSpec,
    /// Reads a document.
    pub read: Option<&'a ToolSpec>,
    /// Says that it is done.
    pub finish: Option<&'a ToolSpec>,
}

impl Researcher<'_> {
    /// The next turn.
    pub fn next(&self, request: &ModelRequest) -> Made {
        let objective = objective(request);
        let state = State::new(self, request, objective);
        let mut calls = Calls::new(request);
        match &state.next() {
            Next::Search(queries) => {
                for query in queries {
                    let limit = query.ends_with(FULL_NAME).then_some(("limit", NAMESAKES));
                    let values: Vec<_> = std::iter::once(("query", query.as_str())).chain(limit).collect();
                    calls.push(self.search, &values);
                }
            }
            Next::Read(documents) => {
                if let Some(query) = state.namesakes() {
                    calls.push(self.search, &[("query", query), ("limit", NAMESAKES)]);
                }
                for (tool, source, query) in
                    self.read.iter().flat_map(|t| documents.iter().map(move |(s, q)| (t, s, q)))
                {
                    let query = Some(("query", query.as_str())).filter(|(_, query)| !query.is_empty());
                    let values: Vec<_> = std::iter::once(("source", source.as_str())).chain(query).collect();
                    calls.push(tool, &values);
                }
            }
            Next::Stop => return self.stop(request, objective, &state),
        }
        Made::Calls(calls.finish())
    }

    /// What was found. A researcher with an objective of its own hands it over as it is, else it is the answer.
    fn stop(&self, request: &ModelRequest, objective: &str, state: &State) -> Made {
        let failed = unknown_of_all(
            state.past.iter().filter(|past| *past.name == *self.search.name).map(|past| past.answer),
        );
        let findings = compress::text(&state.question, &state.selection, objective, failed);
        if let Some(finish) = self.finish {
            let mut calls = Calls::new(request);
            calls.push(finish, &[("summary", &findings)]);
            return Made::Calls(calls.finish());
        }
        let is_delegated = !material::text(request, "objective").is_empty();
        Made::Text(if is_delegated { findings } else { answer::report_of(objective, &findings) })
    }
}

/// The objective: the channel of that name, or what the conversation began with.
pub(super) fn objective(request: &ModelRequest) -> &str {
    let own = material::text(request, "objective");
    let first = if own.trim().is_empty() { first_user_text(request) } else { own };
    if first.trim().is_empty() { material::question(request).unwrap_or("") } else { first }
}

enum Next {
    Search(Vec<String>),
    /// Source and query of each.
    Read(Vec<(String, String)>),
    Stop,
}

/// How far research has come.
struct State<'a> {
    question: Question,
    past: Vec<Past<'a>>,
    passages: Vec<Passage>,
    /// Pages of the web that searches named, best first.
    pages: Vec<Named>,
    /// Addresses in the objective.
    named: Vec<&'a str>,
    selection: Selection,
    /// Queries that were sent, whatever came back.
    queries: Vec<String>,
    /// Documents that were asked for, by id or path.
    read: Vec<String>,
    search_turns: usize,
    read_turns: usize,
    can_read: bool,
}

impl<'a> State<'a> {
    fn new(tools: &Researcher, request: &'a ModelRequest, objective: &'a str) -> State<'a> {
        let past = past(request);
        let passages: Vec<Passage> = past.iter().flat_map(|p| parse(p.answer)).collect();
        let question = asked_about(objective, &passages);
        let mut named = urls(objective);
        named.truncate(MOST_NAMED);
        let of = |tool: Option<&ToolSpec>| {
            let parameter = tool.and_then(main_parameter).unwrap_or_default();
            let calls: Vec<&Past> =
                past.iter().filter(|p| tool.is_some_and(|t| *p.name == *t.name)).collect();
            let is_named = |p: &&&Past| named.contains(&p.text(&parameter));
            let mut turns: Vec<usize> = calls.iter().filter(|p| !is_named(p)).map(|p| p.turn).collect();
            turns.dedup();
            (calls.iter().map(|p| p.text(&parameter).to_owned()).collect::<Vec<_>>(), turns.len())
        };
        let (queries, search_turns) = of(Some(tools.search));
        let (read, read_turns) = of(tools.read);
        let searched = past.iter().filter(|p| *p.name == *tools.search.name);
        let pages = searched.flat_map(|p| parse_hits(p.answer)).collect();
        let selection = select(&question, &passages);
        let can_read = tools.read.is_some();
        State {
            selection,
            question,
            passages,
            pages,
            named,
            queries,
            read,
            search_turns,
            read_turns,
            can_read,
            past,
        }
    }

    /// Search, read, search once more for what is missing, read what that brought, stop.
    fn next(&self) -> Next {
        let left = self.most_calls().saturating_sub(self.past.len());
        let step = match (self.search_turns, self.read_turns) {
            (0, _) if self.can_read && !self.open_addresses().is_empty() => Next::Read(self.open_addresses()),
            (0, _) if !self.named.is_empty() && self.is_answered() => Next::Stop,
            (0, _) => Next::Search(first_queries(&self.question)),
            (1, 0) => self.reads().or_else(|| self.other_queries()).unwrap_or(Next::Stop),
            (1, 1) => self.other_queries().or_else(|| self.further_pages()).unwrap_or(Next::Stop),
            (2, 0 | 1) => self.reads().unwrap_or(Next::Stop),
            _ => Next::Stop,
        };
        match step {
            Next::Search(queries) if left > 0 && !queries.is_empty() => {
                Next::Search(queries.into_iter().take(left).collect())
            }
            Next::Read(documents) if left > 0 => Next::Read(documents.into_iter().take(left).collect()),
            _ => Next::Stop,
        }
    }

    /// The addresses of the objective that were not read yet, each with a query.
    fn open_addresses(&self) -> Vec<(String, String)> {
        let query = self.question.parts.first().map(asked_of).unwrap_or_default();
        let open = self.named.iter().filter(|url| !self.read.iter().any(|read| read == *url));
        open.map(|url| ((*url).to_owned(), query.clone())).collect()
    }

    /// Whether all that is asked was found.
    fn is_answered(&self) -> bool {
        self.selection.missing.is_empty() && !self.selection.findings.is_empty()
    }

    /// How many calls it may make.
    fn most_calls(&self) -> usize {
        if self.question.parts.len() > MOST_QUERIES { MOST_CALLS_OF_MANY } else { MOST_CALLS }
    }

    /// The best documents about each subject that were not read yet, then the best pages of the web.
    fn reads(&self) -> Option<Next> {
        let mut chosen = self.documents();
        chosen.extend(self.best_pages());
        (self.can_read && !chosen.is_empty()).then_some(Next::Read(chosen))
    }

    /// The next best pages, where the first ones did not have it all.
    fn further_pages(&self) -> Option<Next> {
        let pages = self.best_pages();
        (self.can_read && !self.selection.missing.is_empty() && !pages.is_empty())
            .then_some(Next::Read(pages))
    }

    /// The pages of the web that were not read yet whose title and snippet have most of what is asked, each with a
    /// query: the best of each subject, then the second of each. What the engines put first goes first among equals.
    fn best_pages(&self) -> Vec<(String, String)> {
        let mut chosen: Vec<(String, String)> = Vec::new();
        for (query, wanted) in self.wanted().iter().cycle().take(MOST_PAGES * self.question.parts.len()) {
            let is_open = |page: &&Named| {
                !self.read.iter().any(|read| is_of(read, &page.url))
                    && !self.passages.iter().any(|p| is_of(&page.url, &p.document))
                    && !chosen.iter().any(|(url, _)| is_of(url, &page.url))
            };
            let shared = |page: &Named| {
                content_stems(&format!("{} {}", page.title, page.snippet)).intersection(wanted).count()
            };
            let open = self.pages.iter().filter(is_open);
            // Of equals, `max_by_key` would take the last.
            if let Some(page) = open.rev().max_by_key(|page| shared(page)) {
                chosen.push((page.url.clone(), query.clone()));
            }
        }
        chosen.truncate(MOST_PAGES.max(self.question.parts.len()));
        chosen
    }

    /// What is asked of each subject, as a query and as words.
    fn wanted(&self) -> Vec<(String, Stems)> {
        let of = |part: &Part| (asked_of(part), content_stems(&part.objective()));
        self.question.parts.iter().map(of).collect()
    }

    /// The best documents about each subject that were not read yet, each with a query of what is asked: the best of
    /// each subject, then the second of each.
    fn documents(&self) -> Vec<(String, String)> {
        let mut chosen: Vec<(String, String)> = Vec::new();
        let mut documents: Vec<String> = Vec::new();
        let most = MOST_READS.max(self.question.parts.len());
        for lead in in_turn(leads(&self.question, &self.passages)) {
            let of_document = |read: &String| {
                is_of(read, &lead.document)
                    || self.passages.iter().any(|p| p.id == *read && p.document == lead.document)
            };
            let Some(part) = self.question.parts.get(lead.part) else { continue };
            let is_known = self.read.iter().any(of_document) || documents.contains(&lead.document);
            if !is_known && chosen.len() < most {
                chosen.push((lead.source, asked_of(part)));
                documents.push(lead.document);
            }
        }
        chosen
    }

    /// A query for the subject alone, where the documents that were found only have its name among others: there may
    /// be more of that name.
    fn namesakes(&self) -> Option<&str> {
        let leads = leads(&self.question, &self.passages);
        let is_partial =
            self.search_turns == 1 && !leads.is_empty() && leads.iter().all(|lead| !lead.is_exact);
        let subject = self.question.parts.iter().find_map(|p| p.subject.as_ref()).filter(|s| s.is_name)?;
        (is_partial && self.past.len() + MOST_READS < MOST_CALLS).then_some(subject.text.as_str())
    }

    /// A query for the document whose name in full is the subject's, where only titles with a part of the name were
    /// found: "North Korea" for "Republic of Korea".
    fn full_name_query(&self, part: &Part) -> Option<String> {
        let subject = part.subject.as_ref().filter(|s| s.is_name && s.stems.len() > 1)?;
        let is_found = |p: &Passage| !content_stems(&p.title).is_disjoint(&subject.stems);
        let query = format!("{} {FULL_NAME}", subject.text);
        (self.passages.iter().any(is_found) && query == shortened(&query)).then_some(query)
    }

    /// Queries in other words for what is missing, and for a subject of which nothing came back.
    fn other_queries(&self) -> Option<Next> {
        let mut queries: Vec<String> = Vec::new();
        for missing in &self.selection.missing {
            let Some(part) = self.question.parts.get(missing.part) else { continue };
            let facet = missing.facet.and_then(|f| part.facets.get(f));
            if !missing.is_subject_known {
                queries.extend(self.full_name_query(part));
            }
            // A subject that nothing was about is looked for by its name alone.
            queries.extend(other_query(part, facet.filter(|_| missing.is_subject_known)));
        }
        queries.retain(|query| !self.queries.contains(query));
        queries.dedup();
        queries.truncate(MOST_QUERIES - 1);
        (!queries.is_empty()).then_some(Next::Search(queries))
    }
}

/// What is asked; where that is no more than an address, what its page is about.
pub(super) fn asked_about(objective: &str, passages: &[Passage]) -> Question {
    let question = Question::analyse(objective);
    match passages.first().filter(|_| question.parts.is_empty() && !urls(objective).is_empty()) {
        Some(first) => Question::analyse(&first.title),
        None => question,
    }
}

/// Whether two names are those of one document, or two URLs those of one page.
fn is_of(one: &str, other: &str) -> bool {
    one == other || canonical(one).is_some_and(|url| canonical(other) == Some(url))
}

/// A query for what is asked of a subject within a document about it.
fn asked_of(part: &Part) -> String {
    let query = part.facets.iter().map(|f| f.terms.as_str()).collect::<Vec<_>>().join(" ");
    if query.is_empty() { part.objective() } else { shortened(&query) }
}

/// The first of each part, then the second of each, and so on.
fn in_turn(leads: Vec<Lead>) -> Vec<Lead> {
    let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
    let rank = |lead: Lead| {
        let turn = seen.entry(lead.part).or_insert(0);
        *turn += 1;
        (*turn, lead)
    };
    let mut ranked: Vec<(usize, Lead)> = leads.into_iter().map(rank).collect();
    ranked.sort_by_key(|(turn, lead)| (*turn, lead.part));
    ranked.into_iter().map(|(_, lead)| lead).collect()
}

/// A query for each facet of each part, as long as they are few; else one for each part.
fn first_queries(question: &Question) -> Vec<String> {
    let facets: usize = question.parts.iter().map(|p| p.facets.len().max(1)).sum();
    let mut queries: Vec<String> = Vec::new();
    for part in &question.parts {
        if part.facets.len() <= 1 || facets > MOST_QUERIES {
            queries.push(query(part, part.facets.iter().map(|f| f.terms.as_str())));
        } else {
            queries.extend(part.facets.iter().map(|f| query(part, std::iter::once(f.terms.as_str()))));
        }
    }
    queries.dedup();
    queries.truncate(MOST_QUERIES.max(question.parts.len().min(MOST_CALLS_OF_MANY / 2)));
    // A title spells out what the question abbreviates.
    let subjects = question.parts.iter().filter_map(|p| p.subject.as_ref());
    let acronyms = subjects.filter(|s| s.is_name && is_acronym(&s.text));
    queries.extend(acronyms.take(1).map(|s| format!("{} abbreviation", s.text)));
    queries
}

fn query<'f>(part: &'f Part, facets: impl Iterator<Item = &'f str>) -> String {
    let subject = part.subject.iter().map(|s| s.text.as_str());
    shortened(&subject.chain(facets).collect::<Vec<_>>().join(" "))
}

/// The subject with other words for the facet, or alone; without a subject the facet in other words.
fn other_query(part: &Part, facet: Option<&Facet>) -> Option<String> {
    let Some(facet) = facet.filter(|_| part.subject.is_none()) else {
        let others = facet.map_or("", |f| f.terms.as_str()).split_whitespace().flat_map(other_words).take(3);
        return Some(query(part, others.collect::<Vec<_>>().into_iter()));
    };
    reworded_facet(facet).map(|again| shortened(&again))
}

fn shortened(query: &str) -> String {
    query.split_whitespace().take(LONGEST_QUERY).collect::<Vec<_>>().join(" ")
}
