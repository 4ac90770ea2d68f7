//! A report draft from handoffs alone, without any model.
//!
//! The sentences of the handoffs that cite a source, in the question's order, near-duplicates left out, each with
//! its citations; a table first where subjects are compared; what was not found last. Of two that say the same of other
//! figures, the one from the later source stands, and says what the earlier one said.

mod gaps;
mod names;
mod prefer;
mod table;

use std::collections::BTreeSet;

use deepgraph_protocol::Handoff;

use names::Names;

use crate::handoff::Sources;
use crate::marks::{cited_sentences, without_marks};
use crate::passage::Passage;
use crate::question::{Part, Question};
use crate::said::Said;
use crate::select::{Selection, is_acronym, may_be, select};
use crate::text::similar::Fingerprint;
use crate::text::words::fold;
use crate::unsearched::failure;

/// The longest title, in characters.
const LONGEST_TITLE: usize = 140;

/// A cited sentence of a handoff.
struct Line {
    /// Without its marks.
    text: String,
    /// Ids of its sources.
    ids: Vec<String>,
    /// The section that it belongs to.
    section: usize,
    /// The acronym that its handoff was asked about, if it was one.
    acronym: Option<String>,
    /// What an earlier source said instead, with its citations.
    earlier: Option<String>,
}

/// A section of the report: what a subject, or a question without subject, is about.
struct Section {
    heading: String,
}

/// A draft for the question. `note` says how it came about and stands below the title. Sources that are not known
/// are not cited; with no sources given, the handoffs' own lists of them count.
pub fn draft(question: &str, note: &str, handoffs: &[Handoff], sources: &Sources) -> String {
    let names = Names::of(question, handoffs);
    let asked = names.read(question);
    let known: BTreeSet<&str> = if sources.is_empty() {
        handoffs.iter().flat_map(|h| &h.sources).map(String::as_str).collect()
    } else {
        sources.keys().map(String::as_str).collect()
    };
    let sections = sections(&asked, &names, handoffs);
    let lines = distinct(lines(&sections, &names, handoffs, &known));
    let lines = prefer::later(lines, sources);
    let covered = cover(&asked, &lines);
    let mut out = format!("# {}\n", title(question));
    if !note.is_empty() {
        out.push_str(&format!("\n*{note}*\n"));
    }
    if lines.is_empty() {
        let why = handoffs.iter().flat_map(|h| &h.unknowns).find_map(|unknown| failure(unknown));
        match why {
            Some(why) => out.push_str(&format!("\nNothing was found: {why}.\n")),
            None => out.push_str("\nNothing was found in the sources that answers this.\n"),
        }
    }
    out.push_str(&table::table(&asked, &lines, &covered));
    push_sections(&mut out, &sections, &lines);
    gaps::push(&mut out, question, &names, handoffs, &lines);
    out
}

/// The question in one line.
fn title(question: &str) -> String {
    let line = question
        .lines()
        .map(|l| l.trim().trim_start_matches('#').trim())
        .find(|l| !l.is_empty())
        .unwrap_or("Report");
    match line.char_indices().nth(LONGEST_TITLE) {
        Some((cut, _)) => format!("{} …", line[..cut].trim_end()),
        None => line.to_owned(),
    }
}

/// The sections in the question's order, then those of other objectives in the order of the handoffs.
fn sections(asked: &Question, names: &Names, handoffs: &[Handoff]) -> Vec<Section> {
    let mut found: Vec<Section> = Vec::new();
    let parts = handoffs.iter().flat_map(|h| names.read(&h.objective).parts);
    let headings = asked.parts.iter().map(heading).chain(parts.map(|p| heading(&p)));
    for heading in headings {
        if !found.iter().any(|s| fold(&s.heading) == fold(&heading)) {
            found.push(Section { heading });
        }
    }
    found
}

fn heading(part: &Part) -> String {
    part.subject.as_ref().map_or_else(|| part.objective(), |subject| subject.text.clone())
}

/// The cited sentences of all handoffs, by section.
fn lines(sections: &[Section], names: &Names, handoffs: &[Handoff], known: &BTreeSet<&str>) -> Vec<Line> {
    let mut found = Vec::new();
    for handoff in handoffs {
        let own: Vec<String> = names.read(&handoff.objective).parts.iter().map(heading).collect();
        let at = |heading: &String| sections.iter().position(|s| fold(&s.heading) == fold(heading));
        let default = own.first().and_then(at).unwrap_or(sections.len());
        for sentence in cited_sentences(&handoff.text, known) {
            let mut ids: Vec<String> = sentence.marks.iter().flat_map(|m| m.ids.clone()).collect();
            ids.retain(|id| known.contains(id.as_str()));
            ids.dedup();
            let text = without_marks(handoff.text.get(sentence.range.clone()).unwrap_or(""), known);
            if ids.is_empty() || text.is_empty() {
                continue;
            }
            // One handoff may speak of several subjects.
            let named = own.iter().filter(|heading| fold(&text).starts_with(&fold(heading))).find_map(at);
            let acronym = own.first().filter(|name| own.len() == 1 && is_acronym(name)).cloned();
            found.push(Line { text, ids, section: named.unwrap_or(default), acronym, earlier: None });
        }
    }
    found.sort_by_key(|line| line.section);
    found
}

/// Without those that say what an earlier one of the section says.
fn distinct(lines: Vec<Line>) -> Vec<Line> {
    let mut seen: Vec<(usize, Fingerprint, Said)> = Vec::new();
    let mut kept = Vec::new();
    for line in lines {
        let (print, said) = (Fingerprint::of(&line.text), Said::of("", &line.text));
        let is_said = seen
            .iter()
            .any(|(section, s, known)| *section == line.section && s.is_near(&print) && known.covers(&said));
        if !is_said {
            seen.push((line.section, print, said));
            kept.push(line);
        }
    }
    kept
}

/// Which lines answer which part and facet of the question; a finding's source is the index of a line.
fn cover(asked: &Question, lines: &[Line]) -> Selection {
    let passage = |(i, line): (usize, &Line)| {
        let (title, text) = split_title(&line.text);
        let acronym = line.acronym.as_deref().filter(|acronym| may_be(acronym, title));
        let title = acronym.unwrap_or(title);
        // The full stop that a record's line was given would make a sentence of its value.
        let text = if title.is_empty() { text } else { text.trim_end_matches('.') };
        Passage { id: i.to_string(), title: title.to_owned(), text: text.to_owned(), ..Passage::default() }
    };
    select(asked, &lines.iter().enumerate().map(passage).collect::<Vec<_>>())
}

/// `Uruguay — Population: 3,449,444.` as title and rest; a sentence without such a head has no title.
fn split_title(line: &str) -> (&str, &str) {
    match line.split_once(" — ") {
        Some((title, rest)) if title.split(' ').count() <= 12 && !title.contains(". ") => (title, rest),
        _ => ("", line),
    }
}

/// A heading for each section where there are several, then its lines: records as a list, prose as a paragraph.
fn push_sections(out: &mut String, sections: &[Section], lines: &[Line]) {
    let used: BTreeSet<usize> = lines.iter().map(|line| line.section).collect();
    for at in &used {
        let heading = sections.get(*at).map_or("Further findings", |s| s.heading.as_str());
        if used.len() > 1 {
            out.push_str(&format!("\n## {heading}\n"));
        }
        let mut in_list = None;
        for line in lines.iter().filter(|line| line.section == *at) {
            let (title, rest) = split_title(&line.text);
            let is_record = !title.is_empty();
            let shown =
                if used.len() > 1 && fold(title) == fold(heading) { rest } else { line.text.as_str() };
            let start = match (in_list, is_record) {
                (Some(true), true) => "- ",
                (Some(false), false) => "",
                (_, true) => "\n- ",
                (_, false) => "\n",
            };
            let end = if is_record { "\n" } else { " " };
            if in_list == Some(false) {
                out.truncate(out.trim_end_matches(' ').len());
                out.push_str(if is_record { "\n" } else { " " });
            }
            out.push_str(&format!("{start}{} {}{end}", with_earlier(shown, line), marks(&line.ids)));
            in_list = Some(is_record);
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
}

/// A sentence with what an earlier source said, before its full stop.
fn with_earlier(shown: &str, line: &Line) -> String {
    match &line.earlier {
        None => shown.to_owned(),
        Some(earlier) => {
            let bare = shown.trim_end_matches('.');
            format!("{bare} ({earlier}){}", shown.get(bare.len()..).unwrap_or(""))
        }
    }
}

/// Ids as citation marks.
fn marks(ids: &[String]) -> String {
    ids.iter().map(|id| format!("[{id}]")).collect()
}

#[cfg(test)]
mod nothing_vanishes;
#[cfg(test)]
mod tests;
