//! An HTTP server that answers what a test says, and keeps what it was asked.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

/// A request that came.
#[derive(Clone, Debug)]
pub struct Got {
    pub method: String,
    /// Path and query.
    pub target: String,
    /// By name in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl Got {
    /// The first part of the path.
    pub fn engine(&self) -> String {
        self.target.split(['/', '?']).nth(1).unwrap_or_default().to_owned()
    }

    /// The path behind the engine.
    pub fn path(&self) -> String {
        let path = self.target.split('?').next().unwrap_or_default();
        path.trim_start_matches(&format!("/{}", self.engine())).to_owned()
    }

    /// A parameter of the query; "" where there is none.
    pub fn parameter(&self, name: &str) -> String {
        let url = Url::parse(&format!("http://here{}", self.target)).unwrap();
        let found = url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
        found.unwrap_or_default()
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// What is answered.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
    pub after: Duration,
    /// It is held back until so many requests have come.
    pub held_for: usize,
}

impl Answer {
    pub fn new(status: u16, body: &str) -> Answer {
        Answer { status, headers: Vec::new(), body: body.to_owned(), after: Duration::ZERO, held_for: 0 }
    }

    pub fn json(body: serde_json::Value) -> Answer {
        Answer::new(200, &body.to_string()).header("content-type", "application/json")
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Answer {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub fn after(self, after: Duration) -> Answer {
        Answer { after, ..self }
    }

    pub fn held_for(self, requests: usize) -> Answer {
        Answer { held_for: requests, ..self }
    }
}

type Answers = Arc<dyn Fn(&Got) -> Answer + Send + Sync>;

/// The server; it ends with the test's runtime.
pub struct Server {
    address: SocketAddr,
    got: Arc<Mutex<Vec<Got>>>,
}

impl Server {
    pub async fn start(answer: impl Fn(&Got) -> Answer + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let got: Arc<Mutex<Vec<Got>>> = Arc::default();
        let (kept, answer): (_, Answers) = (got.clone(), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, kept.clone(), answer.clone()));
            }
        });
        Server { address, got }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All that came.
    pub fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }

    /// The only request that came.
    pub fn only(&self) -> Got {
        let got = self.got();
        assert_eq!(got.len(), 1, "{got:?}");
        got[0].clone()
    }
}

async fn serve(stream: TcpStream, kept: Arc<Mutex<Vec<Got>>>, answer: Answers) {
    let mut stream = BufReader::new(stream);
    let Some(got) = read(&mut stream).await else { return };
    kept.lock().unwrap().push(got.clone());
    let answer = answer(&got);
    tokio::time::sleep(answer.after).await;
    while kept.lock().unwrap().len() < answer.held_for {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut head = format!("HTTP/1.1 {} x\r\ncontent-length: {}\r\n", answer.status, answer.body.len());
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("connection: close\r\n\r\n");
    let _ = stream.write_all(format!("{head}{}", answer.body).as_bytes()).await;
    let _ = stream.shutdown().await;
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Got> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let mut parts = line.split(' ');
    let (method, target) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim().split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(Got { method, target, headers, body: String::from_utf8(body).ok()? })
}
