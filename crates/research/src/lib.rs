//! What research consists of, as pure functions: passages and facts of sources, handoffs, report drafts without
//! a model, and the citation step.
//!
//! Nothing here reads a clock, a file or the network; the same input gives the same output.

pub mod assemble;
pub mod cite;
pub mod facts;
pub mod handoff;
pub mod join;
pub mod marks;
pub mod ops;
pub mod passage;
pub mod question;
pub mod select;
pub mod text;
