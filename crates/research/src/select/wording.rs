//! A chosen statement as a sentence.

use super::about::alias;
use super::candidate::Candidate;
use super::pick::Scored;
use crate::question::{Part, Subject};
use crate::text::words::{content_stems, is_qualifier};

/// Begins a statement that a later document contradicts.
pub(crate) const EARLIER: &str = "Earlier, as of";

/// The longest value, in bytes, that is handed on whole.
const LONGEST_VALUE: usize = 700;

/// The statement as a sentence that can be understood alone: title, label, value.
pub(super) fn sentence(part: &Part, scored: &Scored) -> String {
    let candidate = scored.candidate;
    let says = |s: &Subject| !s.is_name || s.stems.is_subset(&content_stems(&candidate.value));
    let names_subject = part.subject.as_ref().is_none_or(says);
    let is_complete = candidate.is_prose && names_subject;
    let from = if is_complete { own_labels(candidate) } else { first_label(scored) };
    let labels = candidate.path.get(from..).unwrap_or_default();
    let mut labels: Vec<&str> =
        labels.iter().map(|l| l.text.as_str()).filter(|l| !l.ends_with('?')).collect();
    let title = title(part, candidate);
    if let Some(alias) =
        part.subject.as_ref().and_then(|s| alias(s, candidate)).filter(|a| !labels.contains(&a.text.as_str()))
    {
        // A name of the whole document stands before all labels, that of a record next to the field's.
        let is_of_document = candidate.full_names.contains(&alias.stems);
        labels.insert(if is_of_document { 0 } else { labels.len().saturating_sub(1) }, &alias.text);
    }
    let labels = labels.join(" › ");
    let mut out = earlier(scored);
    if !title.is_empty() && !is_complete {
        out.push_str(title);
        out.push_str(if labels.is_empty() { ": " } else { " — " });
    }
    if !labels.is_empty() {
        out.push_str(&labels);
        out.push_str(": ");
    }
    out.push_str(&shortened(&candidate.value));
    if !out.ends_with(['.', '!', '?', '…', '。']) {
        out.push('.');
    }
    out
}

/// For a statement that a later document contradicts: of when it is.
fn earlier(scored: &Scored) -> String {
    match (scored.is_superseded, &scored.candidate.passage.date) {
        (true, Some(date)) => format!("{EARLIER} {date}: "),
        _ => String::new(),
    }
}

/// Index of the first label that stands in the statement's own line.
fn own_labels(candidate: &Candidate) -> usize {
    candidate.path.len() - candidate.own_labels.min(candidate.path.len())
}

/// The title, or its own name where that holds the subject.
fn title<'a>(part: &Part, candidate: &Candidate<'a>) -> &'a str {
    let names = |s: &Subject| s.stems.is_subset(&content_stems(candidate.name));
    let is_enough = part.subject.as_ref().is_some_and(names);
    if is_enough { candidate.name } else { candidate.passage.title.trim() }
}

/// The label from which on the path tells what is meant: the one that matches, the statement's own, and the heading
/// above where its own says nothing (`total`) or the headings are nested. Prose needs none.
fn first_label(scored: &Scored) -> usize {
    let path = &scored.candidate.path;
    let own = own_labels(scored.candidate);
    if scored.candidate.is_prose && own == path.len() {
        return own;
    }
    let tells = path.get(own).is_some_and(|l| l.stems.iter().any(|s| !is_qualifier(s)));
    let with_heading = if tells && own < 2 { own } else { own.saturating_sub(1) };
    scored.found.at.unwrap_or(own).min(with_heading)
}

fn shortened(value: &str) -> String {
    if value.len() <= LONGEST_VALUE {
        return value.to_owned();
    }
    let cut = (0..=LONGEST_VALUE).rev().find(|at| value.is_char_boundary(*at)).unwrap_or(0);
    let head = &value[..cut];
    format!("{} …", head.rsplit_once(' ').map_or(head, |(whole, _)| whole))
}
