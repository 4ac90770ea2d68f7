//! A server that can be called for the length of a run.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use deepgraph_protocol::{Map, StepError, Value};
use tokio::sync::Mutex;

use super::call;
use super::connection::Connection;
use super::declared::{Declared, Options, Transport};
use super::error::McpError;
use super::rest::Rest;
use super::tools::ToolDecl;

/// Names that a message offers in place of one that does not exist.
const NEAREST: usize = 3;

/// An MCP server. Clones are the same server.
#[derive(Clone)]
pub struct Server(Arc<Inner>);

struct Inner {
    declared: Declared,
    /// None: not known, and so any.
    tools: Option<Vec<ToolDecl>>,
    state: Mutex<State>,
    /// Attempts to connect again that failed.
    failures: AtomicU64,
}

#[derive(Default)]
struct State {
    connection: Option<Arc<Connection>>,
    /// Why the last attempt to connect failed.
    failure: Option<McpError>,
    rest: Rest,
    is_closed: bool,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MCP server {} ({:?})", self.name(), self.0.declared.transport)
    }
}

impl Server {
    /// Connects to a server, starts it where it is a command, and lists its tools.
    ///
    /// # Errors
    ///
    /// Where it can not be started or reached, does not let us in, does not speak MCP, or is not ready in time.
    pub async fn connect(name: &str, transport: Transport, options: Options) -> Result<Server, McpError> {
        let declared = Declared::new(name, transport, options);
        let connection = Connection::open(&declared).await?;
        let tools = connection.tools.clone();
        let state = State { connection: Some(Arc::new(connection)), ..State::default() };
        Ok(Server::with(declared, Some(tools), state))
    }

    /// A server whose tools are known already. It is connected to by the first call.
    pub fn lazy(name: &str, transport: Transport, mut tools: Vec<ToolDecl>, options: Options) -> Server {
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        Server::with(Declared::new(name, transport, options), Some(tools), State::default())
    }

    /// A server whose tools are not known: it could not be reached. It is tried again by the next call.
    pub fn unlisted(name: &str, transport: Transport, options: Options) -> Server {
        Server::with(Declared::new(name, transport, options), None, State::default())
    }

    fn with(declared: Declared, tools: Option<Vec<ToolDecl>>, state: State) -> Server {
        Server(Arc::new(Inner { declared, tools, state: Mutex::new(state), failures: AtomicU64::new(0) }))
    }

    /// Its name in the graph.
    pub fn name(&self) -> &str {
        &self.0.declared.name
    }

    /// Its tools, by name; none where they are not known. The list stays the same for the life of this value, whatever the
    /// server does.
    pub fn tools(&self) -> &[ToolDecl] {
        self.0.tools.as_deref().unwrap_or_default()
    }

    /// Whether its tools are known.
    pub fn is_listed(&self) -> bool {
        self.0.tools.is_some()
    }

    /// The tool of a name.
    pub fn tool(&self, name: &str) -> Option<&ToolDecl> {
        find(self.tools(), name)
    }

    /// Calls a tool: `{text, data}`, where `text` is for a model to read and `data` is the structured content or null.
    /// Where the connection is gone, one attempt is made to connect again, within the same `timeout`; after attempts that
    /// failed the server is left alone for a while, and calls fail at once. A call is never sent twice. Dropping the future gives the call up and tells the server so.
    ///
    /// # Errors
    ///
    /// `not_found` for a tool that the server does not have, `invalid_input` for arguments that it does not take,
    /// `tool` where it says that it failed, `step_timeout`, `network`, `unavailable` and `rate_limited` where it does
    /// not answer (`unavailable` and unsent where there is no connection), `unauthorized`, `invalid_output` for an answer that is none, `invalid_request` for one that is too
    /// large, `cancelled` after [`Server::close`].
    pub async fn call(&self, tool: &str, arguments: &Map, timeout: Duration) -> Result<Value, StepError> {
        self.call_with(None, tool, arguments, timeout).await
    }

    /// The same under an idempotency key, which the server gets in `_meta` as `deepgraph/idempotency-key`: one that
    /// knows it can refuse to do something twice.
    ///
    /// # Errors
    ///
    /// As [`Server::call`].
    pub async fn call_under(
        &self,
        key: &str,
        tool: &str,
        arguments: &Map,
        timeout: Duration,
    ) -> Result<Value, StepError> {
        self.call_with(Some(key), tool, arguments, timeout).await
    }

    async fn call_with(
        &self,
        key: Option<&str>,
        tool: &str,
        arguments: &Map,
        timeout: Duration,
    ) -> Result<Value, StepError> {
        if self.0.tools.is_some() && self.tool(tool).is_none() {
            return Err(self.unknown(tool, self.tools()).into());
        }
        match tokio::time::timeout(timeout, self.attempt(key, tool, arguments)).await {
            Ok(result) => result,
            Err(_) => Err(McpError::TooSlow {
                server: self.name().to_owned(),
                tool: tool.to_owned(),
                seconds: timeout.as_secs_f64(),
            }
            .into()),
        }
    }

    /// Ends the connection, and waits until a command that was started is gone. Calls that are under way fail, and so
    /// do all later ones.
    pub async fn close(&self) {
        let connection = {
            let mut state = self.0.state.lock().await;
            state.is_closed = true;
            state.connection.take()
        };
        if let Some(connection) = connection {
            // One grace for it to go by itself, one after it was asked to, and a little for what is killed.
            connection.close(self.0.declared.options.grace.saturating_mul(3)).await;
        }
    }

    async fn attempt(&self, key: Option<&str>, tool: &str, arguments: &Map) -> Result<Value, StepError> {
        // What fails before there is a connection has reached nobody.
        let connection = self.connection().await.map_err(McpError::into_unsent)?;
        // It may have other tools than it had.
        if find(&connection.tools, tool).is_none() {
            return Err(self.unknown(tool, &connection.tools).into());
        }
        let result = call::call(&connection, &self.0.declared, key, tool, arguments).await;
        match &result {
            Err(error) if error.is_break() => self.forget(&connection, error).await,
            _ => self.0.state.lock().await.rest = Rest::default(),
        }
        result.map_err(|error| match error {
            McpError::Unreachable { .. } => error.into_unsent(),
            error => error.into(),
        })
    }

    /// The connection; a new one where there is none that could be used.
    async fn connection(&self) -> Result<Arc<Connection>, McpError> {
        let failures = self.0.failures.load(Ordering::SeqCst);
        let mut state = self.0.state.lock().await;
        if state.is_closed {
            return Err(McpError::Closed { server: self.name().to_owned() });
        }
        if let Some(connection) = state.connection.as_ref().filter(|connection| connection.is_open()) {
            return Ok(connection.clone());
        }
        // While this call waited, another one tried: one attempt is enough for both.
        if let Some(failure) = state.failure.as_ref()
            && self.0.failures.load(Ordering::SeqCst) != failures
        {
            return Err(failure.clone());
        }
        state.connection = None;
        if let (Some(why), Some(left)) = (&state.failure, state.rest.left()) {
            let (why, tries) = (Box::new(why.clone()), state.rest.tries());
            return Err(McpError::Resting { why, tries, seconds: left.as_secs_f64() });
        }
        match Connection::open(&self.0.declared).await {
            Ok(connection) => {
                let connection = Arc::new(connection);
                state.connection = Some(connection.clone());
                Ok(connection)
            }
            Err(error) => {
                self.0.failures.fetch_add(1, Ordering::SeqCst);
                state.failure = Some(error.clone());
                state.rest.failed();
                Err(error)
            }
        }
    }

    /// Makes the next call connect again, unless another call has done so already.
    async fn forget(&self, broken: &Arc<Connection>, why: &McpError) {
        let mut state = self.0.state.lock().await;
        if state.connection.as_ref().is_some_and(|connection| Arc::ptr_eq(connection, broken)) {
            state.connection = None;
            state.failure = Some(why.clone());
            state.rest.failed();
        }
    }

    /// That a tool is not among those that the server has.
    fn unknown(&self, tool: &str, tools: &[ToolDecl]) -> McpError {
        // Long texts are no names, and comparing takes the product of the lengths.
        let wanted: String = tool.chars().take(200).collect();
        let mut names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        // Stable, so names that are equally near stay in their order.
        names.sort_by(|a, b| strsim::jaro_winkler(&wanted, b).total_cmp(&strsim::jaro_winkler(&wanted, a)));
        let nearest = names.into_iter().take(NEAREST).map(str::to_owned).collect();
        McpError::UnknownTool { server: self.name().to_owned(), tool: wanted, nearest }
    }
}

/// A tool in a list that is sorted by name.
fn find<'a>(tools: &'a [ToolDecl], name: &str) -> Option<&'a ToolDecl> {
    let place = tools.binary_search_by(|tool| tool.name.as_str().cmp(name)).ok()?;
    tools.get(place)
}
