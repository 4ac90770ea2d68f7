//! The user's own documents as a source: a folder or file of Markdown, text, HTML, JSON, CSV and PDF, indexed once
//! and kept up to date, with the two ops `search` and `read` over it.
//!
//! Every passage keeps its document, title, section and the bytes of the document that it was taken from, so that
//! what a report cites can be found again in the file itself.

mod corpus;
mod error;
mod extract;
mod files;
mod index;
mod mapped;
#[cfg(feature = "mcp")]
pub mod mcp;
mod ops;
mod passage;
mod read;
mod report;
mod search;
#[cfg(test)]
mod testing;
#[cfg(feature = "web")]
pub mod web;

pub use corpus::Corpus;
pub use error::CorpusError;
pub use ops::{read_op, search_op};
pub use read::Document;
pub use report::{IndexProgress, IndexReport, MAX_DOCUMENT_BYTES, SkipReason, Skipped};
