//! The citation step (I2): every `[id]` of a draft becomes a number that resolves to a document, a place and the words
//! there, or goes.
//!
//! A sentence keeps its citations when each of its figures stands in one of the sources that it cites and its words
//! fit them. Otherwise `[unsupported]` takes their place and the sentence is listed at the end with the reason: a
//! false citation is never left. A sentence with figures and no citation at all is listed too; one without figures and
//! citation is labelled `[no source]`, unless it only sums up what is cited, speaks of the sources or of what is not known,
//! or says what to do. A URL or DOI of the draft, in whatever form, counts as the citation of its page if the run has read
//! that, and goes otherwise. Where a source of a later date says the same of other figures, a note behind the citations says so (S8).

mod bare;
mod evidence;
mod exempt;
mod heads;
mod later;
mod priors;
mod resolve;
mod urls;
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
use resolve::{Pages, Resolved, resolve};
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
    /// What became of the citations of the draft.
    pub checked: Checked,
}

/// What became of the citations of a draft: `verified` and `removed` make up `total`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Citations that the draft had: ids of sources, numbers, URLs, links, DOIs.
    pub total: u64,
    /// Those that stand: the source was read and bears the sentence out.
    pub verified: u64,
    /// Those that were taken out: the source was not read, or does not bear the sentence out.
    pub removed: u64,
}

impl Checked {
    fn add(&mut self, verified: u64, removed: u64) {
        self.verified += verified;
        self.removed += removed;
        self.total += verified + removed;
    }
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
    let pages = Pages::of(sources);
    let (body, list) = write::split_source_list(draft);
    let resolved = resolve(body, list, &pages);
    let draft = resolved.text.trim_end();
    let known: BTreeSet<&str> = sources.keys().chain(resolved.marks.keys()).map(String::as_str).collect();
    let mut checked = Checked::default();
    checked.add(resolved.dropped.known, resolved.dropped.unknown + write::count_numbers(draft));
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
        let cited = Marked { sentence: &sentence, sources, resolved: &resolved };
        let found = judge(&said, &heads.of_cell(sentence.range.start, &known), &cited);
        let (verified, removed) = cited.count(found.as_deref().unwrap_or_default());
        checked.add(verified, removed);
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
    // What was cut out of the middle of a word may have made a URL of it.
    text = pages.without_others(&text);
    write::push_sources(&mut text, &citations, sources, &pages);
    Report { text, citations, superseded, unsourced: bare_claims + priors.sentences, checked }
}

/// A text that cites pages by their URLs, with the ids of those of their passages that bear the sentences out. A URL of a
/// page that was not read becomes an id that no source has. A text without URLs stays as it is.
pub(crate) fn with_ids(text: &str, sources: &Sources) -> String {
    let resolved = resolve(text, "", &Pages::of(sources));
    if resolved.marks.is_empty() && resolved.dropped == resolve::Dropped::default() {
        return text.to_owned();
    }
    let known: BTreeSet<&str> = sources.keys().chain(resolved.marks.keys()).map(String::as_str).collect();
    let mut out = String::new();
    let mut at = 0;
    for sentence in cited_sentences(&resolved.text, &known) {
        let said = without_marks(&resolved.text[sentence.range.clone()], &known);
        for mark in &sentence.marks {
            out.push_str(resolved.text.get(at..mark.range.start).unwrap_or(""));
            at = mark.range.end;
            mark.ids.iter().for_each(|id| out.push_str(&own_ids(id, &said, sources, &resolved)));
        }
    }
    out.push_str(resolved.text.get(at..).unwrap_or(""));
    out
}

/// An id as a mark; for one that stands for a URL, the passages of its page that bear a sentence out, or the first.
fn own_ids(id: &str, said: &str, sources: &Sources, resolved: &Resolved) -> String {
    let Some(ids) = resolved.marks.get(id) else { return format!("[{id}]") };
    let passages: Vec<&Source> = ids.iter().filter_map(|id| sources.get(id)).collect();
    let found = evidence(said, "", &passages).unwrap_or_default();
    let mut own: Vec<&str> = Vec::new();
    for evidence in &found {
        if !own.contains(&evidence.source.id.as_str()) {
            own.push(&evidence.source.id);
        }
    }
    let first = passages.first().map_or(id, |source| source.id.as_str());
    let own = if own.is_empty() { vec![first] } else { own };
    own.iter().map(|id| format!("[{id}]")).collect()
}

/// The marks of a sentence and what they lead to.
struct Marked<'a> {
    sentence: &'a Cited,
    sources: &'a Sources,
    resolved: &'a Resolved,
}

impl<'a> Marked<'a> {
    fn ids(&self) -> impl Iterator<Item = &'a str> {
        self.sentence.marks.iter().flat_map(|mark| &mark.ids).map(String::as_str)
    }

    /// The sources of an id: its own, or those of the page whose URL it stands for.
    fn led_to(&self, id: &str) -> Vec<&'a Source> {
        match self.resolved.marks.get(id) {
            Some(ids) => ids.iter().filter_map(|id| self.sources.get(id)).collect(),
            None => self.sources.get(id).into_iter().collect(),
        }
    }

    /// All that it cites, each source once.
    fn cited(&self) -> Vec<&'a Source> {
        let mut cited: Vec<&Source> = Vec::new();
        for source in self.ids().flat_map(|id| self.led_to(id)) {
            if !cited.iter().any(|known| known.id == source.id) {
                cited.push(source);
            }
        }
        cited
    }

    /// How many of its citations stand, and how many do not, given what bears it out.
    fn count(&self, found: &[Evidence]) -> (u64, u64) {
        let is_found = |source: &&Source| found.iter().any(|evidence| evidence.source.id == source.id);
        let stands = |id: &&str| self.led_to(id).iter().any(is_found);
        let (stand, fall): (Vec<&str>, Vec<&str>) = self.ids().partition(stands);
        (stand.len() as u64, fall.len() as u64)
    }
}

/// The places that bear a sentence out, or why there are none.
fn judge<'s>(said: &str, heads: &str, marked: &Marked<'s>) -> Result<Vec<Evidence<'s>>, String> {
    let cited = marked.cited();
    if cited.is_empty() {
        let is_page = marked.ids().any(|id| marked.resolved.marks.contains_key(id));
        return Err(if is_page {
            "it cites a page that was not read"
        } else {
            "it cites no source that was read"
        }
        .to_owned());
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
        url: resolve::url_of(source).map(str::to_owned),
    }
}

#[cfg(test)]
mod tests;
