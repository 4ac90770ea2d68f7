//! `deepgraph trace`: every step of a run in canonical order.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use deepgraph_protocol::EntryBody;
use deepgraph_store::Stored;
use deepgraph_trace::{Detail, Row, fold};

use crate::args::Global;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::home::Home;
use crate::out_file::OutFile;
use crate::{graphs, screen, when};

/// Options of `trace`.
#[derive(Debug, Args)]
#[command(
    about = "Print every step of a run in canonical order",
    long_about = "Print every step of a run: requests, replies, tool calls, tokens, cost and exits. The order is that \
                  of the graph, never that of time: two runs that did the same have the same trace.\n\n\
                  The form html is one page that needs no other file and no network: the tree of steps with a filter, \
                  the exits, a timeline, and the ledger against the budgets.",
    after_help = "Examples:\n  deepgraph trace last\n  deepgraph trace last --full | less\n  \
                  deepgraph trace last --format html --out trace.html\n  \
                  deepgraph trace 01981c2e --format json > trace.json\n  \
                  deepgraph trace last --redact > snapshot.txt"
)]
pub struct Options {
    /// The run: its id, the beginning of it, or `last`
    run: String,
    /// Form of the trace; json and html hold every step's whole input and output
    #[arg(long, value_enum, default_value_t = Form::Text)]
    format: Form,
    /// Write the trace to this file, in place of what it holds; - is standard output
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Whole requests and whole texts, in the form of text
    #[arg(long)]
    full: bool,
    /// Leave out what differs from run to run: ids, times, the date
    #[arg(long)]
    redact: bool,
}

/// Forms of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Indented lines.
    Text,
    /// JSON.
    Json,
    /// One page for a browser.
    Html,
}

/// Carries the command out.
pub fn carry_out(options: &Options, global: &Global) -> Result<ExitStatus, CliError> {
    let out = options.out.as_deref().filter(|path| *path != Path::new("-"));
    let out = out.map(OutFile::check).transpose()?;
    let store = Home::find(global)?.kept()?;
    let record = store.find_run(&options.run)?;
    let bundle = graphs::stored_bundle(&record)?;
    let rows = store.entries(&record.run_id, 0)?;
    let mut trace = fold(&bundle, rows.iter().map(|row| Row { scope: &row.scope, entry: &row.entry }))?;
    trace.run = Some(record.run_id.to_string());
    if options.format == Form::Html {
        // The record knows more than the journals: that the run waits for an answer, or for its process.
        trace.status = Some(record.status);
    }
    if options.redact {
        trace = trace.redact(&date(&rows));
    }
    let text = match options.format {
        Form::Json => trace.to_json(),
        Form::Text => trace.to_text(if options.full { Detail::Full } else { Detail::Short }),
        Form::Html => trace.to_html(),
    };
    match out {
        Some(file) => file.write(&text)?,
        None => screen::print(&text)?,
    }
    Ok(ExitStatus::Succeeded)
}

/// The date of the run as its prompts read it: that of its first entry.
fn date(rows: &[Stored]) -> String {
    let started =
        rows.iter().find(|row| row.scope.is_root() && matches!(row.entry.body, EntryBody::Started(_)));
    started.map_or_else(String::new, |row| when::date(row.entry.at))
}
