//! As much of HTTP as a client of models speaks.

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// A connection of a client.
pub struct Connection(BufReader<TcpStream>);

/// A request.
pub struct Request {
    /// Request line and headers, as they came.
    pub head: String,
    /// The body.
    pub body: Vec<u8>,
}

impl Request {
    /// Whether the reply is asked for in pieces.
    pub fn wants_stream(&self) -> bool {
        let body: serde_json::Value = serde_json::from_slice(&self.body).unwrap_or_default();
        body["stream"] == true
    }
}

impl Connection {
    pub fn new(socket: TcpStream) -> Connection {
        Connection(BufReader::new(socket))
    }

    /// The next request; none where the client has gone.
    pub async fn request(&mut self) -> Option<Request> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.0.read_line(&mut head).await.ok()? == 0 {
                return None;
            }
        }
        let mut body = vec![0; header(&head, "content-length").and_then(|n| n.parse().ok()).unwrap_or(0)];
        self.0.read_exact(&mut body).await.ok()?;
        Some(Request { head, body })
    }

    /// Sends some bytes; whether they could be sent.
    pub async fn send(&mut self, bytes: &[u8]) -> bool {
        self.0.write_all(bytes).await.is_ok() && self.0.flush().await.is_ok()
    }

    /// Lets the connection be torn down rather than closed when it is dropped.
    pub fn reset(&self) {
        let _ = self.0.get_ref().set_zero_linger();
    }

    /// Says nothing more until the client has gone.
    pub async fn wait_for_its_end(&mut self) {
        let mut rest = [0; 256];
        while self.0.read(&mut rest).await.is_ok_and(|read| read > 0) {}
    }
}

/// The value of a header, by its name in lower case.
pub fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    head.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

/// The bytes of a response. `length` is what it says its length is.
pub fn response(status: u16, headers: &[(&str, &str)], body: &str, length: usize) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} X\r\nContent-Length: {length}\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    format!("{head}\r\n{body}").into_bytes()
}
