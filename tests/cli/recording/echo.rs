//! A server that repeats the key that it is given.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

/// Starts it: requests are answered with a reply that holds the key as long as there are some to be answered so, and
/// then refused with a message that holds it. Gives its URL.
pub fn start(replies: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let url = format!("http://{}/v1", listener.local_addr().expect("it is bound"));
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            let _ = serve(stream, number < replies);
        }
    });
    url
}

fn serve(mut stream: TcpStream, is_reply: bool) -> std::io::Result<()> {
    let mut input = BufReader::new(stream.try_clone()?);
    let (mut key, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        input.read_line(&mut line)?;
        let line = line.trim_end();
        match line.split_once(':') {
            _ if line.is_empty() => break,
            Some((name, value)) if name.eq_ignore_ascii_case("authorization") => {
                key = value.trim().to_owned()
            }
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().unwrap_or(0);
            }
            _ => {}
        }
    }
    input.read_exact(&mut vec![0; length])?;
    let (status, body) = if is_reply {
        let message = serde_json::json!({"role": "assistant", "content": format!("I was sent {key}.")});
        let choice = serde_json::json!({"index": 0, "message": message, "finish_reason": "stop"});
        (
            "200 OK",
            serde_json::json!({"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}),
        )
    } else {
        let words = format!("Incorrect key provided: {key}");
        ("401 Unauthorized", serde_json::json!({"error": {"message": words, "code": "invalid_api_key"}}))
    };
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}
