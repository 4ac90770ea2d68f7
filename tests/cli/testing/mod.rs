//! `deepgraph test`.

mod ends;
mod files;
mod forms;
mod junit;
mod leftover;
mod names;
mod project;
mod snapshots;
