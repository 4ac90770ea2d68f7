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
//! | `start`, `permit` | starting an instance and a super-step; asking the limits before each start |
//! | `begin`, `each` | beginning a step; a node that runs over a list |
//! | `turn`, `admission`, `approve` | the calls of one model turn: admission, hard counting, approval, queueing |
//! | `run`, `place` | what is running, and where a step stands in it |
//! | `settle`, `attempt` | what comes back: completions, failures, answers; further attempts |
//! | `join`, `calls`, `pen` | the end of a super-step: updates, answers, routes, in plan order |
//! | `waits` | nodes that wait for others: `after`, `defer` |
//! | `limits`, `act` | what is counted, up to what, and what then |
//! | `ledger`, `grant` | what was used, what is reserved, what a child is granted |
//! | `child` | what a driver does for a child, by what is there of it |
//! | `clock`, `timer` | wall, waiting and active time, and limits of time |
//! | `claim` | calls that write: claimed before they are made; outcomes that are not known |
//! | `undo` | the compensations of a run that was cancelled |
//! | `exit`, `outcome` | candidates, precedence, the `finally` stage, the end; what is handed up then |
//! | `channel`, `names` | state and reducers; what expressions can read |
//! | `request` | rendering a model request |
//! | `repair` | what a reply is taken for; the turn in which a model is shown what is wrong with its reply |
//! | `left`, `resumable`, `again` | what a run leaves, whether it can go on from there, and how it does |
//! | `edit` | state edited by hand, as a fork has it |

mod act;
mod admission;
mod again;
mod approve;
mod attempt;
mod begin;
mod calls;
mod channel;
mod child;
mod claim;
mod clock;
mod each;
mod edit;
mod exit;
mod fee;
mod fit;
mod grant;
mod join;
mod ledger;
mod left;
mod limits;
mod machine;
mod names;
mod outcome;
mod oversized;
mod pen;
mod permit;
mod place;
mod repair;
mod repeats;
mod request;
mod resumable;
mod room;
mod run;
mod settle;
mod shown;
mod start;
mod timer;
mod turn;
mod undo;
mod waits;
mod written;

pub use child::{Opening, opening};
pub use claim::{Claiming, WriteCall};
pub use fee::fee_reservation;
pub use fit::Fitted;
pub use ledger::{Charged, LedgerView};
pub use limits::LimitView;
pub use machine::{Machine, Phase, date_of};
pub use resumable::{NotResumable, check_resume};
pub use room::CallRoom;
