//! `deepgraph trace`: every step of a run in canonical order.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use deepgraph_trace::Detail;

use crate::args::Global;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::journals;
use crate::out_file::{Holds, OutFile};
use crate::screen::{self, Screen};

/// Options of `trace`.
#[derive(Debug, Args)]
#[command(
    about = "Print every step of a run in canonical order",
    long_about = "Print every step of a run: requests, replies, tool calls, tokens, cost and exits. The order is that \
                  of the graph, never that of time: two runs that did the same have the same trace.\n\n\
                  The form html is one page that needs no other file and no network: the tree of steps with a filter, \
                  the exits, a timeline, and the ledger against the budgets.\n\n\
                  The form journal is the run itself: its graph, prompts and journals, from which every other form can be \
                  made again, by this command and by later versions. Give such a file in place of RUN.",
    after_help = "Examples:\n  deepgraph trace last\n  deepgraph trace last --full | less\n  \
                  deepgraph trace last --format html --out trace.html\n  \
                  deepgraph trace 01981c2e --format json > trace.json\n  \
                  deepgraph trace last --redact > snapshot.txt\n  \
                  deepgraph trace last --format journal -o run.jsonl\n  \
                  deepgraph trace run.jsonl --format html -o run.html"
)]
pub struct Options {
    /// The run: its id, the beginning of it, or `last`; or a journal file
    run: String,
    /// Form of the trace; json and html hold every step's whole input and output, but for what is known at a read: of
    /// that they hold size and hash
    #[arg(long, value_enum, default_value_t = Form::Text)]
    format: Form,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write the trace to this file, in place of what it holds; - is standard output
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Whole requests, whole texts and what is known at a read, in the form of text
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
    /// The graph and the journals, as JSON Lines; nothing is left out of it.
    Journal,
}

impl Options {
    fn form(&self) -> Form {
        if self.json { Form::Json } else { self.format }
    }
}

/// Carries the command out.
pub fn carry_out(options: &Options, global: &Global) -> Result<ExitStatus, CliError> {
    let out = options.out.as_deref().filter(|path| *path != Path::new("-"));
    let out = out.map(|path| OutFile::check(path, Holds::Trace)).transpose()?;
    let journals = journals::named(&options.run, global)?;
    if options.form() == Form::Journal {
        let text = journals.journal.write().map_err(|e| CliError::Write {
            path: options.out.clone().unwrap_or_else(|| "standard output".into()),
            error: std::io::Error::other(e),
        })?;
        return written(out, text.trim_end());
    }
    let mut trace = journals.trace(&Screen::plain())?;
    if options.form() == Form::Html && journals.status.is_some() {
        // The record knows more than the journals: that the run waits for an answer, or for its process.
        trace.status = journals.status;
    }
    if options.redact {
        trace = trace.redact(&journals.date());
    }
    let text = match options.form() {
        Form::Json | Form::Journal => trace.to_json(),
        Form::Text => trace.to_text(if options.full { Detail::Full } else { Detail::Short }),
        Form::Html => trace.to_html(),
    };
    written(out, &text)
}

fn written(out: Option<OutFile>, text: &str) -> Result<ExitStatus, CliError> {
    match out {
        Some(file) => file.write(text)?,
        None => screen::print(text)?,
    }
    Ok(ExitStatus::Succeeded)
}
