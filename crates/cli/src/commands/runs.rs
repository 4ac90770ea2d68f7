//! `deepgraph runs`: list the runs.

use clap::Args;
use deepgraph_store::{RunRecord, Store};
use serde_json::json;

use crate::args::Global;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::home::Home;
use crate::screen::{self, one_line};
use crate::when;

/// Options of `runs`.
#[derive(Debug, Args)]
#[command(
    about = "List the runs, newest first",
    after_help = "Examples:\n  deepgraph runs\n  deepgraph runs --limit 100 --json"
)]
pub struct Options {
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// One JSON array, each run as an object
    #[arg(long)]
    json: bool,
}

/// Carries the command out.
pub fn carry_out(options: &Options, global: &Global) -> Result<ExitStatus, CliError> {
    let runs = Home::open(global)?.store()?.runs(usize::try_from(options.limit).unwrap_or(usize::MAX))?;
    let text = if options.json {
        let rows: Vec<_> = runs.iter().map(row).collect();
        serde_json::to_string_pretty(&rows).unwrap_or_default()
    } else if runs.is_empty() {
        "There are no runs yet: deepgraph run \"QUESTION\" --docs PATH".to_owned()
    } else {
        table(&runs)
    };
    screen::print(&text)?;
    Ok(ExitStatus::Succeeded)
}

fn row(run: &RunRecord) -> serde_json::Value {
    json!({
        "runId": run.run_id,
        "status": run.status,
        "question": run.question,
        "graph": run.graph,
        "createdAt": run.created_at,
        "updatedAt": run.updated_at,
        "completedSteps": run.completed_steps,
        "attempt": run.attempt,
        "costCents": run.cost_cents,
        "report": run.report,
    })
}

fn table(runs: &[RunRecord]) -> String {
    let mut lines =
        vec![format!("{:36}  {:19}  {:14}  {:>5}  QUESTION", "RUN", "STARTED (UTC)", "STATUS", "STEPS")];
    lines.extend(runs.iter().map(|run| {
        let (id, started) = (run.run_id.as_str(), when::moment(run.created_at));
        let question = one_line(&run.question, 60);
        format!("{id:36}  {started:19}  {:14}  {:>5}  {question}", run.status.name(), run.completed_steps)
    }));
    lines.join("\n")
}
