//! Many cases with their snapshots: found, named, played, accepted.
//!
//! [`find`] lists the case files below paths, [`distinct`] makes sure that no two share a snapshot, [`CaseFile::play`]
//! plays one and compares its trace with its snapshot, [`unreferenced`] lists snapshots that belong to no case any more.
//! Snapshots are files of the crate `insta`, at `snapshots/GRAPH/CASE.snap` in the project's folder; a trace that is not
//! the accepted one is written beside it, as `CASE.snap.new`, so that `cargo insta review` finds it too, where the folder
//! is in a Cargo package.
//!
//! There is no clock here and there are no threads: whoever plays many cases measures, and shares them out.

mod differs;
mod find;
mod graph_name;
mod kind;
mod name;
mod outcome;
mod run;
mod snapshot;
mod unreferenced;

pub use find::{CaseFile, FindError, Found, LeftOut, distinct, find};
pub use kind::FileKind;
pub use name::CaseName;
pub use outcome::{Outcome, Verdict};
pub use run::{Writes, is_ci};
pub use snapshot::{Snapshot, SnapshotError};
pub use unreferenced::unreferenced;
