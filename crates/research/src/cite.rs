//! The citation step (I2): every `[id]` of a draft becomes a number that resolves to a document, a place and the words
//! there, or goes.
//!
//! A sentence keeps its citations when each of its figures stands in one of the sources that it cites and its words
//! fit them. Otherwise `[unsupported]` takes their place and the sentence is listed at the end with the reason: a
//! false citation is never left. A sentence with figures and no citation at all is listed too.

mod bare;
mod evidence;
mod heads;
mod write;

use std::collections::BTreeSet;

use deepgraph_protocol::{Citation, Source, Span};

use crate::handoff::Sources;
use crate::marks::{Cited, UNSUPPORTED, cited_sentences, without_marks};
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
    for sentence in cited_sentences(draft, &known) {
        if sentence.marks.is_empty() {
            unsupported.extend(bare.complaint(&sentence.range));
            continue;
        }
        let said = without_marks(&draft[sentence.range.clone()], &known);
        let found = judge(&said, &heads.of_cell(sentence.range.start, &known), &sentence, sources);
        let marks = match found {
            Ok(found) => numbers(&found, &mut citations),
            Err(reason) => {
                unsupported.push(Unsupported { sentence: said, reason });
                UNSUPPORTED.to_owned()
            }
        };
        edits.replace_marks(&sentence, &marks);
    }
    let mut text = edits.apply(draft);
    write::push_unsupported(&mut text, &unsupported);
    write::push_sources(&mut text, &citations);
    Report { text, citations }
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
    }
}

#[cfg(test)]
mod tests;
