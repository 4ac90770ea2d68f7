//! The citation step (I2): every `[id]` of a draft becomes a number that resolves to a document, a place and the words
//! there, or goes.
//!
//! A sentence keeps its citations when each of its figures stands in one of the sources that it cites and its words
//! fit them. Otherwise `[unsupported]` takes their place and the sentence is listed at the end with the reason: a
//! false citation is never left. A sentence with figures and no citation at all is listed too; one without figures and
//! citation is labelled `[no source]`, unless it only sums up what is cited, speaks of the sources or of what is not known,
//! or says what to do. Where a source of a later date says the same of other figures, a note behind the citations says so (S8).

mod bare;
mod evidence;
mod exempt;
mod heads;
mod later;
mod priors;
mod write;

use std::collections::BTreeSet;
use std::ops::Range;

use deepgraph_protocol::{Citation, Source, Span};

use crate::handoff::Sources;
use crate::marks::{Cited, UNSOURCED, UNSUPPORTED, cited_sentences, without_marks};
use crate::select::EARLIER;
use crate::staleness::Timeline;
use crate::text::words::{Stems, content_stems};
use evidence::{Evidence, evidence};
use heads::Heads;
use write::Edits;

/// A report and what it cites.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The draft with numbers for citations and a list of sources behind it.
    pub text: String,
    /// The citations by number.
    pub citations: Vec<Citation>,
    /// Sentences that a source of a later date says with other figures.
    pub superseded: u64,
    /// Sentences that claim something and cite nothing.
    pub unsourced: u64,
}

/// A sentence whose citations do not hold, or that should have some.
#[derive(Debug, PartialEq, Eq)]
struct Unsupported {
    sentence: String,
    reason: String,
}

/// Checks and numbers the citations of a draft. The same place of the same source has one number; numbers go by
/// first appearance.
pub fn cite(draft: &str, sources: &Sources) -> Report {
    let known: BTreeSet<&str> = sources.keys().map(String::as_str).collect();
    let draft = write::without_source_list(draft);
    let mut citations: Vec<Citation> = Vec::new();
    let mut unsupported: Vec<Unsupported> = Vec::new();
    let mut edits = Edits::default();
    let bare = bare::Bare::of(draft);
    let heads = Heads::of(draft);
    let timeline = Timeline::of(sources);
    let mut superseded = 0;
    let mut uncited: Vec<Range<usize>> = Vec::new();
    let mut cited_words = Stems::new();
    for sentence in cited_sentences(draft, &known) {
        if sentence.marks.is_empty() {
            match bare.complaint(&sentence.range) {
                Some(complaint) => unsupported.push(complaint),
                None => uncited.push(sentence.range),
            }
            continue;
        }
        let said = without_marks(&draft[sentence.range.clone()], &known);
        cited_words.extend(content_stems(&said));
        let found = judge(&said, &heads.of_cell(sentence.range.start, &known), &sentence, sources);
        let marks = match found {
            Ok(found) => {
                let marks = numbers(&found, &mut citations);
                match later::note(&said, &found, &timeline) {
                    None => marks,
                    Some(note) => {
                        superseded += 1;
                        if said.starts_with(EARLIER) {
                            // It says so itself.
                            edits.replace_marks(&sentence, &marks);
                            continue;
                        }
                        format!("{marks} {}", note.text(&numbers(&[note.evidence()], &mut citations)))
                    }
                }
            }
            Err(reason) => {
                unsupported.push(Unsupported { sentence: said, reason });
                UNSUPPORTED.to_owned()
            }
        };
        edits.replace_marks(&sentence, &marks);
    }
    let bare_claims =
        unsupported.iter().filter(|complaint| complaint.reason == bare::NO_CITATION).count() as u64;
    let priors = priors::of(draft, &uncited, &bare, &cited_words);
    priors.ends.iter().for_each(|end| edits.insert(*end, UNSOURCED));
    let mut text = edits.apply(draft);
    write::push_unsupported(&mut text, &unsupported);
    write::push_sources(&mut text, &citations);
    Report { text, citations, superseded, unsourced: bare_claims + priors.sentences }
}

/// The places that bear a sentence out, or why there are none.
fn judge<'s>(
    said: &str,
    heads: &str,
    sentence: &Cited,
    sources: &'s Sources,
) -> Result<Vec<Evidence<'s>>, String> {
    let mut cited: Vec<&Source> = Vec::new();
    for source in sentence.marks.iter().flat_map(|m| &m.ids).filter_map(|id| sources.get(id)) {
        if !cited.iter().any(|known| known.id == source.id) {
            cited.push(source);
        }
    }
    if cited.is_empty() {
        return Err("it cites no source that was read".to_owned());
    }
    evidence(said, heads, &cited)
}

/// The numbers of some places as marks, `[1][2]`; new places get new numbers.
fn numbers(found: &[Evidence], citations: &mut Vec<Citation>) -> String {
    let mut numbers: Vec<u64> = Vec::new();
    for evidence in found {
        let source = evidence.source;
        let span = source.locate(evidence.range.start, evidence.range.len());
        let same = |c: &&Citation| c.source == source.id && c.span == span;
        let number = match citations.iter().find(same) {
            Some(known) => known.number,
            None => {
                let citation = citation(citations.len() as u64 + 1, evidence, span);
                let number = citation.number;
                citations.push(citation);
                number
            }
        };
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    numbers.iter().map(|number| format!("[{number}]")).collect()
}

fn citation(number: u64, evidence: &Evidence, span: Span) -> Citation {
    let source = evidence.source;
    Citation {
        number,
        source: source.id.clone(),
        document: source.document.clone(),
        title: source.title.clone(),
        span,
        quote: source.text.get(evidence.range.clone()).unwrap_or("").to_owned(),
        url: None,
    }
}

#[cfg(test)]
mod tests;
