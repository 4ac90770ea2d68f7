//! Calls that write: claimed before they are made, and told as unknown where no outcome of them is learnt.
//!
//! The `Dispatched` row of such a call is its claim. It is durable before the call is made, so a call that has none
//! was not made; one that has it may have been. Where no outcome of it is learnt (a crash, a timeout, a connection
//! that broke, a step that was given up, an answer that does not say), it fails as `unknown`, and is sent again only
//! under a key that its op takes or where the graph says so by `retry.if`.

use std::sync::Arc;

use deepgraph_protocol::{EntryBody, ErrorKind, Fee, StepError, StepId, Usage};

use crate::fee::known;
use crate::machine::Machine;
use crate::place::Place;
use crate::run::Claim;

/// An attempt of a call that writes, which is about to be sent.
#[derive(Clone, Debug)]
pub struct WriteCall<'c> {
    /// The step.
    pub step: &'c StepId,
    /// The attempt.
    pub attempt: u32,
    /// The op.
    pub op: &'c str,
    /// The idempotency key of the call.
    pub key: Arc<str>,
    /// Whether the op does nothing twice that comes twice under one key.
    pub takes_key: bool,
    /// What the call costs at most.
    pub fee: Fee,
}

/// What is committed before a call that writes is sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Claiming {
    /// Its claim. Once that is durable the call is sent, if the step is still open.
    Claim(EntryBody),
    /// That it is not known whether it was done: it was claimed before, no outcome is known, and a second call may do it
    /// twice. It is not sent.
    Unknown(EntryBody),
    /// That it is not sent since what it costs is not known, and a limit bounds money.
    Unpriced(EntryBody),
}

impl Machine {
    /// What is committed before a call that writes is sent, or sent again after a crash.
    pub fn claiming(&self, call: WriteCall<'_>) -> Claiming {
        let WriteCall { step, attempt, op, key, takes_key, fee } = call;
        // What is to be undone is undone whatever it costs.
        let fee = if self.is_undoing(Some(step)) { Fee::NONE } else { fee };
        if let Some(error) = self.refused_for_fee(fee) {
            return Claiming::Unpriced(EntryBody::Failed { step: step.clone(), error: error.unsent() });
        }
        let may_be_sent = self.claim_of(step).is_none_or(|before| before.takes_key && takes_key);
        if may_be_sent {
            return Claiming::Claim(EntryBody::Dispatched {
                step: step.clone(),
                attempt,
                request: None,
                reserve_tokens: 0,
                reserve_micro_usd: known(fee).filter(|_| !fee.is_none()),
                key: Some(key),
                takes_key,
                model: None,
                window: None,
                cut: None,
            });
        }
        let message = format!(
            "it is not known whether `{op}` was done: it was called, and the process that called it ended before an \
             answer was kept. It was not called again"
        );
        let error = StepError::new(ErrorKind::Unknown, message);
        Claiming::Unknown(EntryBody::AttemptFailed {
            step: step.clone(),
            attempt,
            error,
            usage: Usage::default(),
            fail_over: false,
            fee: Fee::NONE,
        })
    }

    /// The claim of the attempt of a call that is out.
    fn claim_of(&self, step: &StepId) -> Option<Claim> {
        let undoing = self.undoing.open().filter(|_| self.is_undoing(Some(step)));
        let open = undoing.or_else(|| self.place(step).and_then(|place| self.open_at(place)))?;
        open.attempts.claimed()
    }

    /// An attempt of a call that writes is about to be sent out.
    pub(crate) fn claim(&mut self, step: &StepId, attempt: u32, takes_key: bool) {
        let Some(place) = self.place(step).filter(|place| self.writes_at(*place)) else { return };
        if let Some(attempts) = self.attempts(place).filter(|attempts| attempts.number == attempt) {
            attempts.claim = Some(Claim { attempt, takes_key });
        }
    }

    /// The claim of what is out at a place.
    pub(crate) fn claimed_at(&self, place: Place) -> Option<Claim> {
        self.open_at(place).and_then(|open| open.attempts.claimed())
    }

    /// Whether a failure leaves open whether the attempt at a place, which was sent, was done.
    fn is_left_open(&self, place: Place, error: &StepError) -> bool {
        self.claimed_at(place).is_some() && error.leaves_open()
    }

    /// What a failure is called: where it leaves open whether a call that was claimed was done, `unknown`.
    pub(crate) fn unlearnt_as(&self, place: Place, error: StepError) -> StepError {
        if self.is_left_open(place, &error) { unknown(error) } else { error }
    }

    /// An attempt failed. That it may have been done is kept.
    pub(crate) fn note_open(&mut self, step: &StepId, place: Place, error: &StepError) {
        if self.is_left_open(place, error) {
            self.keep_open(step, place);
        }
    }

    /// What a call fails as for good. Of one that may have been done, now or at an earlier attempt, that is kept.
    pub(crate) fn fails_unlearnt(&mut self, step: &StepId, place: Place, error: StepError) -> StepError {
        self.note_open(step, place, &error);
        if self.is_unlearnt(step) { unknown(error) } else { error }
    }

    /// What a call that was given up fails as. That of one that was sent out is not known.
    pub(crate) fn given_up_write(&mut self, step: &StepId, place: Place, error: StepError) -> StepError {
        if self.claimed_at(place).is_some() && !error.unsent {
            self.keep_open(step, place);
        }
        // Where the way out is decided, nothing is done about it any more but to list it.
        let is_decided = self.giving.is_some() && error.kind == ErrorKind::Cancelled;
        if self.is_unlearnt(step) && !is_decided { unknown(error) } else { error }
    }
}

/// The same failure, told as one that leaves open whether something was done.
fn unknown(error: StepError) -> StepError {
    if error.kind == ErrorKind::Unknown {
        return error;
    }
    let message = format!("it is not known whether it was done: {}", error.message);
    StepError { kind: ErrorKind::Unknown, message, ..error }
}
