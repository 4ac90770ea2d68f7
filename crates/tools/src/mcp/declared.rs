//! A server as a graph file declares it.

use std::fmt;
use std::time::Duration;

use deepgraph_protocol::Hidden;
use reqwest::Url;

use super::secrets;

/// How a server is reached, secrets filled in.
#[derive(Clone, PartialEq, Eq)]
pub enum Transport {
    /// A server behind an HTTP address, "streamable HTTP".
    Http {
        /// The address of its MCP endpoint.
        url: String,
        /// Sent with every request.
        headers: Vec<(String, String)>,
    },
    /// A command that speaks MCP over its standard input and output.
    Command {
        /// A name on the PATH, or a path.
        program: String,
        /// Its arguments. Every user of the machine can see them, so they are no place for secrets.
        args: Vec<String>,
        /// Variables that it gets besides the few that every command gets.
        env: Vec<(String, String)>,
    },
}

/// Names only: the values are secrets.
impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names =
            |pairs: &[(String, String)]| pairs.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        match self {
            Transport::Http { headers, .. } => {
                f.debug_struct("Http").field("url", &self.shown()).field("headers", &names(headers)).finish()
            }
            Transport::Command { args, env, .. } => f
                .debug_struct("Command")
                .field("program", &self.shown())
                .field("args", &args.len())
                .field("env", &names(env))
                .finish(),
        }
    }
}

impl Transport {
    /// What messages call it: the program, or the address without user, password and query.
    pub(super) fn shown(&self) -> String {
        match self {
            Transport::Command { program, .. } => program.clone(),
            Transport::Http { url, .. } => match Url::parse(url.trim()) {
                Ok(mut url) => {
                    // Both fail only for addresses that can not have them.
                    let _ = url.set_username("");
                    let _ = url.set_password(None);
                    url.set_query(None);
                    url.set_fragment(None);
                    url.to_string()
                }
                Err(_) => "an address that can not be read".to_owned(),
            },
        }
    }
}

/// Limits of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long a server may take to start, to answer the greeting and to list its tools, all in all.
    pub connect_timeout: Duration,
    /// How long a command may take to end by itself before it is asked to, and then before it is killed.
    pub grace: Duration,
    /// The most bytes of one answer.
    pub most_answer_bytes: usize,
}

impl Default for Options {
    /// 30 seconds to connect, 2 seconds of grace, answers up to 8 MiB.
    fn default() -> Options {
        Options {
            connect_timeout: Duration::from_secs(30),
            grace: Duration::from_secs(2),
            most_answer_bytes: 8 * 1024 * 1024,
        }
    }
}

/// A server's name with all that is needed to connect to it.
#[derive(Debug)]
pub(super) struct Declared {
    /// Its name in the graph.
    pub(super) name: String,
    pub(super) transport: Transport,
    pub(super) options: Options,
    secrets: Hidden,
}

impl Declared {
    pub(super) fn new(name: &str, transport: Transport, options: Options) -> Declared {
        let secrets = secrets::of(&transport);
        Declared { name: name.to_owned(), transport, options, secrets }
    }

    /// A text from outside, made fit for a message: without secrets.
    pub(super) fn hide(&self, text: &str) -> String {
        self.secrets.text(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_printed() {
        let http = Transport::Http {
            url: "https://me:pass1234@crm.example.com/mcp?key=abcdef99".to_owned(),
            headers: vec![("Authorization".to_owned(), "Bearer s3cr3t-token".to_owned())],
        };
        let command = Transport::Command {
            program: "npx".to_owned(),
            args: vec!["-y".to_owned(), "--key=abcdef99".to_owned()],
            env: vec![("TOKEN".to_owned(), "s3cr3t-token".to_owned())],
        };
        assert_eq!(
            format!("{http:?}"),
            r#"Http { url: "https://crm.example.com/mcp", headers: ["Authorization"] }"#
        );
        assert_eq!(format!("{command:?}"), r#"Command { program: "npx", args: 2, env: ["TOKEN"] }"#);
    }
}
