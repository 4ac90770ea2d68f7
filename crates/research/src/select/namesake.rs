//! Names that hold one another: the Republic of the Congo is not the Democratic Republic of the Congo.

use std::collections::BTreeMap;

use super::candidate::{Candidate, Label};
use crate::question::Subject;
use crate::text::words::{Stems, content_words, fold, stem, words};

/// Words that make another name of a name.
const DISTINGUISH: &[&str] = &[
    "democratic",
    "people's",
    "north",
    "northern",
    "south",
    "southern",
    "east",
    "eastern",
    "west",
    "western",
    "equatorial",
    "new",
    "upper",
    "lower",
];

/// Words of the labels of a record's full name: "conventional long form", "official name".
const FULL: &[&str] = &["long form", "official name", "full name", "formal name"];

/// Whether a title or a sentence speaks of something of a longer name, though it holds the subject's words. Names of
/// one word ("Congo") may stand for any.
pub(super) fn is_namesake(subject: &Subject, candidate: &Candidate) -> bool {
    if !subject.is_name || subject.stems.len() < 2 {
        return false;
    }
    let (apart, rest): (Vec<&String>, Vec<&String>) =
        candidate.title.iter().partition(|s| distinguishes(s) && !subject.stems.contains(*s));
    let is_other_title = !apart.is_empty()
        && !rest.is_empty()
        && (rest.iter().all(|s| subject.stems.contains(*s))
            || subject.stems.iter().all(|s| candidate.title.contains(s)));
    is_other_title || (candidate.is_prose && is_part_of_longer_name(&subject.text, &candidate.value))
}

/// Whether a text has the name, and each time with a distinguishing word before it.
fn is_part_of_longer_name(name: &str, text: &str) -> bool {
    let (name, text) = (fold(name), fold(text));
    let mut found = text.match_indices(name.as_str()).peekable();
    let is_longer = |at: usize| {
        let last = text.get(..at).and_then(|before| words(before).last());
        last.is_some_and(|(_, word)| distinguishes(&stem(word)))
    };
    !name.is_empty() && found.peek().is_some() && found.all(|(at, _)| is_longer(at))
}

fn distinguishes(word: &str) -> bool {
    DISTINGUISH.iter().any(|d| stem(d) == word)
}

/// The full names that records give of themselves, by document.
pub(super) fn full_names<'a>(candidates: &[Candidate<'a>]) -> BTreeMap<&'a str, Vec<Label>> {
    let mut found: BTreeMap<&str, Vec<Label>> = BTreeMap::new();
    for candidate in candidates.iter().filter(|c| c.own_labels > 0) {
        let is_full = |label: &&Label| {
            let text = fold(&label.text).replace('_', " ");
            FULL.iter().any(|full| text.contains(full)) && !text.contains("local")
        };
        let label = candidate.path.last().filter(is_full);
        if label.is_some() && content_words(&candidate.value).count() <= LONGEST {
            found.entry(&candidate.passage.document).or_default().push(Label::new(&candidate.value));
        }
    }
    found
}

/// The longest full name, in content words.
const LONGEST: usize = 10;

/// Whether a document says that the subject's name is its own in full.
pub(super) fn is_full_name(subject: &Subject, names: &[Stems]) -> bool {
    subject.is_name && names.contains(&subject.stems)
}
