//! What will happen in a simulated run, and which of it is next.

use std::collections::BTreeSet;
use std::sync::Arc;

use deepgraph_protocol::{Effect, EntryBody, Map, Millis, ModelRequest, OutputShape, ScopePath, StepId};

use super::outside::Said;
use crate::dice::Dice;

/// The rank of a step in an order that is wanted.
pub(crate) type Order<'a> = Option<&'a dyn Fn(&StepId) -> Option<usize>>;

/// Something that happens at a moment.
pub(crate) struct Item {
    pub(crate) at: Millis,
    pub(crate) scope: ScopePath,
    pub(crate) what: What,
}

/// What happens.
pub(crate) enum What {
    /// The wait before an attempt is over.
    Send(Effect),
    /// A model comes back; late where the attempt has timed out. Another of its route may come after it.
    Model { step: StepId, attempt: u32, request: Arc<ModelRequest>, has_next: bool, late: bool },
    /// An op comes back; late where the attempt has timed out.
    Op { step: StepId, attempt: u32, op: Arc<str>, input: Arc<Map>, late: bool },
    /// The time of an attempt is up.
    TimedOut { step: StepId, attempt: u32, has_next: bool, ms: Millis },
    /// The person says something.
    Says { step: StepId, said: Said, question: Arc<str>, shape: Arc<OutputShape> },
    /// The time of a question is up.
    Unanswered { step: StepId },
    /// The grace of a step that is not wanted any more is over.
    GiveUp { step: StepId },
    /// The Machine wanted to be woken.
    Timer(Arc<str>),
    /// The run is cancelled.
    Cancel,
    /// What came back is committed a second time.
    Again(EntryBody),
    /// What a former owner of the run brings, and what it knows of the journal.
    OfFormer { epoch: u64, position: u64, body: EntryBody },
}

impl What {
    /// The step that comes back with it.
    fn step(&self) -> Option<&StepId> {
        match self {
            What::Model { step, .. }
            | What::Op { step, .. }
            | What::TimedOut { step, .. }
            | What::Says { step, .. } => Some(step),
            What::Send(_)
            | What::Unanswered { .. }
            | What::GiveUp { .. }
            | What::Timer(_)
            | What::Cancel
            | What::Again(_)
            | What::OfFormer { .. } => None,
        }
    }

    /// Whether it belongs to the clock: it happens after what comes back at the same moment.
    fn is_timer(&self) -> bool {
        matches!(self, What::Timer(_) | What::Unanswered { .. } | What::GiveUp { .. } | What::Cancel)
    }
}

/// What will happen.
pub(crate) struct Queue {
    items: Vec<Item>,
    /// What of several things that are due is next; none: the first.
    dice: Option<Dice>,
    /// Ranks of the wanted order of which a step is over.
    over: BTreeSet<usize>,
}

impl Queue {
    pub(crate) fn new(seed: u64) -> Queue {
        let dice = (seed != 0).then(|| Dice::of(seed, "order of completion", 0));
        Queue { items: Vec::new(), dice, over: BTreeSet::new() }
    }

    pub(crate) fn push(&mut self, item: Item) {
        self.items.push(item);
    }

    /// Takes everything out.
    pub(crate) fn take(&mut self) -> Vec<Item> {
        std::mem::take(&mut self.items)
    }

    /// The answer of a step that was given up comes all the same.
    pub(crate) fn let_come_late(&mut self, of: &StepId) {
        for item in &mut self.items {
            if let What::Model { step, late, .. } | What::Op { step, late, .. } = &mut item.what
                && step == of
            {
                *late = true;
            }
        }
        // Its time can not be up twice.
        self.items.retain(|item| match &item.what {
            What::TimedOut { step, .. } => step != of,
            _ => true,
        });
    }

    /// Takes what is next and moves the clock there. None where nothing will happen any more.
    pub(crate) fn next(&mut self, now: &mut Millis, order: Order<'_>) -> Option<Item> {
        let free = self.free(order);
        let first_back = free.iter().map(|i| self.items[*i].at).min();
        let first_timer = (0..self.items.len())
            .filter(|i| self.items[*i].what.is_timer())
            .min_by_key(|i| self.items[*i].at);
        if let Some(timer) = first_timer {
            let at = self.items[timer].at;
            // Against what is due now, only a timer whose time has passed goes first.
            let is_next = first_back.is_none_or(|back| at < back.max(*now));
            if is_next {
                *now = at.max(*now);
                return Some(self.items.remove(timer));
            }
        }
        *now = first_back?.max(*now);
        let due: Vec<usize> = free.into_iter().filter(|i| self.items[*i].at <= *now).collect();
        let nth = self.dice.as_mut().map_or(0, |dice| dice.below(due.len()));
        Some(self.items.remove(due[nth]))
    }

    /// What may come back next: what the wanted order does not hold back. Where it holds everything back, the first
    /// of it.
    fn free(&self, order: Order<'_>) -> Vec<usize> {
        let backs = || (0..self.items.len()).filter(|i| !self.items[*i].what.is_timer());
        let Some(rank) = order else { return backs().collect() };
        let rank_of = |i: usize| self.items[i].what.step().and_then(rank);
        let held = |i: &usize| rank_of(*i).is_some_and(|r| (0..r).any(|lower| !self.over.contains(&lower)));
        let free: Vec<usize> = backs().filter(|i| !held(i)).collect();
        if free.is_empty() { backs().min_by_key(|i| rank_of(*i)).into_iter().collect() } else { free }
    }

    /// A step is over: what waits for it in the wanted order may go on.
    pub(crate) fn note_over(&mut self, step: &StepId, order: Order<'_>) {
        self.over.extend(order.and_then(|rank| rank(step)));
    }

    /// When a step comes back.
    pub(crate) fn comes_back(&self, step: &StepId) -> Option<Millis> {
        self.items
            .iter()
            .filter(|item| matches!(item.what, What::Model { .. } | What::Op { .. }))
            .filter(|item| item.what.step() == Some(step))
            .map(|item| item.at)
            .min()
    }

    /// The time of a question is not up as long as this driver runs.
    pub(crate) fn put_off(&mut self, question: &StepId) {
        self.items.retain(|item| !matches!(&item.what, What::Unanswered { step } if step == question));
    }

    /// Nothing of a step happens any more.
    pub(crate) fn drop_step(&mut self, step: &StepId) {
        self.items.retain(|item| match &item.what {
            What::Send(effect) => effect.step() != Some(step),
            What::Unanswered { step: of } | What::GiveUp { step: of } => of != step,
            other => other.step() != Some(step),
        });
    }
}
