//! `deepgraph draw`: a graph, or a run on its graph, as a drawing.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use deepgraph_graph::{Bundle, Drawing};
use deepgraph_store::RunRecord;
use deepgraph_trace::{Row, taken};

use crate::args::Global;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::graphs;
use crate::home::Home;
use crate::out_file::{Holds, OutFile};
use crate::screen::{self, Screen};

/// Options of `draw`.
#[derive(Debug, Args)]
#[command(
    about = "Draw a graph with every way out of it, or the way that a run took",
    long_about = "Draw a graph and all graphs below it: nodes, routes, tools, limits with their bounds, and every exit \
                  by its name, also those that no file names.\n\n\
                  With --run the drawing is that of the run's own graph, as it was when the run started: what the run \
                  took stands out with how often (×3), the rest is faded, and the exits by which it ended are filled. \
                  Graphs that ran several times are summed up. A run that is not over is drawn as far as it has come.",
    after_help = "Examples:\n  deepgraph draw deep_research\n  deepgraph draw my-graph.yaml -o my-graph.svg\n  \
                  deepgraph draw my-graph.yaml --format dot | dot -Tpdf > my-graph.pdf\n  \
                  deepgraph draw --run last -o run.svg"
)]
pub struct Options {
    /// Graph file, folder with a graph.yaml, or name of a stock graph
    #[arg(value_name = "FILE|NAME", required_unless_present = "run", conflicts_with = "run")]
    graph: Option<String>,
    /// The run to draw: its id, the beginning of it, or `last`
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// Form of the drawing [default: by the ending of the file's name, else mermaid]
    #[arg(long, value_enum)]
    format: Option<Form>,
    /// Write the drawing to a file, named .svg, .dot, .gv, .mmd or .mermaid; - is standard output
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Forms of drawings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Mermaid, which many Markdown viewers show as a picture.
    Mermaid,
    /// DOT, for Graphviz.
    Dot,
    /// A picture for browsers, light and dark.
    Svg,
}

/// Carries the command out.
pub fn carry_out(options: &Options, global: &Global) -> Result<ExitStatus, CliError> {
    let out = options.out.as_deref().filter(|path| *path != Path::new("-"));
    let form = form(options.format, out)?;
    // Before anything is folded: a name that can not be written is told at once.
    let file = out.map(|path| OutFile::check(path, Holds::Drawing)).transpose()?;
    let drawing = match &options.run {
        Some(run) => of_run(run, global)?,
        None => {
            Drawing::of(&*graphs::bundle(options.graph.as_deref().unwrap_or_default(), &Screen::plain())?)
        }
    };
    let text = match form {
        Form::Mermaid => drawing.mermaid(),
        Form::Dot => drawing.dot(),
        Form::Svg => drawing.svg()?,
    };
    match file {
        Some(file) => file.write(&text)?,
        None => screen::print(&text)?,
    }
    Ok(ExitStatus::Succeeded)
}

/// The form that is asked for, or that the file's name means.
fn form(asked: Option<Form>, out: Option<&Path>) -> Result<Form, CliError> {
    let (None, Some(path)) = (asked, out) else { return Ok(asked.unwrap_or(Form::Mermaid)) };
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("svg") => Ok(Form::Svg),
        Some("dot" | "gv") => Ok(Form::Dot),
        Some("mmd" | "mermaid") => Ok(Form::Mermaid),
        _ => Err(CliError::DrawingForm { path: path.into() }),
    }
}

/// The drawing of a run on its own graph.
fn of_run(run: &str, global: &Global) -> Result<Drawing, CliError> {
    let store = Home::find(global)?.kept()?;
    let record = store.find_run(run)?;
    let bundle = graphs::stored_bundle(&record)?;
    let rows = store.entries(&record.run_id, 0)?;
    let taken = taken(&bundle, rows.iter().map(|row| Row { scope: &row.scope, entry: &row.entry }))?;
    Ok(Drawing::of_run(&bundle, &taken, &about(&record, &bundle)))
}

fn about(record: &RunRecord, bundle: &Bundle) -> String {
    let question = screen::one_line(&record.question, 200);
    format!("Run {} of {}, {}: {question}", record.run_id, bundle.root().name, record.status)
}
