//! `deepgraph check`: all mistakes of graph files.

use clap::Args;
use deepgraph_graph::{Diagnostic, Severity};

use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::graphs;
use crate::screen::{self, Screen};
use crate::when::counted;

/// Options of `check`.
#[derive(Debug, Args)]
#[command(
    about = "Check graph files and show all their mistakes",
    long_about = "Check graph files with everything that they name, and show all their mistakes with file, line and \
                  column. The exit status is 2 where there is an error; warnings alone leave it at 0.",
    after_help = "Examples:\n  deepgraph check my-graph.yaml\n  deepgraph check graphs/*/graph.yaml --json"
)]
pub struct Options {
    /// Graph files, folders with a graph.yaml, or names of stock graphs
    #[arg(required = true, value_name = "FILE|NAME")]
    graphs: Vec<String>,
    /// One JSON array of all mistakes
    #[arg(long)]
    json: bool,
}

/// Carries the command out.
pub fn carry_out(options: &Options) -> Result<ExitStatus, CliError> {
    let screen = Screen::plain();
    let mut all: Vec<Diagnostic> = Vec::new();
    let mut missing = false;
    for name in &options.graphs {
        let loaded = match graphs::load_named(name) {
            Ok(loaded) => loaded,
            Err(error) => {
                // The other files are checked all the same.
                screen.complain(&error.to_string());
                missing = true;
                continue;
            }
        };
        let (found, nodes) = match loaded {
            Ok(loaded) => {
                (loaded.warnings, Some(loaded.bundle.graphs.iter().map(|g| g.nodes.len()).collect()))
            }
            Err(mistakes) => (mistakes, None),
        };
        if !options.json {
            if !found.is_empty() {
                screen.say(found.to_string().trim_end());
            }
            screen::print(&verdict(name, &found.0, nodes))?;
        }
        all.extend(found.0);
    }
    if options.json {
        screen::print(&serde_json::to_string_pretty(&all).unwrap_or_default())?;
    }
    let is_wrong = missing || all.iter().any(|d| d.severity == Severity::Error);
    Ok(if is_wrong { ExitStatus::Usage } else { ExitStatus::Succeeded })
}

/// One line a file: `graph.yaml: fine, 3 graphs, 14 nodes`.
fn verdict(name: &str, found: &[Diagnostic], nodes: Option<Vec<usize>>) -> String {
    let errors = found.iter().filter(|d| d.severity == Severity::Error).count() as u64;
    let warnings = found.len() as u64 - errors;
    let warned = counted(warnings, "warning", "warnings");
    match nodes {
        None => format!("{name}: {}, {warned}", counted(errors, "error", "errors")),
        Some(nodes) => {
            let graphs = counted(nodes.len() as u64, "graph", "graphs");
            let nodes = counted(nodes.iter().sum::<usize>() as u64, "node", "nodes");
            let warned = if warnings == 0 { String::new() } else { format!(", {warned}") };
            format!("{name}: fine, {graphs} with {nodes}{warned}")
        }
    }
}
