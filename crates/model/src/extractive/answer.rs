//! The writer: reports from handoffs, answers from passages and notes, and the brief.

use std::collections::BTreeSet;

use deepgraph_protocol::{Handoff, ModelRequest, Value};
use deepgraph_research::assemble::draft;
use deepgraph_research::handoff::{Sources, findings, split_unknowns};
use deepgraph_research::marks::marks_of_any_source;
use deepgraph_research::question::Question;
use deepgraph_research::select::select;

use super::NOTE;
use super::material::{self, Material};

/// The report on what the handoffs hold.
pub(super) fn report(request: &ModelRequest, handoffs: &[Handoff]) -> String {
    let asked = ["question", "brief"].map(|name| material::text(request, name));
    let asked =
        asked.into_iter().find(|text| !text.trim().is_empty()).or_else(|| material::question(request));
    draft(asked.unwrap_or(""), NOTE, handoffs, &Sources::new())
}

/// The report on one set of findings.
pub(super) fn report_of(question: &str, findings: &str) -> String {
    draft(question, NOTE, &[handoff(question, findings)], &Sources::new())
}

/// The answer from passages and notes in the state.
pub(super) fn from_material(request: &ModelRequest, material: &Material) -> String {
    let asked = material::asked(request);
    let question = Question::analyse(asked);
    let mut handoffs: Vec<Handoff> = material.notes.iter().map(|note| handoff(asked, note)).collect();
    let selection = select(&question, &material.passages);
    if material.passages.iter().all(|p| !p.id.is_empty()) {
        handoffs.push(handoff(asked, &findings(&question, &selection)));
        return draft(asked, NOTE, &handoffs, &Sources::new());
    }
    // Without ids there is nothing to cite: the sentences as they are.
    let mut out = findings(&question, &selection).replace(" []", "");
    for note in &material.notes {
        out.push_str(&format!("\n{}", note.trim()));
    }
    out.trim().to_owned()
}

/// A text that cites sources as a handoff.
fn handoff(objective: &str, text: &str) -> Handoff {
    let (_, unknowns) = split_unknowns(text);
    let sources: BTreeSet<String> = marks_of_any_source(text).into_iter().flat_map(|mark| mark.ids).collect();
    Handoff {
        objective: objective.to_owned(),
        text: text.to_owned(),
        sources: sources.into_iter().collect(),
        unknowns,
        ..Handoff::default()
    }
}

/// The question itself, with what the person added when asked.
pub(super) fn brief(request: &ModelRequest) -> String {
    let asked = material::asked(request).trim();
    let answers = request.context.get("answers").and_then(Value::as_list).unwrap_or_default();
    let answers = answers.iter().filter_map(Value::as_str).map(str::trim).filter(|a| !a.is_empty());
    std::iter::once(asked).filter(|a| !a.is_empty()).chain(answers).collect::<Vec<_>>().join("\n\n")
}
