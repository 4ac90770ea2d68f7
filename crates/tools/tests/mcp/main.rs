//! MCP servers as sources of tools, against a server that behaves as its script says: over standard streams and over
//! HTTP, well and badly.

#[path = "server/script.rs"]
mod script;

mod commands;
mod ends;
mod http;
mod http_server;
mod lists;
mod several;
mod support;
