//! The style sheet of a picture: what it looks like on light and on dark pages.
//!
//! Every rule is bound to the class of the picture, since the page that a picture stands in may have classes of
//! the same names. Colours are written out for both schemes: not every program that shows SVG knows variables.

/// The style sheet.
pub(super) const SHEET: &str = include_str!("style.css");
