//! MCP servers.

use super::tree::{Mapping, Tree};

/// An MCP server. Its texts are templates in which `secret.NAME` is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Server(Mapping);

/// A server that is reached by HTTP.
#[derive(Clone, Debug)]
pub struct HttpServer(Mapping);

/// A server that is a program.
#[derive(Clone, Debug)]
pub struct CommandServer(Mapping);

impl Server {
    /// A server at an address.
    pub fn http(url: impl Into<String>) -> HttpServer {
        HttpServer(Mapping::default().with("url", Tree::Text(url.into())))
    }

    /// A program that is started, with its arguments.
    pub fn command<P: Into<String>>(program: impl IntoIterator<Item = P>) -> CommandServer {
        CommandServer(Mapping::default().with("command", Tree::names(program)))
    }

    pub(super) fn tree(self) -> Tree {
        Tree::Map(self.0)
    }
}

impl HttpServer {
    /// It does nothing twice that comes under the same idempotency key: a call that writes and whose outcome was lost is
    /// made again under its key.
    pub fn takes_keys(self) -> HttpServer {
        HttpServer(self.0.with("takes_keys", Tree::Bool(true)))
    }

    /// A run begins without it where it can not be reached.
    pub fn optional(self) -> HttpServer {
        HttpServer(self.0.with("required", Tree::Bool(false)))
    }

    /// A header of every request.
    pub fn header(self, name: impl Into<String>, value: impl Into<String>) -> HttpServer {
        HttpServer(self.0.with_under("headers", name, Tree::Text(value.into())))
    }
}

impl CommandServer {
    /// It does nothing twice that comes under the same idempotency key: a call that writes and whose outcome was lost is
    /// made again under its key.
    pub fn takes_keys(self) -> CommandServer {
        CommandServer(self.0.with("takes_keys", Tree::Bool(true)))
    }

    /// A run begins without it where it can not be reached.
    pub fn optional(self) -> CommandServer {
        CommandServer(self.0.with("required", Tree::Bool(false)))
    }

    /// A variable in the environment of the program.
    pub fn env(self, name: impl Into<String>, value: impl Into<String>) -> CommandServer {
        CommandServer(self.0.with_under("env", name, Tree::Text(value.into())))
    }
}

impl From<HttpServer> for Server {
    fn from(server: HttpServer) -> Server {
        Server(server.0)
    }
}

impl From<CommandServer> for Server {
    fn from(server: CommandServer) -> Server {
        Server(server.0)
    }
}
