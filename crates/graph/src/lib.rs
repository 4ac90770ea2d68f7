//! The graph language of deepgraph.
//!
//! A graph file (YAML or JSON) is read into a positioned tree, checked, and compiled to a [`Bundle`]: an
//! immutable, indexed plan of the graph and all graphs below it, which the engine runs and the drawings show.
//! All mistakes of a file are found in one pass and reported with file, line, column and code.
//!
//! This crate does no I/O: files come through [`Files`].

mod expr;
mod plan;
mod types;

pub use expr::{EvalError, Expr, Names, Programs, Text, ValueExpr};
pub use plan::*;
pub use types::{Field, Mismatch, RecordType, Type};
