//! What may go wrong in a simulated run, and how often.

use std::collections::BTreeSet;

use deepgraph_protocol::{Millis, StepId};

use crate::dice::Dice;

/// What may go wrong. Rates are cases of a thousand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Attempts of model calls and ops that fail, by every kind of failure.
    pub failures: u32,
    /// Replies that are not what was asked for: calls of unknown tools, arguments and structured output that do not
    /// fit, refusals, texts that are cut.
    pub misfits: u32,
    /// Questions that nobody answers.
    pub unanswered: u32,
    /// Attempts with a timeout that come back after it.
    pub timeouts: u32,
    /// Attempts that never come back: until their timeout, or, where they have none, until the run is taken up anew.
    pub lost: u32,
    /// Entries about what came back that are committed a second time, at once or later.
    pub duplicates: u32,
    /// Steps that were given up and whose answer comes all the same, after the end of the run if need be.
    pub late: u32,
    /// Runs that are cancelled at some moment.
    pub cancels: u32,
    /// The most crashes of one run, each between any two of its entries.
    pub crashes: u32,
    /// Of the crashes, those in which the owner was not dead after all: another takes the run over, and what the
    /// first still brings is committed under its old epoch.
    pub takeovers: u32,
}

impl Faults {
    /// Nothing goes wrong.
    pub fn none() -> Faults {
        Faults::default()
    }

    /// Everything goes wrong, and often enough to meet.
    pub fn storm() -> Faults {
        Faults {
            failures: 80,
            misfits: 60,
            unanswered: 100,
            timeouts: 25,
            lost: 25,
            duplicates: 100,
            late: 500,
            cancels: 80,
            crashes: 3,
            takeovers: 400,
        }
    }

    /// Those that the run itself can tell: failures and what comes after its time. What happens to the driver is left
    /// out.
    pub fn of_the_outside(self) -> Faults {
        Faults { duplicates: 0, late: 0, cancels: 0, crashes: 0, takeovers: 0, ..self }
    }
}

/// What went wrong in a run, on the side of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// An attempt did not come back before its timeout.
    TimedOut,
    /// An attempt never came back.
    Lost,
    /// The answer of a step that was given up came all the same.
    Late,
    /// What came back was committed a second time.
    Duplicate,
    /// The driver crashed.
    Crash,
    /// The driver was taken over from and lived on.
    Takeover,
    /// Whoever was taken over from wanted to commit something and could not.
    Fenced,
    /// The run was cancelled.
    Cancelled,
}

impl Fault {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Fault::TimedOut => "timed_out",
            Fault::Lost => "lost",
            Fault::Late => "late",
            Fault::Duplicate => "duplicate",
            Fault::Crash => "crash",
            Fault::Takeover => "takeover",
            Fault::Fenced => "fenced",
            Fault::Cancelled => "cancelled",
        }
    }

    /// Whether calls may stay charged, or be charged at another moment, because of it: what limits on what is used
    /// lead to is then not the same in every order.
    pub(crate) fn is_charged(self) -> bool {
        matches!(self, Fault::TimedOut | Fault::Lost | Fault::Late | Fault::Crash | Fault::Takeover)
    }
}

/// What becomes of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It comes back after its time.
    Back,
    /// It comes back so many milliseconds after its timeout.
    Late(Millis),
    /// It never comes back.
    Lost,
}

/// The faults of one run, drawn from its seed.
#[derive(Debug, Default)]
pub(crate) struct Chances {
    pub(crate) faults: Faults,
    seed: u64,
    /// Numbers of entries behind which the driver crashes, the next one last.
    crashes: Vec<usize>,
    /// The number of entries behind which the run is cancelled.
    pub(crate) cancel: Option<usize>,
    /// Attempts without a timeout that were lost: sent again, they come back.
    lost: BTreeSet<(StepId, u32)>,
}

/// Entries of the first of which the driver may crash.
const CRASHES_WITHIN: usize = 256;

impl Chances {
    pub(crate) fn new(faults: Faults, seed: u64) -> Chances {
        let mut dice = Dice::of(seed, "crashes", 0);
        let count = if faults.crashes == 0 { 0 } else { dice.below(faults.crashes as usize + 1) };
        let mut crashes: Vec<usize> = (0..count)
            .map(|_| {
                // Short runs crash as well.
                let within = CRASHES_WITHIN >> dice.below(5);
                1 + dice.below(within)
            })
            .collect();
        crashes.sort_unstable_by(|a, b| b.cmp(a));
        crashes.dedup();
        let mut dice = Dice::of(seed, "cancel", 0);
        let within = CRASHES_WITHIN >> dice.below(5);
        let cancel = dice.happens(faults.cancels).then(|| 1 + dice.below(within));
        Chances { faults, seed, crashes, cancel, lost: BTreeSet::new() }
    }

    fn dice(&self, what: &str, step: &StepId, attempt: u32) -> Dice {
        Dice::of(self.seed, &format!("{what} {step}"), attempt)
    }

    /// What becomes of an attempt with or without a timeout. It depends on nothing but the step and the attempt, but
    /// for those that only a restart of the driver brings back.
    pub(crate) fn fate(&mut self, step: &StepId, attempt: u32, timeout_ms: Option<u64>) -> Fate {
        if self.faults.timeouts + self.faults.lost == 0 {
            return Fate::Back;
        }
        let mut dice = self.dice("fate", step, attempt);
        let drawn = dice.below(1000) as u32;
        if drawn < self.faults.timeouts && timeout_ms.is_some() {
            return Fate::Late(1 + dice.below(60_000) as Millis);
        }
        let is_lost = (self.faults.timeouts..self.faults.timeouts + self.faults.lost).contains(&drawn);
        let comes_back = timeout_ms.is_none()
            && (self.faults.crashes == 0 || self.lost.contains(&(step.clone(), attempt)));
        if !is_lost || comes_back {
            return Fate::Back;
        }
        if timeout_ms.is_none() {
            self.lost.insert((step.clone(), attempt));
        }
        Fate::Lost
    }

    /// Whether attempts are out that only a restart brings back.
    pub(crate) fn has_lost(&self, is_open: impl Fn(&StepId) -> bool) -> bool {
        self.lost.iter().any(|(step, _)| is_open(step))
    }

    /// Whether the entry of this number is committed again, and how much later.
    pub(crate) fn again(&self, entries: usize) -> Option<Millis> {
        if self.faults.duplicates == 0 {
            return None;
        }
        let mut dice = Dice::of(self.seed, "again", u32::try_from(entries).unwrap_or(u32::MAX));
        let later = [0, 0, 40, 2_000];
        dice.happens(self.faults.duplicates).then(|| dice.one(&later))
    }

    /// Whether the answer of a step that was given up comes all the same.
    pub(crate) fn comes_late(&self, step: &StepId) -> bool {
        self.faults.late > 0 && self.dice("late", step, 0).happens(self.faults.late)
    }

    /// Whether the driver crashes behind the entry of this number.
    pub(crate) fn crashes(&mut self, entries: usize) -> bool {
        let is_due = self.crashes.last().is_some_and(|at| *at <= entries);
        if is_due {
            self.crashes.pop();
        }
        is_due
    }

    /// How long it takes until a run is taken up after a crash, and whether its former owner lives on.
    pub(crate) fn takeover(&self, entries: usize) -> (Millis, bool) {
        let mut dice = Dice::of(self.seed, "takeover", u32::try_from(entries).unwrap_or(u32::MAX));
        (dice.below(1000) as Millis, dice.happens(self.faults.takeovers))
    }
}
