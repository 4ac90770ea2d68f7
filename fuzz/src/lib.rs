//! What the fuzz targets do with an input. The tests of the repository use the same code on inputs that were found.

pub mod expression;
pub mod graph_file;
pub mod journal;
pub mod mutate;
