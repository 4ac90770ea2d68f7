//! The graph language of deepgraph.
//!
//! A graph file (YAML or JSON) is read into a positioned tree, checked, and compiled to a [`Bundle`]: an
//! immutable, indexed plan of the graph and all graphs below it, which the engine runs and the drawings show.
//! All mistakes of a file are found in one pass and reported with file, line, column and code.
//!
//! This crate does no I/O: files come through [`Files`].

mod bounds;
pub mod build;
mod check;
mod config;
mod data;
mod diagnostic;
mod draw;
mod expr;
mod files;
mod gather;
mod infer;
mod input;
mod load;
mod nearest;
mod ops;
mod plan;
mod read;
mod reducer;
mod schema;
mod shape;
mod source;
#[cfg(test)]
mod testing;
mod types;
pub mod vocabulary;

/// Data in the order in which it is to be written, and its text as YAML that [`read_data`] reads back.
pub mod yaml {
    pub use crate::build::tree::{Mapping, Tree};
    pub use crate::build::yaml::write;
}

pub use bounds::{
    Bound, Bounds, Figure, LimitInForce, Measure, Named, RunBounds, ScopeBounds, bounds,
    bounds_with_fallbacks,
};
pub use data::read_data;
pub use diagnostic::{CODES, Diagnostic, Diagnostics, Severity, help_page};
pub use draw::{DrawError, Drawing, Passage, RouteOf, Taken, TakenGraph};
pub use expr::{Context, EvalError, Expr, Names, Programs, Text, ValueExpr, Wants};
pub use files::Files;
pub use load::{Loaded, load};
pub use ops::{Op, OpTable, ServerTool, ToolOrigin, USER_SERVERS};
pub use plan::*;
pub use schema::graph_schema;
pub use types::{Field, Mismatch, RecordType, Type};
