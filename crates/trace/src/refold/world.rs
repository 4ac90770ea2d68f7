//! The drive of a refold: recorded rows one after the other, what follows from them, and what waits.
//!
//! Every row is first applied to the recorded side, then offered to the new one. A row whose step is not out there yet
//! waits until it is; one whose step was closed otherwise is not taken. What the new side does by itself (a child that
//! ends earlier, a step that it gives up, a timer at another moment) is committed as soon as it follows.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_protocol::{
    CALLER_ENDED, Effect, Entry, EntryBody, ErrorKind, Millis, ScopePath, StepError, StepId,
};

use super::close::positions;
use super::matching::{self, Difference, Mismatch};
use super::side::{Followed, Side};
use super::{Conditions, Held, Matching, NotBegun, Refold};
use crate::{FoldError, Row};

pub(super) struct World<'a> {
    pub(super) conditions: &'a Conditions,
    pub(super) rows: &'a [Row<'a>],
    pub(super) old: Side,
    pub(super) new: Side,
    pub(super) held: Vec<Held>,
    /// Rows whose step is not out on the new side yet, in recorded order.
    waiting: BTreeMap<StepId, VecDeque<usize>>,
    /// Rows of each step that were taken, or were not since it was closed otherwise.
    past: BTreeMap<StepId, BTreeSet<usize>>,
    /// By how much the attempts of a call are later than in its rows.
    pub(super) later_by: BTreeMap<StepId, u32>,
    /// The requests that recorded model steps were sent, by row.
    requests: BTreeMap<usize, Option<String>>,
    /// Steps whose recorded outcome does not hold.
    pub(super) broken: BTreeSet<StepId>,
    /// Steps and attempts that were held against the record.
    checked: BTreeSet<(StepId, u32)>,
    pub(super) mismatches: Vec<Mismatch>,
    pub(super) otherwise: Vec<StepId>,
    /// What follows on the new side and is to be committed.
    inbox: VecDeque<(ScopePath, EntryBody)>,
    /// Steps whose first waiting row may be due, by that row.
    ready: BTreeSet<(usize, StepId)>,
    last: Millis,
    /// Attempts that are taken with the values that they had.
    pub(super) as_they_were: BTreeSet<u32>,
    /// The attempt that would have been refused.
    pub(super) not_begun: Option<NotBegun>,
    /// An attempt that would have gone on beyond the end that it had.
    pub(super) goes_on: Option<u32>,
}

/// How a drive went.
pub(super) enum Ran {
    /// Through.
    Whole(Box<Refold>),
    /// An attempt would have gone on beyond its end, where another one begins: it is to be taken as it was.
    GoesOn {
        /// The attempt.
        attempt: u32,
    },
}

/// When a row can be taken.
enum Due {
    Now,
    Later,
    Never,
}

impl<'a> World<'a> {
    pub(super) fn new(
        recorded: &Arc<Bundle>,
        conditions: &'a Conditions,
        rows: &'a [Row<'a>],
        as_they_were: BTreeSet<u32>,
    ) -> World<'a> {
        World {
            conditions,
            rows,
            old: Side::new(recorded),
            new: Side::new(&conditions.bundle),
            held: Vec::new(),
            waiting: BTreeMap::new(),
            past: BTreeMap::new(),
            later_by: BTreeMap::new(),
            requests: BTreeMap::new(),
            broken: BTreeSet::new(),
            checked: BTreeSet::new(),
            mismatches: Vec::new(),
            otherwise: Vec::new(),
            inbox: VecDeque::new(),
            ready: BTreeSet::new(),
            last: 0,
            as_they_were,
            not_begun: None,
            goes_on: None,
        }
    }

    pub(super) fn run(mut self, recorded: &Arc<Bundle>) -> Result<Ran, FoldError> {
        for (ix, row) in self.rows.iter().enumerate() {
            self.fire_timers(row.entry.at)?;
            self.take(ix, row)?;
            if let Some(attempt) = self.goes_on {
                return Ok(Ran::GoesOn { attempt });
            }
            self.follow_up()?;
        }
        self.hand_up()?;
        if !self.old.machines.contains_key(&ScopePath::root()) {
            return Err(FoldError::Empty);
        }
        let canonical = match self.conditions.matching {
            Matching::Exact => positions(recorded, self.rows)?,
            Matching::ById | Matching::ByIdUnseen => BTreeMap::new(),
        };
        Ok(Ran::Whole(Box::new(self.close(&canonical))))
    }

    /// Applies a row to the recorded side, and offers it to the new one.
    fn take(&mut self, ix: usize, row: &Row<'_>) -> Result<(), FoldError> {
        let body = &row.entry.body;
        let step = body.step().cloned();
        let was_open = step.as_ref().is_none_or(|step| self.old.is_open(row.scope, step));
        if let (Some(step), EntryBody::Dispatched { .. }, true) = (&step, body, self.compares()) {
            let hash = matching::recorded_hash(self.old.machines.get(row.scope), step, row.entry);
            self.requests.insert(ix, hash);
        }
        let timer = if let EntryBody::TimerFired { timer } = body { Some(timer.clone()) } else { None };
        let timer = timer.map(|timer| (row.scope.clone(), timer));
        let ended = self.old.machines.get(row.scope).and_then(|machine| machine.end().cloned());
        let was_set = timer.as_ref().is_some_and(|timer| self.old.timers.contains_key(timer));
        self.old.apply(row.scope, row.entry).map_err(FoldError::UnknownGraph)?;
        match (body, step) {
            (EntryBody::Started(_), _) if row.scope.is_root() => self.start(ix, row),
            (EntryBody::Started(_), _) => row.scope.step().map_or(Ok(()), |step| self.offer(ix, step)),
            (EntryBody::Resumed { .. }, _) if row.scope.is_root() => self.go_on(ix, row, ended.as_ref()),
            (EntryBody::Resumed { .. }, _) => row.scope.step().map_or(Ok(()), |step| self.offer(ix, step)),
            (_, Some(step)) if was_open => self.offer(ix, step),
            // It came late, and settled no more than what was lost.
            (_, Some(step)) => {
                let came = self.new.asked.contains_key(&step) && !self.new.is_open(row.scope, &step);
                if came && !self.broken.contains(&step) { self.commit_row(ix) } else { Ok(()) }
            }
            (EntryBody::TimerFired { .. }, None) => {
                let set = timer.and_then(|timer| self.new.timers.get(&timer).copied());
                let fires = set.map_or(!was_set, |at| at <= row.entry.at);
                if fires { self.commit_row(ix) } else { Ok(()) }
            }
            (EntryBody::CancelRequested { .. }, None) => {
                let wanted = row.scope.step().is_none_or(|step| self.new.abandoned.contains(&step));
                if wanted { self.commit_row(ix) } else { Ok(()) }
            }
            (_, None) => self.commit_row(ix),
        }
    }

    /// Whether requests are rendered.
    fn compares(&self) -> bool {
        self.conditions.matching != Matching::ByIdUnseen
    }

    /// A row about a step: it is taken once the step is out.
    fn offer(&mut self, ix: usize, step: StepId) -> Result<(), FoldError> {
        if self.broken.contains(&step) {
            return Ok(());
        }
        self.waiting.entry(step.clone()).or_default().push_back(ix);
        self.look_again(&step);
        Ok(())
    }

    /// A call that was completed in the record, and here was closed otherwise, is out again in a further attempt: its rows
    /// may answer it now.
    fn offer_again(&mut self, step: &StepId) {
        let attempt = match self.new.asked.get(step).map(|asked| &asked.effect) {
            Some(Effect::CallModel { attempt, .. } | Effect::RunOp { attempt, .. }) => *attempt,
            Some(Effect::Ask { .. }) => 1,
            _ => return,
        };
        if self.new.completed.contains(step) || !self.old.completed.contains(step) {
            return;
        }
        if let Some(rows) = self.past.remove(step) {
            let later = self.waiting.remove(step).unwrap_or_default();
            let rows = rows.into_iter().chain(later).collect::<BTreeSet<usize>>();
            self.waiting.insert(step.clone(), rows.into_iter().collect());
            self.later_by.insert(step.clone(), attempt.saturating_sub(1));
        }
    }

    /// The first row of a step that waits may be due now.
    fn look_again(&mut self, step: &StepId) {
        if let Some(ix) = self.waiting.get(step).and_then(|rows| rows.front()) {
            self.ready.insert((*ix, step.clone()));
        }
    }

    /// Takes the first waiting row of a step, if it is due.
    fn settle(&mut self, ix: usize, step: &StepId) -> Result<(), FoldError> {
        if self.waiting.get(step).and_then(|rows| rows.front()) != Some(&ix) {
            return Ok(());
        }
        match self.due(ix, step) {
            Due::Later => return Ok(()),
            Due::Now if self.holds(ix, step) => {}
            Due::Now => {
                self.broken.insert(step.clone());
                self.waiting.remove(step);
                return Ok(());
            }
            Due::Never => {
                let rows = self.waiting.remove(step).unwrap_or_default();
                self.past.entry(step.clone()).or_default().extend(rows);
                return Ok(());
            }
        }
        self.past.entry(step.clone()).or_default().insert(ix);
        if let Some(rows) = self.waiting.get_mut(step) {
            rows.pop_front();
        }
        self.commit_row(ix)?;
        self.look_again(step);
        Ok(())
    }

    fn due(&self, ix: usize, step: &StepId) -> Due {
        let Some(row) = self.rows.get(ix) else { return Due::Never };
        let Some(asked) = self.new.asked.get(step) else { return Due::Later };
        let is_open = self.new.is_open(&asked.scope, step);
        let child = step.scope();
        match &row.entry.body {
            _ if !is_open => Due::Never,
            EntryBody::Started(_) if self.new.machines.contains_key(&child) => Due::Never,
            EntryBody::Resumed { .. } if !self.new.has_ended(&child) => Due::Never,
            EntryBody::ChildEnded { .. } if !self.new.has_ended(&child) => Due::Later,
            _ => Due::Now,
        }
    }

    /// Whether the recorded outcome of a step answers what is asked now. Looked at once an attempt.
    fn holds(&mut self, ix: usize, step: &StepId) -> bool {
        let (Some(row), Some(now)) = (self.rows.get(ix), self.new.asked.get(step)) else { return false };
        let attempt = match &now.effect {
            Effect::CallModel { attempt, .. } | Effect::RunOp { attempt, .. } => *attempt,
            _ => 1,
        };
        // That a call waits to be sent says nothing of what is asked.
        let is_held = matches!(row.entry.body, EntryBody::Held { .. });
        if is_held || !self.compares() || !self.checked.insert((step.clone(), attempt)) {
            return true;
        }
        let Some(before) = self.old.asked.get(step) else { return false };
        let mut why = matching::difference(&before.effect, &now.effect);
        if let (None, Effect::CallModel { .. }, EntryBody::Dispatched { .. }) =
            (why, &now.effect, &row.entry.body)
        {
            let window = matching::window_of(row.entry);
            let rendered = matching::rendered_hash(self.new.machines.get(&now.scope), step, window);
            let is_same = self.requests.get(&ix).is_none_or(|recorded| *recorded == rendered);
            why = (!is_same).then_some(Difference::Request);
        }
        let Some(why) = why else { return true };
        if self.conditions.matching == Matching::Exact {
            self.mismatches.push(Mismatch { scope: now.scope.clone(), step: step.clone(), why });
            return false;
        }
        self.otherwise.push(step.clone());
        true
    }

    pub(super) fn commit(
        &mut self,
        of: Option<usize>,
        scope: ScopePath,
        at: Millis,
        body: EntryBody,
    ) -> Result<(), FoldError> {
        if !matches!(body, EntryBody::Started(_)) && !self.new.machines.contains_key(&scope) {
            return Ok(());
        }
        self.last = self.last.max(at);
        let entry = Entry { at: self.last, body };
        let followed = self.new.apply(&scope, &entry).map_err(FoldError::UnknownGraph)?;
        if let EntryBody::Resumed { .. } = &entry.body {
            followed.opened.iter().for_each(|step| self.offer_again(step));
        }
        self.held.push(Held { of, scope: scope.clone(), entry });
        self.note(&scope, followed);
        Ok(())
    }

    /// What an entry led to on the new side: given up, ended, asked for.
    fn note(&mut self, scope: &ScopePath, followed: Followed) {
        for effect in followed.abandons {
            let Effect::Abandon { step, reason, .. } = effect else { continue };
            // Where the recorded run gave it up as well, its rows tell what came of it.
            if self.old.abandoned.contains(&step) {
                continue;
            }
            let child = step.scope();
            if self.new.machines.contains_key(&child) {
                let detail = Some(CALLER_ENDED.to_owned());
                self.inbox.push_back((child, EntryBody::CancelRequested { detail, reason, at_once: false }));
            } else {
                let error = StepError::new(ErrorKind::Cancelled, "given up");
                self.inbox.push_back((scope.clone(), EntryBody::Failed { step, error }));
            }
        }
        if let (true, Some(step)) = (followed.ended, scope.step()) {
            if self.old.has_ended(scope) {
                // The recorded row tells when its parent learnt of it, and may have waited for this.
                self.look_again(&step);
            } else {
                self.inbox.extend(self.ending(scope));
            }
        }
        followed.opened.iter().for_each(|step| self.look_again(step));
    }

    /// How the parent of an instance learns of its end, where it still waits for it.
    fn ending(&self, scope: &ScopePath) -> Option<(ScopePath, EntryBody)> {
        let step = scope.step()?;
        let parent = self.new.asked.get(&step).map(|asked| asked.scope.clone())?;
        let child = self.new.machines.get(scope)?;
        let end = child.end()?.clone();
        // One that is to go on has the end of its last attempt until it does.
        let is_to_go_on = matches!(self.new.asked.get(&step).map(|asked| &asked.effect),
            Some(Effect::Reopen { attempt, .. }) if child.attempt() < *attempt);
        let is_awaited = self.new.is_open(&parent, &step) && !is_to_go_on;
        is_awaited.then_some((parent, EntryBody::ChildEnded { step, end: Box::new(end) }))
    }

    /// Commits what follows on the new side, and what follows from that.
    fn follow_up(&mut self) -> Result<(), FoldError> {
        loop {
            if let Some((scope, body)) = self.inbox.pop_front() {
                self.commit(None, scope, self.last, body)?;
            } else if let Some((ix, step)) = self.ready.pop_first() {
                self.settle(ix, &step)?;
            } else {
                return Ok(());
            }
        }
    }

    /// Fires the timers that are due by a moment and are not the recorded run's own.
    fn fire_timers(&mut self, until: Millis) -> Result<(), FoldError> {
        loop {
            let due =
                self.new.timers.iter().filter(|(timer, at)| **at <= until && !self.is_shared(timer, **at));
            let Some((timer, at)) = due.min_by_key(|(_, at)| **at).map(|(timer, at)| (timer.clone(), *at))
            else {
                return Ok(());
            };
            self.new.timers.remove(&timer);
            let (scope, timer) = timer;
            self.commit(None, scope, at, EntryBody::TimerFired { timer })?;
            self.follow_up()?;
        }
    }

    /// Whether a recorded row will tell when a timer fires.
    fn is_shared(&self, timer: &super::side::Timer, at: Millis) -> bool {
        self.old.timers.get(timer) == Some(&at) && !self.old.has_ended(&timer.0)
    }

    /// At the end, parents learn of children that ended although no row says when. A run that was left in the middle may
    /// have been left there, and is taken up there.
    fn hand_up(&mut self) -> Result<(), FoldError> {
        if !self.old.has_ended(&ScopePath::root()) {
            return Ok(());
        }
        loop {
            let ended = self.new.machines.keys().filter(|scope| self.new.has_ended(scope));
            let Some(next) = ended.cloned().collect::<Vec<_>>().iter().find_map(|scope| self.ending(scope))
            else {
                return Ok(());
            };
            self.inbox.push_back(next);
            self.follow_up()?;
        }
    }
}
