//! `deepgraph fork`: another run that begins as one that is there.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use deepgraph_graph::Bundle;
use deepgraph_protocol::{Entry, Map, ScopePath, StepId};
use deepgraph_runtime::{Branch, ForkedFrom, StepEnd, end_of};
use deepgraph_store::{RunRecord, Stored};
use deepgraph_trace::Row;
use deepgraph_trace::refold::{Conditions, Matching, refold};

use crate::args::Global;
use crate::branch;
use crate::conditions;
use crate::documents;
use crate::drive::{DriveOptions, Driver};
use crate::error::CliError;
use crate::exit_status::{ExitStatus, TABLE};
use crate::graphs;
use crate::home::Home;
use crate::input;
use crate::settings::Settings;
use crate::stored;
use crate::writes;

/// What a `--set` begins with that sets a channel.
const STATE: &str = "state.";

/// Options of `fork`.
#[derive(Debug, Args)]
#[command(
    about = "Start another run that begins as one that is there, and goes another way",
    long_about = "Start another run whose journals begin as those of RUN, up to the end of a step, and go on from there: \
                  with channels set by hand, or with other values of the configuration. Nothing that was paid before that \
                  step is paid again; it counts against the budgets of the new run. RUN stays as it is.\n\n\
                  Without --at the new run goes on where the research of RUN was left: so a run that ended at a limit is \
                  taken up by a later one, with a higher limit.\n\n\
                  The names of steps: deepgraph history RUN. A node that runs calls or items stands for the last of \
                  them. What was out at that moment is sent out again: its first attempt was RUN's and stays charged as \
                  unknown.",
    after_help = format!("Examples:\n  \
        deepgraph fork last --at brief.1 --set state.brief=\"Only the winter trials\"\n  \
        deepgraph fork 01981c2e --at supervise.1/supervisor.1 --set max_researcher_iterations=3\n  \
        deepgraph fork last --set token_budget=2000000\n  \
        deepgraph history last\n\n{TABLE}")
)]
pub struct Options {
    /// The run to begin as: its id, the beginning of it, or `last`
    run: String,
    /// The step behind whose end the new run goes its own way [default: the end of the research]
    #[arg(long, value_name = "STEP")]
    at: Option<String>,
    /// A channel, state.NAME=VALUE (a text, a value as YAML or JSON, or @FILE with either), or a key of the configuration,
    /// KEY=VALUE; may be repeated
    #[arg(long, value_name = "state.NAME=VALUE|KEY=VALUE")]
    set: Vec<String>,
    /// The instance whose channels are set, "" for the whole run [default: that of STEP]
    #[arg(long, value_name = "PATH", requires = "at")]
    scope: Option<String>,
    /// Documents in place of those that RUN was started with
    #[arg(long, value_name = "PATH")]
    docs: Vec<PathBuf>,
    #[command(flatten)]
    drive: DriveOptions,
}

/// Carries the command out.
pub fn carry_out(options: Options, global: &Global) -> Result<ExitStatus, CliError> {
    let home = Home::find(global)?;
    let store = home.kept()?;
    let record = store.find_run(&options.run)?;
    let bundle = graphs::stored_bundle(&record)?;
    let rows = store.entries(&record.run_id, 0)?;
    let mut settings = Settings::of(&record)?;
    options.drive.apply(&mut settings)?;
    settings.replay = None;
    if !options.docs.is_empty() {
        settings.docs = documents::absolute(&options.docs);
    }
    let (state, set): (Vec<String>, Vec<String>) =
        options.set.iter().cloned().partition(|text| text.trim_start().starts_with(STATE));
    let now = branch::now();
    let branch = match &options.at {
        Some(step) => {
            let ends = stored::step_ends(&bundle, &rows, &record)?;
            let end = find(&ends, step, &record)?;
            settings.config = config(&bundle, &rows, end.seq, &set)?;
            let mut branch = cut(&bundle, &record, &rows, end, &set)?;
            let scope = options.scope.as_deref().map_or_else(|| end.scope.clone(), ScopePath::new);
            let state = channels(&bundle, &branch, &scope, &state)?;
            branch.edit(&bundle, &scope, state, now)?;
            branch
        }
        None if !state.is_empty() => {
            let problem = "--set state.NAME needs --at STEP: the point at which the channel is set";
            return Err(CliError::Fork { problem: problem.to_owned() });
        }
        None => {
            settings.config = config(&bundle, &rows, u64::MAX, &set)?;
            let mut branch = whole(&bundle, &record, &rows)?;
            branch.go_on(&bundle, settings.config.clone(), now)?;
            branch
        }
    };
    let driver = Driver::new(options.drive, home, store)?;
    for step in writes::undone_since(&branch, &rows) {
        driver.screen.warn(&format!(
            "what {step} wrote was undone when run {} was cancelled; the fork takes it as done",
            record.run_id
        ));
    }
    branch::drive(&driver, &record, &bundle, settings, &branch, None)
}

/// The end of the step that is named.
fn find<'e>(ends: &'e [StepEnd], step: &str, record: &RunRecord) -> Result<&'e StepEnd, CliError> {
    end_of(ends, &StepId::new(step)).ok_or_else(|| CliError::NoStep {
        run: record.run_id.to_string(),
        step: step.to_owned(),
        nearest: branch::nearest(step, ends.iter().map(|end| end.step.as_str())),
    })
}

/// The configuration with which a fork goes on from a row.
fn config(bundle: &Bundle, rows: &[Stored], seq: u64, set: &[String]) -> Result<Map, CliError> {
    let rows = rows.iter().filter(|row| row.seq <= seq);
    let rows: Vec<Row<'_>> = rows.map(|row| Row { scope: &row.scope, entry: &row.entry }).collect();
    conditions::with(bundle, &conditions::latest(&rows), set)
}

/// All of a run.
fn whole(bundle: &Arc<Bundle>, record: &RunRecord, rows: &[Stored]) -> Result<Branch, CliError> {
    let seq = rows.last().map_or(0, |row| row.seq);
    let from = ForkedFrom { run: record.run_id.clone(), seq, step: None, rows: 0 };
    let rows = rows.iter().map(|row| (row.scope.clone(), row.entry.clone())).collect();
    Ok(Branch::of(bundle, from, rows)?)
}

/// A run up to the end of a step, with other values of its configuration from its start.
///
/// # Errors
///
/// With these values the run would not have come to that step; a value does not fit.
pub fn cut(
    bundle: &Arc<Bundle>,
    record: &RunRecord,
    rows: &[Stored],
    end: &StepEnd,
    set: &[String],
) -> Result<Branch, CliError> {
    let from = ForkedFrom { run: record.run_id.clone(), seq: end.seq, step: Some(end.step.clone()), rows: 0 };
    let rows: Vec<Row<'_>> = rows
        .iter()
        .filter(|row| row.seq <= end.seq)
        .map(|row| Row { scope: &row.scope, entry: &row.entry })
        .collect();
    let kept: Vec<(ScopePath, Entry)> = if set.is_empty() {
        rows.iter().map(|row| (row.scope.clone(), row.entry.clone())).collect()
    } else {
        let config = conditions::with(bundle, &conditions::recorded(&rows), set)?;
        let conditions =
            Conditions { bundle: bundle.clone(), config, set: Map::new(), matching: Matching::ByIdUnseen };
        let folded = refold(bundle, &rows, &conditions)?;
        if let Some(step) = folded.not_taken.first() {
            let problem = format!(
                "with these values the run would not have come to {}: {step} would not have been taken; name an earlier \
                 step, or change less",
                end.step
            );
            return Err(CliError::Fork { problem });
        }
        folded.rows.into_iter().map(|held| (held.scope, held.entry)).collect()
    };
    Ok(Branch::of(bundle, from, kept)?)
}

/// The channels that are set, by name.
fn channels(
    bundle: &Arc<Bundle>,
    branch: &Branch,
    scope: &ScopePath,
    texts: &[String],
) -> Result<Map, CliError> {
    let mut state = Map::new();
    let plan = branch.graph_of(bundle, scope);
    for text in texts {
        let Some((name, value)) = text.trim_start().trim_start_matches(STATE).split_once('=') else {
            return Err(CliError::BadSetting { text: text.clone() });
        };
        let name = name.trim();
        let channel = plan.and_then(|plan| plan.channel(name).and_then(|ix| plan.channels.get(ix.0)));
        let value = input::value_of(channel, value)
            .map_err(|why| CliError::Fork { problem: format!("state.{name}: {why}") })?;
        state.insert(name.into(), value);
    }
    Ok(state)
}
