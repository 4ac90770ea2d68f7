//! What is told while a run is driven: committed steps only.

mod json;
mod live;
mod plain;
mod preview;
mod scopes;
mod words;

use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_runtime::{Observer, Told};

pub use json::{all_emitted, emit};

use crate::screen::Screen;

/// How progress is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Lines for people, on standard error.
    Lines,
    /// JSON objects, one a line, on standard output.
    Json,
    /// Not at all.
    Quiet,
}

/// The observer for a format: on a terminal, a line for every graph instance at work; else a line an event.
pub fn observer(format: Format, bundle: Arc<Bundle>, screen: &Screen) -> Box<dyn Observer> {
    match (format, screen.bars()) {
        (Format::Lines, Some(bars)) => Box::new(live::Live::new(bundle, screen.clone(), bars.clone())),
        (Format::Lines, None) => Box::new(plain::Plain::new(bundle, screen.clone())),
        (Format::Json, _) => Box::new(json::Json::new(bundle)),
        (Format::Quiet, _) => Box::new(Silent),
    }
}

struct Silent;

impl Observer for Silent {
    fn told(&mut self, _: &Told) {}
}
