//! Graphs built in Rust.
//!
//! A builder writes the same source that a graph file is: [`Graph::load`] gives it to [`load`](crate::load()), so a
//! built graph is checked by the same rules, becomes the same plan and has the same hash as its
//! [`Graph::to_yaml`] read from a file. It can be drawn, stored with a run and resumed like any other.
//!
//! ```
//! use deepgraph_graph::OpTable;
//! use deepgraph_graph::build::*;
//!
//! let graph = Graph::new("lookup")
//!     .config("model", Type::string().default("extractive"))
//!     .channel("question", Type::string())
//!     .channel("messages", Type::messages())
//!     .channel("answer", Type::string())
//!     .input(["question"])
//!     .output(["answer"])
//!     .tool("search", Tool::call("search"))
//!     .limit("turns", Limit::meter(Meter::Turns).max(8).exit("step_limit"))
//!     .start("open")
//!     .node("open", Node::pass().update("messages", list([record([("user", "question")])])).next("agent"))
//!     .node(
//!         "agent",
//!         Node::model(config("model")).messages("messages").tools(["search"]).next([
//!             when("result.tool_calls").to("act"),
//!             exit("completed").update("answer", "result.text"),
//!         ]),
//!     )
//!     .node("act", Node::run_tools("agent").next("agent"));
//! let loaded = graph.load(&OpTable::stock())?;
//! assert_eq!(&*loaded.bundle.root().name, "lookup");
//! # Ok::<(), deepgraph_graph::Diagnostics>(())
//! ```
//!
//! Names and texts mean what they mean in a file: `update("answer", "result.text")` is an expression, and a fixed
//! text is [`fixed`]. What the language forbids and types can say at no price is no Rust: a node has one verb,
//! `tools` come behind `messages`, `each` has its bound, a way has one target, a limit has one action. The rest
//! ([`Diagnostics`](crate::Diagnostics) with the line of the written source) is told by `load`.
//!
//! A key that is set again has its last value. Things with a name (channels, nodes, what a node updates) are added,
//! and a name that comes twice is a mistake.

mod call;
mod channel;
mod compensation;
mod graph;
mod intent;
mod limit;
mod model;
mod node;
mod op;
mod retry;
mod route;
mod server;
#[cfg(test)]
mod tests;
mod tool;
pub(crate) mod tree;
mod types;
mod values;
pub mod verb;
pub(crate) mod yaml;

pub use channel::Channel;
pub use compensation::Compensation;
pub use graph::Graph;
pub use intent::Intent;
pub use limit::{Counting, Gain, Limit};
pub use model::Truncate;
pub use node::{Each, Node};
pub use op::Signature;
pub use retry::Retry;
pub use route::{Route, Way, When, carry_on, exit, inherit, to, to_all, when, write};
pub use server::{CommandServer, HttpServer, Server};
pub use tool::Tool;
pub use types::{Field, Record, Type};
pub use values::{Expression, Literal, Setting, config, fixed, list, null, record};

pub use crate::{Concurrency, Overflow, Reducer};
pub use deepgraph_protocol::{ExitClass, Meter, QuestionKind};
