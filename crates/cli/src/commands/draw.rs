//! `deepgraph draw`: a graph as a drawing.

use clap::{Args, ValueEnum};

use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::graphs;
use crate::screen::{self, Screen};

/// Options of `draw`.
#[derive(Debug, Args)]
#[command(
    about = "Draw a graph with every way out of it",
    long_about = "Draw a graph and all graphs below it: nodes, routes, tools, and every exit by its name.",
    after_help = "Examples:\n  deepgraph draw deep_research\n  deepgraph draw my-graph.yaml > my-graph.mmd"
)]
pub struct Options {
    /// Graph file, folder with a graph.yaml, or name of a stock graph
    #[arg(value_name = "FILE|NAME")]
    graph: String,
    /// Language of the drawing
    #[arg(long, value_enum, default_value_t = Form::Mermaid)]
    format: Form,
}

/// Languages of drawings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Mermaid, which many Markdown viewers show as a picture.
    Mermaid,
}

/// Carries the command out.
pub fn carry_out(options: &Options) -> Result<ExitStatus, CliError> {
    let bundle = graphs::bundle(&options.graph, &Screen::plain())?;
    let drawing = match options.format {
        Form::Mermaid => deepgraph_graph::mermaid(&bundle),
    };
    screen::print(&drawing)?;
    Ok(ExitStatus::Succeeded)
}
