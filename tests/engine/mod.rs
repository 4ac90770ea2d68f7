//! The Machine, driven by the simulation: no tokio, no clock, no I/O.

mod counting;
mod exits;
mod limit_table;
mod limits;
mod order;
mod people;
mod schedules;
pub mod supervised;
mod traces;
mod writes;
