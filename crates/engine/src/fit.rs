//! Making a model request fit a context window that is known: set, told by a table, or learnt from a failure.
//!
//! What is cut, in which order, is what the node's `truncate` says: tool answers are shortened to their beginning first,
//! the oldest first, then left out; the newest is kept as long as anything else can be cut.

use deepgraph_graph::{Cut, ModelNode, Truncate};
use deepgraph_protocol::{Cut as WhatWasCut, ErrorKind, Message, ModelRequest, Role, StepError, StepId};

use crate::channel::State;
use crate::machine::Machine;
use crate::names::Local;
use crate::request::{CUT_NOTE, cut_part, removable};
use crate::run::{Attempts, Room};
use crate::shown::Shown;

/// Bytes of a tool answer that are kept of its beginning.
const EXCERPT: usize = 800;

/// The least that the newest tool answer is shortened to, in bytes.
const LEAST: usize = 400;

/// By how much an estimate of tokens can be off: one for each byte, or one for eight.
const OFF_BY: (f64, f64) = (0.125, 2.0);

/// A request as it is to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// The request.
    pub request: ModelRequest,
    /// The context window that it was made to fit, in tokens; none: none was known.
    pub window: Option<u64>,
    /// What was cut from it; none: nothing.
    pub cut: Option<WhatWasCut>,
}

impl Fitted {
    /// A request of which nothing was cut, for a window that is not known.
    pub(crate) fn whole(request: ModelRequest) -> Fitted {
        Fitted { request, window: None, cut: None }
    }

    /// The same with what a repair turn adds, in one of its sizes.
    pub(crate) fn showing(self, shown: &Shown, size: usize) -> Fitted {
        let mut cut = self.cut.unwrap_or_default();
        let bytes = shown.cut_at(size);
        cut.parts += u64::from(bytes > 0);
        cut.bytes += bytes;
        let cut = (cut != WhatWasCut::default()).then_some(cut);
        Fitted { request: shown.added_to(&self.request, size), cut, ..self }
    }
}

impl Machine {
    /// A model step is sent out with a request that was made to fit this window.
    pub(crate) fn sent_within(&mut self, step: &StepId, attempt: u32, window: Option<u64>) {
        let Some(place) = self.place_of_attempt(step, attempt) else { return };
        if let Some(attempts) = self.attempts(place) {
            attempts.room.sent_within = window;
        }
        self.let_go_of(step);
    }

    /// What is known of the room after a request was too long.
    pub(crate) fn room_after(&self, step: &StepId, before: Room, error: &StepError) -> Room {
        debug_assert_eq!(error.kind, ErrorKind::ContextOverflow);
        let told = error.window.or(before.told);
        let Some(window) = told.or(before.sent_within) else { return before };
        let sent =
            self.model_request(step, before.sent_within).map_or(0, |request| request.estimate_tokens());
        // Whoever does not tell the count tells at least that it is above the window.
        let counted = match error.tokens {
            Some(tokens) => Some((sent, tokens)),
            None if sent <= window => Some((sent, window)),
            None => before.counted,
        };
        Room { told, counted: counted.filter(|(sent, tokens)| *sent > 0 && *tokens > 0), ..before }
    }

    /// Renders a request and cuts of it until it fits.
    pub(crate) fn fit_window(
        &self,
        (model, attempts, local): (&ModelNode, Attempts, Local),
        window: u64,
        shown: &Shown,
    ) -> Result<Fitted, StepError> {
        let request = self.render_request(model, &self.state, &local)?;
        let target = target(&model.truncate, attempts, window, request.max_output);
        let fits = |size: &usize| shown.added_to(&request, *size).estimate_tokens() <= target;
        if let Some(size) = shown.sizes().find(fits) {
            return Ok(Fitted { request, window: Some(window), cut: None }.showing(shown, size));
        }
        let size = shown.smallest();
        let target = target.saturating_sub(shown.tokens_at(&request, size));
        let (messages, bytes) = (request.messages.len(), request.bytes());
        let mut fitter = Fitter {
            machine: self,
            model,
            state: self.state.clone(),
            local,
            request,
            trims: Vec::new(),
            answers: Answers::default(),
            parts: 0,
        };
        fitter.fit(target)?;
        let cut = WhatWasCut {
            tool_results: fitter.answers.touched,
            messages: messages.saturating_sub(fitter.request.messages.len()) as u64,
            parts: fitter.parts,
            bytes: bytes.saturating_sub(fitter.request.bytes()) as u64,
        };
        let cut = (cut != WhatWasCut::default()).then_some(cut);
        Ok(Fitted { request: fitter.request, window: Some(window), cut }.showing(shown, size))
    }
}

/// The tokens, as they are estimated, that a request may have: the share `to` of what the window has beside the room for
/// the reply, corrected by how far the estimate was off.
fn target(truncate: &Truncate, attempts: Attempts, window: u64, max_output: Option<u64>) -> u64 {
    let room = window.saturating_sub(max_output.unwrap_or(0)).max(window / 4);
    let share = truncate.to - truncate.shrink * f64::from(attempts.overflows.saturating_sub(1));
    let off_by = attempts.room.counted.map_or(1.0, |(estimate, tokens)| estimate as f64 / tokens as f64);
    (room as f64 * share.clamp(0.05, 1.0) * off_by.clamp(OFF_BY.0, OFF_BY.1)) as u64
}

/// A request that is being cut.
struct Fitter<'m> {
    machine: &'m Machine,
    model: &'m ModelNode,
    state: State,
    local: Local,
    request: ModelRequest,
    /// What was done to the messages, in order: it is done again where they are rendered anew.
    trims: Vec<Trim>,
    answers: Answers,
    /// Cuts of channels and of the item.
    parts: u64,
}

/// One cut of the messages.
#[derive(Clone, Copy)]
enum Trim {
    /// A tool answer was shortened or left out.
    Answer,
    /// The oldest messages that go together were left out.
    Oldest,
}

/// How far the tool answers are cut, of those that are still there, the oldest first.
#[derive(Clone, Copy, Default)]
struct Answers {
    /// Looked at to be shortened.
    shortened: usize,
    /// Left out.
    left_out: usize,
    /// Those that are not whole any more.
    touched: u64,
}

impl Fitter<'_> {
    fn fit(&mut self, target: u64) -> Result<(), StepError> {
        for cut in &self.model.truncate.cut {
            while self.request.estimate_tokens() > target {
                if !self.cut_more(cut)? {
                    break;
                }
            }
        }
        if self.model.truncate.cut.contains(&Cut::ToolResults) {
            self.shorten_newest(target);
        }
        Ok(())
    }

    /// Cuts a little more of one kind. False where nothing of it is left.
    fn cut_more(&mut self, cut: &Cut) -> Result<bool, StepError> {
        let trim = match cut {
            Cut::ToolResults => Trim::Answer,
            Cut::Oldest => Trim::Oldest,
            Cut::Channel(_) | Cut::Item => {
                if !cut_part(cut, &mut self.state, &mut self.local) {
                    return Ok(false);
                }
                self.parts += 1;
                self.render_anew()?;
                return Ok(true);
            }
        };
        let is_cut = self.trim(trim);
        if is_cut {
            self.trims.push(trim);
        }
        Ok(is_cut)
    }

    fn render_anew(&mut self) -> Result<(), StepError> {
        self.request = self.machine.render_request(self.model, &self.state, &self.local)?;
        self.answers = Answers::default();
        for trim in self.trims.clone() {
            self.trim(trim);
        }
        Ok(())
    }

    fn trim(&mut self, trim: Trim) -> bool {
        match trim {
            Trim::Answer => self.answers.cut_next(&mut self.request.messages),
            Trim::Oldest => self.answers.drop_oldest(&mut self.request.messages),
        }
    }

    /// The newest tool answer is what the model works on: it is shortened only where nothing else is left.
    fn shorten_newest(&mut self, target: u64) {
        let too_many = self.request.estimate_tokens().saturating_sub(target);
        let newest = self.request.messages.iter_mut().rev().find(|message| message.role == Role::Tool);
        let Some(newest) = newest.filter(|message| too_many > 0 && message.content.len() > LEAST) else {
            return;
        };
        let too_many = usize::try_from(too_many.saturating_mul(4)).unwrap_or(usize::MAX);
        let keep = newest.content.len().saturating_sub(too_many).saturating_sub(NOTE_ROOM).max(LEAST);
        if let Some(shorter) = beginning(&newest.content, keep) {
            newest.content = shorter.into();
            self.answers.touched += 1;
        }
    }
}

impl Answers {
    /// Shortens the oldest answer that is whole, or, where all but the newest are, leaves the oldest out that is there.
    fn cut_next(&mut self, messages: &mut [Message]) -> bool {
        let mut answers: Vec<&mut Message> = messages.iter_mut().filter(|m| m.role == Role::Tool).collect();
        answers.pop();
        while let Some(answer) = answers.get_mut(self.shortened) {
            self.shortened += 1;
            if let Some(shorter) = beginning(&answer.content, EXCERPT) {
                answer.content = shorter.into();
                self.touched += 1;
                return true;
            }
        }
        while let Some(answer) = answers.get_mut(self.left_out) {
            self.left_out += 1;
            if answer.content.len() > CUT_NOTE.len() {
                // One that was short enough to be an excerpt of itself was whole until now.
                self.touched +=
                    u64::from(answer.content.len() <= EXCERPT + NOTE_ROOM && !is_cut(&answer.content));
                answer.content = CUT_NOTE.into();
                return true;
            }
        }
        false
    }

    fn drop_oldest(&mut self, messages: &mut Vec<Message>) -> bool {
        let range = removable(messages);
        if range.is_empty() {
            return false;
        }
        let gone = messages.drain(range).filter(|message| message.role == Role::Tool).count();
        self.shortened = self.shortened.saturating_sub(gone);
        self.left_out = self.left_out.saturating_sub(gone);
        true
    }
}

/// Room for the note behind an excerpt, in bytes.
const NOTE_ROOM: usize = 100;

/// How the note behind an excerpt ends.
const NOTE_END: &str = "bytes are shown, to fit the context window]";

fn is_cut(content: &str) -> bool {
    content.ends_with(NOTE_END)
}

/// The beginning of a text, with a note of what is missing; none where it is not worth it.
fn beginning(text: &str, bytes: usize) -> Option<String> {
    if text.len() <= bytes.saturating_add(NOTE_ROOM) {
        return None;
    }
    let head = (0..=bytes).rev().find_map(|end| text.get(..end))?;
    let end = head.len();
    Some(format!("{head}\n[cut here: {end} of {} {NOTE_END}", text.len()))
}
