//! Ways out: candidates, precedence, the `finally` stage, the end.

use deepgraph_graph::Target;
use deepgraph_protocol::{
    ErrorClass, Event, Exit, ExitClass, ExitReason, LimitHit, ReportOutcome, ScopeEnd, StepError,
};

use crate::machine::{Machine, Phase};
use crate::names::Local;

/// A way out that was found in this super-step.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) reason: ExitReason,
    pub(crate) class: ExitClass,
    pub(crate) limit: Option<LimitHit>,
    pub(crate) detail: Option<String>,
    pub(crate) error: Option<StepError>,
    pub(crate) came: Came,
}

/// From where a way out came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Came {
    /// A route of the graph names it, or the graph came to its end.
    Route,
    /// A limit of the instance.
    Limit,
    /// A step that failed.
    Failure,
    /// The graph is at fault.
    Fault,
    /// A child ended so.
    Inherited,
    /// The time of the parent is up, or somebody cancelled.
    Above,
}

/// The way out that was taken.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub(crate) reason: ExitReason,
    pub(crate) class: ExitClass,
    pub(crate) limit: Option<LimitHit>,
    pub(crate) detail: Option<String>,
    pub(crate) also: Vec<ExitReason>,
    pub(crate) came: Came,
}

/// How the `finally` stage goes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    pub(crate) partial: bool,
    /// Why it took another way, where it did.
    pub(crate) detour: Option<StepError>,
    pub(crate) skipped: bool,
    pub(crate) failed: Option<StepError>,
}

impl Report {
    /// It ended by an error; the first is kept.
    pub(crate) fn fail(&mut self, error: StepError) {
        self.failed.get_or_insert(error);
    }

    /// It took an `on_error` way; the first is kept.
    pub(crate) fn take_detour(&mut self, error: &StepError) {
        self.partial = true;
        self.detour.get_or_insert_with(|| error.clone());
    }

    /// What went wrong, if anything did.
    fn error(&self) -> Option<StepError> {
        self.failed.clone().or_else(|| self.detour.clone())
    }

    fn outcome(&self) -> ReportOutcome {
        match self {
            Report { failed: Some(_), .. } => ReportOutcome::Failed,
            Report { skipped: true, .. } => ReportOutcome::Skipped,
            Report { partial: true, .. } => ReportOutcome::Partial,
            _ => ReportOutcome::Complete,
        }
    }
}

impl Candidate {
    /// A route that names an exit.
    pub(crate) fn route(reason: ExitReason, class: ExitClass) -> Candidate {
        Candidate { reason, class, limit: None, detail: None, error: None, came: Came::Route }
    }

    /// A limit.
    pub(crate) fn limit(reason: ExitReason, class: ExitClass, hit: LimitHit) -> Candidate {
        Candidate { limit: Some(hit), came: Came::Limit, ..Candidate::route(reason, class) }
    }

    /// A fault of the graph.
    pub(crate) fn error(error: StepError) -> Candidate {
        Candidate {
            detail: Some(error.message.clone()),
            error: Some(error),
            came: Came::Fault,
            ..Candidate::route(ExitReason::GraphError, ExitClass::Error)
        }
    }

    /// A step that failed and had no other way.
    pub(crate) fn failure(error: &StepError, class: ErrorClass) -> Candidate {
        let reason = error.kind.exit(class);
        let class = reason.class().unwrap_or(ExitClass::Error);
        Candidate {
            detail: Some(error.to_string()),
            error: Some(error.clone()),
            came: Came::Failure,
            ..Candidate::route(reason, class)
        }
    }

    /// As a child ended.
    pub(crate) fn inherit(exit: &Exit) -> Candidate {
        Candidate {
            limit: exit.limit.clone(),
            detail: exit.detail.clone(),
            came: Came::Inherited,
            ..Candidate::route(exit.reason.clone(), exit.class)
        }
    }
}

impl Machine {
    /// Takes the way out of highest precedence, if one was found. True when the stage is over.
    pub(crate) fn choose_exit(&mut self) -> bool {
        if self.cancelling.is_some() {
            self.choose_cancelled();
            return true;
        }
        let mut found = std::mem::take(&mut self.candidates);
        if found.is_empty() {
            return false;
        }
        if self.in_finally() {
            if let Some(error) = found.into_iter().find_map(|c| c.error) {
                self.report.fail(error);
            }
            return true;
        }
        // Stable: among equals, the first in plan order.
        found.sort_by_key(|c| c.class);
        let first = found.remove(0);
        let mut also: Vec<ExitReason> = Vec::new();
        for other in found {
            if other.reason != first.reason && !also.contains(&other.reason) {
                also.push(other.reason);
            }
        }
        self.exit = Some(Chosen {
            reason: first.reason,
            class: first.class,
            limit: first.limit,
            detail: first.detail,
            also,
            came: first.came,
        });
        true
    }

    fn choose_cancelled(&mut self) {
        let detail = self.cancelling.clone().flatten();
        let mut also: Vec<ExitReason> = Vec::new();
        let before = self.exit.take().map(|e| e.reason);
        for reason in
            before.into_iter().chain(std::mem::take(&mut self.candidates).into_iter().map(|c| c.reason))
        {
            if reason != ExitReason::Cancelled && !also.contains(&reason) {
                also.push(reason);
            }
        }
        if self.in_finally() {
            self.report.fail(StepError::new(deepgraph_protocol::ErrorKind::Cancelled, "cancelled"));
        }
        self.exit = Some(Chosen {
            reason: ExitReason::Cancelled,
            class: ExitClass::Cancelled,
            limit: None,
            detail,
            also,
            came: Came::Above,
        });
    }

    /// The stage has nothing left to run: on to `finally`, or to the end.
    pub(crate) fn end_stage(&mut self) {
        let came_to_its_end = match self.phase {
            Phase::Finally => self.report.failed.is_none() && self.cancelling.is_none(),
            _ => self.exit.is_none(),
        };
        if came_to_its_end && let Some(error) = self.waits_in_vain() {
            match self.phase {
                Phase::Finally => self.report.fail(error),
                _ => {
                    self.graph_error(error);
                    self.choose_exit();
                }
            }
        }
        self.keep_left();
        self.ready.clear();
        self.deferred.clear();
        self.arrived.clear();
        if self.phase == Phase::Finally {
            return self.conclude();
        }
        let reason = self
            .exit
            .get_or_insert_with(|| Chosen {
                reason: ExitReason::Completed,
                class: ExitClass::Completion,
                limit: None,
                detail: None,
                also: Vec::new(),
                came: Came::Route,
            })
            .reason
            .clone();
        let bundle = self.bundle.clone();
        let Some(route) = &bundle.graph(self.graph).finally else { return self.conclude() };
        let passes = !matches!(
            reason,
            ExitReason::Cancelled | ExitReason::ClarificationNeeded | ExitReason::PlanRejected
        );
        if !passes {
            self.report.skipped = true;
            return self.conclude();
        }
        self.begin_finally(route, reason);
    }

    /// The `finally` stage begins.
    pub(crate) fn begin_finally(&mut self, route: &deepgraph_graph::Route, reason: ExitReason) {
        self.tell(Event::Finishing { scope: self.scope.clone(), reason });
        self.phase = Phase::Finally;
        self.stopping = false;
        self.timers.clear();
        self.set_timers();
        self.follow_start(route);
        if self.ready.is_empty() && self.deferred.is_empty() && self.candidates.is_empty() {
            self.report.skipped = true;
            self.conclude();
        }
    }

    /// Follows a route that belongs to no node: `start` or `finally`.
    pub(crate) fn follow_start(&mut self, route: &deepgraph_graph::Route) {
        let mut pen = crate::pen::Pen::alone(std::mem::take(&mut self.state));
        let target = self.follow(route, Local::default(), &mut pen);
        self.state = pen.into_state();
        match target {
            Err(error) => self.graph_error(error),
            Ok(Some(Target::Nodes(nodes))) => self.arrive_first(nodes),
            Ok(Some(Target::Exit(reason, class))) => self.candidates.push(Candidate::route(reason, class)),
            Ok(Some(Target::Inherit | Target::CarryOn) | None) => {}
        }
    }

    pub(crate) fn conclude(&mut self) {
        if self.undoes_first() {
            return;
        }
        let bundle = self.bundle.clone();
        let plan = bundle.graph(self.graph);
        let Some(chosen) = self.exit.clone() else { return };
        let exit = Exit {
            scope: self.scope.clone(),
            graph: plan.path.clone(),
            attempt: self.attempt,
            reason: chosen.reason,
            class: chosen.class,
            limit: chosen.limit,
            counters: self.exit_counters(),
            last_step: self.last_step.clone(),
            detail: chosen.detail,
            also: chosen.also,
            findings: self.findings(),
            unknown_writes: self.unknown_writes(),
            not_undone: std::mem::take(&mut self.undoing.left).into(),
            clocks: self.clock.clocks(self.now),
        };
        let report = plan.finally.as_ref().map(|_| self.report.outcome());
        let settled = self.ledger.used();
        self.tell(Event::Exited { exit: exit.clone() });
        self.tell(Event::ScopeEnded { scope: self.scope.clone(), report, settled, at: self.now });
        self.end = Some(ScopeEnd {
            exit,
            report,
            report_error: self.report.error(),
            output: self.output(),
            settled,
            children: self.children.iter().flat_map(|(_, exits)| exits.iter().cloned()).collect(),
            persisted: self.persisted(),
            writes: self.writes.clone(),
        });
        self.phase = Phase::Ended;
        self.clock.stop(self.now);
        self.timers.clear();
        self.clear_current();
    }
}
