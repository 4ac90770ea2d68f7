//! The compressor: the statements of a conversation's passages that answer the objective, and what none answers.

use deepgraph_protocol::{ModelRequest, Role};
use deepgraph_research::handoff::{NOT_FOUND, findings as written, unknown_of};
use deepgraph_research::passage::{Passage, parse};
use deepgraph_research::question::Question;
use deepgraph_research::select::{Selection, select};
use deepgraph_research::unsearched::unknown_of_all;

use super::history::past;
use super::research::{asked_about, objective};

/// The findings as lines, each with its source, then one line for each thing not found.
pub(super) fn findings(request: &ModelRequest) -> String {
    let objective = objective(request);
    let answers = request.messages.iter().filter(|m| m.role == Role::Tool);
    let passages: Vec<Passage> = answers.flat_map(|m| parse(&m.content)).collect();
    let question = asked_about(objective, &passages);
    let past = past(request);
    let searches = past.iter().filter(|call| call.name.to_lowercase().contains("search"));
    let failed = unknown_of_all(searches.map(|call| call.answer));
    text(&question, &select(&question, &passages), objective, failed)
}

/// What was selected, as text; never empty. `failed` is what searches left unknown that all failed.
pub(super) fn text(
    question: &Question,
    selection: &Selection,
    objective: &str,
    failed: Option<String>,
) -> String {
    let mut text = written(question, selection);
    if text.is_empty() {
        let asked = objective.split_whitespace().collect::<Vec<_>>().join(" ");
        let asked = if asked.is_empty() { "no question was asked" } else { asked.as_str() };
        text = format!("{NOT_FOUND} {asked}");
    }
    let Some(failed) = failed else { return text };
    // What no source speaks of was not looked for in all of them.
    let lines = text.lines().map(|line| if line.starts_with(NOT_FOUND) { unknown_of(line).0 } else { line });
    format!("{}\n{NOT_FOUND} {failed}", lines.collect::<Vec<_>>().join("\n"))
}
