//! What a driver does for a child that is to be started or to go on. By what is there of it already, and by nothing else:
//! so a journal is begun once, whatever crashed meanwhile.

use deepgraph_graph::Bundle;
use deepgraph_protocol::{Effect, EntryBody, ErrorKind, ResumeFrom, ScopeEnd, Started, StepError};

use crate::machine::Machine;

/// What is to be done for a child.
#[derive(Clone, Debug, PartialEq)]
pub enum Opening {
    /// Its journal begins with this entry, once there is a place for it.
    Start(EntryBody),
    /// Its journal goes on with this entry, once there is a place for it.
    GoOn(EntryBody),
    /// Nothing: it is at work.
    AtWork,
    /// Its parent is told that it ended so.
    Over(Box<ScopeEnd>),
    /// It can not go on: its step fails so.
    Gone(StepError),
}

/// What is to be done for the child of a [`Effect::Spawn`] or [`Effect::Reopen`], whose Machine is `child` if it has a
/// journal. None for other effects.
pub fn opening(effect: &Effect, child: Option<&Machine>, bundle: &Bundle) -> Option<Opening> {
    let there = |child: &Machine| match child.end() {
        Some(end) => Opening::Over(Box::new(end.clone())),
        None => Opening::AtWork,
    };
    match (effect, child) {
        (Effect::Spawn { .. }, Some(child)) => Some(there(child)),
        (Effect::Spawn { graph, input, config, grant, nesting, .. }, None) => {
            let started = Started::first(graph.clone(), input.clone(), config.clone(), bundle.hash.clone());
            let started = Started { grant: *grant, nesting: nesting.clone(), ..started };
            Some(Opening::Start(EntryBody::Started(started)))
        }
        (Effect::Reopen { config, grant, attempt, .. }, Some(child)) if child.attempt() < *attempt => {
            let (attempt, config, from) = (*attempt, config.clone(), ResumeFrom::Research);
            Some(Opening::GoOn(EntryBody::Resumed { attempt, config, grant: *grant, from }))
        }
        (Effect::Reopen { .. }, Some(child)) => Some(there(child)),
        (Effect::Reopen { step, .. }, None) => {
            let message = format!("the journal of `{}` is not there, so it can not go on", step.scope());
            Some(Opening::Gone(StepError::new(ErrorKind::NotFound, message)))
        }
        _ => None,
    }
}
