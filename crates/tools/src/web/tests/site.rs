//! A site on loopback: every request is answered by a function, and remembered.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::super::Web;

/// A request.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Path and query.
    pub path: String,
    /// Head as it came, in lower case.
    pub head: String,
}

impl Asked {
    /// A header; "" where there is none.
    pub fn header(&self, name: &str) -> &str {
        let line = self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}:")));
        line.unwrap_or_default().trim()
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    /// Sends this much of the body and breaks off.
    breaks_at: Option<usize>,
    /// Says nothing.
    is_silent: bool,
}

impl Answer {
    /// A status without a body.
    pub fn status(status: u16) -> Answer {
        Answer { status, headers: Vec::new(), body: Vec::new(), breaks_at: None, is_silent: false }
    }

    /// A body of a kind.
    pub fn of(kind: &str, body: impl Into<Vec<u8>>) -> Answer {
        Answer { body: body.into(), ..Answer::status(200).with("content-type", kind) }
    }

    /// A page of HTML.
    pub fn html(body: &str) -> Answer {
        Answer::of("text/html; charset=utf-8", body)
    }

    /// A page that is long enough to be one.
    pub fn page(words: &str) -> Answer {
        let more = "It goes on for a while so that nobody takes it for a notice. ".repeat(3);
        Answer::html(&format!(
            "<html><head><title>A page</title></head><body><h1>A page</h1><p>{words} {more}</p></body></html>"
        ))
    }

    /// A redirect.
    pub fn redirect(to: &str) -> Answer {
        Answer::status(302).with("location", to)
    }

    /// With a header.
    pub fn with(mut self, name: &str, value: &str) -> Answer {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// With another status.
    pub fn having_status(self, status: u16) -> Answer {
        Answer { status, ..self }
    }

    /// Breaking off in the body.
    pub fn breaking_at(self, bytes: usize) -> Answer {
        Answer { breaks_at: Some(bytes), ..self }
    }

    /// No answer at all.
    pub fn silence() -> Answer {
        Answer { is_silent: true, ..Answer::status(200) }
    }
}

/// A site. It ends when it is dropped.
pub struct Site {
    /// One that may read it.
    pub reader: OnceLock<Web>,
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    task: JoinHandle<()>,
}

impl Site {
    /// Begins to serve.
    pub async fn start(answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let known = Arc::clone(&asked);
        let answer = Arc::new(answer);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (known, answer) = (Arc::clone(&known), Arc::clone(&answer));
                tokio::spawn(async move {
                    let _ = serve(stream, &known, answer.as_ref()).await;
                });
            }
        });
        Site { reader: OnceLock::new(), address, asked, task }
    }

    /// Its host and port.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// All requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The paths of all requests so far.
    pub fn paths(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.path).collect()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    mut stream: TcpStream,
    known: &Mutex<Vec<Asked>>,
    answer: &(dyn Fn(&Asked) -> Answer + Send + Sync),
) -> std::io::Result<()> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).await? == 0 {
            return Ok(());
        }
        head.extend(byte);
        // The first byte of TLS, which is not spoken here.
        if head == [0x16] {
            return Ok(());
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let asked = Asked { path, head: head.to_lowercase() };
    known.lock().unwrap_or_else(PoisonError::into_inner).push(asked.clone());
    let answer = answer(&asked);
    if answer.is_silent {
        tokio::time::sleep(Duration::from_secs(600)).await;
    }
    let mut text = format!("HTTP/1.1 {} X\r\nconnection: close\r\n", answer.status);
    for (name, value) in &answer.headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if answer.status != 304 {
        text.push_str(&format!("content-length: {}\r\n", answer.body.len()));
    }
    stream.write_all(format!("{text}\r\n").as_bytes()).await?;
    let body = answer.body.get(..answer.breaks_at.unwrap_or(answer.body.len())).unwrap_or_default();
    stream.write_all(body).await?;
    stream.shutdown().await
}
