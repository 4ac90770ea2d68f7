//! `deepgraph sources`: what a run found, read and cited.

use std::fmt::Write as _;

use clap::Args;
use deepgraph_trace::Row;
use deepgraph_trace::sources::{CitationCounts, Found, How, citations, sources};
use serde_json::json;

use crate::args::Global;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::figures;
use crate::form::Form;
use crate::graphs;
use crate::home::Home;
use crate::screen::{self, one_line};
use crate::when::counted;

/// Options of `sources`.
#[derive(Debug, Args)]
#[command(
    about = "List the sources of a run: documents and pages, how each was found, what of it was read and cited",
    long_about = "List the documents and pages of the web that a run found, in the order in which it found them: id, title, \
                  author, date, how it was found, when it was fetched with the hash of what came, how many of its passages \
                  were read, and which of them the report cites. A page of which only a snippet was seen is listed as not \
                  read: nothing can cite it.",
    after_help = "Examples:\n  deepgraph sources last\n  deepgraph sources 01981c2e --json\n\n\
                  The words behind each citation: deepgraph show"
)]
pub struct Options {
    /// The run: its id, the beginning of it, or `last`
    run: String,
    /// Form of the answer
    #[arg(long, value_enum, default_value_t = Form::Text)]
    format: Form,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// Carries the command out.
pub fn carry_out(options: &Options, global: &Global) -> Result<ExitStatus, CliError> {
    let store = Home::find(global)?.kept()?;
    let record = store.find_run(&options.run)?;
    let bundle = graphs::stored_bundle(&record)?;
    let rows = store.entries(&record.run_id, 0)?;
    let rows = rows.iter().map(|row| Row { scope: &row.scope, entry: &row.entry });
    let trace = deepgraph_trace::fold(&bundle, rows).map_err(CliError::Fold)?;
    let (all, checked) = (sources(&trace), citations(&trace));
    let form = if options.json { Form::Json } else { options.format };
    let text = match form {
        Form::Json => as_json(record.run_id.as_str(), &all, checked),
        Form::Text => as_text(&all, checked),
    };
    screen::print(&text)?;
    Ok(ExitStatus::Succeeded)
}

fn as_json(run: &str, all: &[Found], checked: Option<CitationCounts>) -> String {
    let row = |found: &Found| {
        let mut row = json!(found);
        row["read"] = json!(found.is_read());
        row
    };
    let rows: Vec<_> = all.iter().map(row).collect();
    let document = json!({"version": 1, "run": run, "sources": rows, "citations": checked});
    serde_json::to_string_pretty(&document).unwrap_or_default()
}

fn as_text(all: &[Found], checked: Option<CitationCounts>) -> String {
    let mut out = String::new();
    for found in all {
        let id = if found.is_read() { found.id.as_str() } else { "-" };
        // Writing to a text can not fail.
        let _ = writeln!(out, "{id:8} {}", one_line(&found.title, 200));
        for line in lines(found) {
            let _ = writeln!(out, "         {line}");
        }
    }
    let read = all.iter().filter(|found| found.is_read()).count() as u64;
    let sources = counted(all.len() as u64, "source", "sources");
    let cited = all.iter().filter(|found| !found.cited.is_empty()).count();
    let _ = writeln!(out, "{sources}: {read} read, {cited} cited");
    if let Some(checked) = checked {
        let _ = writeln!(out, "citations: {}", figures::citations_in_words(checked));
    }
    out
}

fn lines(found: &Found) -> Vec<String> {
    let place = found.url.as_ref().unwrap_or(&found.document);
    let mut lines = vec![one_line(place, 2000)];
    let about = [found.author.as_deref(), found.date.as_deref()];
    let about: Vec<String> = about.into_iter().flatten().map(|text| one_line(text, 200)).collect();
    if !about.is_empty() {
        lines.push(about.join(", "));
    }
    lines.extend(found.found.iter().map(how_in_words));
    if let Some(fetched) = &found.fetched {
        let hash = found.hash.as_deref().unwrap_or("");
        lines.push(format!("fetched {}, sha256 {}", one_line(fetched, 60), hash.get(..16).unwrap_or(hash)));
    }
    let passages = counted(found.passages.len() as u64, "passage", "passages");
    lines.push(match (found.is_read(), found.cited.is_empty()) {
        (false, _) => "not read".to_owned(),
        (true, true) => format!("{passages} read, not cited"),
        (true, false) => format!("{passages} read, cited: {}", found.cited.join(" ")),
    });
    lines
}

fn how_in_words(how: &How) -> String {
    match how {
        How::Search { query, engines: Some(engines) } if engines.is_empty() => {
            format!("found by searching the web for \"{}\"", one_line(query, 200))
        }
        How::Search { query, engines: Some(engines) } => {
            format!("found by {}: \"{}\"", one_line(engines, 200), one_line(query, 200))
        }
        How::Search { query, engines: None } => {
            format!("found in the documents: \"{}\"", one_line(query, 200))
        }
        How::Link { page } => format!("found by a link on {}", one_line(page, 2000)),
        How::Name => "asked for by name".to_owned(),
        How::Op { op } => format!("brought by {}", one_line(op, 200)),
    }
}
