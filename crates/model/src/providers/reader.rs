//! Pieces of a streamed reply, put together.

use deepgraph_protocol::{ErrorKind, StepError};
use serde_json::Value as Json;

use super::failure::{Failure, Place};
use super::frames::Frame;
use super::protocol::take_piece;
use super::reply::Draft;
use crate::Preview;
use crate::settings::Protocol;
use crate::weak::Guard;

/// What has come of a streamed reply.
///
/// A stream counts as complete when the model has said why it stopped or the server has sent `[DONE]`; if it
/// ends before, the connection broke off.
pub(super) struct Reader {
    protocol: Protocol,
    pub(super) draft: Draft,
    /// Looks whether the model repeats itself endlessly, and keeps thoughts in the text from being shown.
    guard: Guard,
    /// Whether the server said that nothing follows.
    done: bool,
    /// Whether there was any event with data.
    anything: bool,
    /// A frame that is no JSON. It may be the first half of one at the end of a broken stream.
    torn: Option<String>,
}

impl Reader {
    pub(super) fn new(protocol: Protocol) -> Reader {
        Reader {
            protocol,
            draft: Draft::default(),
            guard: Guard::default(),
            done: false,
            anything: false,
            torn: None,
        }
    }

    /// Takes a piece in, and shows its text.
    pub(super) fn take(
        &mut self,
        frame: &Frame,
        place: &Place<'_>,
        preview: Preview<'_>,
    ) -> Result<(), Failure> {
        let data = frame.data.trim();
        if data.is_empty() {
            return Ok(());
        }
        self.anything = true;
        if let Some(torn) = self.torn.take() {
            return Err(place.no_json(&torn).into());
        }
        if data == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        let Ok(piece) = serde_json::from_str::<Json>(data) else {
            self.torn = Some(data.to_owned());
            return Ok(());
        };
        if frame.is_error {
            return Err(place.told(&piece));
        }
        let added = take_piece(self.protocol, &mut self.draft, &piece).map_err(|error| place.told(&error))?;
        bounded(&self.draft)?;
        self.guard.unseen(&self.draft.take_unseen());
        let shown = self.guard.text(&added);
        if !shown.is_empty() {
            preview(shown);
        }
        // One that has ended is not endless.
        self.draft.repeats = self.guard.repeats() && !self.draft.is_finished();
        Ok(())
    }

    /// Whether the model repeats itself endlessly, so that nothing more need be waited for.
    pub(super) fn repeats(&self) -> bool {
        self.draft.repeats
    }

    /// The draft, where the stream ended as it should. `head` is how the answer began.
    pub(super) fn end(mut self, head: &[u8], place: &Place<'_>) -> Result<Draft, Failure> {
        self.draft.repeats |= self.draft.is_cut_off_unsaid() && self.guard.hides_repetition();
        if self.done || self.draft.is_finished() || self.draft.repeats {
            return Ok(self.draft);
        }
        if !self.anything {
            return Err(place.no_events(&String::from_utf8_lossy(head)).into());
        }
        match self.torn.filter(|torn| !torn.starts_with(['{', '['])) {
            Some(torn) => Err(Failure::from(place.no_json(&torn)).after(&self.draft)),
            None => Err(place.broke_off().into()),
        }
    }
}

/// Refuses what no model writes.
pub(super) fn bounded(draft: &Draft) -> Result<(), StepError> {
    if !draft.is_too_long() {
        return Ok(());
    }
    let problem = "the reply is longer than any model's and was cut off; set max_output";
    Err(StepError::new(ErrorKind::InvalidOutput, problem))
}
