//! The driver: what stands between Machines and the world.
//!
//! It commits entries, applies them, and carries out the effects that follow. Every entry is durable in the
//! [`Store`](deepgraph_store::Store) before a Machine reads it. One task owns all Machines of a run, so entries
//! are applied one after the other; the work (model calls, ops, waiting) is done by tasks beside it.
//!
//! | file | holds |
//! |---|---|
//! | `run` | starting, resuming and driving a run: the public face |
//! | `work` | what there is to do with a run of the store |
//! | `driver` | the loop: commit, apply, carry out, wait |
//! | `effects` | carrying out one effect |
//! | `tasks` | the work beside the loop, and what comes back |
//! | `slots` | run-wide caps, held by queueing |
//! | `resume` | Machines from journals |
//! | `aside` | what waits for the store, beside the threads that drive |
//! | `progress` | what observers are told; the run's record |
//! | `fork` | new runs whose journals begin as those of another one |
//! | `persist` | channels that are kept between runs |
//! | `ops` | the ops that graphs can call |
//! | `servers` | tools of MCP servers as ops |
//! | `ask`, `answers` | questions to a person, and answers that a resume brings |
//! | `clock` | the time that entries are stamped with |
//! | `intent` | the class of a question, and its configuration |
//! | `host`, `launch`, `running` | the short way for programs of one's own |
//! | `replay/` | runs that are answered from a recording |
//! | `custom` | ops of one's own, declared and done in one place |
//!
//! A program that runs graphs begins with a [`Host`]. The other crates are here under their short names, so that one
//! dependency is enough.

mod again;
mod answers;
mod aside;
mod ask;
mod asking;
mod begun;
mod bound;
mod cached;
mod call;
mod cancel;
mod clock;
mod control;
mod custom;
mod driver;
mod effects;
mod error;
mod fees;
mod folder;
mod fork;
mod host;
mod intent;
mod jitter;
mod launch;
mod ops;
mod outcomes;
mod persist;
mod progress;
mod replay;
mod resume;
mod run;
mod running;
mod scored;
mod servers;
mod slots;
mod sources;
mod tasks;
mod trouble;
mod work;
mod writes;

pub use again::Again;
pub use answers::{assigned, open_questions};
pub use ask::{Asker, Question, Unattended, read_answer};
pub use call::{CallContext, idempotency_key};
pub use cancel::Cancelled;
pub use clock::{Clock, SystemClock, TokioClock};
pub use control::{Cancel, Canceller, Control};
pub use custom::{CustomOp, OpDeclaration};
pub use error::RunError;
pub use folder::Folder;
pub use fork::{Branch, ForkedFrom, StepEnd, end_of, forked_from, step_ends};
pub use host::{Host, HostBuilder};
pub use intent::{Intended, with_intent};
pub use launch::{Launch, Resumption};
pub use ops::{Op, Ops};
pub use progress::{Observer, Quiet, Told};
pub use replay::recording;
pub use resume::fold;
pub use run::{Ended, NewRun, Outcome, Runtime};
pub use running::Running;
pub use servers::{DownServer, Effect, McpServerSettings, McpSettings, Secrets, Servers, UserServers};
pub use sources::{PageRead, Sources, WebHits, WebQuery, WebSource};
pub use work::{Work, stored_bundle};

pub use deepgraph_research::gain::{HashedFacts, Known, Scored, Scorer};
pub use deepgraph_research::intent::{IntentClassifier, RuleClassifier};

pub use async_trait::async_trait;
pub use deepgraph_engine::NotResumable;
pub use deepgraph_graph as graph;
pub use deepgraph_model as model;
pub use deepgraph_protocol as protocol;
pub use deepgraph_store as store;
pub use deepgraph_tools as tools;
pub use deepgraph_trace as trace;
