//! One command a file.

pub mod check;
pub mod draw;
pub mod init;
pub mod resume;
pub mod run;
pub mod runs;
pub mod show;
pub mod trace;
