//! Forms of what a command prints.

use clap::ValueEnum;

/// For people, or for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// For people to read.
    Text,
    /// One JSON document.
    Json,
}
