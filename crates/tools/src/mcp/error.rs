//! What can go wrong with a server or with a call of one of its tools.

use deepgraph_protocol::{ErrorKind, StepError};

use super::words;

/// A failure of an MCP server or of a call. No message holds a secret.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum McpError {
    /// There is no such command.
    #[error(
        "the MCP server \"{server}\" can not be started: there is no command \"{program}\"; install it, put its folder \
         on the PATH, or give its full path under mcp.{server}.command"
    )]
    CommandNotFound {
        /// The server's name in the graph.
        server: String,
        /// The command as declared.
        program: String,
    },
    /// The system does not start the command.
    #[error(
        "the MCP server \"{server}\" can not be started: \"{program}\": {problem}; check mcp.{server}.command"
    )]
    CommandNotStarted {
        /// The server's name in the graph.
        server: String,
        /// The command as declared.
        program: String,
        /// What the system says.
        problem: String,
    },
    /// The command ended before it was ready.
    #[error(
        "the MCP server \"{server}\" (command \"{program}\") ended before it was ready: start the command by hand to \
         see why{said}"
    )]
    EndedAtStart {
        /// The server's name in the graph.
        server: String,
        /// The command as declared.
        program: String,
        /// How it ended and its last words.
        said: String,
    },
    /// The command ended during a call.
    #[error(
        "the MCP server \"{server}\" (command \"{program}\") ended during the call of {server}.{tool}: the next call \
         starts it again{said}"
    )]
    EndedInCall {
        /// The server's name in the graph.
        server: String,
        /// The command as declared.
        program: String,
        /// The tool's name.
        tool: String,
        /// How it ended and its last words.
        said: String,
    },
    /// No greeting or no list of tools in time.
    #[error(
        "the MCP server \"{server}\" ({place}) was not ready after {seconds} s: is it an MCP server, and does its \
         first start download something? Start it once by hand{said}"
    )]
    NotReady {
        /// The server's name in the graph.
        server: String,
        /// Its command or its address.
        place: String,
        /// How long it was waited for, in seconds.
        seconds: f64,
        /// What it said meanwhile.
        said: String,
    },
    /// The address can not be used.
    #[error(
        "the MCP server \"{server}\" can not be reached: its address can not be used: {problem}; give one such as \
         https://example.com/mcp under mcp.{server}.url"
    )]
    Address {
        /// The server's name in the graph.
        server: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A header can not be sent.
    #[error("the header \"{header}\" under mcp.{server}.headers can not be sent: {problem}")]
    Header {
        /// The server's name in the graph.
        server: String,
        /// The header's name.
        header: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The HTTP client can not be set up.
    #[error("no connection to the MCP server \"{server}\" can be prepared: {problem}")]
    Client {
        /// The server's name in the graph.
        server: String,
        /// What the client says.
        problem: String,
    },
    /// Nobody answers at the address.
    #[error(
        "the MCP server \"{server}\" can not be reached at {place}: {problem}; is it running, and is mcp.{server}.url \
         right?"
    )]
    Unreachable {
        /// The server's name in the graph.
        server: String,
        /// Its address.
        place: String,
        /// What the system says.
        problem: String,
    },
    /// The connection broke off.
    #[error("the connection to the MCP server \"{server}\" ({place}) broke off: {problem}")]
    BrokenOff {
        /// The server's name in the graph.
        server: String,
        /// Its command or its address.
        place: String,
        /// What is known of it.
        problem: String,
    },
    /// The key is missing, wrong, or has too few rights (HTTP 401, 403).
    #[error("the MCP server \"{server}\" ({place}) {} (HTTP {status}): {}", refusal(*.status, .headers), remedy(.server, *.status, .headers))]
    Unauthorized {
        /// The server's name in the graph.
        server: String,
        /// Its address.
        place: String,
        /// 401 or 403.
        status: u16,
        /// The names of the headers that were sent.
        headers: Vec<String>,
    },
    /// The server asks to slow down (HTTP 429).
    #[error("the MCP server \"{server}\" ({place}) asks to slow down (HTTP 429)")]
    RateLimited {
        /// The server's name in the graph.
        server: String,
        /// Its address.
        place: String,
        /// How long it asks to wait, in milliseconds.
        retry_after_ms: Option<u64>,
    },
    /// The server can not serve now (HTTP 5xx).
    #[error("the MCP server \"{server}\" ({place}) can not serve now (HTTP {status})")]
    Unavailable {
        /// The server's name in the graph.
        server: String,
        /// Its address.
        place: String,
        /// The HTTP status.
        status: u16,
    },
    /// Another HTTP status than one of success.
    #[error(
        "{place} answers with HTTP {status}{body}: is that the address of the MCP endpoint of \"{server}\"? Check \
         mcp.{server}.url"
    )]
    Status {
        /// The server's name in the graph.
        server: String,
        /// Its address.
        place: String,
        /// The HTTP status.
        status: u16,
        /// What it says, in brackets.
        body: String,
    },
    /// What answers does not speak MCP as we do.
    #[error("\"{server}\" ({place}) does not answer as an MCP server: {problem}")]
    NotMcp {
        /// The server's name in the graph.
        server: String,
        /// Its command or its address.
        place: String,
        /// What it does instead.
        problem: String,
    },
    /// The list of tools is larger than any that a model could use.
    #[error("the MCP server \"{server}\" lists more than {bound}: use a server with fewer tools")]
    ListTooLong {
        /// The server's name in the graph.
        server: String,
        /// The bound, with its unit.
        bound: String,
    },
    /// The server was down just now, and is not tried again yet.
    #[error("{why}; it was tried {tries} times, and is tried again in {seconds:.1} s")]
    Resting {
        /// Why it is down.
        why: Box<McpError>,
        /// The attempts that failed, one after the other.
        tries: u32,
        /// How long it is left alone, in seconds.
        seconds: f64,
    },
    /// The server was closed with its run.
    #[error("the MCP server \"{server}\" is closed: its run has ended")]
    Closed {
        /// The server's name in the graph.
        server: String,
    },
    /// The server lists no such tool.
    #[error("the MCP server \"{server}\" has no tool \"{tool}\"{}", nearest_text(.nearest))]
    UnknownTool {
        /// The server's name in the graph.
        server: String,
        /// The tool's name.
        tool: String,
        /// The tools with the nearest names, best first.
        nearest: Vec<String>,
    },
    /// The tool does not take these arguments.
    #[error("{server}.{tool} does not take these arguments: {problem}")]
    Arguments {
        /// The server's name in the graph.
        server: String,
        /// The tool's name.
        tool: String,
        /// What the server says.
        problem: String,
    },
    /// The tool failed in its own way.
    #[error("{server}.{tool}: {text}")]
    Failed {
        /// The server's name in the graph.
        server: String,
        /// The tool's name.
        tool: String,
        /// What the tool says.
        text: String,
    },
    /// No answer of the tool in time.
    #[error(
        "{server}.{tool} did not answer within {seconds} s: it was told to stop; give the call a longer timeout"
    )]
    TooSlow {
        /// The server's name in the graph.
        server: String,
        /// The tool's name.
        tool: String,
        /// How long it was waited for, in seconds.
        seconds: f64,
    },
    /// The answer is too large.
    #[error(
        "the {what} of the MCP server \"{server}\" is larger than {}: ask for less at once",
        words::size(*.most_bytes as u64)
    )]
    TooLarge {
        /// The server's name in the graph.
        server: String,
        /// What is too large.
        what: String,
        /// The bound.
        most_bytes: usize,
    },
    /// The tool asks back, for a person or a model, which nobody could answer here.
    #[error("{server}.{tool} asks for input while it runs, which is not possible here: use another tool")]
    AsksBack {
        /// The server's name in the graph.
        server: String,
        /// The tool's name.
        tool: String,
    },
    /// The answer is none that the protocol knows.
    #[error("the answer of {server}.{tool} can not be read: {problem}")]
    Unreadable {
        /// The server's name in the graph.
        server: String,
        /// The tool's name.
        tool: String,
        /// What is wrong with it.
        problem: String,
    },
}

fn nearest_text(nearest: &[String]) -> String {
    match nearest {
        [] => ": it has no tools".to_owned(),
        names => format!(": the nearest names are {}", names.join(", ")),
    }
}

/// What a server that answers 401 or 403 does.
fn refusal(status: u16, headers: &[String]) -> String {
    match (status, headers) {
        (_, []) => "wants a key".to_owned(),
        (403, _) => format!("does not allow this with its header {}", headers.join(" and ")),
        _ => format!("refuses its header {}", headers.join(" and ")),
    }
}

/// What to do about it.
fn remedy(server: &str, status: u16, headers: &[String]) -> String {
    match (status, headers) {
        (_, []) => format!("give one under mcp.{server}.headers, most often as Authorization"),
        (403, _) => format!("use a key with more rights under mcp.{server}.headers"),
        _ => format!("check the key under mcp.{server}.headers"),
    }
}

impl McpError {
    /// The kind that graphs read.
    pub fn kind(&self) -> ErrorKind {
        match self {
            McpError::CommandNotFound { .. } | McpError::UnknownTool { .. } => ErrorKind::NotFound,
            McpError::Status { status: 404, .. } => ErrorKind::NotFound,
            McpError::EndedAtStart { .. } | McpError::Unavailable { .. } | McpError::Resting { .. } => {
                ErrorKind::Unavailable
            }
            McpError::EndedInCall { .. } | McpError::Unreachable { .. } | McpError::BrokenOff { .. } => {
                ErrorKind::Network
            }
            McpError::NotReady { .. } | McpError::TooSlow { .. } => ErrorKind::StepTimeout,
            McpError::Unauthorized { .. } => ErrorKind::Unauthorized,
            McpError::RateLimited { .. } => ErrorKind::RateLimited,
            McpError::Closed { .. } => ErrorKind::Cancelled,
            McpError::Arguments { .. } => ErrorKind::InvalidInput,
            McpError::Failed { .. } => ErrorKind::Tool,
            McpError::Unreadable { .. } => ErrorKind::InvalidOutput,
            McpError::CommandNotStarted { .. }
            | McpError::Address { .. }
            | McpError::Header { .. }
            | McpError::Client { .. }
            | McpError::Status { .. }
            | McpError::NotMcp { .. }
            | McpError::ListTooLong { .. }
            | McpError::TooLarge { .. }
            | McpError::AsksBack { .. } => ErrorKind::InvalidRequest,
        }
    }

    /// Whether the connection is of no more use.
    pub(super) fn is_break(&self) -> bool {
        matches!(
            self,
            McpError::EndedInCall { .. } | McpError::Unreachable { .. } | McpError::BrokenOff { .. }
        )
    }
}

impl McpError {
    /// The failure of a call for which there is no connection: it has reached nobody. Whatever keeps a server from
    /// answering, to a call it is not there.
    pub(super) fn into_unsent(self) -> StepError {
        let error = StepError::from(self).unsent();
        match error.kind {
            ErrorKind::Unauthorized | ErrorKind::RateLimited | ErrorKind::Cancelled => error,
            _ => StepError { kind: ErrorKind::Unavailable, ..error },
        }
    }
}

impl From<McpError> for StepError {
    fn from(error: McpError) -> StepError {
        let retry_after_ms = match &error {
            McpError::RateLimited { retry_after_ms, .. } => *retry_after_ms,
            McpError::Resting { seconds, .. } => Some((seconds * 1000.0).ceil() as u64),
            _ => None,
        };
        let unsent = matches!(
            error,
            McpError::Unreachable { .. } | McpError::UnknownTool { .. } | McpError::Closed { .. }
        );
        let failure = StepError::new(error.kind(), error.to_string());
        StepError { retry_after_ms, unsent, ..failure }
    }
}
