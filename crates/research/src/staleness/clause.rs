//! The clause behind the last comma that says who says it, or what it was before.

use super::frame::Frame;
use crate::text::words::{fold, words};

/// Begin a clause that names who says it.
const SAYS: &[&str] = &["according to ", "said ", "says "];

/// Begin a clause that names the figure that stood before.
const BEFORE: &[&str] = &["down from ", "instead of ", "not ", "rather than ", "up from "];

/// What stands behind the last comma.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Clause {
    /// Nothing that can be left out.
    None,
    /// Who says it, in lower case.
    Says(String),
    /// The figure that stood before, in one form.
    Before(String),
}

/// A statement without such a clause, and the clause.
pub(super) fn split(text: &str) -> (&str, Clause) {
    let Some((head, tail)) = text.rsplit_once(", ") else { return (text, Clause::None) };
    let folded = fold(tail.trim_end_matches(['.', '!', ' ']));
    let begins = |with: &[&str]| with.iter().find_map(|start| folded.strip_prefix(start).map(str::to_owned));
    let tail_figures: Vec<String> = Frame::of(tail).figures().map(str::to_owned).collect();
    if let (Some(who), []) = (begins(SAYS), tail_figures.as_slice()) {
        return (head, Clause::Says(who));
    }
    if let (Some(rest), [figure]) = (begins(BEFORE), tail_figures.as_slice()) {
        // "54 km, not the 62 km of its offer" is about two things.
        let head_words: Vec<String> = words(head).map(|(_, word)| fold(word)).collect();
        let is_same_thing = Frame::of(&rest).words().all(|word| head_words.iter().any(|known| known == word));
        if is_same_thing {
            return (head, Clause::Before(figure.clone()));
        }
    }
    (text, Clause::None)
}

/// Verbs of a heading that announces a change.
const CHANGES: &[&str] =
    &["changed", "corrected", "cut", "increased", "lowered", "raised", "reduced", "revised", "updated"];

/// Whether what stands before a colon only announces a change: "The yard raised its price: the A48 now costs …".
pub(super) fn announces(label: &str) -> bool {
    let folded: Vec<String> = words(label).map(|(_, word)| fold(word)).collect();
    folded.windows(2).any(|pair| match pair {
        [verb, whose] => CHANGES.contains(&verb.as_str()) && matches!(whose.as_str(), "its" | "their"),
        _ => false,
    }) && !folded
        .iter()
        .any(|word| matches!(word.as_str(), "if" | "unless" | "when" | "not" | "would" | "may"))
}
