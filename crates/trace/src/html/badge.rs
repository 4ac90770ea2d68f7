//! What a step is and how it stands, in a word and a colour. The one place that knows all kinds of steps, outcomes and
//! exits.

use askama::Template;
use askama::filters::HtmlSafe;
use deepgraph_protocol::{ErrorKind, Exit, ExitClass, ReportOutcome, RunStatus};

use crate::tree::{Node, NodeKind, Outcome};

/// A word with a colour. The word alone says it all: the colour is for those who see it.
#[derive(Clone, Debug, PartialEq, Template)]
#[template(ext = "html", source = r#"<span class="badge {{ tone.name() }}">{{ word }}</span>"#)]
pub(super) struct Badge {
    pub(super) word: String,
    pub(super) tone: Tone,
}

/// What a colour stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Good,
    /// Ended by a limit, or refused.
    Warn,
    Bad,
    /// Not over.
    Open,
    Model,
    Tool,
    Graph,
    Person,
}

impl HtmlSafe for Badge {}

impl Tone {
    /// The name of the class in the page's styles.
    pub(super) fn name(self) -> &'static str {
        match self {
            Tone::Plain => "plain",
            Tone::Good => "good",
            Tone::Warn => "warn",
            Tone::Bad => "bad",
            Tone::Open => "open",
            Tone::Model => "model",
            Tone::Tool => "tool",
            Tone::Graph => "graph",
            Tone::Person => "person",
        }
    }
}

impl Badge {
    fn new(word: impl Into<String>, tone: Tone) -> Badge {
        Badge { word: word.into(), tone }
    }

    /// What a step does.
    pub(super) fn of_kind(node: &Node) -> Badge {
        match &node.kind {
            NodeKind::Model(_) => Badge::new("model", Tone::Model),
            NodeKind::Op { op, .. } => Badge::new(&**op, Tone::Tool),
            NodeKind::Graph => Badge::new("graph", Tone::Graph),
            NodeKind::Ask { .. } => Badge::new("ask", Tone::Person),
            NodeKind::Plain if !node.calls.is_empty() => Badge::new("calls", Tone::Plain),
            NodeKind::Plain if node.args.is_some() => Badge::new("tool", Tone::Tool),
            NodeKind::Plain => Badge::new("state", Tone::Plain),
        }
    }

    /// How a step stands; none where all is well. `is_over`: whether its instance has ended.
    pub(super) fn of_state(node: &Node, is_over: bool) -> Option<Badge> {
        Some(match Standing::of(node, is_over) {
            Standing::Done => return None,
            Standing::Refused => Badge::new("refused", Tone::Warn),
            Standing::Malformed => Badge::new("malformed", Tone::Bad),
            Standing::Failed(ErrorKind::Cancelled) => Badge::new("given up", Tone::Warn),
            Standing::Failed(kind) => Badge::new(format!("failed: {kind}"), Tone::Bad),
            Standing::GivenUp => Badge::new("given up", Tone::Warn),
            Standing::Queued => Badge::new("queued", Tone::Open),
            Standing::Waiting => Badge::new("waits for an answer", Tone::Open),
            Standing::Open => Badge::new("open", Tone::Open),
        })
    }

    /// Why an instance ended.
    pub(super) fn of_exit(exit: &Exit) -> Badge {
        Badge::new(exit.reason.name(), tone_of(exit.class))
    }

    /// Where a run stands; none: its journals have no end.
    pub(super) fn of_status(status: Option<RunStatus>) -> Badge {
        let Some(status) = status else { return Badge::new("not ended", Tone::Open) };
        let tone = match status {
            RunStatus::Succeeded => Tone::Good,
            RunStatus::Failed => Tone::Bad,
            RunStatus::Exhausted | RunStatus::Cancelled => Tone::Warn,
            RunStatus::Queued | RunStatus::Running | RunStatus::AwaitingInput | RunStatus::Cancelling => {
                Tone::Open
            }
        };
        Badge::new(status.name(), tone)
    }

    /// How a `finally` stage went.
    pub(super) fn of_report(report: ReportOutcome) -> Badge {
        let tone = match report {
            ReportOutcome::Complete => Tone::Good,
            ReportOutcome::Partial => Tone::Warn,
            ReportOutcome::Failed => Tone::Bad,
            ReportOutcome::Skipped => Tone::Plain,
        };
        Badge::new(report.name(), tone)
    }
}

/// The class of an exit, by its name in graph files where they have one.
pub(super) fn class_name(class: ExitClass) -> &'static str {
    match class {
        ExitClass::Cancelled => "cancelled",
        ExitClass::Error => "error",
        ExitClass::Waiting => "waiting",
        ExitClass::Completion => "completion",
        ExitClass::Budget => "budget",
        ExitClass::Cap => "cap",
        ExitClass::NoToolCalls => "no_tool_calls",
        ExitClass::Gain => "gain",
    }
}

fn tone_of(class: ExitClass) -> Tone {
    match class {
        ExitClass::Error => Tone::Bad,
        ExitClass::Cancelled | ExitClass::Budget | ExitClass::Cap => Tone::Warn,
        ExitClass::Waiting => Tone::Open,
        ExitClass::Completion | ExitClass::NoToolCalls | ExitClass::Gain => Tone::Good,
    }
}

/// How a step stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Done,
    Refused,
    Malformed,
    Failed(ErrorKind),
    /// Open when its instance ended.
    GivenUp,
    /// Waits for a place among the calls of its turn.
    Queued,
    /// Waits for a person.
    Waiting,
    Open,
}

impl Standing {
    /// `is_over`: whether the step's instance has ended.
    pub(super) fn of(node: &Node, is_over: bool) -> Standing {
        match (&node.outcome, &node.kind) {
            (Some(Outcome::Reply(_) | Outcome::Value(_) | Outcome::Done), _) => Standing::Done,
            (Some(Outcome::Refused(_)), _) => Standing::Refused,
            (Some(Outcome::Malformed(_)), _) => Standing::Malformed,
            (Some(Outcome::Failed(error)), _) => Standing::Failed(error.kind),
            (None, NodeKind::Plain) if !node.queued => Standing::Done,
            (None, _) if is_over => Standing::GivenUp,
            (None, NodeKind::Ask { .. }) => Standing::Waiting,
            (None, NodeKind::Plain | NodeKind::Graph) if node.queued => Standing::Queued,
            (None, NodeKind::Plain | NodeKind::Graph | NodeKind::Model(_) | NodeKind::Op { .. }) => {
                Standing::Open
            }
        }
    }

    /// Whether it went wrong.
    pub(super) fn is_bad(self) -> bool {
        match self {
            Standing::Failed(kind) => kind != ErrorKind::Cancelled,
            Standing::Malformed => true,
            Standing::Done
            | Standing::Refused
            | Standing::GivenUp
            | Standing::Queued
            | Standing::Waiting
            | Standing::Open => false,
        }
    }

    /// Whether it goes on.
    pub(super) fn is_open(self) -> bool {
        match self {
            Standing::Waiting | Standing::Open => true,
            Standing::Done
            | Standing::Refused
            | Standing::Malformed
            | Standing::Failed(_)
            | Standing::GivenUp
            | Standing::Queued => false,
        }
    }
}
