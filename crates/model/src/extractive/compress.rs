//! The compressor: the statements of a conversation's passages that answer the objective, and what none answers.

use deepgraph_protocol::{ModelRequest, Role};
use deepgraph_research::handoff::{NOT_FOUND, findings as written};
use deepgraph_research::passage::{Passage, parse};
use deepgraph_research::question::Question;
use deepgraph_research::select::{Selection, select};

use super::research::objective;

/// The findings as lines, each with its source, then one line for each thing not found.
pub(super) fn findings(request: &ModelRequest) -> String {
    let objective = objective(request);
    let question = Question::analyse(objective);
    let answers = request.messages.iter().filter(|m| m.role == Role::Tool);
    let passages: Vec<Passage> = answers.flat_map(|m| parse(&m.content)).collect();
    text(&question, &select(&question, &passages), objective)
}

/// What was selected, as text; never empty.
pub(super) fn text(question: &Question, selection: &Selection, objective: &str) -> String {
    let text = written(question, selection);
    if !text.is_empty() {
        return text;
    }
    let asked = objective.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{NOT_FOUND} {}", if asked.is_empty() { "no question was asked" } else { asked.as_str() })
}
