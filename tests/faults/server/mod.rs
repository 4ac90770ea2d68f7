//! A server of chat completions that answers a whole run of the stock graph by script, and goes wrong where it is told to.
//!
//! Nothing of a conversation is remembered: what to answer is read from the request. What came in is kept in order, with
//! who asked, so a test can ask what was sent after what.

mod answer;
mod fault;
mod http;
mod log;
mod quota;
mod script;
mod stage;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use answer::Answer;
pub use fault::{Fault, REASONING, REPEATED, SLOW_DOWN_MS, What};
use http::{Connection, Request};
pub use log::{Asked, Log};
pub use quota::Quota;
pub use script::sentence;
pub use stage::Stage;

/// A server. It stops when it is dropped.
pub struct Server {
    state: Arc<State>,
    port: u16,
    task: JoinHandle<()>,
}

struct State {
    /// What researchers are sent out for, in the first round.
    topics: Vec<&'static str>,
    faults: Vec<Fault>,
    /// What the account may send.
    quota: Option<Quota>,
    log: Log,
}

impl Server {
    /// A server whose supervisor delegates these topics, with these faults: the first that hits a request is what comes of it.
    pub async fn start(topics: &[&'static str], faults: Vec<Fault>) -> Server {
        Server::with(topics, faults, None).await
    }

    /// A server without faults whose account may send only so much.
    pub async fn limited(topics: &[&'static str], quota: Quota) -> Server {
        Server::with(topics, Vec::new(), Some(quota)).await
    }

    async fn with(topics: &[&'static str], faults: Vec<Fault>, quota: Option<Quota>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a port");
        let port = listener.local_addr().expect("it has one").port();
        let state = Arc::new(State { topics: topics.to_vec(), faults, quota, log: Log::default() });
        let shared = state.clone();
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, shared.clone()));
            }
        });
        Server { state, port, task }
    }

    /// Its base URL.
    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// How many requests were more than the account may send.
    pub fn refused(&self) -> usize {
        self.state.quota.as_ref().map_or(0, Quota::refused)
    }

    /// What came in so far.
    pub fn log(&self) -> &Log {
        &self.state.log
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(socket: TcpStream, state: Arc<State>) {
    let mut connection = Connection::new(socket);
    while let Some(request) = connection.request().await {
        let headers = match &state.quota {
            None => Some(String::new()),
            Some(quota) => quota.take(),
        };
        let answer = match headers {
            Some(headers) => answer_to(&state, &request).told(&headers, request.wants_stream()),
            None => Answer::error(429, &[], "rate_limit_exceeded", "Rate limit reached."),
        };
        if !carry_out(&mut connection, &request, answer).await {
            return;
        }
    }
}

/// What comes of a request.
fn answer_to(state: &State, request: &Request) -> Answer {
    let Ok(body) = serde_json::from_slice::<Json>(&request.body) else {
        return Answer::error(400, &[], "invalid_json", "The body is no JSON.");
    };
    let mut asked = Asked::read(&body, &request.head, &state.topics);
    asked.attempt = state.log.attempts_at(&asked);
    let fault = state.faults.iter().find(|fault| fault.hits(&asked));
    asked.fault = fault.map(|fault| fault.what);
    let answer = match (fault, &asked.broken) {
        (Some(fault), _) => fault.what.answer(&asked, &body, &state.topics),
        // As providers do.
        (None, Some(broken)) => Answer::error(400, &[], "invalid_request", broken),
        (None, None) => Answer::Reply(script::reply(&asked, &body, &state.topics)),
    };
    state.log.push(asked);
    answer
}

/// Sends an answer; whether the connection can be used again.
async fn carry_out(connection: &mut Connection, request: &Request, answer: Answer) -> bool {
    let stream = request.wants_stream();
    match answer {
        Answer::Reply(reply) => connection.send(&answer::whole(&reply, stream)).await,
        Answer::Filtered => connection.send(&answer::filtered(stream)).await,
        Answer::Bytes(bytes) => connection.send(&bytes).await,
        Answer::Endless(reply) => connection.send(&answer::cut_off(&reply, stream)).await,
        Answer::Cut(reply) => {
            let bytes = answer::whole(&reply, stream);
            // Behind the head, so that a reply has begun.
            let _ = connection.send(&bytes[..answer::middle(&bytes)]).await;
            // What was sent is on its way before the end is.
            tokio::time::sleep(Duration::from_millis(5)).await;
            false
        }
        Answer::Reset => {
            connection.reset();
            false
        }
        Answer::Hang => {
            connection.wait_for_its_end().await;
            false
        }
    }
}
