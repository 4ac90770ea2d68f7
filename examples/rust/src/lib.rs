//! deepgraph in Rust programs.
//!
//! | example | shows |
//! |---|---|
//! | `build_and_run` | a graph built in Rust, run over documents with the built-in model |
//! | `custom_op` | an op of one's own, and a tool that offers it to a model |
//! | `embed` | several runs at once with progress and cancellation, kept in SQLite and resumed |
//! | `look` | a graph file: drawn, with its worst case |
//!
//! `cargo run -p deepgraph-examples --bin build_and_run` runs the first. The page `docs/rust.md` tells the rest.

/// The programs of the page, which are compiled as tests of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust.md")]
pub struct Page;

/// The tests of the page on tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/testing.md")]
pub struct TestPage;
