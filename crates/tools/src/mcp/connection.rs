//! A connection to a server: greeted, and its tools listed.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{ClientCapabilities, ClientConfig, ErrorCode, Implementation, ProtocolVersion};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, Peer, RoleClient, RunningService, ServiceError,
    serve_client_with_lifecycle,
};
use rmcp::{ClientHandler, ErrorData};
use tokio::time::{Instant, timeout_at};

use super::declared::{Declared, Transport};
use super::error::McpError;
use super::process::Obituary;
use super::stdout::TOO_LARGE;
use super::tools::{self, NoList, ToolDecl};
use super::{command, http, http_error};

/// Longer than anybody waits.
const A_YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// What we are towards a server: a client that can do nothing for it.
struct Client;

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let client = Implementation::new("deepgraph", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), client)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }
}

/// A connection that can be used. It is closed when it is dropped.
pub(super) struct Connection {
    pub(super) peer: Peer<RoleClient>,
    /// Of a command.
    pub(super) obituary: Option<Obituary>,
    /// The server's tools, by name.
    pub(super) tools: Vec<ToolDecl>,
    service: Mutex<Option<RunningService<RoleClient, Client>>>,
}

/// Why there is no connection.
enum NoConnection {
    Failed(McpError),
    /// The server knows only the newer protocol, which has no greeting.
    KnowsNoGreeting(McpError),
}

impl Connection {
    /// Connects within the time that the options give.
    pub(super) async fn open(declared: &Declared) -> Result<Connection, McpError> {
        let now = Instant::now();
        let deadline = now.checked_add(declared.options.connect_timeout).unwrap_or(now + A_YEAR);
        // Nearly all servers know the greeting, and older ones end when anything else comes first. So it comes first,
        // and what is newer is tried on a new connection.
        match Connection::greet(declared, ClientLifecycleMode::Initialize, deadline).await {
            Ok(connection) => Ok(connection),
            Err(NoConnection::Failed(error)) => Err(error),
            Err(NoConnection::KnowsNoGreeting(refusal)) => {
                let newer =
                    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] };
                Connection::greet(declared, newer, deadline).await.map_err(|failure| match failure {
                    NoConnection::Failed(error) => error,
                    NoConnection::KnowsNoGreeting(_) => refusal,
                })
            }
        }
    }

    async fn greet(
        declared: &Declared,
        mode: ClientLifecycleMode,
        deadline: Instant,
    ) -> Result<Connection, NoConnection> {
        let (greeted, obituary) = match &declared.transport {
            Transport::Command { program, args, env } => {
                let (streams, obituary) = command::start(program, args, env, declared.options)
                    .map_err(|error| NoConnection::Failed(not_started(declared, program, &error)))?;
                let greeting = serve_client_with_lifecycle(Client, streams, mode);
                (timeout_at(deadline, greeting).await, Some(obituary))
            }
            Transport::Http { url, headers } => {
                let exchange = http::exchange(declared, url, headers).map_err(NoConnection::Failed)?;
                let greeting = serve_client_with_lifecycle(Client, exchange, mode);
                (timeout_at(deadline, greeting).await, None)
            }
        };
        let service = match greeted {
            Ok(Ok(service)) => service,
            Ok(Err(error)) => return Err(not_greeted(declared, obituary.as_ref(), &error).await),
            Err(_) => return Err(NoConnection::Failed(not_ready(declared, obituary.as_ref()))),
        };
        let tools = match timeout_at(deadline, tools::list(service.peer())).await {
            Ok(Ok(tools)) => tools,
            Ok(Err(NoList::Service(ServiceError::McpError(error))))
                if error.code == ErrorCode::METHOD_NOT_FOUND =>
            {
                Vec::new()
            }
            Ok(Err(error)) => {
                let error = no_list(declared, obituary.as_ref(), error).await;
                return Err(NoConnection::Failed(error));
            }
            Err(_) => return Err(NoConnection::Failed(not_ready(declared, obituary.as_ref()))),
        };
        let peer = service.peer().clone();
        Ok(Connection { peer, obituary, tools, service: Mutex::new(Some(service)) })
    }

    /// Whether calls can be made, as far as is known.
    pub(super) fn is_open(&self) -> bool {
        !self.peer.is_transport_closed() && !self.obituary.as_ref().is_some_and(Obituary::is_silent)
    }

    /// Ends it, and waits until it has ended: a command is gone then. Waits no longer than `most`; what is left then is
    /// ended in the background.
    pub(super) async fn close(&self, most: Duration) {
        let service = self.service.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut service) = service {
            // Fails only where its task has failed: then all that it held is dropped, and so is ended.
            let _ = service.close_with_timeout(most).await;
        }
    }
}

/// What is known of a command, as the end of a message.
pub(super) fn said(declared: &Declared, obituary: Option<&Obituary>) -> String {
    obituary.map(|obituary| declared.hide(&obituary.tell())).unwrap_or_default()
}

fn not_started(declared: &Declared, program: &str, error: &io::Error) -> McpError {
    let (server, program) = (declared.name.clone(), program.to_owned());
    match error.kind() {
        io::ErrorKind::NotFound => McpError::CommandNotFound { server, program },
        _ => McpError::CommandNotStarted { server, program, problem: error.to_string() },
    }
}

fn not_ready(declared: &Declared, obituary: Option<&Obituary>) -> McpError {
    McpError::NotReady {
        server: declared.name.clone(),
        place: declared.transport.shown(),
        seconds: declared.options.connect_timeout.as_secs_f64(),
        said: said(declared, obituary),
    }
}

/// The end of a command that was not ready yet.
async fn ended_at_start(declared: &Declared, obituary: &Obituary) -> McpError {
    obituary.settle().await;
    McpError::EndedAtStart {
        server: declared.name.clone(),
        program: declared.transport.shown(),
        said: said(declared, Some(obituary)),
    }
}

async fn not_greeted(
    declared: &Declared,
    obituary: Option<&Obituary>,
    error: &ClientInitializeError,
) -> NoConnection {
    NoConnection::Failed(match (error, obituary) {
        (ClientInitializeError::JsonRpcError(error), _) => {
            let refusal = refused(declared, error, "greeting");
            if matches!(error.code, ErrorCode::METHOD_NOT_FOUND | ErrorCode::UNSUPPORTED_PROTOCOL_VERSION) {
                return NoConnection::KnowsNoGreeting(refusal);
            }
            refusal
        }
        (
            ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. },
            Some(obituary),
        ) => ended_at_start(declared, obituary).await,
        (ClientInitializeError::TransportError { error, .. }, None) => {
            http_error::of_transport(declared, error, "greeting")
        }
        (ClientInitializeError::ConnectionClosed(_), None) => {
            http_error::not_mcp(declared, "its answer to the greeting broke off or can not be read")
        }
        (error, _) => http_error::not_mcp(declared, &error.to_string()),
    })
}

async fn no_list(declared: &Declared, obituary: Option<&Obituary>, error: NoList) -> McpError {
    match (error, obituary) {
        (NoList::TooLong(bound), _) => McpError::ListTooLong { server: declared.name.clone(), bound },
        (NoList::Service(ServiceError::McpError(error)), _) => refused(declared, &error, "list of tools"),
        (NoList::Service(ServiceError::TransportSend(_) | ServiceError::TransportClosed), Some(obituary)) => {
            ended_at_start(declared, obituary).await
        }
        (NoList::Service(ServiceError::TransportSend(error)), None) => {
            http_error::of_transport(declared, &error, "list of tools")
        }
        (NoList::Service(ServiceError::TransportClosed), None) => {
            http_error::broken_off(declared, "there was no answer to the list of tools")
        }
        (NoList::Service(ServiceError::UnexpectedResponse), _) => {
            http_error::not_mcp(declared, "its list of tools can not be read")
        }
        (NoList::Service(error), _) => http_error::not_mcp(declared, &error.to_string()),
    }
}

/// The answer to a request that the server refused.
fn refused(declared: &Declared, error: &ErrorData, what: &str) -> McpError {
    if error.code == ErrorCode(TOO_LARGE) {
        let most_bytes = declared.options.most_answer_bytes;
        return McpError::TooLarge { server: declared.name.clone(), what: what.to_owned(), most_bytes };
    }
    http_error::not_mcp(
        declared,
        &format!(
            "it answers the request for its {what} with the error {} \"{}\"",
            error.code.0, error.message
        ),
    )
}
