//! What research consists of, as pure functions: passages and facts of sources, handoffs, report drafts without
//! a model, and the citation step.
//!
//! Nothing here reads a clock, a file or the network; the same input gives the same output.

pub mod assemble;
pub mod canonical;
pub mod cite;
pub mod facts;
pub mod gain;
pub mod handoff;
pub mod intent;
pub mod join;
pub mod marks;
pub mod near;
pub mod ops;
pub mod passage;
pub mod question;
pub mod readable;
mod said;
pub mod select;
mod staleness;
pub mod text;
pub mod unsearched;
