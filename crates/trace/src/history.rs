//! The line of a run: what was committed, one thing after the other, in the order of time.
//!
//! Everywhere else a run is told in canonical order. Here the order is that of the rows, since a fork is cut there.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_engine::Machine;
use deepgraph_graph::Bundle;
use deepgraph_protocol::{
    EntryBody, Event, ExitReason, Millis, Output, ResumeFrom, ScopePath, Spent, StepError, StepId,
    StepOutput, Value,
};
use serde::Serialize;

use crate::charges::exchange;
use crate::{FoldError, Row};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Moment {
    /// The index of the row.
    pub row: usize,
    /// When it was committed.
    pub at: Millis,
    /// The instance.
    pub scope: ScopePath,
    /// The step that it is about; none where it is about the instance as a whole.
    pub step: Option<StepId>,
    /// What happened.
    #[serde(flatten)]
    pub what: Happened,
    /// What the model call that it ended was charged, all its attempts together.
    pub charged: Spent,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Happened {
    /// The instance started.
    Started {
        /// The graph.
        graph: Arc<str>,
    },
    /// A model replied.
    Replied {
        /// The tools that it calls, in order.
        calls: Vec<Arc<str>>,
    },
    /// An op was carried out.
    Done,
    /// A person answered.
    Answered {
        /// The answer.
        answer: Value,
    },
    /// A child graph ended.
    ChildEnded {
        /// By this exit.
        exit: ExitReason,
    },
    /// An attempt failed, and there is another.
    AttemptFailed {
        /// Why.
        error: StepError,
    },
    /// The step failed for good.
    Failed {
        /// Why.
        error: StepError,
    },
    /// Channels were set by hand: a fork's own beginning.
    Edited {
        /// The channels.
        channels: Vec<Arc<str>>,
    },
    /// The instance was over and goes on.
    Resumed {
        /// As this attempt.
        attempt: u32,
        /// From there.
        from: ResumeFrom,
    },
    /// Somebody, or the instance above, wanted it to stop.
    CancelRequested,
    /// The run ended.
    Ended {
        /// By this exit.
        exit: ExitReason,
        /// In this attempt.
        attempt: u32,
    },
}

impl Happened {
    /// Whether it is the end of a step: a point behind which a run can be forked.
    pub fn ends_step(&self) -> bool {
        self.completes_step() || matches!(self, Happened::Failed { .. })
    }

    /// Whether it is the end of a step that was completed.
    pub fn completes_step(&self) -> bool {
        matches!(
            self,
            Happened::Replied { .. }
                | Happened::Done
                | Happened::Answered { .. }
                | Happened::ChildEnded { .. }
        )
    }
}

/// What happened in a run, in the order of its rows.
///
/// # Errors
///
/// The journals do not fold.
pub fn history(bundle: &Arc<Bundle>, rows: &[Row<'_>]) -> Result<Vec<Moment>, FoldError> {
    let mut line = Vec::new();
    let mut machines: BTreeMap<ScopePath, Machine> = BTreeMap::new();
    let mut charges: BTreeMap<StepId, Spent> = BTreeMap::new();
    for (index, row) in rows.iter().enumerate() {
        if let EntryBody::Started(started) = &row.entry.body {
            let graph = bundle
                .find(&started.graph)
                .ok_or_else(|| FoldError::UnknownGraph(started.graph.to_string()))?;
            machines
                .entry(row.scope.clone())
                .or_insert_with(|| Machine::new(bundle.clone(), graph, row.scope.clone()));
        }
        let Some(machine) = machines.get_mut(row.scope) else { continue };
        let before = machine.charged().used;
        let outputs = machine.apply(row.entry);
        let step = row.entry.body.step().cloned();
        if let Some(step) = &step {
            exchange(charges.entry(step.clone()).or_default(), before, machine.charged().used);
        }
        let events: Vec<&Event> = outputs
            .iter()
            .filter_map(|output| if let Output::Event(event) = output { Some(event) } else { None })
            .collect();
        let mut tell = |step: Option<StepId>, what: Happened, charged: Spent| {
            let (at, scope) = (row.entry.at, row.scope.clone());
            line.push(Moment { row: index, at, scope, step, what, charged });
        };
        if let Some(what) = of_entry(&row.entry.body, step.as_ref(), &events) {
            let ends = what.ends_step();
            let charged = step.as_ref().filter(|_| ends).and_then(|step| charges.get(step).copied());
            tell(step.clone(), what, charged.unwrap_or_default());
        }
        for event in events {
            match event {
                // A step that failed without an entry of its own: nothing was sent out for it.
                Event::StepFailed { step: other, error } if step.as_ref() != Some(other) => {
                    tell(Some(other.clone()), Happened::Failed { error: error.clone() }, Spent::default());
                }
                Event::Exited { exit } if row.scope.is_root() => {
                    let (exit, attempt) = (exit.reason.clone(), exit.attempt);
                    tell(None, Happened::Ended { exit, attempt }, Spent::default());
                }
                _ => {}
            }
        }
    }
    if !machines.contains_key(&ScopePath::root()) {
        return Err(FoldError::Empty);
    }
    Ok(line)
}

/// What an entry says happened; none where it changed nothing that is worth a line.
fn of_entry(body: &EntryBody, step: Option<&StepId>, events: &[&Event]) -> Option<Happened> {
    let failed = events.iter().find_map(|event| match event {
        Event::StepFailed { step: of, error } if Some(of) == step => Some(error.clone()),
        _ => None,
    });
    let again = events.iter().find_map(|event| match event {
        Event::AttemptFailed { step: of, error, .. } if Some(of) == step => Some(error.clone()),
        _ => None,
    });
    if let Some(error) = failed {
        return Some(Happened::Failed { error });
    }
    if let Some(error) = again {
        return Some(Happened::AttemptFailed { error });
    }
    let is_over =
        events.iter().any(|event| matches!(event, Event::StepCompleted { step: of } if Some(of) == step));
    match body {
        EntryBody::Started(started) => Some(Happened::Started { graph: started.graph.clone() }),
        EntryBody::StateEdited { state } if state.is_empty() => None,
        EntryBody::StateEdited { state } => {
            Some(Happened::Edited { channels: state.keys().cloned().collect() })
        }
        EntryBody::Resumed { attempt, from, .. } => {
            Some(Happened::Resumed { attempt: *attempt, from: *from })
        }
        EntryBody::CancelRequested { .. } => Some(Happened::CancelRequested),
        _ if !is_over => None,
        EntryBody::Completed { output: StepOutput::Model(reply), .. } => {
            Some(Happened::Replied { calls: reply.tool_calls.iter().map(|call| call.name.clone()).collect() })
        }
        EntryBody::Completed { .. } => Some(Happened::Done),
        EntryBody::Answered { answer, .. } => Some(Happened::Answered { answer: answer.clone() }),
        EntryBody::ChildEnded { end, .. } => Some(Happened::ChildEnded { exit: end.exit.reason.clone() }),
        _ => None,
    }
}
