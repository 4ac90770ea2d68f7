//! `deepgraph schema`: the JSON Schema of the graph file.

use clap::Args;

use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::screen;

/// Options of `schema`.
#[derive(Debug, Args)]
#[command(
    about = "Print the JSON Schema of graph files, for editors",
    long_about = "Print the JSON Schema (draft 2020-12) of graph files. An editor that knows it completes keys and words, \
                  shows what each is for, and marks what can not be. `deepgraph check` finds more than that.\n\n\
                  Editors with the YAML language server take it from the first line of a graph file:\n  \
                  # yaml-language-server: $schema=./graph.schema.json",
    after_help = "Examples:\n  deepgraph schema > graph.schema.json"
)]
pub struct Options {}

/// Carries the command out.
pub fn carry_out(_: &Options) -> Result<ExitStatus, CliError> {
    screen::print(&serde_json::to_string_pretty(&deepgraph_graph::graph_schema()).unwrap_or_default())?;
    Ok(ExitStatus::Succeeded)
}
