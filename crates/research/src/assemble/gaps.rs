//! What the report says of things that were not found.

use deepgraph_protocol::Handoff;

use super::{Line, cover, heading};
use crate::handoff::unknown_of;
use crate::question::{Part, Question};
use crate::text::synonyms::synonyms;
use crate::text::words::{Stems, fold};

/// A section "Not found"; nothing where nothing is missing.
pub(super) fn push(out: &mut String, asked: &Question, handoffs: &[Handoff], lines: &[Line]) {
    let gaps = gaps(asked, handoffs, lines);
    if gaps.is_empty() {
        return;
    }
    out.push_str("\n## Not found\n\n");
    for gap in gaps {
        out.push_str(&format!("- {gap}\n"));
    }
}

/// One sentence for each gap: subjects of which nothing was found, subjects nobody looked into, and what handoffs
/// say they did not find and no other handoff found.
fn gaps(asked: &Question, handoffs: &[Handoff], lines: &[Line]) -> Vec<String> {
    let mut gaps: Vec<String> = Vec::new();
    let mut told: Vec<Question> = Vec::new();
    for unknown in handoffs.iter().flat_map(|h| &h.unknowns) {
        let (what, is_unheard_of) = unknown_of(unknown);
        let question = Question::analyse(what);
        let subject = question.parts.first().and_then(|p| p.subject.as_ref()).filter(|_| is_unheard_of);
        let gap = match subject {
            Some(subject) => format!("Nothing was found about {} in the sources.", subject.text),
            None => format!("Not found: {what}."),
        };
        let is_told = gaps.contains(&gap) || told.iter().any(|earlier| is_same(earlier, &question));
        if !is_told && !is_answered(&question, lines) {
            gaps.push(gap);
        }
        told.push(question);
    }
    for part in asked.parts.iter().filter(|part| part.subject.is_some()) {
        let name = heading(part);
        let was_asked = handoffs.iter().any(|h| fold(&h.objective).contains(&fold(&name)));
        if !was_asked && !speaks_of(lines, part) {
            gaps.push(format!("{name} was not looked into."));
        }
    }
    gaps
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

/// Whether two gaps are the same one, the later in other words.
fn is_same(earlier: &Question, later: &Question) -> bool {
    let (Some(a), Some(b)) = (earlier.parts.first(), later.parts.first()) else { return earlier == later };
    let stems = |part: &Part| -> Stems { part.facets.iter().flat_map(|f| f.stems.clone()).collect() };
    let (known, asked) = (stems(a), stems(b));
    let is_known = |stem: &&String| known.contains(*stem) || synonyms(stem).iter().any(|s| known.contains(s));
    let same = asked.iter().filter(is_known).count();
    match (&a.subject, &b.subject) {
        (Some(a), Some(b)) => fold(&a.text) == fold(&b.text) && same == asked.len(),
        (None, None) => same * 2 >= asked.len(),
        _ => false,
    }
}
