//! What a command writes on its standard output: MCP messages, one a line, and now and then something else.

use std::io;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

use super::oversized::Skimmer;

/// The code of the error that stands for an answer that is too large.
pub(super) const TOO_LARGE: i32 = -32_098;

/// Hands on the messages of a command until its output ends. Lines that are no messages go to `noise`: programs that
/// greet on their standard output would otherwise be answered with errors. A message of more than `most_bytes` is
/// skipped; where it answers a request, an error with the code [`TOO_LARGE`] is handed on in its place, so that this
/// request fails at once and no other is touched.
///
/// # Errors
///
/// Where the output can not be read, or `to` takes no more.
pub(super) async fn hand_on(
    from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    most_bytes: usize,
    mut noise: impl FnMut(&str),
) -> io::Result<()> {
    let mut from = BufReader::new(from);
    let mut line = Line::default();
    loop {
        let bytes = from.fill_buf().await?;
        if bytes.is_empty() {
            // A line without its end is none: the command was stopped while it wrote.
            if let Some(text) = line.text() {
                noise(text);
            }
            return Ok(());
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        line.add(&bytes[..end.unwrap_or(bytes.len())], most_bytes);
        let used = end.map_or(bytes.len(), |end| end + 1);
        from.consume(used);
        if end.is_some() {
            match std::mem::take(&mut line).message() {
                Found::Message(message) => to.write_all(&message).await?,
                Found::Noise(text) => noise(&text),
                Found::Nothing => {}
            }
        }
    }
}

/// A line as far as it was read.
enum Line {
    Kept(Vec<u8>),
    TooLong(Skimmer),
}

impl Default for Line {
    fn default() -> Line {
        Line::Kept(Vec::new())
    }
}

/// What a line holds.
enum Found {
    /// A message with its line end.
    Message(Vec<u8>),
    Noise(String),
    Nothing,
}

impl Line {
    fn add(&mut self, bytes: &[u8], most_bytes: usize) {
        match self {
            Line::TooLong(skimmer) => skimmer.read(bytes),
            Line::Kept(kept) if kept.len() + bytes.len() > most_bytes => {
                let mut skimmer = Skimmer::default();
                skimmer.read(kept);
                skimmer.read(bytes);
                *self = Line::TooLong(skimmer);
            }
            Line::Kept(kept) => kept.extend_from_slice(bytes),
        }
    }

    /// What was kept of it, if it is a text and not empty.
    fn text(&self) -> Option<&str> {
        let Line::Kept(bytes) = self else { return None };
        std::str::from_utf8(bytes).ok().map(str::trim).filter(|text| !text.is_empty())
    }

    fn message(self) -> Found {
        let bytes = match self {
            Line::Kept(bytes) => bytes,
            Line::TooLong(skimmer) => {
                return match skimmer.answers() {
                    Some(id) => Found::Message(too_large(id)),
                    None => Found::Noise("a line that is too long".to_owned()),
                };
            }
        };
        // A text with a byte that is no UTF-8 is still worth reading.
        let text =
            String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
        let text = text.trim_start_matches('\u{feff}').trim();
        if is_message(text) {
            Found::Message(format!("{text}\n").into_bytes())
        } else if text.is_empty() {
            Found::Nothing
        } else {
            Found::Noise(text.to_owned())
        }
    }
}

fn is_message(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Message {
        #[serde(rename = "jsonrpc")]
        _jsonrpc: IgnoredAny,
    }
    text.starts_with('{') && serde_json::from_str::<Message>(text).is_ok()
}

fn too_large(id: i64) -> Vec<u8> {
    let error = json!({"code": TOO_LARGE, "message": "the answer is too large"});
    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "error": error})).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is handed on, and what is noise.
    async fn sorted(output: &[u8], most_bytes: usize) -> (String, Vec<String>) {
        let mut messages = Vec::new();
        let mut noise = Vec::new();
        hand_on(output, &mut messages, most_bytes, |line| noise.push(line.to_owned())).await.unwrap();
        (String::from_utf8(messages).unwrap(), noise)
    }

    #[tokio::test]
    async fn messages_are_told_from_noise() {
        let output = "Server 1.2 on stdio\n\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r\n{\"level\":\"info\"}\n\
                      \u{feff}{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":\"ü\"}\n{\"jsonrpc\":\"2.0\",\"id\":3,\n[1]\nbye";
        let (messages, noise) = sorted(output.as_bytes(), 1000).await;
        assert_eq!(
            messages,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":\"ü\"}\n"
        );
        let expected =
            ["Server 1.2 on stdio", "{\"level\":\"info\"}", "{\"jsonrpc\":\"2.0\",\"id\":3,", "[1]", "bye"];
        assert_eq!(noise, expected);
    }

    #[tokio::test]
    async fn bytes_that_are_no_text_do_not_lose_the_message() {
        let (messages, noise) =
            sorted(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}\n\xfe\n", 1000).await;
        assert_eq!(messages, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\u{fffd}\"}\n");
        assert_eq!(noise, ["\u{fffd}"]);
    }

    #[tokio::test]
    async fn what_is_too_large_becomes_an_error_of_its_own_request() {
        let large = "a".repeat(20_000);
        let output = format!(
            "{{\"result\":{{\"text\":\"{large}\"}},\"jsonrpc\":\"2.0\",\"id\":5}}\n{{\"jsonrpc\":\"2.0\",\"id\":6,\"result\":{{}}}}\n{large}\n"
        );
        let (messages, noise) = sorted(output.as_bytes(), 10_000).await;
        // Compared as JSON: the order of its keys depends on what else is built.
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        let messages: Vec<_> = messages.lines().map(read).collect();
        let refused =
            r#"{"error":{"code":-32098,"message":"the answer is too large"},"id":5,"jsonrpc":"2.0"}"#;
        assert_eq!(messages, [read(refused), read(r#"{"jsonrpc":"2.0","id":6,"result":{}}"#)]);
        assert_eq!(noise, ["a line that is too long"]);
    }

    #[tokio::test]
    async fn a_line_of_just_the_size_is_kept() {
        let message = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}";
        let (messages, _) = sorted(format!("{message}\n").as_bytes(), message.len()).await;
        assert_eq!(messages, format!("{message}\n"));
        let (messages, _) = sorted(format!("{message}\n").as_bytes(), message.len() - 1).await;
        assert!(messages.contains("too large"), "{messages}");
    }
}
