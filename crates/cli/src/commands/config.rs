//! `deepgraph config`: the effective configuration of a graph, each value with its origin.

use std::path::PathBuf;

use clap::Args;
use deepgraph_graph::Bundle;
use deepgraph_runtime::{Intended, RuleClassifier};

use crate::args::Global;
use crate::config::{self, Wanted};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::form::Form;
use crate::graphs;
use crate::home::Home;
use crate::screen::{self, Screen};

/// Options of `config`.
#[derive(Debug, Args)]
#[command(
    about = "Print every value of a graph's configuration with its origin",
    long_about = "Print every config key of a graph with the value that a run would have, and where that comes from: \
                  --set, --model, the environment (DEEPGRAPH_ and the key in capitals), the file of --config, the file \
                  config.yaml of --home, the class of questions of --intent, or the default of the graph; the first that \
                  has it wins. Lengths of time are in seconds. Nothing is run.\n\n\
                  Values that do not fit are told on standard error, with the exit status 2.",
    after_help = "Examples:\n  deepgraph config\n  deepgraph config quick_answer --set max_turns=3\n  \
                  deepgraph config --intent fact\n  \
                  deepgraph config ./my-graph.yaml --config settings.yaml --format json"
)]
pub struct Options {
    /// Graph file, folder with a graph.yaml, or name of a stock graph
    #[arg(value_name = "FILE|NAME", default_value = graphs::DEFAULT)]
    graph: String,
    /// Model to ask where the one of a stage can not serve; may be repeated
    #[arg(long, value_name = "PROVIDER::NAME")]
    fallback: Vec<String>,
    /// Set one value of the configuration; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Model of every stage: sets each key called model or ending in _model
    #[arg(long, value_name = "PROVIDER::NAME")]
    model: Option<String>,
    /// Values of the configuration: a YAML or JSON mapping
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The values for a class of questions, by its name; or none
    #[arg(long, value_name = "NAME|none")]
    intent: Option<String>,
    /// Form of the list
    #[arg(long, value_enum, default_value_t = Form::Text)]
    format: Form,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl Options {
    fn form(&self) -> Form {
        if self.json { Form::Json } else { self.format }
    }
}

/// Carries the command out.
pub fn carry_out(options: &Options, global: &Global) -> Result<ExitStatus, CliError> {
    let screen = Screen::plain();
    let bundle = graphs::bundle(&options.graph, &screen)?;
    // As of `run`, where none is no class.
    let intent = options.intent.as_ref().filter(|name| *name != "none");
    if let Some(name) = intent {
        Intended::Named(name.clone()).choose(&RuleClassifier, &bundle, "")?;
    }
    let wanted = Wanted {
        set: options.set.clone(),
        model: options.model.clone(),
        own_file: Home::find(global).ok().and_then(|home| home.config_file()),
        file: options.config.clone(),
        fallbacks: options.fallback.clone(),
        intent: intent.cloned(),
        recorded: None,
    };
    print(&bundle, &wanted, options.form(), &screen)?;
    Ok(ExitStatus::Succeeded)
}

/// Prints the configuration of a graph, also where a value does not fit.
///
/// # Errors
///
/// What [`config::effective`] does not take, after it was printed.
pub fn print(bundle: &Bundle, wanted: &Wanted, form: Form, screen: &Screen) -> Result<(), CliError> {
    let given = config::given(bundle, wanted, &std::env::vars_os().collect())?;
    let (shown, fits) = match given.effective(bundle) {
        Ok(effective) => (effective, Ok(())),
        Err(misfits) => (given.unchecked(bundle), Err(misfits)),
    };
    shown.doubts.iter().for_each(|doubt| screen.warn(doubt));
    match form {
        Form::Text if bundle.config.is_empty() => screen.say("This graph has no configuration."),
        Form::Text => screen::print(&config::whole_table(bundle, &shown))?,
        Form::Json => {
            let document = config::document(bundle, &shown);
            screen::print(&serde_json::to_string_pretty(&document).unwrap_or_default())?;
        }
    }
    fits
}
