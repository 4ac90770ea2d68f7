//! What the report says of things that were not found: whatever is asked is answered or stands here.

use deepgraph_protocol::Handoff;

use super::names::Names;
use super::{Line, cover, heading};
use crate::handoff::unknown_of;
use crate::question::{Facet, Part, Question, without_urls};
use crate::text::blocks::blocks;
use crate::text::sentences::split;
use crate::text::synonyms::synonyms;
use crate::text::words::{Stems, content_stems, fold, is_stop, words};
use crate::unsearched::is_unsearched;

/// The longest text of a question that is quoted, in characters.
const LONGEST_QUOTE: usize = 160;
/// The most reasons of failed searches that are told.
const MOST_FAILURES: usize = 3;

/// A section "Not found"; nothing where nothing is missing.
pub(super) fn push(out: &mut String, question: &str, names: &Names, handoffs: &[Handoff], lines: &[Line]) {
    let question = &without_urls(question);
    let mut gaps =
        Gaps { question, names, asked: names.read(question), lines, told: Vec::new(), texts: Vec::new() };
    gaps.of_searches(handoffs);
    gaps.of_handoffs(handoffs);
    gaps.of_question(handoffs);
    gaps.of_names();
    if gaps.texts.is_empty() {
        return;
    }
    out.push_str("\n## Not found\n\n");
    for gap in gaps.texts {
        out.push_str(&format!("- {gap}\n"));
    }
}

struct Gaps<'a> {
    question: &'a str,
    names: &'a Names,
    asked: Question,
    lines: &'a [Line],
    /// What was told so far, as it was asked.
    told: Vec<Question>,
    /// One sentence for each gap.
    texts: Vec<String>,
}

impl Gaps<'_> {
    /// Where searches failed, why.
    fn of_searches(&mut self, handoffs: &[Handoff]) {
        for unknown in handoffs.iter().flat_map(|h| &h.unknowns).filter(|unknown| is_unsearched(unknown)) {
            let gap = format!("Not found: {unknown}.");
            if !self.texts.contains(&gap) && self.texts.len() < MOST_FAILURES {
                self.texts.push(gap);
            }
        }
    }

    /// What handoffs say they did not find and no other handoff found.
    fn of_handoffs(&mut self, handoffs: &[Handoff]) {
        for handoff in handoffs {
            // What was asked once more in other words is told in the first ones.
            let is_again = !self.is_asked(&self.names.read(&handoff.objective));
            for unknown in handoff.unknowns.iter().filter(|unknown| !is_unsearched(unknown)) {
                let (what, is_unheard_of) = unknown_of(unknown);
                let missing = self.names.read(what);
                let subject =
                    missing.parts.first().and_then(|p| p.subject.as_ref()).filter(|_| is_unheard_of);
                let gap = match subject {
                    Some(subject) => format!("Nothing was found about {} in the sources.", subject.text),
                    None => format!("Not found: {}.", self.wording(what, &missing)),
                };
                let is_told = self.texts.contains(&gap)
                    || self.told.iter().any(|earlier| is_same(earlier, &missing, is_again));
                if !is_told && !is_answered(&missing, self.lines) {
                    self.texts.push(gap);
                }
                self.told.push(missing);
            }
        }
    }

    /// Whether an objective is a part of the question, or some of what the part asks.
    fn is_asked(&self, objective: &Question) -> bool {
        objective.parts.iter().all(|part| {
            let is_facet = |f: &Facet, of: &Part| of.facets.iter().any(|g| fold(&g.text) == fold(&f.text));
            let mut same = self.asked.parts.iter().filter(|p| subject(p) == subject(part));
            same.any(|p| part.facets.iter().all(|f| is_facet(f, p)))
        })
    }

    /// What is asked, no line answers and no handoff speaks of; subjects that nobody looked into. Where a handoff
    /// was asked for something in words that are not the question's, it may have answered any of it.
    fn of_question(&mut self, handoffs: &[Handoff]) {
        let has_other =
            handoffs.iter().any(|h| h.findings > 0 && !self.is_asked(&self.names.read(&h.objective)));
        let missing = cover(&self.asked, self.lines).missing;
        let parts = self.asked.parts.clone();
        for (i, part) in parts.iter().enumerate() {
            let name = heading(part);
            let is_same = |h: &&Handoff| {
                fold(&h.objective).contains(&fold(&name))
                    || self.names.read(&h.objective).parts.iter().any(|p| subject(p) == subject(part))
            };
            let own: Vec<&Handoff> = handoffs.iter().filter(is_same).collect();
            if own.is_empty() {
                if part.subject.is_some() && !speaks_of(self.lines, part) {
                    self.texts.push(format!("{name} was not looked into."));
                }
                continue;
            }
            for facet in missing.iter().filter(|m| m.part == i).filter_map(|m| part.facets.get(m.facet?)) {
                if !has_other && !self.is_handled(part, facet, &own) {
                    let asked = Question { parts: vec![one(part, facet)] };
                    let gap = format!("Not found: {}.", self.wording(&part.name_of(Some(facet)), &asked));
                    self.texts.push(gap);
                    self.told.push(asked);
                }
            }
        }
    }

    /// Whether a handoff that was asked for a facet has findings and does not list it as unknown, or it was told
    /// before that it, or all of its subject, was not found.
    fn is_handled(&self, part: &Part, facet: &Facet, own: &[&Handoff]) -> bool {
        let asked = Question { parts: vec![one(part, facet)] };
        let was_told = self.told.iter().any(|earlier| is_same(earlier, &asked, false))
            || self
                .texts
                .iter()
                .any(|gap| *gap == format!("Nothing was found about {} in the sources.", heading(part)));
        let has = |h: &Handoff| {
            let parts = self.names.read(&h.objective).parts;
            let mut facets = parts.iter().filter(|p| subject(p) == subject(part)).flat_map(|p| &p.facets);
            h.findings > 0 && facets.any(|f| fold(&f.text) == fold(&facet.text))
        };
        was_told || own.iter().any(|h| has(h))
    }

    /// Names of the question that stand nowhere in the report.
    fn of_names(&mut self) {
        let mut said: Stems = self.lines.iter().flat_map(|line| content_stems(&line.text)).collect();
        said.extend(self.texts.iter().flat_map(|gap| content_stems(gap)));
        said.extend(self.asked.parts.iter().flat_map(|part| content_stems(&part.objective())));
        for block in blocks(self.question) {
            for sentence in split(self.question, block.range) {
                let sentence = &self.question[sentence];
                let names = words(sentence).skip(1).filter(|(_, word)| is_name(word));
                for (_, name) in names {
                    let stems = content_stems(name);
                    if !stems.is_subset(&said) {
                        self.texts.push(format!("{name} was not looked into."));
                        said.extend(stems);
                    }
                }
            }
        }
    }

    /// What is missing in plain words; where it is no plain thing, the question's own words.
    fn wording(&self, what: &str, missing: &Question) -> String {
        let [part] = missing.parts.as_slice() else { return what.to_owned() };
        let [facet] = part.facets.as_slice() else { return what.to_owned() };
        let name = facet.without_years().map_or(facet.text.as_str(), |(what, _)| what);
        let is_plain = facet.is_thing() && fold(self.question).contains(&fold(name));
        let Some(clause) = self.clause_with(facet).filter(|_| !is_plain) else {
            return if is_plain { part.name_of(Some(facet)) } else { what.to_owned() };
        };
        let has_several = self.asked.parts.iter().filter(|p| p.subject.is_some()).count() > 1;
        match &part.subject {
            Some(subject) if has_several || !fold(&clause).contains(&fold(&subject.text)) => {
                format!("\"{clause}\" ({})", subject.text)
            }
            _ => format!("\"{clause}\""),
        }
    }

    /// The clause of the question that holds all words of a facet.
    fn clause_with(&self, facet: &Facet) -> Option<String> {
        let wanted = content_stems(&facet.text);
        let found =
            Question::clauses(self.question).into_iter().find(|c| wanted.is_subset(&content_stems(c)))?;
        (found.chars().count() <= LONGEST_QUOTE)
            .then(|| found.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(char::is_uppercase) && !is_stop(word) && crate::text::figures::month(word).is_none()
}

fn one(part: &Part, facet: &Facet) -> Part {
    Part { subject: part.subject.clone(), facets: vec![facet.clone()] }
}

fn subject(part: &Part) -> Option<String> {
    part.subject.as_ref().map(|s| fold(&s.text))
}

fn speaks_of(lines: &[Line], part: &Part) -> bool {
    let subject = Question { parts: vec![Part { subject: part.subject.clone(), facets: Vec::new() }] };
    !cover(&subject, lines).findings.is_empty()
}

/// Whether a later handoff found what an earlier one did not.
fn is_answered(unknown: &Question, lines: &[Line]) -> bool {
    let covered = cover(unknown, lines);
    !covered.findings.is_empty() && covered.missing.is_empty()
}

/// Whether two gaps are the same one, the later in other words. Of one that was asked once more a word in common is
/// enough.
fn is_same(earlier: &Question, later: &Question, is_again: bool) -> bool {
    let (Some(a), Some(b)) = (earlier.parts.first(), later.parts.first()) else { return earlier == later };
    let stems = |part: &Part| -> Stems { part.facets.iter().flat_map(|f| f.stems.clone()).collect() };
    let years = |part: &Part| part.facets.iter().flat_map(|f| f.years.clone()).collect::<Vec<_>>();
    let (known, asked) = (stems(a), stems(b));
    let is_known = |stem: &&String| known.contains(*stem) || synonyms(stem).iter().any(|s| known.contains(s));
    let same = asked.iter().filter(is_known).count();
    match (&a.subject, &b.subject) {
        _ if years(a) != years(b) => false,
        (Some(a), Some(b)) => fold(&a.text) == fold(&b.text) && (same == asked.len() || is_again && same > 0),
        (None, None) => same * 2 >= asked.len(),
        _ => false,
    }
}
