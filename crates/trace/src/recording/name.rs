//! What an entry is called where its moment and its place in the order are kept. The form of these names is known here
//! only.

use std::fmt;

use deepgraph_protocol::{EntryBody, ScopePath, StepId};

/// The name of an entry: its kind, its step or scope, its attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryName<'e> {
    /// An instance started.
    Started(&'e ScopePath),
    /// An attempt was sent.
    Dispatched(&'e StepId, u32),
    /// An attempt waits until it may be sent.
    Held(&'e StepId, u32),
    /// An attempt brought something.
    Completed(&'e StepId, u32),
    /// An attempt failed.
    AttemptFailed(&'e StepId, u32),
    /// A step can not be done, or was given up.
    Failed(&'e StepId),
    /// A child ended.
    ChildEnded(&'e StepId),
    /// A person answered.
    Answered(&'e StepId),
    /// A timer of an instance fired.
    TimerFired(&'e ScopePath, &'e str),
    /// An instance was cancelled: the run, or a child by its parent.
    CancelRequested(&'e ScopePath),
}

impl<'e> EntryName<'e> {
    /// The name of an entry; none for the root's first, and for channels that were set by hand.
    pub fn of(scope: &'e ScopePath, body: &'e EntryBody) -> Option<EntryName<'e>> {
        Some(match body {
            EntryBody::Started(_) if scope.is_root() => return None,
            EntryBody::Held { step, attempt } => EntryName::Held(step, *attempt),
            EntryBody::StateEdited { .. } | EntryBody::Resumed { .. } => {
                return None;
            }
            EntryBody::Started(_) => EntryName::Started(scope),
            EntryBody::Dispatched { step, attempt, .. } => EntryName::Dispatched(step, *attempt),
            EntryBody::Completed { step, attempt, .. } => EntryName::Completed(step, *attempt),
            EntryBody::AttemptFailed { step, attempt, .. } => EntryName::AttemptFailed(step, *attempt),
            EntryBody::Failed { step, .. } => EntryName::Failed(step),
            EntryBody::ChildEnded { step, .. } => EntryName::ChildEnded(step),
            EntryBody::Answered { step, .. } => EntryName::Answered(step),
            EntryBody::TimerFired { timer } => EntryName::TimerFired(scope, timer),
            EntryBody::CancelRequested { .. } => EntryName::CancelRequested(scope),
        })
    }

    /// Whether the text of a name is that of a step which failed for good.
    pub fn is_failure(name: &str) -> bool {
        name.starts_with("failed ")
    }

    /// Whether the text of a name is that of an entry about this step.
    pub fn is_about(name: &str, step: &StepId) -> bool {
        let rest = name.split_once(' ').and_then(|(_, rest)| rest.strip_prefix(step.as_str()));
        rest.is_some_and(|behind| behind.is_empty() || behind.starts_with(' '))
    }
}

impl fmt::Display for EntryName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EntryName::Started(scope) => write!(f, "started {scope}"),
            EntryName::Dispatched(step, attempt) => write!(f, "dispatched {step} {attempt}"),
            EntryName::Held(step, attempt) => write!(f, "held {step} {attempt}"),
            EntryName::Completed(step, attempt) => write!(f, "completed {step} {attempt}"),
            EntryName::AttemptFailed(step, attempt) => write!(f, "attempt_failed {step} {attempt}"),
            EntryName::Failed(step) => write!(f, "failed {step}"),
            EntryName::ChildEnded(step) => write!(f, "child_ended {step}"),
            EntryName::Answered(step) => write!(f, "answered {step}"),
            EntryName::TimerFired(scope, timer) => write!(f, "timer_fired {scope} {timer}"),
            EntryName::CancelRequested(scope) if scope.is_root() => write!(f, "cancel_requested"),
            EntryName::CancelRequested(scope) => write!(f, "cancel_requested {scope}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_by_their_step() {
        let (step, longer) = (StepId::new("a.1/look.1"), StepId::new("a.1/look.12"));
        let name = EntryName::Completed(&longer, 2).to_string();
        assert_eq!(name, "completed a.1/look.12 2");
        assert!(EntryName::is_about(&name, &longer) && !EntryName::is_about(&name, &step));
        let failed = EntryName::Failed(&step).to_string();
        assert!(EntryName::is_failure(&failed) && EntryName::is_about(&failed, &step));
        assert!(!EntryName::is_failure(&EntryName::AttemptFailed(&step, 1).to_string()));
        assert_eq!(EntryName::CancelRequested(&ScopePath::root()).to_string(), "cancel_requested");
    }
}
