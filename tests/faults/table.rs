//! How each cell is to end.

use super::cell::{Cell, Place};
use super::server::What;

/// How a run ends: by which exit, with what status, with what report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// As if nothing had gone wrong.
    Good,
    /// Nothing was found; the report is not even begun. The exit says why.
    Stopped(&'static str),
    /// Research was ended by an error; what was found until then is in the report.
    Kept(&'static str),
    /// Research was ended by something else than its completion; all that was found is in the report.
    Cut(&'static str),
    /// Nothing was found, and the report says so.
    Nothing(&'static str),
    /// The report was assembled without its model from all that was found.
    Assembled(&'static str),
    /// Nothing was found, and the report says so without its model.
    NothingAssembled(&'static str),
}

impl End {
    /// Status, exit, outcome of the report, and whether the findings are in it.
    pub fn seen(self) -> (&'static str, &'static str, &'static str, bool) {
        match self {
            End::Good => ("succeeded", "research_complete", "complete", true),
            End::Stopped(exit) => ("exhausted", exit, "skipped", false),
            End::Kept(exit) => ("exhausted", exit, "complete", true),
            End::Cut(exit) => ("succeeded", exit, "complete", true),
            End::Nothing(exit) => ("exhausted", exit, "complete", false),
            End::Assembled(exit) => ("exhausted", exit, "partial", true),
            End::NothingAssembled(exit) => ("exhausted", exit, "partial", false),
        }
    }
}

/// How a cell is to end where no other model can be asked.
pub fn end(cell: Cell) -> End {
    let Cell { place, what } = cell;
    if is_mended(what) {
        return End::Good;
    }
    let exit = exit_of(what);
    match (place, what) {
        // The run goes on without them: the question is the brief. But not where asking again is in vain for the whole run.
        (Place::Clarify | Place::Brief | Place::All, _) if ends_the_run(what) => End::Stopped(exit),
        (Place::Clarify | Place::Brief, _) => End::Good,
        // A model that calls nothing, or nothing that can be read, has not failed.
        (Place::FirstTurn, What::Words | What::Empty) => End::Nothing("no_tool_calls"),
        (Place::NextTurn, What::Words | What::Empty) => End::Cut("no_tool_calls"),
        (Place::FirstTurn, What::BadArguments) => End::Nothing("step_limit"),
        (Place::NextTurn, What::BadArguments) => End::Cut("step_limit"),
        (Place::FirstTurn | Place::All, What::Overflow) => End::Nothing(exit),
        (Place::FirstTurn, _) => End::Stopped(exit),
        (Place::NextTurn, _) => End::Kept(exit),
        // The supervisor is told, and says that research is complete.
        (Place::Research, _) => End::Nothing("research_complete"),
        // What was read is handed over: by the compressor, or as the facts that it was read from.
        (Place::HasRead | Place::Compress, _) => End::Good,
        (Place::Report, _) => End::Assembled("research_complete"),
        (Place::All, What::Empty) => End::NothingAssembled("no_tool_calls"),
        (Place::All, _) => End::Stopped(exit),
        (Place::Late, What::Empty) => End::Assembled("no_tool_calls"),
        (Place::Late, _) => End::Assembled(exit),
    }
}

/// The exit that a failing model ends by.
pub fn exit_of(what: What) -> &'static str {
    match what {
        What::Hang => "step_timeout",
        What::Overflow => "context_overflow",
        What::Refusal | What::Filtered => "refusal",
        _ => "model_error",
    }
}

/// Whether a reply is as good as one that did not go wrong.
pub fn is_mended(what: What) -> bool {
    what == What::Think
}

/// Whether no other request of the run would fare better: the key, the model or the question is refused.
fn ends_the_run(what: What) -> bool {
    matches!(what, What::Unauthorized | What::Forbidden | What::NoModel | What::Refusal | What::Filtered)
}

/// Whether it may be over when asked again.
pub fn is_transient(what: What) -> bool {
    use What::*;
    matches!(
        what,
        RequestTimeout | SlowDownFor | SlowDown | Broken | Overloaded | Reset | Hang | Cut | NoJson
    )
}

/// How often the same is asked at most, in one place.
pub fn tries(what: What) -> usize {
    match what {
        // Of a supervisor and a researcher: they are told what is wrong, as long as they have turns.
        What::BadArguments => 20,
        // A reply that can not be taken is asked for again.
        What::Empty | What::Words | What::Think | What::Repeats | What::Overflow => 3,
        what if is_transient(what) => 3,
        _ => 1,
    }
}

/// Whether another model is asked in its place.
pub fn fails_over(what: What) -> bool {
    use What::*;
    matches!(
        what,
        NoModel | RequestTimeout | SlowDownFor | SlowDown | Broken | Overloaded | Reset | Hang | Cut
    )
}
