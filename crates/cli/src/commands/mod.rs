//! One command a file.

pub mod bounds;
pub mod cancel;
pub mod case;
pub mod check;
pub mod config;
pub mod diff;
pub mod draw;
pub mod explain;
pub mod fork;
pub mod gc;
pub mod history;
pub mod init;
pub mod models;
pub mod resume;
pub mod run;
pub mod runs;
pub mod schema;
pub mod show;
pub mod simulate;
pub mod sources;
pub mod stats;
pub mod test;
pub mod trace;
pub mod tune;
pub mod whatif;
