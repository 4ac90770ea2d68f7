//! What keeps a command from being carried out.

mod status;

use std::io;
use std::path::PathBuf;

use deepgraph_graph::{Diagnostics, DrawError};
use deepgraph_runtime::RunError;
use deepgraph_store::StoreError;
use deepgraph_tools::CorpusError;
use deepgraph_trace::FoldError;

use crate::out_file::Holds;
use crate::testing::error::TestError;

/// A failure of a command: what was wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The question has no text.
    #[error("the question is empty: give it as the first argument, or as - and write it to standard input")]
    EmptyQuestion,
    /// Standard input can not be read as text.
    #[error("the question can not be read from standard input: {0}; it must be UTF-8 text")]
    Stdin(io::Error),
    /// Standard output can not be written.
    #[error("standard output can not be written: {0}")]
    Stdout(io::Error),
    /// No graph of this name.
    #[error("there is no graph \"{name}\": give a graph file, or one of {stock}{}", hint(.nearest))]
    NoGraph {
        /// What was given.
        name: String,
        /// The names of the stock graphs.
        stock: String,
        /// What was probably meant.
        nearest: Option<String>,
    },
    /// A graph file with mistakes.
    #[error("the graph can not be used:\n\n{0}")]
    Graph(Diagnostics),
    /// Inputs that do not fit, all of them.
    #[error(
        "the input of the graph {graph} does not fit:{}\n--input NAME=VALUE gives an input, --input NAME=@FILE one from a file",
        list(.wrong)
    )]
    Input {
        /// The graph.
        graph: String,
        /// What does not fit.
        wrong: Vec<String>,
    },
    /// Values of the configuration that do not fit, all of them.
    #[error("the configuration does not fit:{}\n`deepgraph config GRAPH` lists all keys", list(.0))]
    Config(Vec<String>),
    /// A key of which a record can not tell what comes of another value.
    #[error(
        "the record of a run can not tell what comes of another {key}: no limit and no condition of the graph reads it, and \
         what models and tools would have said otherwise was never asked. It can tell of: {}. For {key}, run the question \
         again: deepgraph run ... --set {key}=VALUE",
        .judged.join(", ")
    )]
    NotJudged {
        /// The key.
        key: String,
        /// The keys of which it can.
        judged: Vec<String>,
    },
    /// A period that can not be read.
    #[error(
        "--{option} {given}: {problem}; give a length of time before now in whole minutes (m), hours (h), days (d) or weeks (w), such as 90m, 12h or 7d, or \
         a date such as 2026-01-31"
    )]
    Period {
        /// The option.
        option: &'static str,
        /// What was given.
        given: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A code of no mistake.
    #[error("there is no code or exit \"{given}\"; `deepgraph explain` lists them all{}", hint(.nearest))]
    NoCode {
        /// What was given.
        given: String,
        /// What was probably meant.
        nearest: Option<&'static str>,
    },
    /// A `--set` that is none.
    #[error("--set {text}: write it as KEY=VALUE, such as --set max_researcher_iterations=3")]
    BadSetting {
        /// What was given.
        text: String,
    },
    /// A configuration file that can not be used.
    #[error("the configuration file {} can not be used: {problem}", .path.display())]
    ConfigFile {
        /// The file.
        path: PathBuf,
        /// What is wrong and what to do.
        problem: String,
    },
    /// A script that can not be used.
    #[error("the script {} can not be used: {problem}", .path.display())]
    ScriptFile {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// `--model` with a graph that has nothing to set.
    #[error(
        "--model: the graph {graph} has no key called model or …_model, so there is nothing to set; change the model in the graph file"
    )]
    NoModelKey {
        /// The graph.
        graph: String,
    },
    /// Models that can not be had, all of them.
    #[error("the models can not be used:{}", list(.0))]
    Models(Vec<String>),
    /// A limit of money over models whose price is not known.
    #[error(
        "no price is known of {}, and the limit `{limit}` counts money, so that it would let no call of it through: \
         {}limit tokens or time in its place, or take a model of known price",
        .models.join(", "),
        .key.as_ref().map_or_else(
            || "take it out of the graph file; ".to_owned(),
            |key| format!("leave {key} out, or take it off with --set {key}=null; ")
        )
    )]
    NoPrice {
        /// The limit.
        limit: String,
        /// The key of the configuration that sets it.
        key: Option<String>,
        /// The models, by name.
        models: Vec<String>,
    },
    /// MCP servers that can not be used, all of them.
    #[error("the MCP servers can not be used:{}", list(.0))]
    Servers(Vec<String>),
    /// A further attempt of a run that is not over.
    #[error(
        "run {run} is not over ({status}), and --set, --model and --from are for runs that are: it goes on as it was set up, \
         by deepgraph resume {run}"
    )]
    NotOverYet {
        /// The run.
        run: String,
        /// Its status.
        status: &'static str,
    },
    /// A run that is over can not go on.
    #[error("{why}\n{hint}")]
    NotResumable {
        /// What is wrong.
        why: String,
        /// What to do.
        hint: String,
    },
    /// A recording of a further attempt.
    #[error(
        "run {run} goes on after its end, and a recording holds one attempt only: leave --record out. Its journals hold all \
         of it: deepgraph trace {run} --format journal"
    )]
    RecordsOneAttempt {
        /// The run.
        run: String,
    },
    /// Ctrl-C before a run had begun.
    #[error("interrupted before anything was started; nothing was recorded")]
    Interrupted,
    /// A base URL that holds a secret.
    #[error(
        "the base URL holds a user name or a password, which would be written into the run's record: leave it out and put the key into the variable that --key-env names"
    )]
    SecretInUrl,
    /// Programs of a graph file that nobody has allowed.
    #[error(
        "the graph wants to start programs as MCP servers, and nothing was started:\n{}\nIf that is wanted, add \
         --allow-commands, or put the same command below services.mcp of your own configuration",
        .0.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
    )]
    Commands(Vec<String>),
    /// A key in the place of the name of its variable. It is not repeated.
    #[error(
        "--key-env takes the name of an environment variable, such as OPENAI_API_KEY, and not what it holds"
    )]
    NoVariable,
    /// The file for a report or anything else can not be written.
    #[error(
        "the {holds} can not be written to {}: {problem}; name another file with {}",
        .path.display(),
        .holds.option()
    )]
    OutFile {
        /// What it was to hold.
        holds: Holds,
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// A run of which no case can be made yet.
    #[error(
        "run {run} is not over ({status}), so it is not known what to expect: go on with deepgraph resume {run}"
    )]
    NotOver {
        /// The run.
        run: String,
        /// Its status.
        status: &'static str,
    },
    /// Secrets that can not be taken out of what is to be written of a run.
    #[error(
        "nothing was written: run {run} {} driven with {names}, not set here, so a secret could not be taken out of what it \
         said: set {names} as in the run{}",
        if *.is_sure { "was" } else { "may have been" },
        if *.is_sure { "" } else { ", or to nothing if it had no key" },
        names = .variables.join(" and ")
    )]
    NotHidden {
        /// The run.
        run: String,
        /// The environment variables with the secrets.
        variables: Vec<String>,
        /// Whether it is known that the run had them.
        is_sure: bool,
    },
    /// A recording that can not be used.
    #[error("the recording {} can not be used: {problem}", .path.display())]
    Recording {
        /// The file.
        path: PathBuf,
        /// What is wrong and what to do.
        problem: String,
    },
    /// A replay that is to go on.
    #[error(
        "run {run} is a replay of {recording}: it can not go on by itself; replay again with deepgraph run --replay {recording}"
    )]
    Replay {
        /// The run.
        run: String,
        /// The recording.
        recording: String,
    },
    /// The name of a file that does not say what kind of drawing it is to hold.
    #[error(
        "the name {} does not say what kind of drawing it is to hold: end it in .svg, .dot or .mmd, or give --format",
        .path.display()
    )]
    DrawingForm {
        /// The file.
        path: PathBuf,
    },
    /// A drawing that can not be made.
    #[error("{0}")]
    Draw(#[from] DrawError),
    /// A fork that can not be made so.
    #[error("{problem}")]
    Fork {
        /// What is wrong and what to do.
        problem: String,
    },
    /// No step of this name came to its end in a run.
    #[error(
        "no step \"{step}\" came to its end in run {run}; `deepgraph history {run}` lists all{}",
        if .nearest.is_empty() { String::new() } else { format!("; the nearest are:{}", list(.nearest)) }
    )]
    NoStep {
        /// The run.
        run: String,
        /// What was given.
        step: String,
        /// The steps that are most alike.
        nearest: Vec<String>,
    },
    /// The documents can not be used.
    #[error("{0}")]
    Documents(#[from] CorpusError),
    /// The folder of runs can not be made.
    #[error(
        "the folder {} for runs can not be made: {error}; name another one with --home DIR or in DEEPGRAPH_HOME",
        .path.display()
    )]
    Home {
        /// The folder.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// There is no place for runs.
    #[error("there is no home directory to keep runs in: name a folder with --home DIR or in DEEPGRAPH_HOME")]
    NoHome,
    /// Too little of an id, for what can not be taken back.
    #[error(
        "\"{given}\" is too short for a run that is to be cancelled: give at least four characters of its id, or last; \
         `deepgraph runs` lists them"
    )]
    ShortRun {
        /// What was given.
        given: String,
    },
    /// A store without a name.
    #[error(
        "--store is empty: give the URL of a server, such as postgres://USER@HOST/DATABASE, or leave it out for the file below \
         --home"
    )]
    NoStore,
    /// Another process drives the run.
    #[error("run {run} is being driven by another process: wait for its end, or stop it first")]
    InUse {
        /// The run.
        run: String,
    },
    /// Answers that answer nothing.
    #[error("{problem}{}", list(.open))]
    Answer {
        /// What is wrong with the answers and what to do.
        problem: String,
        /// The open questions.
        open: Vec<String>,
    },
    /// The setting of a run can not be read from its record.
    #[error("the record of run {run} does not say how it was set up: {detail}; run the question again")]
    Settings {
        /// The run.
        run: String,
        /// Why.
        detail: String,
    },
    /// A file with a trace or with journals that can not be used.
    #[error("{} can not be used: {problem}", .path.display())]
    TraceFile {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// Files that are there already.
    #[error("nothing was made, because this would overwrite:{}\nName another folder: deepgraph init DIR", list(.0))]
    Exists(Vec<String>),
    /// A file where a folder is to be.
    #[error("{} is no folder, so nothing can be made in it; name another one: deepgraph init DIR", .path.display())]
    NotAFolder {
        /// The file.
        path: PathBuf,
    },
    /// A file of a new folder can not be written.
    #[error("{} can not be written: {error}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Cases can not be played.
    #[error("{0}")]
    Test(#[from] TestError),
    /// The program's runtime can not be started.
    #[error("the program can not start its threads: {0}")]
    Threads(io::Error),
    /// A server is named, and the program knows none.
    #[cfg(not(feature = "postgres"))]
    #[error(
        "runs can not be kept in a server, because this program was built without PostgreSQL: build it with the feature \
         `postgres`, or leave --store and DEEPGRAPH_STORE out"
    )]
    NoPostgres,
    /// The store failed.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// Driving a run failed.
    #[error("{0}")]
    Run(#[from] RunError),
    /// The journals of a run do not fold.
    #[error("{0}")]
    Fold(#[from] FoldError),
}

fn hint<T: std::fmt::Display>(nearest: &Option<T>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!("; did you mean {name}?"))
}

fn list(items: &[String]) -> String {
    items.iter().map(|item| format!("\n  {item}")).collect()
}
