//! The scripted MCP server behind an HTTP address.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

// The manners of servers that behave badly are for the client's own tests.
#[allow(dead_code)]
#[path = "../../../crates/tools/tests/mcp/server/script.rs"]
mod script;

/// A site that lets in who sends the right key. It lives as long as the test process.
pub struct Site {
    /// Its address.
    pub url: String,
    requests: Arc<AtomicUsize>,
}

impl Site {
    /// Starts it; `key` is what the header `Authorization` must be.
    pub fn start(key: &str) -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("it is bound"));
        let requests = Arc::new(AtomicUsize::new(0));
        let (counted, key) = (requests.clone(), key.to_owned());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (counted, key) = (counted.clone(), key.clone());
                // A client that has gone is no trouble.
                std::thread::spawn(move || drop(serve(stream, &key, &counted)));
            }
        });
        Site { url, requests }
    }

    /// Requests that were let in.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

/// Answers one request.
fn serve(stream: TcpStream, key: &str, counted: &AtomicUsize) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(bytes) = line.to_lowercase().strip_prefix("content-length:") {
            length = bytes.trim().parse().unwrap_or(0);
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    let has_key = head.lines().any(|line| {
        line.split_once(':')
            .is_some_and(|(name, value)| name.eq_ignore_ascii_case("authorization") && value.trim() == key)
    });
    let answer = if !has_key {
        status("401 Unauthorized")
    } else if !head.starts_with("POST") {
        status("405 Method Not Allowed")
    } else {
        counted.fetch_add(1, Ordering::SeqCst);
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        match script::reply(script::Manner::Plain, &message) {
            Some(reply) => {
                let reply = reply.to_string();
                format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{reply}",
                    reply.len()
                )
            }
            None => status("202 Accepted"),
        }
    };
    stream.get_mut().write_all(answer.as_bytes())
}

fn status(line: &str) -> String {
    format!("HTTP/1.1 {line}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
}
