//! Making a call, and taking in what comes back.

use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use serde_json::Value as Json;

use super::connection::{Connection, Secrets};
use super::failure::{Failure, Place};
use super::frames::Frames;
use super::protocol::take_whole;
use super::reader::{Reader, bounded};
use super::reply::Draft;
use crate::Preview;
use crate::weak::Guard;

/// How much of the beginning of an answer is kept, in bytes, to say what it was where it was no stream.
const LONGEST_HEAD: usize = 1000;

/// One request and its answer.
pub(super) struct Exchange<'a> {
    pub(super) connection: &'a Connection,
    /// The model's name on the wire.
    pub(super) name: &'a str,
    pub(super) secrets: &'a Secrets,
    pub(super) place: &'a Place<'a>,
}

impl Exchange<'_> {
    /// Makes the call and gives what was said, showing its text as it comes. The account learns from the headers of the
    /// answer, before anything of it is read.
    pub(super) async fn make(&self, body: &Json, preview: Preview<'_>) -> Result<Draft, Failure> {
        let request = self.connection.http.post(self.connection.address(self.name));
        let request = request
            .headers(self.connection.headers(self.secrets))
            .header(CONTENT_TYPE, "application/json")
            .body(body.to_string());
        let response = request.send().await.map_err(|error| self.broken(&error))?;
        self.place.learn(response.headers());
        let status = response.status();
        if !status.is_success() {
            let headers = response.headers().clone();
            // What is said beside the status may be lost; the status is not.
            let said = response.text().await.unwrap_or_default();
            return Err(self.place.status(status.as_u16(), &headers, &said));
        }
        if self.connection.endpoint.stream {
            self.in_pieces(response, preview).await
        } else {
            self.at_once(response).await
        }
    }

    /// Reads the reply in one go. Not all servers say of JSON that it is some.
    async fn at_once(&self, response: Response) -> Result<Draft, Failure> {
        let text = response.text().await.map_err(|error| self.broken(&error))?;
        let body = serde_json::from_str(&text).ok().filter(|body: &Json| body.is_object() || body.is_array());
        let body = body.ok_or_else(|| self.place.no_json(&text))?;
        let mut draft = Draft::default();
        let protocol = self.connection.endpoint.protocol;
        take_whole(protocol, &mut draft, &body).map_err(|error| self.place.told(&error).after(&draft))?;
        bounded(&draft).map_err(|error| Failure::from(error).after(&draft))?;
        let mut guard = Guard::default();
        guard.unseen(&draft.take_unseen());
        draft.repeats = draft.is_cut_off_unsaid() && guard.hides_repetition();
        Ok(draft)
    }

    /// Reads the reply in pieces.
    async fn in_pieces(&self, mut response: Response, preview: Preview<'_>) -> Result<Draft, Failure> {
        let protocol = self.connection.endpoint.protocol;
        let mut frames = Frames::of(protocol);
        let mut reader = Reader::new(protocol);
        let mut head = Vec::new();
        let is_json = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
        loop {
            let bytes = match response.chunk().await {
                Ok(Some(bytes)) => bytes,
                Ok(None) => break,
                // All was said; only the count of tokens is lost.
                Err(_) if reader.draft.is_finished() => break,
                Err(error) => return Err(self.broken(&error)),
            };
            head.extend(bytes.iter().take(LONGEST_HEAD.saturating_sub(head.len())));
            for frame in frames.take(&bytes) {
                let taken = reader.take(&frame, self.place, preview);
                taken.map_err(|failure| failure.after(&reader.draft))?;
            }
            if reader.repeats() {
                // It would go on until its bound; what it repeats is cut from the reply.
                return Ok(reader.draft);
            }
        }
        for frame in frames.rest() {
            let taken = reader.take(&frame, self.place, preview);
            taken.map_err(|failure| failure.after(&reader.draft))?;
        }
        if head.is_empty() && is_json {
            return Err(self.place.no_json("").into());
        }
        reader.end(&head, self.place)
    }

    fn broken(&self, error: &reqwest::Error) -> Failure {
        self.place.no_connection(error).into()
    }
}
