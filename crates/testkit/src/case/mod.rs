//! Declared cases: a graph, what goes in, what models, ops and people do, and what is expected, in one YAML file.
//!
//! [`Case::load`] reads a file and tells all its mistakes; [`Case::play`] plays it under the simulation driver and
//! tells what is not as the case says. `docs/cases.md` teaches the format.
//!
//! A case is played several times: as it stands, in other orders of completion, with a crash behind every entry of
//! its journals, and with every entry twice. What is expected must come, and the trace must be the same, byte for
//! byte, each time.

mod answer;
mod attempt;
mod build;
mod check;
pub(crate) mod difference;
mod expect;
mod file;
mod files;
mod fork;
mod inline;
mod input;
mod mistakes;
mod money;
mod named;
mod pattern;
mod play;
mod read;
pub(crate) mod request;
mod said;
mod script;
mod scripts;
mod seen;
mod servers;
mod tree;
pub mod words;
mod world;
mod write;

/// The longest file of a case or a graph that is read, in bytes.
pub(crate) const LONGEST: u64 = 1 << 20;

pub use build::{Answer, Answers, CaseBuilder};
pub use difference::Difference;
pub use file::Case;
pub use mistakes::Mistakes;
pub use play::Played;
pub use write::from_run;
