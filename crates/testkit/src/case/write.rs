//! A case file from a run that was driven: what models, ops and people said becomes its script, how the run ended
//! becomes what is expected.
//!
//! | file | holds |
//! |---|---|
//! | `gather` | what the journals say of each attempt |
//! | `answers` | one answer as it stands in a case file |
//! | `begun` | when each step began, without the time that the driver took |
//! | `expect` | what is expected |
//! | `models` | which models were asked, and their windows |
//!
//! Secrets are taken out of all of it, as out of a recording.

mod answers;
mod begun;
mod expect;
mod gather;
mod models;

use std::sync::Arc;

use deepgraph_graph::yaml::{self, Mapping, Tree};
use deepgraph_graph::{Bundle, ServerTool};
use deepgraph_protocol::{Hidden, Map, Value};
use deepgraph_trace::{FoldError, Row};

use self::gather::Gathered;
use super::said;

/// Characters of the question that the sentence has at most.
const SHOWN: usize = 80;

/// Writes the case file of a run that is over, waits for an answer, or was cancelled: its text.
///
/// `rows` are its journals, in any order that keeps each scope's own. `graph` is the path of its graph file from the
/// folder of the case, `question` the question of the run's record: the sentence that says what the case shows ends in it.
/// `hidden` are the secrets of the run; what looks like a key in the message of a failure is taken out as well, wherever
/// else it stands. Whether the case passes is found out by playing it: a run in which time, or a crash, made a
/// difference may not be told by a case.
///
/// # Errors
///
/// The journals do not fold.
pub fn from_run<'a>(
    bundle: &Arc<Bundle>,
    rows: impl IntoIterator<Item = Row<'a>>,
    graph: &str,
    question: &str,
    hidden: &Hidden,
) -> Result<String, FoldError> {
    let rows: Vec<Row<'a>> = rows.into_iter().collect();
    let run = Gathered::of(bundle, &rows, question, hidden)?;
    let text = |text: &str| Tree::Text(text.to_owned());
    let mut case = Mapping::default().with("case", text(&sentence(&run))).with("graph", text(graph));
    if !run.recording.servers.is_empty() {
        for (server, tools) in &run.recording.servers {
            case.add_under("servers", &**server, Tree::Map(tools_of(tools)));
        }
    }
    if let Some(day) = day(&run) {
        case.set("date", Tree::Text(day));
    }
    for (key, values) in
        [("input", &run.recording.input), ("kept", &run.recording.kept), ("config", &run.recording.config)]
    {
        if !values.is_empty() {
            case.set(key, map(values));
        }
    }
    models::add(&mut case, &run);
    for (section, step, answers) in answers::all(&run) {
        case.add_under(section, step.as_str(), answers);
    }
    if let Some(ms) = run.recording.cancelled_ms {
        case.add_under("cancel", "at", said::duration(ms));
    }
    case.set("expect", Tree::Map(expect::of(&run)));
    Ok(yaml::write(&case))
}

/// What the case shows.
fn sentence(run: &Gathered) -> String {
    let end = match &run.trace.root.exit {
        Some(exit) => format!("ended by {}", exit.reason),
        None => "waits for an answer".to_owned(),
    };
    // Without secrets, so that no part of one is left where it is cut.
    let question = run.recording.question.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: String = question.chars().take(SHOWN).collect();
    let more = if shown.len() < question.len() { "…" } else { "" };
    format!("A run that {end}: {shown}{more}")
}

/// The day on which the run started, where it is not the one on which cases start.
fn day(run: &Gathered) -> Option<String> {
    let day = |at: i64| {
        let moment = jiff::Timestamp::from_millisecond(at).ok()?;
        Some(jiff::tz::Offset::UTC.to_datetime(moment).date().to_string())
    };
    day(run.recording.started_ms).filter(|started| Some(started) != day(crate::BEGIN).as_ref())
}

fn tools_of(tools: &[ServerTool]) -> Mapping {
    let mut all = Mapping::default();
    for tool in tools {
        let mut said = Mapping::default();
        if !tool.description.is_empty() {
            said.set("description", Tree::Text(tool.description.to_string()));
        }
        said.set("input_schema", Tree::data(&tool.input_schema));
        if let Some(read_only) = tool.read_only {
            said.set("read_only", Tree::Bool(read_only));
        }
        all.add(&*tool.name, Tree::Map(said));
    }
    all
}

fn map(values: &Map) -> Tree {
    Tree::data(&Value::from(values.clone()))
}
