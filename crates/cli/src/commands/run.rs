//! `deepgraph run`: research a question.

mod replay;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use deepgraph_protocol::Map;
use deepgraph_runtime::{Intended, NewRun, RuleClassifier, Work};

use crate::args::Global;
use crate::commands;
use crate::config::{self, Wanted};
use crate::documents;
use crate::drive::{DriveOptions, Driver, KEY_ENV};
use crate::error::CliError;
use crate::exit_status::{ExitStatus, TABLE};
use crate::graphs;
use crate::home::Home;
use crate::input;
use crate::models;
use crate::question;
use crate::screen::Screen;
use crate::secrets;
use crate::settings::Settings;
use crate::{servers, session};

/// Options of `run`.
#[derive(Debug, Args)]
#[command(
    about = "Research a question: the report on standard output, all else on standard error",
    long_about = "Research a question over your documents, the web, or both. The report goes to standard output (or to the file of \
                  --out), everything else to standard error.\n\n\
                  Without --model the built-in model `extractive` is used: it needs no key and no network, and \
                  answers with sentences of its sources.\n\n\
                  A value of the configuration is taken from --set KEY=VALUE, else from --model (for keys that name \
                  a model), else from the environment (DEEPGRAPH_ and the key in capitals, such as \
                  DEEPGRAPH_MAX_RESEARCHER_ITERATIONS), else from the file of --config, else from the class of the question \
                  (--intent), else from the graph. \
                  --print-config shows them all with their origin.\n\n\
                  Ctrl-C cancels: steps at work may come to their end. A second one stops at once, a third one ends \
                  the program. What is committed is kept in any case.",
    after_help = format!("Examples:\n  \
        deepgraph run \"What did the winter trials show?\" --docs ./documents\n  \
        deepgraph run \"...\" --docs a --docs b.pdf --out report.md\n  \
        deepgraph run \"...\" --web\n  \
        deepgraph run \"...\" --docs ./documents --search tavily,wikipedia\n  \
        deepgraph run \"...\" --docs ./documents --model openai::gpt-4o\n  \
        deepgraph run \"...\" --docs ./documents --model openai::local --base-url http://127.0.0.1:8000/v1\n  \
        deepgraph run \"...\" --docs ./documents --set max_researcher_iterations=3\n  \
        deepgraph run \"Which is faster?\" --graph compare --input left=\"the N60\" --input right=\"the N90\" --docs ./documents\n  \
        deepgraph run - --graph quick_answer --json < question.txt\n  \
        deepgraph run \"...\" --docs ./documents --record run.json\n  \
        deepgraph run --replay run.json\n  \
        deepgraph run --print-config --graph ./my-graph.yaml\n\n{TABLE}")
)]
pub struct Options {
    /// The question; - reads it from standard input
    #[arg(required_unless_present_any = ["print_config", "input", "replay"])]
    question: Option<String>,
    /// Graph file, folder with a graph.yaml, or name of a stock graph (deep_research, quick_answer, ...) [default:
    /// deep_research]
    #[arg(long, value_name = "FILE|NAME")]
    graph: Option<String>,
    /// Another input of the graph: a text, a value as YAML or JSON, or @FILE with either; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    input: Vec<String>,
    /// Documents to search: a folder with all that is below it, or a file; may be repeated
    #[arg(long, value_name = "PATH")]
    docs: Vec<PathBuf>,
    /// Model of every stage: sets each key called model or ending in _model
    #[arg(long, value_name = "PROVIDER::NAME")]
    model: Option<String>,
    /// Model to ask where the one of a stage can not serve (rate limit, overload, network, not found); may be repeated
    #[arg(long, value_name = "PROVIDER::NAME")]
    fallback: Vec<String>,
    /// Set one value of the configuration; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The class of the question, for graphs with `intents`, or none; else it is found by its wording
    #[arg(long, value_name = "NAME|none", conflicts_with = "replay")]
    intent: Option<String>,
    /// Values of the configuration: a YAML or JSON mapping
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Answers of the model `scripted`, for trying a graph out without a model: YAML or JSON
    ///
    /// Its `rules` are tried in order, and the first whose `when` fits the request answers it:
    /// {"rules": [{"when": {"tools": ["search"], "turn": 0}, "reply": {"calls": [{"name": "search", "arguments":
    /// {"query": "tides"}}]}}, {"reply": {"text": "All is known."}}]}. Used with --model scripted; all of it stands in
    /// docs/cases.md, under "Scripts".
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// The conversation that the run belongs to: channels with `persist: thread` go on where its last run stopped
    #[arg(long, value_name = "NAME", value_parser = thread_name)]
    thread: Option<String>,
    /// Print every value of the configuration with its origin, as `deepgraph config` does, and run nothing
    #[arg(long)]
    print_config: bool,
    /// Answer from the recording FILE instead of models, documents and people: no network, no key. Question, graph,
    /// input and configuration are the recorded ones where no others are given
    #[arg(long, value_name = "FILE", conflicts_with_all = ["docs", "script", "thread", "base_url", "web", "search", "print_config"])]
    replay: Option<PathBuf>,
    #[command(flatten)]
    drive: DriveOptions,
}

/// Carries the command out.
pub fn carry_out(options: Options, global: &Global) -> Result<ExitStatus, CliError> {
    if let Some(path) = options.replay.clone() {
        return replay::carry_out(options, &path, global);
    }
    let screen = Screen::plain();
    let graph = options.graph.unwrap_or_else(|| graphs::DEFAULT.to_owned());
    let loaded = graphs::load_named(&graph)?.map_err(CliError::Graph)?;
    // What is said of a graph whose servers are about to be asked is said when they were.
    let is_final = options.print_config || loaded.bundle.servers.is_empty();
    let bundle = if is_final { graphs::shown(loaded, &screen) } else { Arc::new(loaded.bundle) };
    let question = options.question.as_deref().map(question::read).transpose()?;
    let asked = question.clone().unwrap_or_else(|| options.input.join(" "));
    let intent = intended(options.intent.as_deref()).choose(&RuleClassifier, &bundle, &asked)?;
    let wanted = Wanted {
        set: options.set,
        model: options.model,
        own_file: Home::find(global)?.config_file(),
        file: options.config,
        fallbacks: options.fallback,
        intent: intent.as_ref().map(|choice| choice.name.to_string()),
        recorded: None,
    };
    if options.print_config {
        commands::config::print(&bundle, &wanted, crate::form::Form::Text, &screen)?;
        return Ok(ExitStatus::Succeeded);
    }
    let config = config::effective(&bundle, &wanted, &std::env::vars_os().collect())?;
    config.doubts.iter().for_each(|doubt| screen.warn(doubt));
    let input = input::read(&bundle, question.as_deref(), &options.input, Map::new())?;
    let mut settings = Settings {
        docs: documents::absolute(&options.docs),
        stream: true,
        key_env: KEY_ENV.to_owned(),
        script: options.script.as_deref().map(models::read_script).transpose()?,
        input: input.clone(),
        config: config.values.clone(),
        origins: config.origins,
        fallback_models: config.fallbacks,
        services: config.services,
        thread: options.thread.clone(),
        intent: intent.clone(),
        ..Settings::default()
    };
    options.drive.apply(&mut settings)?;
    if let Some(choice) = intent.filter(|_| !options.drive.json && !options.drive.quiet) {
        screen.say(&format!("intent {}: {}", choice.name, choice.why));
    }
    settings.keys = Some(secrets::keys_in_use(&bundle, &settings));
    models::check_prices(&bundle, &settings)?;
    let home = Home::open(global)?;
    let store = home.store()?;
    let driver = Driver::new(options.drive, home, store)?;
    let access = servers::access(&bundle, &settings.services, driver.consent())?;
    let keys = settings.keys.get_or_insert_default();
    keys.extend(access.user.variables().map(str::to_owned));
    let ready = driver.ready(&bundle, &settings)?;
    session::with(|session| {
        let bundle = driver.connect(session, bundle, &access)?;
        settings.servers_down = session.servers().down().to_vec();
        let new = NewRun {
            question: asked,
            graph,
            bundle: Arc::clone(&bundle),
            input,
            config: config.values,
            settings: settings.to_record(),
            thread: options.thread,
        };
        let run = driver.record(&ready, &new)?;
        let held = driver.hold(&run)?;
        driver.drive(session, held, ready, &run, &bundle, Work::Start(Box::new(new)))
    })
}

/// How the class of the question is found.
fn intended(given: Option<&str>) -> Intended {
    match given {
        None => Intended::Classified,
        Some("none") => Intended::None,
        Some(name) => Intended::Named(name.to_owned()),
    }
}

/// A name for a thread: any text that is not blank.
fn thread_name(text: &str) -> Result<String, String> {
    let name = text.trim();
    if name.is_empty() { Err("a thread needs a name".to_owned()) } else { Ok(name.to_owned()) }
}
