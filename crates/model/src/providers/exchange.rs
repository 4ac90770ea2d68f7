//! Making a call, and taking in what comes back.

use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt;
use genai::chat::{ChatFrameSink, ChatOptions, ChatRequest, FrameCtx, RawFrameRef};
use genai::webc;
use serde_json::Value as Json;

use super::connection::{Connection, Secrets};
use super::failure::{Failure, Place};
use super::protocol::take_whole;
use super::reader::{Frame, Reader, bounded};
use super::reply::Draft;
use super::request::Content;
use crate::Preview;
use crate::weak::hides_repetition;

/// One request and its answer.
pub(super) struct Exchange<'a> {
    pub(super) connection: &'a Connection,
    /// The model's name on the wire.
    pub(super) name: &'a str,
    pub(super) secrets: &'a Secrets,
    pub(super) place: &'a Place<'a>,
}

impl Exchange<'_> {
    /// Makes the call and gives what was said, showing its text as it comes.
    pub(super) async fn make(&self, content: Content, preview: Preview<'_>) -> Result<Draft, Failure> {
        match content {
            Content::Body(body) => self.send(body, preview).await,
            Content::Chat(chat, options) => {
                let options = options.with_extra_headers(self.connection.headers(self.secrets));
                if self.connection.endpoint.stream {
                    self.in_pieces(*chat, options, preview).await
                } else {
                    self.at_once(*chat, options).await
                }
            }
        }
    }

    /// Reads the reply in one go.
    async fn at_once(&self, chat: ChatRequest, options: ChatOptions) -> Result<Draft, Failure> {
        let target = self.connection.target(self.name, self.secrets);
        let body = match self.connection.client.exec_chat(target, chat, Some(&options)).await {
            Ok(response) => response.captured_raw_body.unwrap_or_default(),
            // It could not make sense of the body, of malformed arguments for one: we can.
            Err(genai::Error::ChatResponseGeneration { response_body, .. }) => *response_body,
            Err(error) => mislabelled(&error).ok_or_else(|| self.place.failure(&error))?,
        };
        self.whole(&body)
    }

    fn whole(&self, body: &Json) -> Result<Draft, Failure> {
        let mut draft = Draft::default();
        let protocol = self.connection.endpoint.protocol;
        take_whole(protocol, &mut draft, body).map_err(|error| self.place.told(&error))?;
        bounded(&draft)?;
        draft.repeats = hides_repetition(&draft.take_unseen());
        Ok(draft)
    }

    /// Reads the reply in pieces. The events of `genai` only keep time here: what counts is in the frames, which it hands
    /// over as they are.
    async fn in_pieces(
        &self,
        chat: ChatRequest,
        options: ChatOptions,
        preview: Preview<'_>,
    ) -> Result<Draft, Failure> {
        let frames = Arc::new(Frames::default());
        let options = options.with_raw_frame_sink_arc(frames.clone());
        let target = self.connection.target(self.name, self.secrets);
        let response = self.connection.client.exec_chat_stream(target, chat, Some(&options)).await;
        let mut events = response.map_err(|error| self.place.failure(&error))?.stream;
        let mut reader = Reader::new(self.connection.endpoint.protocol);
        while let Some(event) = events.next().await {
            for frame in frames.take() {
                reader.take(&frame, self.place, preview)?;
            }
            if reader.repeats() {
                // It would go on until its bound; what it repeats is cut from the reply.
                return Ok(reader.draft);
            }
            match event {
                Ok(_) => {}
                // All was said; only the count of tokens is lost.
                Err(error) if is_broken(&error) && reader.draft.is_finished() => break,
                Err(error) if is_broken(&error) => return Err(self.place.failure(&error)),
                // The reader has judged the frame already, and more leniently (`"error": null`).
                Err(_) => {}
            }
        }
        for frame in frames.take() {
            reader.take(&frame, self.place, preview)?;
        }
        reader.end(self.place)
    }

    /// Sends a body as it is, to a server that answers with one JSON text, or with one on each line.
    async fn send(&self, body: Json, preview: Preview<'_>) -> Result<Draft, Failure> {
        let mut request = self.connection.http.post(self.connection.path.clone()).json(&body);
        for (name, value) in self.connection.headers(self.secrets) {
            request = request.header(name, value);
        }
        let broken = |error: reqwest::Error| Failure::from(self.place.no_connection(&error));
        let mut response = request.send().await.map_err(broken)?;
        let status = response.status();
        if !status.is_success() {
            let headers = response.headers().clone();
            let said = response.text().await.unwrap_or_default();
            return Err(self.place.status(status.as_u16(), &headers, &said));
        }
        self.place.learn(response.headers());
        if !self.connection.endpoint.stream {
            let text = response.text().await.map_err(broken)?;
            let body = serde_json::from_str(&text).map_err(|_| Failure::from(self.place.no_json(&text)))?;
            return self.whole(&body);
        }
        let mut reader = Reader::new(self.connection.endpoint.protocol);
        let mut lines = Lines::default();
        loop {
            let bytes = match response.chunk().await {
                Ok(Some(bytes)) => bytes,
                Ok(None) => break,
                Err(_) if reader.draft.is_finished() => break,
                Err(error) => return Err(broken(error)),
            };
            for data in lines.take(&bytes) {
                reader.take(&Frame { is_error: false, data }, self.place, preview)?;
            }
            if reader.repeats() {
                return Ok(reader.draft);
            }
        }
        reader.take(&Frame { is_error: false, data: lines.rest() }, self.place, preview)?;
        reader.end(self.place)
    }
}

/// The JSON of an answer that does not say that it is JSON.
fn mislabelled(error: &genai::Error) -> Option<Json> {
    let genai::Error::WebModelCall { webc_error: webc::Error::ResponseFailedNotJson { body, .. }, .. } =
        error
    else {
        return None;
    };
    serde_json::from_str(body).ok().filter(Json::is_object)
}

/// Whether the stream itself is broken. All else is what `genai` thinks of a frame.
fn is_broken(error: &genai::Error) -> bool {
    matches!(
        error,
        genai::Error::WebStream { .. }
            | genai::Error::HttpError { .. }
            | genai::Error::WebModelCall { .. }
            | genai::Error::WebAdapterCall { .. }
    )
}

/// The frames that have come in since they were last looked at, as the server wrote them.
#[derive(Default)]
struct Frames(Mutex<Vec<Frame>>);

impl ChatFrameSink for Frames {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        let frame = Frame { is_error: frame.event == Some("error"), data: frame.data.to_owned() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(frame);
    }
}

impl Frames {
    fn take(&self) -> Vec<Frame> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Bytes, cut into lines.
#[derive(Default)]
struct Lines(Vec<u8>);

impl Lines {
    /// Takes bytes in, and gives the lines that are whole now.
    fn take(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.0.extend_from_slice(part);
            if part.ends_with(b"\n") {
                lines.push(self.rest());
            }
        }
        lines
    }

    /// What stands behind the last whole line.
    fn rest(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.0)).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_between_bytes_and_never_inside_a_sign() {
        let mut lines = Lines::default();
        let text = "{\"a\": \"日本\"}\n\n{\"b\"".as_bytes();
        let mut found = Vec::new();
        for byte in text {
            found.extend(lines.take(std::slice::from_ref(byte)));
        }
        assert_eq!(found, ["{\"a\": \"日本\"}\n", "\n"]);
        assert_eq!(lines.rest(), "{\"b\"");
    }
}
