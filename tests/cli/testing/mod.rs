//! `deepgraph test`.

mod forms;
mod leftover;
mod project;
mod snapshots;
