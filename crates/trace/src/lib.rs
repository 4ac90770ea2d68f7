//! Folds of journals.
//!
//! A [`Trace`] is a run in canonical order: by scope, super-step, node and call, never by time. The same inputs
//! give the same trace, byte for byte, whatever finished first. Times and run ids are kept apart from the rest,
//! so that a [`redacted`](Trace::redact) trace has none of them.
//!
//! [`Trace::to_text`] is for people and snapshots, [`Trace::to_json`] holds every step's whole input and output,
//! but for what only graphs give to ops: it is there by size and hash.
//! [`diff::of_texts`] tells what two of them did differently.

mod charges;
pub mod churn;
pub mod diff;
pub mod figures;
mod fold;
mod given;
pub mod history;
mod html;
mod in_force;
pub mod journal;
mod json_words;
pub mod recording;
mod redact;
pub mod refold;
mod request_hash;
pub mod sources;
pub mod spending;
pub mod stats;
mod taken;
mod text;
mod tree;

pub use fold::{FoldError, Row, date_of, fold};
pub use journal::{Journal, JournalError, JournalRow};
pub use recording::Recording;
pub use request_hash::request_hash;
pub use taken::taken;
pub use text::Detail;
pub use tree::{
    Attempt, Earlier, Gain, LedgerPoint, LimitInForce, Node, NodeKind, Outcome, ScopeTrace, Sending,
    SuperStep, Trace,
};
