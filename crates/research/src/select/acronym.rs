//! Acronyms as subjects: by the initials of a title ("United Kingdom"), or by what a record says is its abbreviation
//! ("US or USA").

use std::collections::BTreeMap;

use super::candidate::Candidate;
use crate::text::words::{content_words, fold};

/// The longest acronym, in letters.
const LONGEST: usize = 6;

/// Labels of a record's abbreviations, as stems.
const LABELS: &[&str] = &["abbrevi", "acronym"];

/// Whether a name is nothing but an acronym: `USA`, `U.K.`.
pub fn is_acronym(text: &str) -> bool {
    let bare = without_dots(text);
    (2..=LONGEST).contains(&bare.len()) && bare.bytes().all(|b| b.is_ascii_uppercase())
}

/// The acronym as it is compared.
pub(super) fn without_dots(text: &str) -> String {
    text.trim().replace('.', "")
}

/// The initials of a title's content words that are written with a capital.
pub(super) fn initials(title: &str) -> String {
    let capitals =
        content_words(title).filter_map(|(_, word)| word.chars().next()).filter(|c| c.is_uppercase());
    capitals.collect()
}

/// The abbreviations that the records give of themselves, by document.
pub(super) fn abbreviations<'a>(candidates: &[Candidate<'a>]) -> BTreeMap<&'a str, Vec<String>> {
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for candidate in candidates {
        let label = candidate.path.last().filter(|_| candidate.own_labels > 0);
        if label.is_none_or(|label| !LABELS.iter().any(|l| label.stems.contains(*l))) {
            continue;
        }
        let names = candidate.value.split([',', ';', '/']).flat_map(|part| part.split(" or "));
        let names = names.map(without_dots).filter(|name| is_acronym(name));
        found.entry(&candidate.passage.document).or_default().extend(names);
    }
    found
}

/// Whether an acronym may stand for a name: its letters are the initials, or begin with them ("USA", "United States").
pub(crate) fn may_be(acronym: &str, name: &str) -> bool {
    let (acronym, initials) = (fold(&without_dots(acronym)), fold(&initials(name)));
    let sorted = |text: &str| {
        let mut letters: Vec<char> = text.chars().collect();
        letters.sort_unstable();
        letters
    };
    initials.len() >= 2 && (acronym.starts_with(&initials) || sorted(&acronym) == sorted(&initials))
}
