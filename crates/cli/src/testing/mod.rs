//! Many cases, played and told of: what `deepgraph test` is made of.

pub mod error;
pub mod interrupt;
pub mod junit;
pub mod leftover;
pub mod output;
pub mod parallel;
pub mod review;
pub mod select;
pub mod tell;

use std::time::Duration;

use deepgraph_testkit::suite::Outcome;

/// What came of a case, and how long it took.
#[derive(Clone, Debug)]
pub struct Timed {
    /// What came of it.
    pub outcome: Outcome,
    /// How long it took to read, play and compare.
    pub took: Duration,
}

/// Whether this is a build of a server that tests what others wrote: nobody reviews there. The variable `CI` is set to
/// anything but nothing, `0` and `false`.
pub fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| !["", "0", "false"].contains(&&*value.to_lowercase()))
}
