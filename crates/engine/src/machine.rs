//! The Machine, and which entry goes where.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deepgraph_graph::{Bundle, Graph, GraphIx, NodeIx, ToolIx};
use deepgraph_protocol::{
    Entry, EntryBody, ErrorKind, Event, Exit, Grant, Map, Millis, Nesting, Output, ScopeEnd, ScopePath,
    StepError, StepId, ToolCall, Value, Written,
};

use crate::channel::State;
use crate::clock::Clock;
use crate::exit::{Candidate, Chosen};
use crate::ledger::{Charged, Ledger};
use crate::left::{Before, Left};
use crate::limits::{self, Active, Counters, LimitView, Reading};
use crate::run::NodeRun;

/// Where an instance stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Not started.
    New,
    /// At work.
    Main,
    /// In the `finally` stage.
    Finally,
    /// Cancelled: what was changed outside is undone.
    Undoing,
    /// Over.
    Ended,
}

/// One graph instance.
///
/// ```text
/// Started ─▶ super-steps ─▶ exit chosen ─▶ finally super-steps ─▶ ScopeEnd
///                                └─ cancelled, at the root ─▶ compensations ─▶ ScopeEnd
/// ```
#[derive(Clone, Debug)]
pub struct Machine {
    pub(crate) bundle: Arc<Bundle>,
    pub(crate) graph: GraphIx,
    pub(crate) scope: ScopePath,
    pub(crate) phase: Phase,
    pub(crate) attempt: u32,
    pub(crate) now: Millis,
    /// What `run.date` reads as.
    pub(crate) date: Arc<str>,
    pub(crate) config: Arc<Map>,
    pub(crate) grant: Grant,
    /// How often each graph whose nesting is limited encloses this instance, itself included.
    pub(crate) nesting: Nesting,
    pub(crate) state: State,
    /// Values that append, sum and message channels had as input: not handed up again.
    pub(crate) given: Map,
    pub(crate) limits: Vec<Active>,
    pub(crate) counters: Counters,
    pub(crate) ledger: Ledger,
    pub(crate) visits: BTreeMap<NodeIx, u64>,
    /// Nodes of the next super-step.
    pub(crate) ready: BTreeSet<NodeIx>,
    /// Nodes that wait until nothing else runs.
    pub(crate) deferred: BTreeSet<NodeIx>,
    /// Nodes that wait for others, with those that have led to them since they last ran.
    pub(crate) arrived: BTreeMap<NodeIx, BTreeSet<NodeIx>>,
    /// Nodes of the current super-step.
    pub(crate) current: Vec<NodeRun>,
    /// Where each of them stands in `current`.
    pub(crate) slots: BTreeMap<NodeIx, usize>,
    /// Steps, calls and items of the current super-step that are not back.
    pub(crate) unfinished: usize,
    /// The limits as they stood when all nodes of the current super-step were started: what its steps read, in
    /// whatever order they are sent out.
    pub(crate) shown: Option<Arc<Vec<LimitView>>>,
    /// Model calls that were started and not told to be sent out yet.
    pub(crate) coming: u64,
    /// Calls of a model node's last reply that were not run yet.
    pub(crate) replies: BTreeMap<NodeIx, Vec<ToolCall>>,
    /// Answers of tools that were too long for the conversation, by reference.
    pub(crate) oversized: BTreeMap<Arc<str>, crate::oversized::Oversized>,
    /// Whether such answers can be read on.
    pub(crate) reads_on: bool,
    /// Calls that succeeded, by tool and arguments as they are compared; none where no limit counts repeated calls.
    pub(crate) done_calls: BTreeMap<(ToolIx, String), StepId>,
    /// Child starts that wait for the shares of this super-step to be known.
    pub(crate) spawns: Vec<crate::grant::PendingSpawn>,
    /// A node that a limit puts in place of whatever comes next.
    pub(crate) detour: Option<NodeIx>,
    /// Ways out that were found.
    pub(crate) candidates: Vec<Candidate>,
    /// Nodes that a limit did not let start.
    pub(crate) stopped: BTreeSet<NodeIx>,
    /// The last super-step as it stood before it was joined, where it may be opened again.
    pub(crate) before: Option<Box<Before>>,
    /// What the work left when it ended: what a further attempt goes on from.
    pub(crate) left: Option<Box<Left>>,
    /// The last attempt of steps that failed in the super-step that a further attempt opens again.
    pub(crate) tried: BTreeMap<StepId, u32>,
    /// The way out that was taken.
    pub(crate) exit: Option<Chosen>,
    pub(crate) report: crate::exit::Report,
    pub(crate) clock: Clock,
    /// Moments at which it asked to be woken, by name.
    pub(crate) timers: BTreeMap<Arc<str>, Millis>,
    /// Timers that fired while waiting for a person: their time was not up.
    pub(crate) paused: Vec<Arc<str>>,
    /// Whether the time of the stage is up: nothing is tried again.
    pub(crate) stopping: bool,
    /// The time of the `finally` stage is up: what is open is given up, and only ops still run.
    pub(crate) overtime: Option<StepError>,
    pub(crate) cancelling: Option<Option<String>>,
    /// What it and its children changed outside, or may have, in order of completion.
    pub(crate) writes: Vec<Written>,
    /// Its own calls that write whose outcome was never learnt: what a late one still tells.
    pub(crate) unlearnt: BTreeMap<StepId, crate::written::Unlearnt>,
    /// What is undone of a cancelled run.
    pub(crate) undoing: crate::undo::Undoing,
    /// How what is out in the current super-step is given up, if it is.
    pub(crate) giving: Option<crate::settle::Giving>,
    /// Exits of children, by the step that started them.
    pub(crate) children: Vec<(StepId, Vec<Exit>)>,
    /// Exits of children that were started after those of the super-step that is open again.
    pub(crate) later: Vec<(StepId, Vec<Exit>)>,
    pub(crate) last_step: Option<StepId>,
    pub(crate) end: Option<ScopeEnd>,
    pub(crate) out: Vec<Output>,
}

/// Super-steps without any step before the graph is taken to run in circles: a guard behind the check of the
/// graph file, which refuses cycles that no limit cuts.
const IDLE_SUPER_STEPS: u64 = 100_000;

impl Machine {
    /// An instance of a graph that has not started.
    pub fn new(bundle: Arc<Bundle>, graph: GraphIx, scope: ScopePath) -> Machine {
        let plan = bundle.graph(graph);
        Machine {
            state: State::initial(plan),
            bundle,
            graph,
            scope,
            phase: Phase::New,
            attempt: 1,
            now: 0,
            date: "".into(),
            config: Arc::default(),
            grant: Grant::default(),
            nesting: Nesting::new(),
            given: Map::new(),
            limits: Vec::new(),
            counters: Counters::default(),
            ledger: Ledger::default(),
            visits: BTreeMap::new(),
            ready: BTreeSet::new(),
            deferred: BTreeSet::new(),
            arrived: BTreeMap::new(),
            current: Vec::new(),
            slots: BTreeMap::new(),
            unfinished: 0,
            shown: None,
            coming: 0,
            replies: BTreeMap::new(),
            oversized: BTreeMap::new(),
            reads_on: false,
            done_calls: BTreeMap::new(),
            spawns: Vec::new(),
            detour: None,
            candidates: Vec::new(),
            stopped: BTreeSet::new(),
            before: None,
            left: None,
            tried: BTreeMap::new(),
            exit: None,
            report: crate::exit::Report::default(),
            clock: Clock::default(),
            timers: BTreeMap::new(),
            paused: Vec::new(),
            stopping: false,
            overtime: None,
            cancelling: None,
            writes: Vec::new(),
            unlearnt: BTreeMap::new(),
            undoing: crate::undo::Undoing::default(),
            giving: None,
            children: Vec::new(),
            later: Vec::new(),
            last_step: None,
            end: None,
            out: Vec::new(),
        }
    }

    /// Takes one entry and gives what follows from it. Entries about steps that are not open change nothing.
    pub fn apply(&mut self, entry: &Entry) -> Vec<Output> {
        let before = self.now;
        self.now = before.max(entry.at);
        match &entry.body {
            // A fork begins when somebody makes it: the time since its last entry is no time of it.
            EntryBody::StateEdited { .. } => self.clock.skip(before, self.now),
            _ => self.clock.pass(before, self.now),
        }
        match &entry.body {
            body if self.is_undoing(body.step()) => self.undone(body),
            EntryBody::Started(started) => self.start(started),
            EntryBody::Dispatched {
                step,
                attempt,
                reserve_tokens,
                reserve_micro_usd,
                key,
                takes_key,
                model,
                window,
                ..
            } => {
                self.claim(step, *attempt, *takes_key);
                self.stands_in(step, *attempt, model.is_some());
                self.sent_within(step, *attempt, *window);
                self.dispatched(step, *attempt, *reserve_tokens, *reserve_micro_usd, key.is_some());
            }
            EntryBody::AttemptFailed { step, attempt, error, usage, fail_over, fee } => {
                self.attempt_failed(step, *attempt, error, (*usage, *fee), *fail_over);
            }
            EntryBody::Completed { step, attempt, output, fee } => {
                self.completed(step, *attempt, output, *fee)
            }
            EntryBody::Held { step, attempt } => self.held(step, *attempt),
            EntryBody::Failed { step, error } => self.failed(step, error),
            EntryBody::ChildEnded { step, end } => self.child_ended(step, end),
            EntryBody::Answered { step, answer } => self.answered(step, answer),
            EntryBody::TimerFired { timer } => self.timer_fired(timer),
            EntryBody::StateEdited { state } => self.state_edited(state),
            EntryBody::Resumed { attempt, config, grant, from } => {
                self.resumed(*attempt, config, *grant, *from);
            }
            EntryBody::CancelRequested { detail, reason, at_once } => {
                self.undoing.at_once |= *at_once;
                self.cancel_requested(detail.clone(), reason.as_ref());
            }
        }
        self.advance();
        self.watch_clock();
        std::mem::take(&mut self.out)
    }

    /// Joins super-steps that are complete and starts the next, until something is open or all is over.
    fn advance(&mut self) {
        let mut idle = 0;
        while matches!(self.phase, Phase::Main | Phase::Finally) && self.unfinished == 0 {
            idle += 1;
            if idle > IDLE_SUPER_STEPS {
                let message = format!("{IDLE_SUPER_STEPS} super-steps in a row did nothing but write state");
                self.graph_error(StepError::new(ErrorKind::Graph, message));
            }
            if !self.current.is_empty() {
                self.join();
            }
            self.next_super_step();
        }
    }

    /// The graph that this is an instance of.
    pub fn plan(&self) -> &Graph {
        self.bundle.graph(self.graph)
    }

    /// The scope.
    pub fn scope(&self) -> &ScopePath {
        &self.scope
    }

    /// The number of its attempt, from 1.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Where it stands.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// How it ended; none while it has not.
    pub fn end(&self) -> Option<&ScopeEnd> {
        self.end.as_ref()
    }

    /// The value of a channel; none where the graph has no such channel.
    pub fn channel(&self, name: &str) -> Option<&Value> {
        self.plan().channel(name).map(|ix| self.state.get(ix))
    }

    /// The state as it stands, by channel.
    pub fn state(&self) -> Map {
        let channels = self.plan().channels.iter().enumerate();
        channels
            .map(|(i, c)| (c.name.clone(), self.state.get(deepgraph_graph::ChannelIx(i)).clone()))
            .collect()
    }

    /// The limits as they stand.
    pub fn limits(&self) -> Vec<LimitView> {
        let at = self.reading();
        self.limits.iter().map(|l| l.view(&at)).collect()
    }

    /// What its own calls are charged so far, of models and of ops that cost something, those of its children apart.
    pub fn charged(&self) -> Charged {
        self.ledger.charged()
    }

    /// What it and all below it have used and reserved.
    pub fn ledger(&self) -> crate::LedgerView {
        self.ledger.view()
    }

    pub(crate) fn reading(&self) -> Reading<'_> {
        Reading {
            counters: &self.counters,
            ledger: &self.ledger,
            elapsed: self.clock.elapsed(self.now),
            active: self.clock.active(),
            turn: self.clock.turn(self.now),
            depth: self.depth(),
            coming: self.coming,
        }
    }

    pub(crate) fn in_finally(&self) -> bool {
        self.phase == Phase::Finally
    }

    pub(crate) fn tell(&mut self, event: Event) {
        self.out.push(Output::Event(event));
    }

    /// The instance can not go on: the graph is at fault.
    pub(crate) fn graph_error(&mut self, error: StepError) {
        self.candidates.push(Candidate::error(error));
    }

    pub(crate) fn activate_limits(&mut self) {
        let bundle = self.bundle.clone();
        self.limits = limits::activate(bundle.graph(self.graph), &self.config, &self.grant, self.now);
    }
}

/// The UTC date of a moment, `YYYY-MM-DD`: what prompts read as `run.date`.
pub fn date_of(at: Millis) -> String {
    jiff::Timestamp::from_millisecond(at)
        .map(|t| jiff::tz::Offset::UTC.to_datetime(t).date().to_string())
        .unwrap_or_default()
}
