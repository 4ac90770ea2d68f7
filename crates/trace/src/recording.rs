//! Recordings: what a run asked of the outside and what came back, to be answered from instead of the outside.
//!
//! A recording is a fold of the run's journals like a trace, so it is complete also after a crash and a resume, and the
//! same whatever finished first.

mod file;
mod gather;
mod hide;
mod name;
mod set_up;

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_graph::{OpTable, ServerTool};
use deepgraph_protocol::{
    Fee, Hidden, Map, Message, Millis, ModelReply, ModelRequest, OutputShape, StepError, StepId, ToolSpec,
    Usage, Value,
};
use serde::{Deserialize, Serialize};

use crate::given::digest;

pub use file::RecordingError;
pub use gather::hidden_in;
pub use name::EntryName;

/// The form of recordings that is written. It is raised when older programs could not read one any more. Since form 2,
/// what only graphs give to an op stands there by its hash.
pub const FORMAT: u32 = 2;

/// What a run asked of the outside and what came back: one exchange for each attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// The graph as the user named it: a file, a folder or the name of a stock graph.
    pub graph: String,
    /// Hash of graphs, prompts and tools of servers.
    pub bundle: Arc<str>,
    /// The question, as the run's record has it.
    pub question: String,
    /// When the run started, in milliseconds since 1970-01-01 UTC.
    pub started_ms: Millis,
    /// The root's input.
    pub input: Map,
    /// The values of the configuration that differ from the defaults of the graph.
    pub config: Map,
    /// What channels that are kept between runs held at the start.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub kept: Map,
    /// The tools of MCP servers, by server.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub servers: BTreeMap<Arc<str>, Vec<ServerTool>>,
    /// How many milliseconds after its start the run was cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled_ms: Option<u64>,
    /// How many milliseconds after its start each entry was made that nothing outside led to, by [`EntryName`]. Only in
    /// recordings whose exchanges have [`Exchange::after_ms`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub moments: BTreeMap<String, u64>,
    /// What came, by [`EntryName`], in the order in which it was committed. Only where [`moments`](Recording::moments)
    /// are kept: there the order may make a difference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
    /// The exchanges, in canonical order of their steps.
    pub exchanges: Vec<Exchange>,
}

/// One attempt of a step that reached outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// The step.
    pub step: StepId,
    /// The attempt, from 1.
    pub attempt: u32,
    /// What was asked.
    pub asked: Asked,
    /// What was reserved for each time that it had been sent before, and its answer was lost with the process. It stays
    /// charged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<Reserved>,
    /// The model that was asked, where it is not the configured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Arc<str>>,
    /// The context window that the request was made to fit, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// Whether it waited until its provider's account might send again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
    /// What came of it.
    pub came: Came,
    /// Whether the next model of the route was asked then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fail_over: bool,
    /// Whether it was called off before it was sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsent: bool,
    /// What a failed attempt used.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub used: Usage,
    /// What was reserved for the call: of an op that costs something, and of a model where a limit bounds tokens or money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved: Option<Reserved>,
    /// What the call of an op cost.
    #[serde(default, skip_serializing_if = "Fee::is_none")]
    pub fee: Fee,
    /// How many milliseconds after the start of the run it came. Only in recordings of runs that were cancelled or in
    /// which a limit on time was reached, and of graphs that read such a limit
    /// ([`Bundle::reads_clock`](deepgraph_graph::Bundle::reads_clock)): in all others it makes no difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_ms: Option<u64>,
}

/// What was reserved for a call of a model, or of an op that costs something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reserved {
    /// Tokens.
    pub tokens: u64,
    /// Micro-dollars; none where the price was not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micro_usd: Option<u64>,
}

/// What was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asked {
    /// A model.
    Model(Box<Request>),
    /// An op that reaches outside.
    Op {
        /// Its name.
        name: Arc<str>,
        /// Its input, without what only graphs give.
        input: Map,
        /// What only graphs give, by name: the beginning of the SHA-256 of each one's JSON.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        given: BTreeMap<Arc<str>, String>,
    },
    /// A person: the question.
    Person(Arc<str>),
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Came {
    /// A model's reply.
    Reply(Box<ModelReply>),
    /// An op's record.
    Result(Value),
    /// A person's answer.
    Answer(Value),
    /// The attempt failed.
    Failed(StepError),
    /// The step failed, whatever the number of attempts left.
    GaveUp(StepError),
    /// Nothing: the step was called off, or the question is still open.
    Nothing,
}

/// A request to a model as recordings hold it: all that is sent, and the channels that stand behind it by their hash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The configured model.
    pub model: String,
    /// The messages.
    pub messages: Vec<Message>,
    /// The tools that are offered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSpec>,
    /// The shape that a reply must have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputShape>,
    /// Upper bound of the reply, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// Provider options.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub options: Map,
    /// The channels that the node's templates read, by name: the beginning of the SHA-256 of each one's JSON.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub context: BTreeMap<Arc<str>, String>,
}

impl Recording {
    /// The same in the form that is written: those of form 1 have all of an op's input whole.
    pub fn in_this_form(mut self, ops: &OpTable) -> Recording {
        let exchanges = self.exchanges.into_iter();
        self.exchanges =
            exchanges.map(|one| Exchange { asked: one.asked.in_this_form(ops), ..one }).collect();
        self
    }
}

impl Request {
    /// A request, with secrets taken out.
    pub fn of(request: ModelRequest, hidden: &Hidden) -> Request {
        let ModelRequest { model, messages, tools, output, max_output, options, context } = request;
        Request {
            model,
            messages: messages.into_iter().map(|message| hide::message(message, hidden)).collect(),
            tools: tools.into_iter().map(|tool| hide::tool(tool, hidden)).collect(),
            output: output.map(|output| hide::output(output, hidden)),
            max_output,
            options: hidden.map(&options),
            context: digests(&context, hidden),
        }
    }
}

impl Asked {
    /// The call of an op, with secrets taken out of what is there by its hash.
    pub fn op(name: Arc<str>, input: Map, ops: &OpTable, hidden: &Hidden) -> Asked {
        let (input, given) = ops.split(&name, input);
        Asked::Op { name, input, given: digests(&given, hidden) }
    }

    /// The same as recordings of this form hold it.
    fn in_this_form(self, ops: &OpTable) -> Asked {
        match self {
            Asked::Op { name, input, given } if given.is_empty() => {
                // The secrets were taken out when it was written.
                Asked::op(name, input, ops, &Hidden::default())
            }
            other => other,
        }
    }

    /// The canonical text of it: equal texts ask for the same.
    pub fn key(&self) -> String {
        Value::of(self).to_json_text()
    }
}

fn is_nothing(used: &Usage) -> bool {
    *used == Usage::default()
}

/// The hash of each value.
fn digests(values: &Map, hidden: &Hidden) -> BTreeMap<Arc<str>, String> {
    let hash = |value: &Value| digest(&hidden.value(value).to_json_text());
    values.iter().map(|(name, value)| (name.clone(), hash(value))).collect()
}
