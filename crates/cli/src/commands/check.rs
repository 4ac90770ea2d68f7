//! `deepgraph check`: all mistakes of graph files.

use clap::Args;
use deepgraph_graph::{Bundle, Diagnostic, Diagnostics, Loaded, Severity};
use serde::Serialize;

use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::form::Form;
use crate::graphs;
use crate::progress::Format;
use crate::screen::{self, Screen};
use crate::servers::Consent;
use crate::services::Services;
use crate::when::counted;
use crate::{servers, session};

/// Options of `check`.
#[derive(Debug, Args)]
#[command(
    about = "Check graph files and show all their mistakes",
    long_about = "Check graph files with everything that they name, and show all their mistakes with file, line and \
                  column. The exit status is 2 where there is an error; warnings alone leave it at 0. Nothing is \
                  connected to, and no secret is needed, unless --online is given.\n\n\
                  With --format json standard output is one document: {\"version\": 1, \"diagnostics\": [...], \"ok\": \
                  true or false}. Each diagnostic has code, severity (error or warning), message, help, file, line, \
                  column, end_line, end_column, snippet (the line of the file) and explain (a command). Lines and \
                  columns count from 1, columns in characters; the end is the first column behind. What is not known \
                  is left out. What keeps MCP servers from being asked is in \"server_errors\", a list of texts.",
    after_help = "Examples:\n  deepgraph check my-graph.yaml\n  deepgraph check my-graph.yaml --online\n  \
                  deepgraph check graphs/*/graph.yaml --format json\n  deepgraph explain DG0103"
)]
pub struct Options {
    /// Graph files, folders with a graph.yaml, or names of stock graphs
    #[arg(required = true, value_name = "FILE|NAME")]
    graphs: Vec<String>,
    /// Form of the mistakes
    #[arg(long, value_enum, default_value_t = Form::Text)]
    format: Form,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Connect to the MCP servers that the graphs declare, and check calls of their tools too
    #[arg(long)]
    online: bool,
    /// What the user says of programs.
    #[command(flatten)]
    consent: Consent,
}

/// Carries the command out.
pub fn carry_out(options: &Options) -> Result<ExitStatus, CliError> {
    let screen = Screen::plain();
    let as_json = options.json || options.format == Form::Json;
    let mut document = Document { version: 1, diagnostics: Vec::new(), server_errors: Vec::new(), ok: true };
    for name in &options.graphs {
        let loaded = match graphs::load_named(name) {
            Ok(loaded) => loaded,
            // The other files are checked all the same.
            Err(error) => {
                document.ok = false;
                if as_json {
                    document.diagnostics.push(Told::missing(name, &error));
                } else {
                    screen.complain(&error.to_string());
                }
                continue;
            }
        };
        let loaded = match loaded {
            Ok(offline) if options.online => match online(&offline.bundle, options.consent, as_json, &screen)
            {
                Ok(asked) => asked.unwrap_or(Ok(offline)),
                Err(CliError::Servers(errors)) => {
                    document.ok = false;
                    if as_json {
                        document.server_errors.extend(errors.iter().map(|error| format!("{name}: {error}")));
                    } else {
                        screen.complain(&format!("{name}: {}", CliError::Servers(errors)));
                    }
                    Ok(offline)
                }
                Err(other) => return Err(other),
            },
            offline => offline,
        };
        let (found, nodes) = match loaded {
            Ok(loaded) => {
                (loaded.warnings, Some(loaded.bundle.graphs.iter().map(|g| g.nodes.len()).collect()))
            }
            Err(mistakes) => (mistakes, None),
        };
        if !as_json {
            if !found.is_empty() {
                screen.say(found.to_string().trim_end());
            }
            screen::print(&verdict(name, &found.0, nodes))?;
        }
        document.ok &= found.errors() == 0;
        document.diagnostics.extend(found.iter().map(Told::of));
    }
    if as_json {
        screen::print(&serde_json::to_string_pretty(&document).unwrap_or_default())?;
    } else if let Some(first) = document.diagnostics.first() {
        screen.say(&format!("To read more about a mistake: {}", first.explain));
    }
    Ok(if document.ok { ExitStatus::Succeeded } else { ExitStatus::Usage })
}

/// The graph with what its servers say; none where it has no servers.
fn online(
    bundle: &Bundle,
    consent: Consent,
    as_json: bool,
    screen: &Screen,
) -> Result<Option<Result<Loaded, Diagnostics>>, CliError> {
    if bundle.servers.is_empty() {
        return Ok(None);
    }
    let format = if as_json { Format::Quiet } else { Format::Lines };
    let access = servers::access(bundle, &Services::default(), consent)?;
    session::with(|session| servers::connect(session, bundle, &access, format, screen)).map(Some)
}

/// What programs are told.
#[derive(Debug, Serialize)]
struct Document {
    /// Of this form.
    version: u32,
    diagnostics: Vec<Told>,
    /// What keeps servers from being asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    server_errors: Vec<String>,
    /// Whether there is no error.
    ok: bool,
}

/// One mistake, as programs are told of it. Lines and columns count from 1, columns in characters.
#[derive(Debug, Serialize)]
struct Told {
    code: &'static str,
    severity: Severity,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
    file: String,
    line: usize,
    column: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<usize>,
    /// The first column behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    end_column: Option<usize>,
    /// The line of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<String>,
    /// The command that tells more.
    explain: String,
}

impl Told {
    fn of(found: &Diagnostic) -> Told {
        let end_column = found.end_column();
        Told {
            code: found.code,
            severity: found.severity,
            message: found.message.clone(),
            help: found.help.clone(),
            file: found.file.to_string(),
            line: found.line,
            column: found.column,
            end_line: end_column.map(|_| found.line),
            end_column,
            snippet: Some(found.source.clone()).filter(|line| !line.is_empty()),
            explain: explain(found.code),
        }
    }

    /// A file that is not there, or a name of no graph.
    fn missing(name: &str, error: &CliError) -> Told {
        const NO_FILE: &str = "DG0010";
        Told {
            code: NO_FILE,
            severity: Severity::Error,
            message: error.to_string(),
            help: None,
            file: name.to_owned(),
            line: 1,
            column: 1,
            end_line: None,
            end_column: None,
            snippet: None,
            explain: explain(NO_FILE),
        }
    }
}

fn explain(code: &str) -> String {
    format!("deepgraph explain {code}")
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
