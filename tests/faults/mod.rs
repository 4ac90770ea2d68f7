//! What becomes of a run of the stock graph when a stage of it goes wrong: each stage with each fault, as one table.
//!
//! A [server](server) of chat completions answers a whole good run by script and injects the faults; the run is driven as a
//! program would drive it, with the real client and the real ops over a few documents. [`table`] says how each cell is to
//! end, [`held`] what must hold in every run, and `snapshots/faults/` shows what was seen, a line a cell.

mod cell;
mod held;
mod limited;
mod matrix;
mod one_of_five;
mod server;
mod table;
mod world;
