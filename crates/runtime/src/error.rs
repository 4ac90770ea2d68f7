//! What can keep a run from being driven. How a run itself goes wrong is data: its exits and status.

use deepgraph_engine::NotResumable;
use deepgraph_graph::Diagnostics;
use deepgraph_protocol::StepId;
use deepgraph_store::StoreError;

/// A failure of driving a run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The store failed. Everything committed before is safe; the run can be resumed.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// A fork that can not be made so.
    #[error("{problem}")]
    Edit {
        /// What is wrong and what to do.
        problem: String,
    },
    /// A fork whose journals were never written whole.
    #[error("run {run} is a fork of {of} that was not written whole, so it can not be driven: fork again")]
    BrokenFork {
        /// The run.
        run: String,
        /// The run that it comes from.
        of: String,
    },
    /// The journals do not fold under the bundle.
    #[error("run {run}: its journals name the graph `{graph}`, which is not in its bundle")]
    UnknownGraph {
        /// The run.
        run: String,
        /// The graph.
        graph: String,
    },
    /// The run was recorded and never started.
    #[error("run {run} has no journal: it was recorded and never started; start it again")]
    NotStarted {
        /// The run.
        run: String,
    },
    /// A run that is over can not go on.
    #[error("run {run} can not go on: {why}")]
    NotResumable {
        /// The run.
        run: String,
        /// Why, and what can be done instead.
        why: NotResumable,
    },
    /// A replayed run asks for something that is not in its recording.
    #[error("run {run} can not be replayed further: {what}")]
    NotRecorded {
        /// The run.
        run: String,
        /// Which step asks, the nearest recorded request, what differs, and what to do.
        what: String,
    },
    /// The input does not fit the graph.
    #[error("the input does not fit the graph `{graph}`: {problem}")]
    Input {
        /// The graph.
        graph: String,
        /// What does not fit.
        problem: String,
    },
    /// The graph has no such class of questions.
    #[error("the graph {graph} has no intent \"{name}\"; {}", intents_of(.known))]
    UnknownIntent {
        /// The graph.
        graph: String,
        /// What was asked for.
        name: String,
        /// Those that it has.
        known: Vec<String>,
    },
    /// An answer to a question that is not open.
    #[error("run {run} can not take an answer: {problem}; {}", open_now(.open))]
    NotAsked {
        /// The run.
        run: String,
        /// The step that the answer is for; none where it names none.
        step: Option<StepId>,
        /// What is wrong with the answer.
        problem: String,
        /// The steps whose questions are open.
        open: Vec<StepId>,
    },
    /// The record of a run that was never started does not say how.
    #[error(
        "the record of run {run} does not say how the run was set up, so it can not be started: {why}; start another \
         run of the same question"
    )]
    NoSetUp {
        /// The run.
        run: String,
        /// What of its settings can not be read.
        why: String,
    },
    /// The key under which a channel is kept between runs can not be made.
    #[error("channel `{channel}` can not be kept: its key (`persist`) has no value: {why}")]
    NoKey {
        /// The channel.
        channel: String,
        /// Why.
        why: String,
    },
    /// A secret that a server needs is not there.
    #[error(
        "the MCP server \"{server}\" needs the secret {secret}: put it into the environment variable {secret}"
    )]
    NoSecret {
        /// The server's name in the graph.
        server: String,
        /// The name of the secret.
        secret: String,
    },
    /// A text of a server can not be made.
    #[error("the MCP server \"{server}\" can not be reached: its texts can not be made: {problem}")]
    ServerText {
        /// The server's name in the graph.
        server: String,
        /// Which, where, and why.
        problem: String,
    },
    /// A server can not be used.
    #[error("{problem}")]
    Server {
        /// Which server, why, and what to do. Holds no secret.
        problem: String,
    },
    /// The program has no MCP client.
    #[error(
        "the MCP server \"{server}\" can not be reached, because this program was built without MCP: build it with \
         the feature `mcp`"
    )]
    NoMcp {
        /// The server's name in the graph.
        server: String,
    },
    /// The driver came to a stop with work left: a fault of ours.
    #[error("run {run} came to a stop although nothing is open; its journal is kept, please report this")]
    Stalled {
        /// The run.
        run: String,
    },
    /// The store dropped a commit without an answer: a fault of the store.
    #[error(
        "run {run}: the store gave no answer to a commit; its journal is kept as far as it was committed, resume the run"
    )]
    StoreSilent {
        /// The run.
        run: String,
    },
    /// The configuration does not fit the graph.
    #[error("the configuration does not fit the graph `{graph}`: {problem}")]
    Config {
        /// The graph.
        graph: String,
        /// What does not fit.
        problem: String,
    },
    /// The record of a run holds no graph.
    #[error("run {run}: the graph in its record can not be read: {why}")]
    NoStoredGraph {
        /// The run.
        run: String,
        /// Why.
        why: String,
    },
    /// The graph of a stored run does not compile against the ops that there are.
    #[error(
        "run {run}: its graph does not compile here: another version of the program made it, or this one does not have \
         all the ops that it calls\n\n{mistakes}"
    )]
    StoredGraph {
        /// The run.
        run: String,
        /// What is wrong.
        mistakes: Diagnostics,
    },
    /// A run is a task, and there is nothing that carries tasks out.
    #[error(
        "there is no tokio runtime here: start runs in a function under #[tokio::main], or enter a runtime"
    )]
    NoTokio,
    /// The task of a run did not come to its end.
    #[error("driving run {run} broke off ({why}); what is committed is kept, resume it")]
    Broken {
        /// The run.
        run: String,
        /// Why.
        why: String,
    },
}

/// The classes of questions of a graph.
fn intents_of(known: &[String]) -> String {
    match known {
        [] => "it has none: say which there are under `intents` of the graph file".to_owned(),
        known => format!("it has: {}", known.join(", ")),
    }
}

fn open_now(open: &[StepId]) -> String {
    if open.is_empty() {
        return "no question is open".to_owned();
    }
    let open: Vec<&str> = open.iter().map(StepId::as_str).collect();
    format!("open: {}", open.join(", "))
}
