//! The test kit as Rust programs use it.

mod builder;
mod from_run;
