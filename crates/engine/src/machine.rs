//! The Machine, and which entry goes where.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deepgraph_graph::{Bundle, Graph, GraphIx, NodeIx};
use deepgraph_protocol::{
    Effect, Entry, EntryBody, ErrorKind, Event, Exit, Grant, Map, Millis, Output, ScopeEnd, ScopePath,
    StepError, StepId, ToolCall, Value,
};

use crate::channel::State;
use crate::exit::{Candidate, Chosen};
use crate::ledger::Ledger;
use crate::limits::{self, Active, Counters, LimitView, Reading};
use crate::names::{Index, Scope};
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
    /// Over.
    Ended,
}

/// One graph instance.
///
/// ```text
/// Started ─▶ super-steps ─▶ exit chosen ─▶ finally super-steps ─▶ ScopeEnd
/// ```
#[derive(Debug)]
pub struct Machine {
    pub(crate) bundle: Arc<Bundle>,
    pub(crate) graph: GraphIx,
    pub(crate) scope: ScopePath,
    pub(crate) index: Index,
    pub(crate) phase: Phase,
    pub(crate) attempt: u32,
    pub(crate) started: Millis,
    pub(crate) now: Millis,
    pub(crate) config: Arc<Map>,
    pub(crate) grant: Grant,
    pub(crate) state: State,
    /// Values that append, sum and message channels had as input: not handed up again.
    pub(crate) given: Map,
    pub(crate) limits: Vec<Active>,
    pub(crate) counters: Counters,
    pub(crate) ledger: Ledger,
    pub(crate) visits: BTreeMap<NodeIx, u64>,
    /// Nodes of the next super-step.
    pub(crate) ready: BTreeSet<NodeIx>,
    /// Nodes of the current super-step.
    pub(crate) current: Vec<NodeRun>,
    /// Calls of a model node's last reply that were not run yet.
    pub(crate) replies: BTreeMap<NodeIx, Vec<ToolCall>>,
    /// Child starts that wait for the shares of this super-step to be known.
    pub(crate) spawns: Vec<crate::grant::PendingSpawn>,
    /// Children that wait for a place among the calls of their turn, ready to be sent out.
    pub(crate) queued: BTreeMap<StepId, Effect>,
    /// A node that a limit puts in place of whatever comes next.
    pub(crate) detour: Option<NodeIx>,
    /// Ways out that were found.
    pub(crate) candidates: Vec<Candidate>,
    /// The way out that was taken.
    pub(crate) exit: Option<Chosen>,
    pub(crate) report: crate::exit::Report,
    /// Time in which nothing but questions to a person was open, in milliseconds.
    pub(crate) waited: Millis,
    /// Since when nothing but questions is open.
    pub(crate) waiting_since: Option<Millis>,
    /// Timers that fired while waiting for a person: their time was not up.
    pub(crate) paused: Vec<Arc<str>>,
    /// Whether the time of the stage is up: nothing is tried again.
    pub(crate) stopping: bool,
    /// The time of the `finally` stage is up: what is open is given up, and only ops still run.
    pub(crate) overtime: Option<StepError>,
    pub(crate) cancelling: Option<Option<String>>,
    /// Exits of children, by the step that started them.
    pub(crate) children: Vec<(StepId, Vec<Exit>)>,
    pub(crate) last_step: Option<StepId>,
    pub(crate) effects: BTreeMap<EffectKey, Effect>,
    pub(crate) end: Option<ScopeEnd>,
    pub(crate) out: Vec<Output>,
}

/// Super-steps without any step before the graph is taken to run in circles: a guard behind the check of the
/// graph file, which refuses cycles that no limit cuts.
const IDLE_SUPER_STEPS: u64 = 100_000;

/// What an open effect is known by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EffectKey {
    Step(StepId),
    Timer(Arc<str>),
}

impl Machine {
    /// An instance of a graph that has not started.
    pub fn new(bundle: Arc<Bundle>, graph: GraphIx, scope: ScopePath) -> Machine {
        let plan = bundle.graph(graph);
        let index = plan
            .channels
            .iter()
            .enumerate()
            .map(|(i, c)| (c.name.clone(), deepgraph_graph::ChannelIx(i)))
            .collect();
        let state = State::initial(plan);
        Machine {
            index: Arc::new(index),
            state,
            bundle,
            graph,
            scope,
            phase: Phase::New,
            attempt: 1,
            started: 0,
            now: 0,
            config: Arc::default(),
            grant: Grant::default(),
            given: Map::new(),
            limits: Vec::new(),
            counters: Counters::default(),
            ledger: Ledger::default(),
            visits: BTreeMap::new(),
            ready: BTreeSet::new(),
            current: Vec::new(),
            replies: BTreeMap::new(),
            spawns: Vec::new(),
            queued: BTreeMap::new(),
            detour: None,
            candidates: Vec::new(),
            exit: None,
            report: crate::exit::Report::default(),
            waited: 0,
            waiting_since: None,
            paused: Vec::new(),
            stopping: false,
            overtime: None,
            cancelling: None,
            children: Vec::new(),
            last_step: None,
            effects: BTreeMap::new(),
            end: None,
            out: Vec::new(),
        }
    }

    /// Takes one entry and gives what follows from it. Entries about steps that are not open change nothing.
    pub fn apply(&mut self, entry: &Entry) -> Vec<Output> {
        self.now = self.now.max(entry.at);
        match &entry.body {
            EntryBody::Started(started) => self.start(started),
            EntryBody::Dispatched { step, attempt, reserve_tokens, reserve_micro_usd, .. } => {
                self.dispatched(step, *attempt, *reserve_tokens, *reserve_micro_usd);
            }
            EntryBody::AttemptFailed { step, attempt, error, usage } => {
                self.attempt_failed(step, *attempt, error, *usage);
            }
            EntryBody::Completed { step, attempt, output } => self.completed(step, *attempt, output),
            EntryBody::Failed { step, error } => self.failed(step, error),
            EntryBody::ChildEnded { step, end } => self.child_ended(step, end),
            EntryBody::Answered { step, answer } => self.answered(step, answer),
            EntryBody::TimerFired { timer } => self.timer_fired(timer),
            EntryBody::CancelRequested { detail } => self.cancel_requested(detail.clone()),
        }
        self.advance();
        self.watch_waiting();
        std::mem::take(&mut self.out)
    }

    /// Joins super-steps that are complete and starts the next, until something is open or all is over.
    fn advance(&mut self) {
        let mut idle = 0;
        while matches!(self.phase, Phase::Main | Phase::Finally) && self.current.iter().all(NodeRun::is_done)
        {
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
        self.index.get(name).map(|ix| self.state.get(*ix))
    }

    /// The limits as they stand.
    pub fn limits(&self) -> Vec<LimitView> {
        let at = self.reading();
        self.limits.iter().map(|l| l.view(&at)).collect()
    }

    /// The effects that are open, as they were put out last, waiting times left out: what a new driver has to
    /// carry out after a crash.
    pub fn open_effects(&self) -> Vec<Effect> {
        self.effects
            .values()
            .cloned()
            .map(|mut effect| {
                if let Effect::CallModel { delay_ms, .. } | Effect::RunOp { delay_ms, .. } = &mut effect {
                    *delay_ms = 0;
                }
                effect
            })
            .collect()
    }

    /// Whether it does something itself, rather than only wait for child graphs.
    pub fn is_working(&self) -> bool {
        let mut steps = self.effects.values().filter(|e| !matches!(e, Effect::WakeAt { .. })).peekable();
        self.end.is_none() && (steps.peek().is_none() || steps.any(|e| !matches!(e, Effect::Spawn { .. })))
    }

    /// Whether a step is open.
    pub fn is_open(&self, step: &StepId) -> bool {
        self.effects.contains_key(&EffectKey::Step(step.clone()))
    }

    pub(crate) fn reading(&self) -> Reading<'_> {
        Reading { counters: &self.counters, ledger: &self.ledger, elapsed: self.elapsed() }
    }

    /// Milliseconds since the start, without those in which it only waited for a person.
    pub(crate) fn elapsed(&self) -> Millis {
        let until = self.waiting_since.unwrap_or(self.now);
        until - self.started - self.waited
    }

    pub(crate) fn in_finally(&self) -> bool {
        self.phase == Phase::Finally
    }

    /// The names in scope, over the state as it stands.
    pub(crate) fn names(&self) -> Scope {
        self.names_over(self.state.clone())
    }

    /// The names in scope, over another state.
    pub(crate) fn names_over(&self, state: State) -> Scope {
        let at = self.reading();
        Scope {
            index: self.index.clone(),
            state,
            config: self.config.clone(),
            limits: Arc::new(self.limits.iter().map(|l| l.view(&at)).collect()),
            run: Value::record([
                ("date", Value::from(date_of(self.started))),
                ("exit", self.exit.as_ref().map_or(Value::Null, |e| Value::from(e.reason.name()))),
                ("attempt", Value::Int(i64::from(self.attempt))),
            ]),
            args: None,
            result: None,
            error: None,
        }
    }

    pub(crate) fn tell(&mut self, event: Event) {
        self.out.push(Output::Event(event));
    }

    /// Puts an effect out and keeps it open.
    pub(crate) fn open(&mut self, effect: Effect) {
        let key = match &effect {
            Effect::WakeAt { timer, .. } => EffectKey::Timer(timer.clone()),
            other => match other.step() {
                Some(step) => EffectKey::Step(step.clone()),
                None => return,
            },
        };
        self.effects.insert(key, effect.clone());
        self.out.push(Output::Effect(effect));
    }

    pub(crate) fn close(&mut self, step: &StepId) {
        self.effects.remove(&EffectKey::Step(step.clone()));
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
