//! The words of deepgraph: what a journal holds, what a Machine asks for and tells, what models and
//! tools exchange.
//!
//! This crate is a leaf. It has types, their JSON form and the few rules that are tables (exit classes,
//! precedence, run status); it has no behaviour beyond that and does no I/O.
//!
//! Entries and events are append-only vocabularies: a journal written today must be readable for ever, so
//! variants and fields are added, never renamed or given another meaning.

mod effect;
mod entry;
mod error;
mod event;
mod exit;
mod hidden;
mod intent;
mod message;
mod model;
mod record;
mod status;
mod step;
mod usage;
mod value;
mod written;

pub use effect::{Effect, MOST_FAIL_OVERS, Output};
pub use entry::{
    CALLER_ENDED, Cut, Entry, EntryBody, Grant, Millis, Nesting, ResumeFrom, SEMANTICS, ScopeEnd, Started,
    StepOutput,
};
pub use error::{ErrorClass, ErrorKind, StepError, UsedInVain};
pub use event::Event;
pub use exit::{Clocks, Exit, ExitClass, ExitReason, LimitHit};
pub use hidden::{HIDDEN, Hidden, keys_in};
pub use intent::{IntentChoice, IntentClass, QuestionKind};
pub use message::{Message, Role, ToolCall};
pub use model::{FinishReason, ModelReply, ModelRequest, OutputShape, ToolRole, ToolSpec, tokens_of_bytes};
pub use record::{Citation, Fact, Handoff, Hit, Locator, Piece, Source, Span};
pub use status::{ReportOutcome, RunStatus};
pub use step::{ScopePath, StepId};
pub use usage::{Fee, Meter, Spent, Usage};
pub use value::{Map, Value};
pub use written::{NotUndone, Undo, Written};
