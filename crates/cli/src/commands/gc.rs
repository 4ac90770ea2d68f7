//! `deepgraph gc`: remove old runs.

use clap::Args;
use deepgraph_protocol::{Millis, RunStatus};
use deepgraph_store::{Freed, RunId, RunRecord, Store, StoreError};
use serde_json::json;

use super::stats::period;
use crate::args::Global;
use crate::damaged;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::home::Home;
use crate::screen::{self, one_line};
use crate::when;

/// Options of `gc`.
#[derive(Debug, Args)]
#[command(
    about = "Remove runs that are over and old, and give their room back",
    long_about = "Remove runs that are over and have not changed for a while: their records, their journals, and the long \
                  texts that no other run uses. Runs that others were forked from can go: the forks have rows of their \
                  own. What runs left for those after them (channels that are kept) stays.\n\n\
                  A run that is not over is removed only if its status is named with --status and no process drives it. \
                  Other runs may go on meanwhile.",
    after_help = "Examples:\n  deepgraph gc --dry-run\n  deepgraph gc --older-than 7d --keep 50\n  \
                  deepgraph gc --status failed --status cancelled --older-than 1d\n  \
                  deepgraph gc --status awaiting_input --older-than 90d\n  \
                  deepgraph gc --status interrupted --status damaged"
)]
pub struct Options {
    /// Runs that have not changed since then: minutes, hours, days or weeks as in 90m, 12h, 30d, 8w, or a date
    #[arg(long, value_name = "AGE|DATE", default_value = "30d")]
    older_than: String,
    /// Leave the newest N of them
    #[arg(long, value_name = "N", default_value_t = 0)]
    keep: usize,
    /// Only runs of this status, also one that is not over, or `interrupted` (in the middle, and no process drives it), or
    /// `damaged` (its record can not be read; of any age); may be given more than once
    #[arg(long, value_name = "STATUS", value_parser = wanted)]
    status: Vec<Wanted>,
    /// Only tell what would be removed
    #[arg(long)]
    dry_run: bool,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// What stands in place of a status for runs that have none of it in their record.
const INTERRUPTED: &str = "interrupted";
const DAMAGED: &str = "damaged";

/// Which runs are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Status(RunStatus),
    Interrupted,
    Damaged,
}

/// A run that is to go.
struct Chosen {
    run: RunId,
    /// None of a damaged one.
    epoch: Option<u64>,
    status: &'static str,
    updated_at: Option<Millis>,
    question: String,
}

/// What was done.
struct Done {
    removed: Vec<Chosen>,
    /// Runs that somebody took up in the meantime, or drives.
    left: Vec<RunId>,
    freed: Freed,
}

/// Carries the command out.
pub fn carry_out(options: &Options, global: &Global) -> Result<ExitStatus, CliError> {
    let before = period::older_than(&options.older_than, jiff::Timestamp::now())?;
    let home = Home::find(global)?;
    let store = home.kept()?;
    let chosen = chosen(options, &home, &*store, before)?;
    let done = if options.dry_run { weighed(&*store, chosen)? } else { removed(&home, &*store, chosen)? };
    screen::print(&if options.json {
        as_json(&done, options.dry_run)
    } else {
        as_text(&done, options.dry_run)
    })?;
    Ok(ExitStatus::Succeeded)
}

/// The runs that the options mean, newest first. A record at a time: they hold reports.
fn chosen(
    options: &Options,
    home: &Home,
    store: &dyn Store,
    before: Millis,
) -> Result<Vec<Chosen>, CliError> {
    let mut chosen = Vec::new();
    let mut to_keep = options.keep;
    for run in store.run_ids()? {
        let record = match store.run(&run) {
            Err(StoreError::CorruptRecord { .. }) if options.status.contains(&Wanted::Damaged) => {
                chosen.push(Chosen::damaged(run));
                continue;
            }
            Err(error @ StoreError::CorruptRecord { .. }) => {
                damaged::tell(&run, &error);
                continue;
            }
            read => read?,
        };
        let Some(record) = record else { continue };
        let is_meant = |wanted: &Wanted| match wanted {
            Wanted::Status(status) => *status == record.status,
            Wanted::Interrupted => home.is_interrupted(&record),
            Wanted::Damaged => false,
        };
        let meant = match options.status.as_slice() {
            [] => record.status.is_terminal(),
            named => named.iter().any(is_meant),
        };
        if !meant {
            continue;
        }
        if to_keep > 0 {
            to_keep -= 1;
        } else if record.updated_at < before {
            chosen.push(Chosen::of(record));
        }
    }
    Ok(chosen)
}

fn weighed(store: &dyn Store, chosen: Vec<Chosen>) -> Result<Done, CliError> {
    let runs: Vec<RunId> = chosen.iter().map(|chosen| chosen.run.clone()).collect();
    Ok(Done { freed: store.weigh(&runs)?, removed: chosen, left: Vec::new() })
}

fn removed(home: &Home, store: &dyn Store, chosen: Vec<Chosen>) -> Result<Done, CliError> {
    let mut done = Done { removed: Vec::new(), left: Vec::new(), freed: Freed::default() };
    for chosen in chosen {
        // Who is about to resume it holds it, and has not claimed it yet.
        let _held = match home.hold(&chosen.run) {
            Err(CliError::InUse { .. }) => {
                done.left.push(chosen.run);
                continue;
            }
            held => held?,
        };
        match remove(store, &chosen) {
            Ok(freed) => {
                done.freed += freed;
                done.removed.push(chosen);
            }
            Err(StoreError::Fenced { .. }) => done.left.push(chosen.run),
            // Another `gc` was faster.
            Err(StoreError::UnknownRun { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    done.freed += store.sweep_texts()?;
    Ok(done)
}

fn remove(store: &dyn Store, chosen: &Chosen) -> Result<Freed, StoreError> {
    let epoch = match chosen.epoch {
        Some(epoch) => epoch,
        // It is held, so nobody loses it by this.
        None => store.claim(&chosen.run)?,
    };
    store.remove_run(&chosen.run, epoch)
}

impl Chosen {
    fn damaged(run: RunId) -> Chosen {
        Chosen { run, epoch: None, status: DAMAGED, updated_at: None, question: String::new() }
    }

    fn of(record: RunRecord) -> Chosen {
        let RunRecord { run_id, epoch, status, updated_at, question, .. } = record;
        let (status, updated_at) = (status.name(), Some(updated_at));
        Chosen { run: run_id, epoch: Some(epoch), status, updated_at, question }
    }
}

fn as_json(done: &Done, dry_run: bool) -> String {
    let removed: Vec<_> = done
        .removed
        .iter()
        .map(|run| json!({"runId": run.run, "status": run.status, "updatedAt": run.updated_at}))
        .collect();
    let Freed { entries, texts, bytes } = done.freed;
    let shown = json!({
        "dryRun": dry_run,
        "removed": removed,
        "left": done.left,
        "entries": entries,
        "texts": texts,
        "bytes": bytes,
    });
    serde_json::to_string_pretty(&shown).unwrap_or_default()
}

fn as_text(done: &Done, dry_run: bool) -> String {
    let mut lines: Vec<String> = done
        .removed
        .iter()
        .map(|run| {
            let (moment, status) = (run.updated_at.map(when::moment).unwrap_or_default(), run.status);
            let line = format!("{:36}  {moment:19}  {status:14}  {}", run.run, one_line(&run.question, 60));
            line.trim_end().to_owned()
        })
        .collect();
    let Freed { entries, texts, bytes } = done.freed;
    let verb = if dry_run { "Would remove" } else { "Removed" };
    lines.push(format!(
        "{verb} {}: {}, {}, {}",
        when::counted(done.removed.len() as u64, "run", "runs"),
        when::counted(entries, "entry", "entries"),
        when::counted(texts, "long text", "long texts"),
        size(bytes)
    ));
    for run in &done.left {
        lines.push(format!("Left {run}: a process drives it"));
    }
    lines.join("\n")
}

fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => when::counted(bytes, "byte", "bytes"),
        10_000..10_000_000 => format!("{} kB", when::number(bytes / 1000)),
        _ => format!("{} MB", when::number(bytes / 1_000_000)),
    }
}

fn wanted(name: &str) -> Result<Wanted, String> {
    match name {
        INTERRUPTED => Ok(Wanted::Interrupted),
        DAMAGED => Ok(Wanted::Damaged),
        name => RunStatus::parse(name).map(Wanted::Status).ok_or_else(|| {
            let all = RunStatus::ALL.map(RunStatus::name).join(", ");
            format!("there is no such status; there are {all}, {INTERRUPTED}, {DAMAGED}")
        }),
    }
}
