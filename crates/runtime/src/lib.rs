//! The driver: what stands between Machines and the world.
//!
//! It commits entries, applies them, and carries out the effects that follow. Every entry is durable in the
//! [`Store`](deepgraph_store::Store) before a Machine reads it. One task owns all Machines of a run, so entries
//! are applied one after the other; the work (model calls, ops, waiting) is done by tasks beside it.
//!
//! | file | holds |
//! |---|---|
//! | `run` | starting, resuming and driving a run: the public face |
//! | `driver` | the loop: commit, apply, carry out, wait |
//! | `effects` | carrying out one effect |
//! | `tasks` | the work beside the loop, and what comes back |
//! | `slots` | run-wide caps, held by queueing |
//! | `resume` | Machines from journals |
//! | `progress` | what observers are told; the run's record |
//! | `persist` | channels that are kept between runs |
//! | `ops` | the ops that graphs can call |
//! | `ask` | questions to a person |

mod ask;
mod clock;
mod control;
mod driver;
mod effects;
mod error;
mod ops;
mod persist;
mod progress;
mod resume;
mod run;
mod slots;
mod tasks;

pub use ask::{Asker, Question, Unattended, read_answer};
pub use clock::{Clock, SystemClock};
pub use control::{Cancel, Canceller, Control};
pub use error::RunError;
pub use ops::{Op, Ops};
pub use progress::{Observer, Quiet, Told};
pub use resume::fold;
pub use run::{Ended, NewRun, Outcome, Runtime};
