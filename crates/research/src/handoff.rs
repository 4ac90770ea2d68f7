//! Handoffs: what a researcher found, in sentences that name their sources, and what it did not find.

use std::collections::{BTreeMap, BTreeSet};

use deepgraph_protocol::{Fact, Handoff, Source};

use crate::cite::with_ids;
use crate::marks::{Cited, UNSUPPORTED, cited_sentences};
use crate::question::Question;
use crate::select::{Selection, passages_of_facts, select};
use crate::text::blocks::{item_mark, lines};
use crate::text::figures::{self, Amount};

/// Begins a line that says what was looked for in vain.
pub const NOT_FOUND: &str = "Not found:";

/// Follows what was not found where no passage was about the subject at all.
pub const NO_SOURCE: &str = "no source speaks of";

/// Sources by id.
pub type Sources = BTreeMap<String, Source>;

/// The handoff of a compressor's text. A URL counts as the citation of its page, if that was read. Ids of unknown sources are dropped; a sentence that cites nothing else is
/// marked `[unsupported]` and is no finding. An empty text is made from the facts.
pub fn handoff(objective: &str, text: &str, facts: &[Fact], sources: &Sources) -> Handoff {
    if text.trim().is_empty() {
        return extract(objective, facts, sources);
    }
    let known: BTreeSet<&str> = sources.keys().map(String::as_str).collect();
    let (body, unknowns) = split_unknowns(&with_ids(text, sources));
    let mut handoff =
        Handoff { objective: objective.to_owned(), unknowns, facts: keys(facts), ..Handoff::default() };
    handoff.text = checked(&body, &known, &mut handoff);
    for unknown in &handoff.unknowns {
        if !handoff.text.is_empty() {
            handoff.text.push('\n');
        }
        handoff.text.push_str(&format!("{NOT_FOUND} {unknown}"));
    }
    handoff
}

/// The handoff made from facts alone: those nearest to the objective.
pub fn extract(objective: &str, facts: &[Fact], sources: &Sources) -> Handoff {
    let question = Question::analyse(objective);
    let passages = passages_of_facts(facts, |id| sources.get(id).cloned());
    let text = findings(&question, &select(&question, &passages));
    if text.is_empty() {
        let text = format!("{NOT_FOUND} {}", one_line(objective));
        return Handoff {
            objective: objective.to_owned(),
            unknowns: vec![one_line(objective)],
            text,
            facts: keys(facts),
            ..Handoff::default()
        };
    }
    handoff(objective, &text, facts, sources)
}

fn keys(facts: &[Fact]) -> Vec<String> {
    facts.iter().map(|fact| fact.key.clone()).collect()
}

/// What was selected as text: a line for each finding with its source, then one for each thing not found. Empty for
/// a question that asks nothing.
pub fn findings(question: &Question, selection: &Selection) -> String {
    let mut out: Vec<String> = Vec::new();
    for finding in &selection.findings {
        let line = format!("{} [{}]", finding.sentence, finding.source);
        if !out.contains(&line) {
            out.push(line);
        }
    }
    for missing in &selection.missing {
        let Some(part) = question.parts.get(missing.part) else { continue };
        let facet = missing.facet.and_then(|f| part.facets.get(f));
        let why = match &part.subject {
            Some(subject) if !missing.is_subject_known => format!(" ({NO_SOURCE} {})", subject.text),
            _ => String::new(),
        };
        out.push(format!("{NOT_FOUND} {}{why}", part.name_of(facet)));
    }
    out.join("\n")
}

/// The text with its citations checked; findings, sources and dates go into the handoff.
fn checked(text: &str, known: &BTreeSet<&str>, handoff: &mut Handoff) -> String {
    let mut out = String::new();
    let mut at = 0;
    for sentence in cited_sentences(text, known) {
        let is_known = |id: &&String| known.contains(id.as_str());
        let cited: Vec<&String> = sentence.marks.iter().flat_map(|m| &m.ids).filter(is_known).collect();
        if !cited.is_empty() {
            handoff.findings += 1;
            put_dates(text, &sentence, handoff);
        }
        for id in &cited {
            if !handoff.sources.contains(id) {
                handoff.sources.push((*id).clone());
            }
        }
        for (i, mark) in sentence.marks.iter().enumerate() {
            out.push_str(&text[at..mark.range.start]);
            at = mark.range.end;
            for id in mark.ids.iter().filter(is_known) {
                out.push_str(&format!("[{id}]"));
            }
            if cited.is_empty() && i + 1 == sentence.marks.len() {
                out.push_str(UNSUPPORTED);
            }
        }
    }
    out.push_str(&text[at..]);
    out.trim().to_owned()
}

fn put_dates(text: &str, sentence: &Cited, handoff: &mut Handoff) {
    let sentence = &text[sentence.range.clone()];
    for figure in figures::find(sentence) {
        let is_date = matches!(figure.amount, Amount::Date { .. }) || figure.year().is_some();
        let date = &sentence[figure.at..figure.end()];
        if is_date && !handoff.dates.iter().any(|d| d == date) {
            handoff.dates.push(date.to_owned());
        }
    }
}

/// What was not found, without the reason behind it; and whether the reason is that no source speaks of the subject.
pub fn unknown_of(text: &str) -> (&str, bool) {
    match text.split_once(&format!(" ({NO_SOURCE} ")) {
        Some((what, _)) => (what, true),
        None => (text, false),
    }
}

/// Takes the "Not found: …" lines out of a text, and the list behind a heading or line that says no more.
pub fn split_unknowns(text: &str) -> (String, Vec<String>) {
    let mut body = String::new();
    let mut unknowns: Vec<String> = Vec::new();
    let mut in_list = false;
    for line in lines(text).map(|range| &text[range]) {
        let bare = line.trim().trim_start_matches('#').trim();
        let mark = item_mark(bare);
        let item = bare[mark..].trim();
        match unknown(item) {
            Some("") => in_list = true,
            Some(what) => push_unknown(&mut unknowns, what),
            None if in_list && mark > 0 => push_unknown(&mut unknowns, item),
            None if in_list && bare.is_empty() => {}
            None => {
                in_list = false;
                body.push_str(line);
                body.push('\n');
            }
        }
    }
    (body.trim().to_owned(), unknowns)
}

/// What a line says was not found; "" for a heading.
fn unknown(line: &str) -> Option<&str> {
    let bare = line.trim_start_matches(['*', '_']);
    let head = bare.get(..NOT_FOUND.len() - 1).filter(|h| h.eq_ignore_ascii_case("not found"))?;
    let rest = bare[head.len()..].trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_'));
    match rest.strip_prefix(':') {
        Some(what) => Some(what.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_'))),
        None => rest.is_empty().then_some(""),
    }
}

fn push_unknown(unknowns: &mut Vec<String>, what: &str) {
    let what = one_line(what.trim_end_matches('.'));
    let is_none = matches!(what.to_lowercase().as_str(), "" | "none" | "nothing" | "n/a" | "-");
    if !is_none && !unknowns.contains(&what) {
        unknowns.push(what);
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
