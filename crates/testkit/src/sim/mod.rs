//! A driver with virtual time, a seeded order of completion, and faults.
//!
//! | file | holds |
//! |---|---|
//! | `world`, `start`, `send` | a run while it goes on; how it starts, is taken up again, sends attempts out |
//! | `again` | a run that was over and goes on |
//! | `answers` | what models, ops and people bring, as entries |
//! | `claim` | calls that write |
//! | `queue` | what will happen, and which of it is next |
//! | `journals` | journals in memory, with places and epochs as a real store has them |
//! | `faults` | what may go wrong |
//! | `outside` | models, ops and people |
//! | `run` | what came of it |

mod again;
mod answers;
mod claim;
pub(crate) mod faults;
mod journals;
mod outside;
mod queue;
mod run;
mod send;
mod start;
mod world;

use std::sync::Arc;

use deepgraph_engine::NotResumable;
use deepgraph_graph::Bundle;
use deepgraph_protocol::{
    Entry, Map, Millis, ModelReply, ModelRequest, ResumeFrom, ScopePath, StepError, StepId, Value,
};

use faults::Chances;
use outside::Closures;
use queue::Order;
use world::World;

pub use faults::{Fault, Faults};
pub use outside::{Outside, Said};
pub use run::{Passage, SimRun};
pub(crate) use run::{Sent, SentWrite};

/// When virtual time begins, unless a run says otherwise: 2026-01-01 UTC.
pub const BEGIN: Millis = 1_767_225_600_000;

/// A simulated run.
///
/// The model, the ops and the person are functions of what they are asked; they must not depend on the order in
/// which they are asked if the order is to make no difference.
pub struct Sim<'a> {
    pub(crate) bundle: Arc<Bundle>,
    closures: Closures<'a>,
    outside: Option<&'a mut dyn Outside>,
    pub(crate) seed: u64,
    pub(crate) order: Order<'a>,
    pub(crate) step_ms: Millis,
    pub(crate) begin: Millis,
    pub(crate) kept: Map,
    pub(crate) cancel: Option<CancelAt>,
    pub(crate) stop_at: Option<usize>,
    pub(crate) chances: Chances,
}

/// When a simulated run is cancelled.
#[derive(Clone, Debug, PartialEq)]
pub enum CancelAt {
    /// Once so many entries are committed.
    Entries(usize),
    /// As soon as this step is out.
    Sent(StepId),
    /// As soon as this step is over.
    Over(StepId),
    /// So many milliseconds after the start.
    Time(Millis),
}

impl<'a> Sim<'a> {
    /// A run of a bundle whose models answer by `model`. Ops give the text "ok", nobody answers questions.
    pub fn new(
        bundle: &Arc<Bundle>,
        model: impl FnMut(&StepId, &ModelRequest) -> Result<ModelReply, StepError> + 'a,
    ) -> Sim<'a> {
        Sim {
            bundle: bundle.clone(),
            closures: Closures::new(Box::new(model)),
            outside: None,
            seed: 0,
            order: None,
            step_ms: 1,
            begin: BEGIN,
            kept: Map::new(),
            cancel: None,
            stop_at: None,
            chances: Chances::default(),
        }
    }

    /// A run of a bundle in a world that says everything itself. No time passes but what steps take.
    pub fn in_world(bundle: &Arc<Bundle>, outside: &'a mut dyn Outside) -> Sim<'a> {
        let unused = |step: &StepId, _: &ModelRequest| {
            let message = format!("the world answers `{step}`");
            Err(StepError::new(deepgraph_protocol::ErrorKind::InvalidRequest, message))
        };
        Sim { outside: Some(outside), step_ms: 0, ..Sim::new(bundle, unused) }
    }

    /// With ops that answer so.
    pub fn ops(mut self, ops: impl FnMut(&StepId, &str, &Map) -> Result<Value, StepError> + 'a) -> Sim<'a> {
        self.closures.ops = Box::new(ops);
        self
    }

    /// With a person who answers so; none: the question stays open.
    pub fn person(mut self, person: impl FnMut(&StepId, &str) -> Option<Value> + 'a) -> Sim<'a> {
        self.closures.person = Box::new(person);
        self
    }

    /// Where nobody can be asked: questions fail as unanswered.
    pub fn nobody(mut self) -> Sim<'a> {
        self.closures.nobody = true;
        self
    }

    /// With another order of completion. Seed 0 is first in, first out.
    pub fn seed(mut self, seed: u64) -> Sim<'a> {
        self.seed = seed;
        self
    }

    /// With what may go wrong. What does is drawn from the seed given here, the step and the attempt.
    pub fn faults(mut self, seed: u64, faults: Faults) -> Sim<'a> {
        self.chances = Chances::new(faults, seed);
        self
    }

    /// With an order of completion of some steps, by their rank. A step with a rank waits for all that have a
    /// lower one, as long as something else can go on.
    pub fn order(mut self, rank: &'a dyn Fn(&StepId) -> Option<usize>) -> Sim<'a> {
        self.order = Some(rank);
        self
    }

    /// With this much virtual time between two entries, in milliseconds.
    pub fn step_ms(mut self, ms: Millis) -> Sim<'a> {
        self.step_ms = ms;
        self
    }

    /// Started at this moment.
    pub fn begin(mut self, at: Millis) -> Sim<'a> {
        self.begin = at;
        self
    }

    /// With what channels that are kept between runs held last.
    pub fn kept(mut self, kept: Map) -> Sim<'a> {
        self.kept = kept;
        self
    }

    /// Cancelled once this many entries are committed.
    pub fn cancel_at(self, entries: usize) -> Sim<'a> {
        self.cancel(CancelAt::Entries(entries))
    }

    /// Cancelled then.
    pub fn cancel(mut self, at: CancelAt) -> Sim<'a> {
        self.cancel = Some(at);
        self
    }

    /// Killed once this many entries are committed.
    pub fn stop_at(mut self, entries: usize) -> Sim<'a> {
        self.stop_at = Some(entries);
        self
    }

    /// Runs with this input and configuration.
    pub fn run(self, input: Map, config: Map) -> SimRun {
        World::start(self, input, config)
    }

    /// Goes on from journals, as after a crash.
    pub fn resume(self, rows: &[(ScopePath, Entry)]) -> SimRun {
        World::resume(self, rows)
    }

    /// Goes on from journals in which channels of one instance are set by hand.
    pub fn fork(self, rows: &[(ScopePath, Entry)], scope: &ScopePath, state: Map) -> SimRun {
        World::fork(self, rows, scope, state)
    }

    /// Goes on with a run that is over, as its next attempt, under this configuration. What came before is part of the
    /// run that comes back, but for what was carried out and asked: that is what this attempt did.
    ///
    /// # Errors
    ///
    /// There is nothing to go on with, or a limit would be reached again at once.
    pub fn again(self, before: &SimRun, config: Map, from: ResumeFrom) -> Result<SimRun, NotResumable> {
        World::again(self, before, config, from)
    }

    pub(crate) fn outside(&mut self) -> &mut dyn Outside {
        match &mut self.outside {
            Some(outside) => *outside,
            None => &mut self.closures,
        }
    }
}
