//! `deepgraph history`: the line of a run, and where forks left it and came in.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use clap::Args;
use deepgraph_engine::Machine;
use deepgraph_graph::Bundle;
use deepgraph_protocol::{Map, ScopePath, StepId};
use deepgraph_runtime::{ForkedFrom, end_of, fold, forked_from};
use deepgraph_store::{RunRecord, Store, Stored};
use deepgraph_trace::Row;
use deepgraph_trace::history::{Happened, Moment, history};
use serde_json::json;

use crate::args::Global;
use crate::branch;
use crate::damaged;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::form::Form;
use crate::graphs;
use crate::home::Home;
use crate::screen::{self, one_line};
use crate::stored;
use crate::when::{self, counted};

/// Options of `history`.
#[derive(Debug, Args)]
#[command(
    about = "Show what a run did, one thing after the other, with its forks",
    long_about = "Show what a run did in the order in which it was committed: the row (seq), the moment, the step, what \
                  came of it, and what its model calls cost. Where the run is a fork, or was forked, that stands at its \
                  row. A step behind which the run can be forked is marked with >: deepgraph fork RUN --at STEP.\n\n\
                  With --step, the state of that step's instance as it stood at its end.",
    after_help = "Examples:\n  deepgraph history last\n  deepgraph history 01981c2e --format json\n  \
                  deepgraph history last --step brief.1\n\n\
                  In the order of the graph instead of time: deepgraph trace"
)]
pub struct Options {
    /// The run: its id, the beginning of it, or `last`
    run: String,
    /// Show the state as it stood at the end of this step
    #[arg(long, value_name = "STEP")]
    step: Option<String>,
    /// Form of the answer; json holds whole values
    #[arg(long, value_enum, default_value_t = Form::Text)]
    format: Form,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// A run and where it stands to others.
struct Line<'a> {
    record: &'a RunRecord,
    moments: Vec<Moment>,
    rows: &'a [Stored],
    from: Option<ForkedFrom>,
    forks: Vec<(String, ForkedFrom)>,
}

impl Options {
    fn form(&self) -> Form {
        if self.json { Form::Json } else { self.format }
    }
}

/// Carries the command out.
pub fn carry_out(options: &Options, global: &Global) -> Result<ExitStatus, CliError> {
    let store = Home::find(global)?.kept()?;
    let record = store.find_run(&options.run)?;
    let bundle = graphs::stored_bundle(&record)?;
    let rows = store.entries(&record.run_id, 0)?;
    let text = match &options.step {
        Some(step) => state_at(&bundle, &record, &rows, step, options.form())?,
        None => {
            let folded: Vec<Row<'_>> =
                rows.iter().map(|row| Row { scope: &row.scope, entry: &row.entry }).collect();
            let line = Line {
                moments: history(&bundle, &folded)?,
                from: forked_from(&record),
                forks: forks(&*store, &record)?,
                record: &record,
                rows: &rows,
            };
            match options.form() {
                Form::Json => line.json(),
                Form::Text => line.text(),
            }
        }
    };
    screen::print(&text)?;
    Ok(ExitStatus::Succeeded)
}

/// The runs that were forked from a run, in the order in which they leave it.
fn forks(store: &dyn Store, record: &RunRecord) -> Result<Vec<(String, ForkedFrom)>, CliError> {
    let all = damaged::newest(store, branch::MOST_RUNS)?;
    let forks = all.iter().filter_map(|other| {
        let from = forked_from(other).filter(|from| from.run == record.run_id)?;
        Some((other.run_id.to_string(), from))
    });
    let mut forks: Vec<(String, ForkedFrom)> = forks.collect();
    forks.sort_by(|a, b| (a.1.seq, &a.0).cmp(&(b.1.seq, &b.0)));
    Ok(forks)
}

impl Line<'_> {
    fn seq(&self, moment: &Moment) -> u64 {
        self.rows.get(moment.row).map_or(0, |row| row.seq)
    }

    fn text(&self) -> String {
        let mut lines = vec![format!("run {}  {}", self.record.run_id, one_line(&self.record.question, 80))];
        if let Some(from) = &self.from {
            lines.push(format!("begins as {}: rows 1 to {} are those of it", origin(from), from.rows));
        }
        lines.push(String::new());
        lines.push(format!("{:>5}  {:19}    {:48}  WHAT", "SEQ", "TIME (UTC)", "STEP"));
        let mut forks = self.forks.iter().peekable();
        let mut told_own = self.from.is_none();
        for moment in &self.moments {
            let seq = self.seq(moment);
            while let Some((run, from)) = forks.next_if(|(_, from)| from.seq < seq) {
                lines.push(leaves(run, from));
            }
            if !told_own && self.from.as_ref().is_some_and(|from| seq > from.rows) {
                told_own = true;
                lines.push("       ---- its own from here on".to_owned());
            }
            lines.push(self.line(seq, moment));
        }
        lines.extend(forks.map(|(run, from)| leaves(run, from)));
        lines.push(String::new());
        lines.push(counted(self.steps(), "step", "steps"));
        lines.join("\n")
    }

    /// How many steps were completed, each counted once.
    fn steps(&self) -> u64 {
        let completed = self.moments.iter().filter(|moment| moment.what.completes_step());
        completed.filter_map(|moment| moment.step.as_ref()).collect::<BTreeSet<_>>().len() as u64
    }

    fn line(&self, seq: u64, moment: &Moment) -> String {
        let mark = if moment.what.ends_step() { ">" } else { " " };
        let place = match (&moment.step, moment.scope.is_root()) {
            (Some(step), _) => step.to_string(),
            (None, true) => "(the run)".to_owned(),
            (None, false) => format!("({})", moment.scope),
        };
        let used = &moment.charged;
        let is_free = used.tokens == 0 && used.cost_micro_usd == 0 && used.cost_unknown == 0;
        let cost = if is_free {
            String::new()
        } else {
            format!("  {}, {}", counted(used.tokens, "token", "tokens"), when::cost(used))
        };
        format!("{seq:>5}  {:19}  {mark} {place:48}  {}{cost}", when::moment(moment.at), what(&moment.what))
    }

    fn json(&self) -> String {
        let moments: Vec<_> = self
            .moments
            .iter()
            .map(|moment| {
                let mut json = serde_json::to_value(moment).unwrap_or_default();
                if let Some(fields) = json.as_object_mut() {
                    fields.remove("row");
                    fields.insert("seq".to_owned(), self.seq(moment).into());
                    fields.insert("can_fork".to_owned(), moment.what.ends_step().into());
                }
                json
            })
            .collect();
        let forks: Vec<_> = self
            .forks
            .iter()
            .map(|(run, from)| json!({"run": run, "seq": from.seq, "step": from.step}))
            .collect();
        let answer = json!({
            "version": 1,
            "run": self.record.run_id,
            "status": self.record.status,
            "attempt": self.record.attempt,
            "steps": self.steps(),
            "forked_from": self.from,
            "forks": forks,
            "history": moments,
        });
        serde_json::to_string_pretty(&answer).unwrap_or_default()
    }
}

fn origin(from: &ForkedFrom) -> String {
    match &from.step {
        Some(step) => format!("run {} up to the end of {step} (seq {})", from.run, from.seq),
        None => format!("run {}", from.run),
    }
}

fn leaves(run: &str, from: &ForkedFrom) -> String {
    format!("       ---- run {run} was forked here (seq {})", from.seq)
}

/// What happened, in words.
fn what(what: &Happened) -> String {
    match what {
        Happened::Started { graph } => format!("started {graph}"),
        Happened::Replied { calls } if calls.is_empty() => "replied".to_owned(),
        Happened::Replied { calls } => {
            let names: Vec<&str> = calls.iter().map(|name| &**name).collect();
            one_line(&format!("replied, calls {}", names.join(", ")), 80)
        }
        Happened::Done => "done".to_owned(),
        Happened::Answered { answer } => one_line(&format!("answered {}", answer.to_json_text()), 80),
        Happened::ChildEnded { exit } => format!("ended by {exit}"),
        Happened::AttemptFailed { error } => one_line(&format!("failed, tried again: {error}"), 120),
        Happened::Failed { error } => one_line(&format!("failed: {error}"), 120),
        Happened::Edited { channels } => {
            let names: Vec<&str> = channels.iter().map(|name| &**name).collect();
            format!("set by hand: {}", names.join(", "))
        }
        Happened::Resumed { attempt, from } => format!("attempt {attempt} begins, from {}", from.name()),
        Happened::CancelRequested => "was to stop".to_owned(),
        Happened::Ended { exit, attempt } => format!("attempt {attempt} ended by {exit}"),
    }
}

/// The state of a step's instance as it stood at the step's end.
fn state_at(
    bundle: &Arc<Bundle>,
    record: &RunRecord,
    rows: &[Stored],
    step: &str,
    form: Form,
) -> Result<String, CliError> {
    let ends = stored::step_ends(bundle, rows, record)?;
    let end = end_of(&ends, &StepId::new(step)).ok_or_else(|| CliError::NoStep {
        run: record.run_id.to_string(),
        step: step.to_owned(),
        nearest: branch::nearest(step, ends.iter().map(|end| end.step.as_str())),
    })?;
    let before: Vec<Stored> = rows.iter().filter(|row| row.seq <= end.seq).cloned().collect();
    // Its graph is known: all rows folded just now.
    let machines: BTreeMap<ScopePath, Machine> = fold(bundle, &before, |_| {}).unwrap_or_default();
    let state: Map = machines.get(&end.scope).map(Machine::state).unwrap_or_default();
    if form == Form::Json {
        let answer = json!({
            "version": 1,
            "run": record.run_id,
            "step": end.step,
            "seq": end.seq,
            "scope": end.scope,
            "state": state,
        });
        return Ok(serde_json::to_string_pretty(&answer).unwrap_or_default());
    }
    let scope = if end.scope.is_root() { "the run".to_owned() } else { end.scope.to_string() };
    let mut lines = vec![format!("state of {scope} behind {} (seq {})", end.step, end.seq)];
    let width = state.keys().map(|name| name.chars().count()).max().unwrap_or(0);
    lines.extend(
        state
            .iter()
            .map(|(name, value)| format!("  {name:width$}  {}", one_line(&value.to_json_text(), 400))),
    );
    Ok(lines.join("\n"))
}
