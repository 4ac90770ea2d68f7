//! `deepgraph runs`: list the runs.

use clap::Args;
use deepgraph_store::RunRecord;
use serde_json::json;

use crate::args::Global;
use crate::damaged;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::home::Home;
use crate::screen::{self, one_line};
use crate::when;

/// What stands in place of the status of a run that is in the middle although no process drives it.
const INTERRUPTED: &str = "interrupted";

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
    let home = Home::find(global)?;
    let limit = usize::try_from(options.limit).unwrap_or(usize::MAX);
    let store = home.kept()?;
    let runs = damaged::newest(&*store, limit)?;
    let text = if options.json {
        let rows: Vec<_> = runs.iter().map(|run| row(run, &home)).collect();
        serde_json::to_string_pretty(&rows).unwrap_or_default()
    } else if runs.is_empty() && store.run_ids()?.is_empty() {
        "There are no runs yet: deepgraph run \"QUESTION\" --docs PATH".to_owned()
    } else {
        table(&runs, &home)
    };
    screen::print(&text)?;
    Ok(ExitStatus::Succeeded)
}

fn row(run: &RunRecord, home: &Home) -> serde_json::Value {
    json!({
        "runId": run.run_id,
        "status": run.status,
        "interrupted": home.is_interrupted(run),
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

fn table(runs: &[RunRecord], home: &Home) -> String {
    let mut lines =
        vec![format!("{:36}  {:19}  {:14}  {:>5}  QUESTION", "RUN", "STARTED (UTC)", "STATUS", "STEPS")];
    lines.extend(runs.iter().map(|run| {
        let (id, started) = (run.run_id.as_str(), when::moment(run.created_at));
        let question = one_line(&run.question, 60);
        let status = if home.is_interrupted(run) { INTERRUPTED } else { run.status.name() };
        format!("{id:36}  {started:19}  {status:14}  {:>5}  {question}", run.completed_steps)
    }));
    if runs.iter().any(|run| home.is_interrupted(run)) {
        lines.push(format!("\n{INTERRUPTED}: its process is gone; go on with deepgraph resume RUN"));
    }
    lines.join("\n")
}
