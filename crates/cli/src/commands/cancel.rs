//! `deepgraph cancel`: stop a run, whoever drives it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use deepgraph_graph::Bundle;
use deepgraph_protocol::RunStatus;
use deepgraph_runtime::{Cancel, Control, Ops, Quiet, Runtime, SystemClock, Unattended, Work};
use deepgraph_store::{RunRecord, Store};
use serde_json::json;

use crate::args::Global;
use crate::error::CliError;
use crate::exit_status::{ExitStatus, TABLE};
use crate::home::{Held, Home};
use crate::screen::{self, Screen, one_line};
use crate::servers::Consent;
use crate::settings::Settings;
use crate::{graphs, models, servers, session, writes};

/// How often the record of the run is looked at.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// How many characters of an id are wanted at least: a cancel can not be taken back.
const FEWEST: usize = 4;

/// Options of `cancel`.
#[derive(Debug, Args)]
#[command(
    about = "Stop a run: steps in flight may come to their end, what was changed outside is undone",
    long_about = "Stop a run. The process that drives it notices within a second or two: it starts nothing more, lets \
                  steps in flight come to their end (for ten seconds at most), and then undoes what was changed \
                  outside, where the graph says how (`compensate`). What could not be undone is listed.\n\n\
                  Where no process drives the run, because it was interrupted or waits for an answer, this command \
                  does that itself. It needs no model, no documents and no key for that.\n\n\
                  A second cancel, or --now, gives up at once what is in flight and begins no compensation. A run that \
                  is over stays as it is.",
    after_help = format!("Examples:\n  \
        deepgraph cancel last\n  \
        deepgraph cancel 01981c2e --now\n  \
        deepgraph cancel last --wait 0 --json\n\n{TABLE}")
)]
pub struct Options {
    /// The run: its id, at least four characters of its beginning, or `last`
    run: String,
    /// Give up at once what is in flight, and begin no compensation
    #[arg(long)]
    now: bool,
    /// How many seconds to wait for the end of a run that another process drives
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    wait: u64,
    /// What the user says of programs.
    #[command(flatten)]
    consent: Consent,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// What came of it.
enum Came {
    /// The run was over before.
    WasOver,
    /// It is over now.
    Over,
    /// Another process is still at it.
    Still,
}

/// Carries the command out.
///
/// # Errors
///
/// There is no such run; the store fails; it can not be taken over.
pub fn carry_out(options: &Options, global: &Global) -> Result<ExitStatus, CliError> {
    if options.run.trim().chars().count() < FEWEST {
        return Err(CliError::ShortRun { given: one_line(&options.run, 40) });
    }
    let home = Home::find(global)?;
    let store = home.kept()?;
    let record = store.find_run(&options.run)?;
    let run = record.run_id;
    let came = if store.request_cancel(&run)?.is_terminal() {
        Came::WasOver
    } else {
        cancel(options, &home, &store, &run)?
    };
    let record = store.find_run(run.as_str())?;
    let status = ExitStatus::of_run(record.status);
    let text = if options.json { as_json(&record, &came, status) } else { as_text(&record, &came) };
    screen::print(&text)?;
    Ok(status)
}

/// Waits for the end of the run, or takes it over where nobody drives it.
fn cancel(
    options: &Options,
    home: &Home,
    store: &Arc<dyn Store>,
    run: &deepgraph_store::RunId,
) -> Result<Came, CliError> {
    let begun = Instant::now();
    let mut asks_again = options.now;
    loop {
        let record = store.find_run(run.as_str())?;
        if record.status.is_terminal() {
            return Ok(Came::Over);
        }
        if !home.is_driven(run) {
            // Another process may have been faster.
            match home.hold(run) {
                Ok(held) => return take_over(options, home, store, &record, held),
                Err(CliError::InUse { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        // The first request was taken: the second one says that it is to be at once.
        if asks_again && record.status == RunStatus::Cancelling && !record.cancel_requested {
            store.request_cancel(run)?;
            asks_again = false;
        }
        if begun.elapsed() >= Duration::from_secs(options.wait) {
            return Ok(Came::Still);
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

/// Cancels a run that no process drives, and drives it to its end.
fn take_over(
    options: &Options,
    home: &Home,
    store: &Arc<dyn Store>,
    record: &RunRecord,
    _held: Held,
) -> Result<Came, CliError> {
    let Some(record) = store.run(&record.run_id)?.filter(|record| !record.status.is_terminal()) else {
        return Ok(Came::Over);
    };
    let bundle = graphs::stored_bundle(&record)?;
    let settings = Settings::of(&record)?;
    let work = Work::of(&record, bundle.clone(), Vec::new())?;
    let how = if options.now { Cancel::AtOnce } else { Cancel::Cooperative };
    let named = servers::named(home, None)?;
    let access = undoes_on_servers(&bundle)
        .then(|| servers::access_again(&bundle, &settings.services, &named, options.consent))
        .transpose()?;
    session::with(|session| {
        let mut runtime = Runtime {
            store: store.clone(),
            models: Arc::new(models::connect(&settings)),
            ops: Ops::stock(None),
            clock: Arc::new(SystemClock),
            asker: None,
            unattended: Unattended::Wait,
            replay: None,
        };
        if let Some(access) = &access {
            session.prepare(&bundle, access)?;
            session.servers().add_to(&mut runtime.ops);
        }
        let (canceller, control) = Control::new();
        let screen = Screen::plain();
        session.drive(canceller, &screen, async {
            runtime.cancel(&record.run_id, work, how, control, &mut Quiet).await
        })?;
        Ok(Came::Over)
    })
}

/// Whether a compensation is a tool of a server.
fn undoes_on_servers(bundle: &Bundle) -> bool {
    let mut undone =
        bundle.graphs.iter().flat_map(|graph| graph.calls()).filter_map(|c| c.compensate.as_ref());
    undone.any(|compensate| compensate.op.contains('.'))
}

fn as_text(record: &RunRecord, came: &Came) -> String {
    let (run, status) = (&record.run_id, record.status);
    let mut lines = vec![match came {
        Came::WasOver => format!("run {run} is over already ({status}), and stays as it is"),
        Came::Over if status == RunStatus::Cancelled => format!("run {run} is cancelled"),
        Came::Over => format!("run {run} came to its end before it noticed: {status}"),
        Came::Still => format!(
            "run {run} is asked to stop and not over yet ({status}): its steps in flight are let come to their end. \
             deepgraph cancel {run} --now gives them up"
        ),
    }];
    if !matches!(came, Came::WasOver) {
        let told = writes::lines(&record.exits);
        lines.extend(told.into_iter().map(|(name, text)| format!("{name:10}  {text}")));
    }
    lines.join("\n")
}

fn as_json(record: &RunRecord, came: &Came, status: ExitStatus) -> String {
    let root = record.exits.iter().find(|exit| exit.scope.is_root());
    let shown = json!({
        "run": record.run_id,
        "status": record.status,
        "exit_status": status.code(),
        "was_over": matches!(came, Came::WasOver),
        "is_over": record.status.is_terminal(),
        "exit": root,
        "not_undone": root.map(|exit| &exit.not_undone),
        "unknown_writes": writes::unknown(&record.exits),
    });
    serde_json::to_string_pretty(&shown).unwrap_or_default()
}
