//! Plain text analysis: words and stems, figures, sentences and statements, near-duplicates.
//!
//! Ranges are byte ranges of the text that was given, always on character boundaries.

pub mod attached;
pub mod blocks;
pub mod figures;
pub mod sentences;
pub mod similar;
pub mod statements;
pub mod synonyms;
pub mod words;
