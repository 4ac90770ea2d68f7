//! An HTTP server that gives prepared answers and keeps what it was asked.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value as Json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// One answer, byte for byte.
#[derive(Clone)]
pub(super) struct Answer {
    bytes: Vec<u8>,
    close: bool,
}

impl Answer {
    pub(super) fn new(status: u16, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n", body.len());
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        Answer { bytes: format!("{head}\r\n{body}").into_bytes(), close: false }
    }

    pub(super) fn json(body: &Json) -> Answer {
        Answer::new(200, &[("Content-Type", "application/json")], &body.to_string())
    }

    pub(super) fn error(status: u16, body: &Json) -> Answer {
        Answer::new(status, &[("Content-Type", "application/json")], &body.to_string())
    }

    /// Server-sent events, in HTTP chunks, as real servers send them.
    pub(super) fn events(chunks: &[String]) -> Answer {
        let mut bytes =
            b"HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                .to_vec();
        for chunk in chunks {
            let event = format!("data: {chunk}\n\n");
            bytes.extend(format!("{:x}\r\n{event}\r\n", event.len()).into_bytes());
        }
        bytes.extend(b"0\r\n\r\n");
        Answer { bytes, close: false }
    }

    /// Server-sent events with names, in HTTP chunks.
    pub(super) fn named_events(events: &[Json]) -> Answer {
        let named: Vec<String> = events
            .iter()
            .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("message")))
            .collect();
        Answer::chunked("text/event-stream", &named)
    }

    /// Lines of JSON, in HTTP chunks.
    pub(super) fn lines(lines: &[Json]) -> Answer {
        let lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
        Answer::chunked("application/x-ndjson", &lines)
    }

    fn chunked(content_type: &str, chunks: &[String]) -> Answer {
        let head =
            format!("HTTP/1.1 200 X\r\nContent-Type: {content_type}\r\nTransfer-Encoding: chunked\r\n\r\n");
        let chunks = chunks.iter().map(|chunk| format!("{:x}\r\n{chunk}\r\n", chunk.len()));
        let text: String = std::iter::once(head).chain(chunks).chain(["0\r\n\r\n".to_owned()]).collect();
        Answer { bytes: text.into_bytes(), close: false }
    }

    /// Server-sent events that end when the connection is closed.
    pub(super) fn events_until_close(text: &str) -> Answer {
        let head = "HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
        Answer { bytes: format!("{head}{text}").into_bytes(), close: true }
    }

    /// The same answer without its last bytes.
    pub(super) fn cut(mut self, bytes: usize) -> Answer {
        self.bytes.truncate(self.bytes.len() - bytes);
        self.close = true;
        self
    }

    /// The same answer, but for its last bytes nothing more comes.
    pub(super) fn held(self, bytes: usize) -> Answer {
        Answer { close: false, ..self.cut(bytes) }
    }

    /// No answer: the connection is closed.
    pub(super) fn reset() -> Answer {
        Answer { bytes: Vec::new(), close: true }
    }
}

#[derive(Default)]
struct State {
    answers: Vec<Answer>,
    asked: Mutex<Vec<(String, Json)>>,
    connections: AtomicUsize,
}

/// The server. It stops with the test's runtime.
pub(super) struct TestServer {
    state: Arc<State>,
    port: u16,
}

impl TestServer {
    /// Gives the answers in order, the last one again and again.
    pub(super) async fn start(answers: Vec<Answer>) -> TestServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State { answers, ..State::default() });
        let shared = state.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                shared.connections.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(serve(socket, shared.clone()));
            }
        });
        TestServer { state, port }
    }

    pub(super) fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Head (in lower case) and body of the requests so far.
    pub(super) fn asked(&self) -> Vec<(String, Json)> {
        self.state.asked.lock().unwrap().clone()
    }

    pub(super) fn connections(&self) -> usize {
        self.state.connections.load(Ordering::Relaxed)
    }
}

async fn serve(socket: TcpStream, state: Arc<State>) {
    let mut socket = BufReader::new(socket);
    while let Some(request) = read_request(&mut socket).await {
        let number = {
            let mut asked = state.asked.lock().unwrap();
            asked.push(request);
            asked.len()
        };
        let answer =
            state.answers.get(number - 1).or(state.answers.last()).cloned().unwrap_or_else(Answer::reset);
        if socket.write_all(&answer.bytes).await.is_err() || answer.close {
            return;
        }
    }
}

async fn read_request(socket: &mut BufReader<TcpStream>) -> Option<(String, Json)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if socket.read_line(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?.parse().ok()?;
    let mut body = vec![0; length];
    socket.read_exact(&mut body).await.ok()?;
    Some((head, serde_json::from_slice(&body).ok()?))
}
