//! The scripted server behind an HTTP address.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deepgraph_tools::mcp::Transport;
use serde_json::Value as Json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::script::{self, Manner};

/// How answers come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One JSON text.
    Json,
    /// Server-sent events.
    Events,
}

/// What the server does instead of answering as scripted.
pub enum Instead {
    /// These bytes; then the connection is closed.
    Bytes(Vec<u8>),
    /// Nothing, and the connection is held.
    Silence,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its first line and headers, in lower case.
    pub head: String,
    /// The message; null where there is none.
    pub message: Json,
}

impl Request {
    /// The method of its message.
    pub fn method(&self) -> &str {
        self.message["method"].as_str().unwrap_or("")
    }

    /// The tool that it calls.
    pub fn tool(&self) -> &str {
        self.message["params"]["name"].as_str().unwrap_or("")
    }
}

type Fault = Box<dyn Fn(&Request) -> Option<Instead> + Send + Sync>;

struct State {
    manner: Manner,
    form: Form,
    fault: Fault,
    asked: Mutex<Vec<Request>>,
    /// Sessions have numbers; those below this one are forgotten.
    session: AtomicUsize,
}

/// The server. It stops when it is dropped.
pub struct HttpServer {
    state: Arc<State>,
    port: u16,
    task: JoinHandle<()>,
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl HttpServer {
    /// A server without faults.
    pub async fn start(manner: Manner, form: Form) -> HttpServer {
        HttpServer::with(manner, form, |_| None).await
    }

    /// A server that does something else for some requests.
    pub async fn with(
        manner: Manner,
        form: Form,
        fault: impl Fn(&Request) -> Option<Instead> + Send + Sync + 'static,
    ) -> HttpServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        HttpServer::on(listener, manner, form, Box::new(fault))
    }

    /// A server on a port that was used before.
    pub async fn again(port: u16) -> HttpServer {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        HttpServer::on(listener, Manner::Plain, Form::Json, Box::new(|_| None))
    }

    fn on(listener: TcpListener, manner: Manner, form: Form, fault: Fault) -> HttpServer {
        let port = listener.local_addr().unwrap().port();
        let asked = Mutex::default();
        let state = Arc::new(State { manner, form, fault, asked, session: AtomicUsize::new(1) });
        let shared = state.clone();
        let task = tokio::spawn(async move {
            let mut open = tokio::task::JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                open.spawn(serve(BufReader::new(socket), shared.clone()));
            }
        });
        HttpServer { state, port, task }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// How it is declared, with a key.
    pub fn transport(&self) -> Transport {
        http(&format!("http://127.0.0.1:{}/mcp", self.port), &[("Authorization", "Bearer s3cr3t-key")])
    }

    /// All requests so far.
    pub fn asked(&self) -> Vec<Request> {
        self.state.asked.lock().unwrap().clone()
    }

    /// How many messages of a method came.
    pub fn count(&self, method: &str) -> usize {
        self.asked().iter().filter(|request| request.method() == method).count()
    }

    /// Forgets all sessions.
    pub fn forget_sessions(&self) {
        self.state.session.fetch_add(1, Ordering::SeqCst);
    }
}

/// A declaration.
pub fn http(url: &str, headers: &[(&str, &str)]) -> Transport {
    let headers = headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    Transport::Http { url: url.to_owned(), headers }
}

/// An answer with a status.
pub fn status(status: u16, headers: &[&str], body: &str) -> Instead {
    let head: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let length = body.len();
    Instead::Bytes(
        format!(
            "HTTP/1.1 {status} Status\r\n{head}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
        .into_bytes(),
    )
}

async fn serve(mut socket: BufReader<TcpStream>, state: Arc<State>) {
    let Some(request) = read(&mut socket).await else { return };
    state.asked.lock().unwrap().push(request.clone());
    match (state.fault)(&request).or_else(|| answer(&state, &request)) {
        Some(Instead::Bytes(bytes)) => {
            let _ = socket.write_all(&bytes).await;
            let _ = socket.shutdown().await;
        }
        Some(Instead::Silence) | None => tokio::time::sleep(Duration::from_secs(600)).await,
    }
}

fn answer(state: &State, request: &Request) -> Option<Instead> {
    let session = format!("session-{}", state.session.load(Ordering::SeqCst));
    let given = request.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
    if request.head.starts_with("get ") {
        return Some(status(405, &[], ""));
    }
    if given.is_some_and(|given| given != session) {
        return Some(status(404, &[], "no such session"));
    }
    if request.head.starts_with("delete ") || request.message.get("id").is_none() {
        return Some(status(202, &[], ""));
    }
    let message = script::reply(state.manner, &request.message)?.to_string();
    let mut headers = Vec::new();
    let greets = format!("Mcp-Session-Id: {session}");
    if request.method() == "initialize" {
        headers.push(greets.as_str());
    }
    Some(match state.form {
        Form::Json => status(200, &[headers, vec!["Content-Type: application/json"]].concat(), &message),
        Form::Events => {
            let body = format!(": hello\n\nevent: message\ndata: {message}\n\n");
            status(200, &[headers, vec!["Content-Type: text/event-stream"]].concat(), &body)
        }
    })
}

async fn read(socket: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if socket.read_line(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let length = |head: &str| {
        head.to_lowercase().lines().find_map(|l| l.strip_prefix("content-length: ")?.parse().ok())
    };
    let mut body = vec![0; length(&head).unwrap_or(0)];
    socket.read_exact(&mut body).await.ok()?;
    Some(Request { head: head.to_lowercase(), message: serde_json::from_slice(&body).unwrap_or_default() })
}
