//! The supervisor: takes the question apart, delegates, looks at what came back, delegates again for what is
//! missing, then completes.

use deepgraph_protocol::{ModelRequest, ToolSpec, Value};
use deepgraph_research::handoff::{split_unknowns, unknown_of};
use deepgraph_research::question::{Facet, Part, Question, urls};
use deepgraph_research::text::synonyms::other_words;
use deepgraph_research::text::words::is_stop;
use deepgraph_research::unsearched::is_unsearched;

use super::Made;
use super::calls::{Calls, main_parameter};
use super::history::{Past, first_user_text, past};
use super::material;

/// The most delegations of one turn.
const MOST_A_TURN: usize = 5;
/// How often a refused delegation is tried.
const MOST_TRIES: usize = 3;
/// What a handoff is to hold.
const EXPECTED: &str =
    "The latest figure or statement for each aspect, with its date and source, and what was not found.";

/// The tools of a supervisor.
pub(super) struct Supervisor<'a> {
    /// Starts a researcher.
    pub delegate: &'a ToolSpec,
    /// Says that research is done.
    pub finish: Option<&'a ToolSpec>,
}

impl Supervisor<'_> {
    /// The next turn.
    pub fn next(&self, request: &ModelRequest) -> Made {
        let parameter = main_parameter(self.delegate).unwrap_or_default();
        let past: Vec<Past> = past(request).into_iter().filter(|p| p.name == &*self.delegate.name).collect();
        let mut calls = Calls::new(request);
        for objective in self.open(request, &past, &parameter).iter().take(MOST_A_TURN) {
            calls.push(self.delegate, &[("objective", objective), ("expected_output", EXPECTED)]);
        }
        if calls.len() > 0 {
            return Made::Calls(calls.finish());
        }
        match self.finish {
            Some(finish) => {
                calls.push(finish, &[("summary", "All that the sources hold was looked for.")]);
                Made::Calls(calls.finish())
            }
            None => Made::Text(last_answers(&past)),
        }
    }

    /// What is still to be delegated: what was not carried out, then what came back without an answer, in other
    /// words and once only.
    fn open(&self, request: &ModelRequest, past: &[Past], parameter: &str) -> Vec<String> {
        let planned = objectives(request);
        let tries = |objective: &str| past.iter().filter(|p| p.text(parameter) == objective).count();
        let is_done =
            |objective: &str| past.iter().any(|p| p.text(parameter) == objective && !p.was_refused());
        let mut open: Vec<String> = planned.clone();
        for done in past.iter().filter(|p| planned.iter().any(|o| o == p.text(parameter)) && !p.was_refused())
        {
            let unknowns = split_unknowns(done.answer).1;
            // Other words do not mend a search that fails.
            if unknowns.iter().any(|unknown| is_unsearched(unknown)) {
                continue;
            }
            for unknown in unknowns {
                let again = reworded(&unknown).filter(|again| !open.contains(again));
                open.extend(again);
            }
        }
        open.retain(|objective| !is_done(objective) && tries(objective) < MOST_TRIES);
        open
    }
}

/// The sub-questions: those of an approved plan, else the parts of the brief.
fn objectives(request: &ModelRequest) -> Vec<String> {
    let planned =
        request.context.get("plan").and_then(|plan| plan.get("sub_questions")).and_then(Value::as_list);
    let planned: Vec<&str> = planned.unwrap_or_default().iter().filter_map(Value::as_str).collect();
    let text = first_user_text(request);
    let text = if text.trim().is_empty() { material::question(request).unwrap_or("") } else { text };
    let asked = if planned.is_empty() { vec![text] } else { planned };
    let mut found: Vec<String> = Vec::new();
    // Who looks into a part reads the pages that the question names.
    let mut addresses = urls(text);
    for url in asked.iter().flat_map(|question| urls(question)) {
        if !addresses.contains(&url) {
            addresses.push(url);
        }
    }
    let named = addresses.join(" ");
    for question in asked {
        let parts = sub_questions(question);
        let none = (parts.is_empty() && !named.is_empty()).then(String::new);
        for objective in parts.into_iter().chain(none) {
            let objective = format!("{objective} {named}").trim().to_owned();
            if !found.contains(&objective) {
                found.push(objective);
            }
        }
    }
    found
}

/// A question as questions that can be looked into independently, one for each subject.
pub(super) fn sub_questions(question: &str) -> Vec<String> {
    let parts = Question::analyse(question).parts;
    parts.iter().map(Part::objective).filter(|objective| !objective.is_empty()).collect()
}

/// What was not found, asked in other words; none where there are no others, or where no source speaks of the
/// subject, in whatever words.
fn reworded(unknown: &str) -> Option<String> {
    let (what, is_unheard_of) = unknown_of(unknown);
    if is_unheard_of {
        return None;
    }
    let question = Question::analyse(what);
    let part = question.parts.first()?;
    let again = reworded_facet(part.facets.first()?)?;
    Some(part.subject.as_ref().map_or(again.clone(), |subject| format!("{}: {again}", subject.text)))
}

/// A facet with its first word that has another one replaced by it.
pub(super) fn reworded_facet(facet: &Facet) -> Option<String> {
    let words = facet.terms.split_whitespace().filter(|word| !is_stop(word));
    let (word, other) = words.into_iter().find_map(|word| Some((word, *other_words(word).first()?)))?;
    Some(facet.terms.replacen(word, other, 1))
}

/// What came back, for a graph that offers no way to say that it is done.
fn last_answers(past: &[Past]) -> String {
    let answers = past.iter().filter(|p| !p.was_refused()).map(|p| p.answer.trim()).filter(|a| !a.is_empty());
    answers.collect::<Vec<_>>().join("\n\n")
}
