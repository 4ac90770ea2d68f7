//! `deepgraph resume RUN --graph FILE`: going on under another version of the graph.
//!
//! A journal is always folded under its own graph, so this is another run: it begins with the entries of the old one that
//! hold under the new graph, and stops taking them over, branch by branch, at the first step that is asked for something
//! else.

use std::path::Path;
use std::sync::Arc;

use deepgraph_graph::{Bundle, OpTable};
use deepgraph_protocol::{Map, ScopePath};
use deepgraph_runtime::{Branch, ForkedFrom};
use deepgraph_store::{RunRecord, Store};
use deepgraph_trace::Row;
use deepgraph_trace::refold::{Conditions, Matching, Refold, refold};

use crate::branch;
use crate::conditions;
use crate::drive::Driver;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::graphs;
use crate::screen;
use crate::settings::Settings;
use crate::when::{self, counted};

/// How many steps that differ are named.
const SHOWN: usize = 10;

/// Under what a run goes on.
pub struct Under<'a> {
    /// The graph.
    pub graph: &'a str,
    /// A configuration file of whoever goes on with it.
    pub own: Option<&'a Path>,
    /// Whether it is only told what would be taken over.
    pub is_dry: bool,
}

/// Goes on with a run under another graph, or only tells what would be taken over.
///
/// # Errors
///
/// The graph has mistakes, or the run's input or configuration does not fit it; driving fails.
pub fn go_on(
    driver: &Driver,
    store: &dyn Store,
    record: &RunRecord,
    stored: &Arc<Bundle>,
    mut settings: Settings,
    under: &Under<'_>,
) -> Result<ExitStatus, CliError> {
    let Under { graph, own, is_dry } = *under;
    let bundle = load(stored, graph, driver)?;
    let rows = store.entries(&record.run_id, 0)?;
    let folded: Vec<Row<'_>> = rows.iter().map(|row| Row { scope: &row.scope, entry: &row.entry }).collect();
    let config = conditions::with(&bundle, &conditions::recorded(&folded), &[])?;
    settings.config = conditions::with(&bundle, &conditions::latest(&folded), &[])?;
    settings.input = input(&bundle, &settings.input)?;
    settings.replay = None;
    let conditions =
        Conditions { bundle: bundle.clone(), config, set: Map::new(), matching: Matching::Exact };
    let folded = refold(stored, &folded, &conditions)?;
    let told = tell(&folded);
    let root = folded.machines.get(&ScopePath::root());
    let is_over = root.is_some_and(|root| root.end().is_some());
    if is_dry {
        screen::print(&told)?;
        return Ok(ExitStatus::Succeeded);
    }
    driver.tell(&told);
    if is_over && folded.mismatches.is_empty() && folded.not_taken.is_empty() {
        driver.tell("Under this graph nothing is left to do: no run was made");
        return Ok(ExitStatus::Succeeded);
    }
    let seq = rows.last().map_or(0, |row| row.seq);
    let from = ForkedFrom { run: record.run_id.clone(), seq, step: None, rows: 0 };
    let held = folded.rows.into_iter().map(|held| (held.scope, held.entry)).collect();
    let mut branch = Branch::of(&bundle, from, held)?;
    branch.edit(&bundle, &ScopePath::root(), Map::new(), branch::now())?;
    let record = RunRecord { graph: graph.to_owned(), ..record.clone() };
    branch::drive(driver, &record, &bundle, settings, &branch, own)
}

/// The graph, against the tools that the servers had.
fn load(stored: &Bundle, graph: &str, driver: &Driver) -> Result<Arc<Bundle>, CliError> {
    let tools = stored.source.tools.iter();
    let ops = tools.fold(OpTable::stock(), |ops, (server, tools)| ops.with_server(server, tools.clone()));
    graphs::load_with(graph, &ops)?
        .map(|loaded| graphs::shown(loaded, &driver.screen))
        .map_err(CliError::Graph)
}

/// The recorded input, as far as the graph has its channels.
fn input(bundle: &Bundle, recorded: &Map) -> Result<Map, CliError> {
    let root = bundle.root();
    let known = root.input.iter().filter_map(|ix| root.channels.get(ix.0));
    let given = known
        .filter_map(|channel| recorded.get(&channel.name).map(|value| (channel.name.clone(), value.clone())));
    bundle.input_of(None, &given.collect()).map_err(|mismatches| CliError::Input {
        graph: root.name.to_string(),
        wrong: mismatches.iter().map(ToString::to_string).collect(),
    })
}

/// What is taken over, and from which step on it is not.
fn tell(folded: &Refold) -> String {
    let (now, was) = folded.used();
    let (_, steps) = folded.steps;
    let taken = steps.saturating_sub(folded.not_taken.len() as u64);
    let mut lines = vec![format!(
        "{} of {} are taken over: {} of {}",
        when::number(taken),
        counted(steps, "step", "steps"),
        when::number(now.tokens),
        counted(was.tokens, "token", "tokens")
    )];
    if let Some(first) = folded.mismatches.first() {
        lines.push(format!("the first step that differs is {}: {}", first.step, first.why));
    }
    let more = folded.mismatches.iter().skip(1);
    lines.extend(more.take(SHOWN).map(|other| format!("so does {}: {}", other.step, other.why)));
    let gone =
        |step: &&deepgraph_protocol::StepId| !folded.mismatches.iter().any(|other| other.step == **step);
    let gone: Vec<_> = folded.not_taken.iter().filter(gone).collect();
    if folded.mismatches.is_empty()
        && let Some(first) = gone.first()
    {
        lines.push(format!("the first step that differs is {first}: it is gone"));
    }
    if !gone.is_empty() {
        let what = if folded.mismatches.is_empty() { "" } else { " behind them" };
        lines.push(format!("{}{what} not taken over", counted(gone.len() as u64, "step is", "steps are")));
    }
    if let Some(asked) = folded.first_unanswered().filter(|_| folded.mismatches.is_empty()) {
        lines.push(format!("it goes on with {}, which is not recorded", asked.step));
    }
    lines.join("\n")
}
