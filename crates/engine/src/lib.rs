//! The Machine: one graph instance as a synchronous, deterministic state machine.
//!
//! [`Machine::apply`] takes journal entries and puts out effects (things to do) and events (things to tell).
//! It has no clock, no randomness, no threads and no I/O: the same entries give the same state, whatever wrote
//! them. A run is a set of Machines, one per scope, driven from outside.
//!
//! Where to find what:
//!
//! | file | holds |
//! |---|---|
//! | `machine` | the Machine, and which entry goes where |
//! | `start` | starting an instance, a super-step, a node |
//! | `turn` | the calls of one model turn: admission, queueing, hard counting |
//! | `settle`, `attempt` | what comes back: completions, failures, answers; further attempts |
//! | `join`, `calls`, `pen` | the end of a super-step: updates, answers, routes, in plan order |
//! | `limits`, `act` | what is counted, up to what, and what then |
//! | `ledger`, `grant` | what was used, what is reserved, what a child is granted |
//! | `timer` | limits of time, and the clock that stands still while a person is asked |
//! | `exit` | candidates, precedence, the `finally` stage, the end |
//! | `channel`, `names` | state and reducers; what expressions can read |
//! | `request` | rendering a model request |

mod act;
mod attempt;
mod calls;
mod channel;
mod exit;
mod grant;
mod join;
mod ledger;
mod limits;
mod machine;
mod names;
mod pen;
mod request;
mod run;
mod settle;
mod start;
mod timer;
mod turn;

pub use limits::LimitView;
pub use machine::{Machine, Phase, date_of};
