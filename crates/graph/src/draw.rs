//! Drawings of a bundle.

mod mermaid;

pub use mermaid::mermaid;
