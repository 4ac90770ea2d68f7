//! Answering a run from a recording instead of the outside.
//!
//! Models, ops that reach outside and persons are not asked: what they said stands in the recording. Pure ops run, the
//! Machine decides as ever. The run's clock starts at the recorded moment. A request that was not recorded fails the
//! run, with the recorded one that is nearest to it.
//!
//! No answer is waited for, except in recordings that hold the moments of answers (of runs that were cancelled or reached
//! a limit on time, of graphs that read one): there each answer comes when it came. In a tokio runtime whose time is
//! paused such waits take no time either. What came at almost the same moment is taken in the recorded order.

mod answer;
mod missing;
pub(crate) mod order;
mod record;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use deepgraph_graph::OpTable;
use deepgraph_protocol::{EntryBody, Fee, Hidden, Millis, ModelRequest, ScopePath, StepId};
use deepgraph_trace::recording::{Asked, EntryName, Exchange, Recording, Request, Reserved};
use tokio::time::Instant;

use crate::clock::{Clock, TokioClock};

use order::Order;
pub(crate) use record::is_pure;
pub use record::recording;

/// The entry of a call that was lost: as the one that is sent, with what was reserved then.
pub(crate) fn lost_dispatch(sent: &EntryBody, reserved: Reserved) -> EntryBody {
    let mut lost = sent.clone();
    if let EntryBody::Dispatched { reserve_tokens, reserve_micro_usd, .. } = &mut lost {
        *reserve_tokens = reserved.tokens;
        *reserve_micro_usd = reserved.micro_usd;
    }
    lost
}

/// The answers of one run.
pub(crate) struct Replay {
    recording: Recording,
    /// The places of exchanges, by what was asked.
    by_key: BTreeMap<String, Vec<usize>>,
    /// The places of those that were given.
    used: BTreeSet<usize>,
    /// Starts at the recorded moment.
    clock: TokioClock,
    /// In which order what came is taken; none where it makes no difference.
    pub(crate) order: Option<Order>,
    /// Why the run can not go on.
    pub(crate) broken: Option<String>,
}

impl Replay {
    pub(crate) fn new(recording: &Recording, ops: &OpTable) -> Replay {
        let recording = recording.clone().in_this_form(ops);
        let mut by_key: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, exchange) in recording.exchanges.iter().enumerate() {
            by_key.entry(exchange.asked.key()).or_default().push(at);
        }
        let clock = TokioClock::starting_at(recording.started_ms);
        // It starts now.
        clock.now();
        let order = (!recording.order.is_empty())
            .then(|| Order::new(&recording.order, |name| moment(&recording, name)));
        Replay { recording, by_key, used: BTreeSet::new(), clock, order, broken: None }
    }

    /// The time in the run.
    pub(crate) fn now(&self) -> Millis {
        self.clock.now()
    }

    /// The time at which the recorded run had such an entry, where that is kept.
    pub(crate) fn stamp(&self, scope: &ScopePath, body: &EntryBody) -> Option<Millis> {
        if self.recording.moments.is_empty() {
            return None;
        }
        let own = self.recording.moments.get(&EntryName::of(scope, body)?.to_string()).copied();
        let after = own.or_else(|| self.answered(body))?;
        Some(self.recording.started_ms.saturating_add_unsigned(after))
    }

    /// An entry is made: what it says has come.
    pub(crate) fn note(&mut self, scope: &ScopePath, body: &EntryBody) {
        if let (Some(order), Some(name)) = (&mut self.order, EntryName::of(scope, body)) {
            order.note(&name.to_string());
        }
    }

    /// When the answer came that an entry holds, in milliseconds after the start.
    fn answered(&self, body: &EntryBody) -> Option<u64> {
        let attempt = match body {
            EntryBody::Completed { attempt, .. } | EntryBody::AttemptFailed { attempt, .. } => Some(*attempt),
            EntryBody::Answered { .. } | EntryBody::Failed { .. } => None,
            _ => return None,
        };
        let step = body.step()?;
        let is_it =
            |one: &&Exchange| one.step == *step && attempt.is_none_or(|attempt| one.attempt == attempt);
        self.recording.exchanges.iter().rev().find(is_it)?.after_ms
    }

    /// What channels that are kept between runs hold at the start.
    pub(crate) fn kept(&self) -> &deepgraph_protocol::Map {
        &self.recording.kept
    }

    /// The moment at which the run is cancelled.
    pub(crate) fn cancelled(&self) -> Option<Instant> {
        self.recording.cancelled_ms.map(|ms| self.clock.after(ms))
    }

    /// When an exchange came; none where it makes no difference.
    fn moment(&self, exchange: &Exchange) -> Option<Instant> {
        exchange.after_ms.map(|ms| self.clock.after(ms))
    }

    /// What was asked of a model.
    fn asked_model(request: ModelRequest) -> Asked {
        // The secrets of the recording are out of all that came from it.
        Asked::Model(Box::new(Request::of(request, &Hidden::default())))
    }

    /// What was reserved each time that this step had sent the same before, and its answer was lost.
    pub(crate) fn lost(&self, step: &StepId, attempt: u32, request: &ModelRequest) -> Vec<Reserved> {
        let is_own = |one: &&Exchange| one.step == *step && one.attempt == attempt && !one.lost.is_empty();
        let own = self.recording.exchanges.iter().find(is_own);
        let own = own.filter(|own| own.asked == Replay::asked_model(request.clone()));
        own.map(|own| own.lost.clone()).unwrap_or_default()
    }

    /// What was reserved for the call of an op.
    pub(crate) fn fee(&self, step: &StepId, attempt: u32) -> Fee {
        self.own(step, attempt).and_then(|own| own.reserved).map(fee_of).unwrap_or_default()
    }

    /// What was reserved each time that the call of an op had been sent before, and its answer was lost.
    pub(crate) fn lost_fees(&self, step: &StepId, attempt: u32) -> Vec<Fee> {
        self.own(step, attempt).map(|own| own.lost.iter().copied().map(fee_of).collect()).unwrap_or_default()
    }

    pub(crate) fn own(&self, step: &StepId, attempt: u32) -> Option<&Exchange> {
        self.recording.exchanges.iter().find(|one| one.step == *step && one.attempt == attempt)
    }

    /// The exchange for what a step asks: the one of this step and attempt, else one that was not used yet; never one
    /// in which something else was asked.
    fn find(&mut self, step: &StepId, attempt: u32, asked: &Asked) -> Option<Exchange> {
        let places = self.by_key.get(&asked.key())?;
        let exchange = |at: &usize| self.recording.exchanges.get(*at);
        let is_own = |at: &&usize| exchange(at).is_some_and(|e| e.step == *step && e.attempt == attempt);
        let unused = || places.iter().find(|at| !self.used.contains(*at));
        let at = *places.iter().find(is_own).or_else(unused)?;
        self.used.insert(at);
        self.recording.exchanges.get(at).cloned()
    }

    /// Whether the recorded run called the step off before it was sent.
    pub(crate) fn was_unsent(&self, step: &StepId) -> bool {
        let of_step = self.recording.exchanges.iter().filter(|exchange| exchange.step == *step);
        of_step.max_by_key(|exchange| exchange.attempt).is_some_and(|last| last.unsent)
    }

    /// Ends the run: a step asks for something that was not recorded.
    fn miss(&mut self, step: &StepId, attempt: u32, asked: &Asked) {
        let told = missing::told(&self.recording, step, attempt, asked);
        self.broken.get_or_insert(told);
    }
}

/// What was reserved, as a fee.
fn fee_of(reserved: Reserved) -> Fee {
    Fee { micro_usd: reserved.micro_usd.unwrap_or(0), unknown: u64::from(reserved.micro_usd.is_none()) }
}

/// When an entry of this name was made, in milliseconds after the start.
fn moment(recording: &Recording, name: &str) -> Option<u64> {
    let of = |exchange: &Exchange| {
        let (step, attempt) = (&exchange.step, exchange.attempt);
        let names = [
            EntryName::Completed(step, attempt),
            EntryName::AttemptFailed(step, attempt),
            EntryName::Failed(step),
            EntryName::Answered(step),
        ];
        names.iter().any(|own| own.to_string() == name).then_some(exchange.after_ms).flatten()
    };
    recording.moments.get(name).copied().or_else(|| recording.exchanges.iter().find_map(of))
}
