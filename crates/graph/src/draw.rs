//! Drawings of a bundle: Mermaid, DOT and SVG, all from one picture.

mod dot;
mod mermaid;
mod picture;
mod svg;
mod taken;
#[cfg(test)]
mod tests;

pub use taken::{Passage, RouteOf, Taken, TakenGraph};

use self::picture::Picture;
use crate::Bundle;

/// A drawing of a bundle: each graph once, inside the graph that is the first to call it, with every way out.
///
/// The same bundle and run give the same text, byte for byte.
#[derive(Debug)]
pub struct Drawing(Picture);

/// Why a drawing can not be made.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum DrawError {
    /// The boxes and lines could not be placed.
    #[error(
        "the drawing can not be laid out ({0}); write it as dot or mermaid and let another program lay it out"
    )]
    Layout(String),
}

impl Drawing {
    /// The drawing of a bundle.
    pub fn of(bundle: &Bundle) -> Drawing {
        Drawing(Picture::of(bundle, None))
    }

    /// The drawing of a bundle with a run laid over it: what was taken stands out with how often, the rest is
    /// faded. `about` says which run it is.
    pub fn of_run(bundle: &Bundle, taken: &Taken, about: &str) -> Drawing {
        let mut picture = Picture::of(bundle, Some(taken));
        picture.about = about.to_owned();
        Drawing(picture)
    }

    /// As a Mermaid flowchart, which many Markdown viewers show as a picture.
    pub fn mermaid(&self) -> String {
        mermaid::write(&self.0)
    }

    /// As a DOT file for Graphviz: `dot -Tsvg`.
    pub fn dot(&self) -> String {
        dot::write(&self.0)
    }

    /// As an SVG picture that needs nothing else, for light and dark pages.
    ///
    /// # Errors
    ///
    /// [`DrawError::Layout`].
    pub fn svg(&self) -> Result<String, DrawError> {
        svg::write(&self.0)
    }
}

/// A text of one line and at most so many characters.
fn shortened(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    let start: String = line.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", start.trim_end())
}
