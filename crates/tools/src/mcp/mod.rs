//! Tools of MCP servers: started commands that speak over their standard streams, and servers behind an HTTP
//! address ("streamable HTTP").
//!
//! [`McpServers::connect`] connects to all servers of a graph at once; each gives its list of tools, and
//! [`Server::call`] calls one. What a call brings back is the record `{text, data}`, of which [`passages`] makes what can be
//! cited. All of it needs a tokio runtime with
//! I/O and time.
//!
//! **What a started command gets.** Not our environment: keys of model providers are none of its business. It gets
//! `PATH`, `HOME`, `USER`, `LOGNAME`, `SHELL`, `LANG`, `LC_ALL`, `LC_CTYPE`, `TZ`, `TERM`, `TMPDIR` (on Windows the
//! system's folders) as far as we have them, and what is declared for it under `env`, which wins. Secrets belong
//! there, not among the arguments, which every user of the machine can see. It runs in our working folder.
//!
//! **When it ends.** With the run: its standard input is closed, after a grace it is asked to end (SIGTERM), after
//! another it is killed, together with all processes that it started. Where a [`Server`] is dropped without
//! [`Server::close`], the same happens in the background, and at once when the runtime itself ends. If this process is
//! killed from outside, a server sees the end of its standard input.
//!
//! **Sizes.** An answer is bounded ([`Options::most_answer_bytes`]), and so is a list of tools. A larger answer fails
//! its own call; the connection and other calls are not touched.
//!
//! **Secrets.** Values of headers and of `env` are taken out of all error messages, whatever a server says.

mod answer;
mod call;
mod cited;
mod command;
mod connection;
mod declared;
mod environment;
mod error;
mod http;
mod http_error;
mod oversized;
mod process;
mod rest;
mod secrets;
mod server;
mod servers;
mod stdout;
mod tools;
mod words;

pub use cited::{Said, passages};
pub use declared::{Options, Transport};
pub use error::McpError;
pub use server::Server;
pub use servers::McpServers;
pub use tools::ToolDecl;
