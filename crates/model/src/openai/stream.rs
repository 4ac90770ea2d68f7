//! A reply that comes in pieces.

use std::sync::{Arc, Mutex, PoisonError};

use deepgraph_protocol::{ErrorKind, StepError};
use futures::StreamExt;
use genai::ServiceTarget;
use genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef};
use serde_json::Value as Json;

use super::connection::Connection;
use super::error::Place;
use super::reply::Draft;
use super::request::Call;
use crate::Preview;

/// The frames that have come in since they were last looked at, as the server wrote them.
#[derive(Default)]
struct Frames(Mutex<Vec<Frame>>);

struct Frame {
    is_error: bool,
    data: String,
}

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

/// Makes the call and puts the reply together, showing its text as it comes.
///
/// The events of `genai` only keep time here: what counts is in the frames, which it hands over as they are.
/// A stream counts as complete when the model has said why it stopped or the server has sent `[DONE]`; if it
/// ends before, the connection broke off.
pub(super) async fn stream(
    connection: &Connection,
    target: ServiceTarget,
    call: Call,
    place: &Place<'_>,
    preview: Preview<'_>,
) -> Result<Draft, StepError> {
    let frames = Arc::new(Frames::default());
    let options = call.options.with_raw_frame_sink_arc(frames.clone());
    let response = connection.client.exec_chat_stream(target, call.chat, Some(&options)).await;
    let mut events = response.map_err(|error| place.failure(&error))?.stream;
    let mut reader = Reader { draft: Draft::default(), done: false, anything: false, torn: None };
    while let Some(event) = events.next().await {
        for frame in frames.take() {
            reader.take(&frame, place, preview)?;
        }
        match event {
            // The reader has judged the frame already, and more leniently (`"error": null`).
            Ok(_) | Err(genai::Error::ChatResponse { .. } | genai::Error::StreamParse { .. }) => {}
            // All was said; only the count of tokens is lost.
            Err(_) if reader.draft.is_finished() => break,
            Err(error) => return Err(place.failure(&error)),
        }
    }
    for frame in frames.take() {
        reader.take(&frame, place, preview)?;
    }
    reader.end(place)
}

struct Reader {
    draft: Draft,
    /// Whether the server said that nothing follows.
    done: bool,
    /// Whether there was any event with data.
    anything: bool,
    /// A frame that is no JSON. It may be the first half of one at the end of a broken stream.
    torn: Option<String>,
}

impl Reader {
    fn take(&mut self, frame: &Frame, place: &Place<'_>, preview: Preview<'_>) -> Result<(), StepError> {
        let data = frame.data.trim();
        if data.is_empty() {
            return Ok(());
        }
        self.anything = true;
        if let Some(torn) = self.torn.take() {
            return Err(place.no_json(&torn));
        }
        if data == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        let Ok(chunk) = serde_json::from_str::<Json>(data) else {
            self.torn = Some(data.to_owned());
            return Ok(());
        };
        if frame.is_error || chunk.get("error").is_some_and(|error| !error.is_null()) {
            return Err(place.told(&chunk));
        }
        let text = self.draft.take_chunk(&chunk)?;
        if !text.is_empty() {
            preview(&text);
        }
        Ok(())
    }

    fn end(self, place: &Place<'_>) -> Result<Draft, StepError> {
        if self.done || self.draft.is_finished() {
            return Ok(self.draft);
        }
        if !self.anything {
            let problem = format!("{place} sent no event stream; turn streaming off for this server");
            return Err(StepError::new(ErrorKind::InvalidOutput, problem));
        }
        Err(place.broke_off())
    }
}
