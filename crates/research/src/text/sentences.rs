//! Sentences.

use std::ops::Range;

use super::blocks::{BlockKind, blocks, trimmed};
use super::words::fold;

/// The sentences of a text, in order. Headings, list items, table rows and lines of records are each at least one.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let blocks = blocks(text).into_iter().filter(|b| b.kind != BlockKind::RowRule);
    blocks.flat_map(|block| split(text, block.range)).collect()
}

/// The sentences of one block.
pub fn split(text: &str, block: Range<usize>) -> Vec<Range<usize>> {
    let content = &text[block.clone()];
    let mut found = Vec::new();
    let (mut start, mut end) = (0, 0);
    for (at, c) in content.char_indices() {
        if at < start || !is_end(c) {
            continue;
        }
        // Inside a run of ends and closers, that run is known.
        if at + c.len_utf8() > end {
            end = after_closers(content, at + c.len_utf8());
        }
        if is_boundary(content, start, at, c, end) {
            found.push(trimmed(text, block.start + start..block.start + end));
            start = end;
        }
    }
    found.push(trimmed(text, block.start + start..block.end));
    found.retain(|range| !range.is_empty());
    found
}

fn is_end(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…') || is_wide_end(c)
}

/// Ends after which no space is written.
fn is_wide_end(c: char) -> bool {
    matches!(c, '。' | '！' | '？' | '｡')
}

/// The byte after further ends, closing quotes, brackets and emphasis.
fn after_closers(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    let closes = |c: char| {
        is_end(c) || matches!(c, '"' | '\'' | '”' | '’' | '»' | ')' | ']' | '」' | '』' | '*' | '_')
    };
    at + rest.find(|c: char| !closes(c)).unwrap_or(rest.len())
}

/// Whether the sentence that began at `start` ends with the mark `c` at `at`, closers up to `end`.
fn is_boundary(text: &str, start: usize, at: usize, c: char, end: usize) -> bool {
    let rest = &text[end..];
    if rest.trim().is_empty() || is_wide_end(c) {
        return true;
    }
    if !rest.starts_with(char::is_whitespace) {
        return false;
    }
    let next = rest.trim_start();
    if next.starts_with(char::is_lowercase) {
        return false;
    }
    c != '.' || !is_abbreviation(&text[start..at], next)
}

/// Whether the dot after `before` belongs to an abbreviation within a sentence that `next` carries on.
fn is_abbreviation(before: &str, next: &str) -> bool {
    let word =
        before.rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '[' | '/' | '"')).next().unwrap_or("");
    let folded = fold(word);
    if BEFORE_MORE.binary_search(&folded.as_str()).is_ok() {
        return true;
    }
    let is_initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
    let is_dotted = word.contains('.') && word.chars().all(|c| c == '.' || c.is_alphabetic());
    let is_short = AT_EITHER_END.binary_search(&folded.as_str()).is_ok();
    (is_initial || is_dotted || is_short) && !starts_sentence(next)
}

/// Whether a text begins with a word that hardly ever follows an abbreviation within a sentence.
fn starts_sentence(text: &str) -> bool {
    let word = text.split(|c: char| !c.is_alphabetic()).next().unwrap_or("");
    STARTERS.binary_search(&word).is_ok()
}

/// Abbreviations that something always follows, in byte order.
const BEFORE_MORE: &[&str] = &[
    "adm", "approx", "art", "c", "ca", "capt", "cf", "ch", "col", "dr", "e.g", "ed", "eds", "fig", "figs",
    "gen", "gov", "hon", "i.e", "incl", "lt", "maj", "messrs", "mr", "mrs", "ms", "mt", "no", "nos", "op",
    "p", "pp", "pres", "prof", "rep", "rev", "sec", "sen", "sgt", "st", "viz", "vol", "vols", "vs",
];

/// Abbreviations that may end a sentence, in byte order.
const AT_EITHER_END: &[&str] = &[
    "al", "apr", "aug", "ave", "bros", "co", "corp", "dec", "dept", "est", "etc", "feb", "ft", "inc", "jan",
    "jr", "jul", "jun", "km", "ltd", "mar", "nov", "oct", "sep", "sept", "sq", "sr", "univ",
];

/// In byte order.
const STARTERS: &[&str] = &[
    "A", "After", "All", "Also", "An", "And", "Another", "As", "At", "Because", "Before", "Both", "But",
    "By", "Each", "For", "From", "He", "Her", "His", "How", "However", "I", "If", "In", "It", "Its", "Many",
    "Most", "No", "Not", "On", "Our", "She", "Since", "So", "Some", "That", "The", "Their", "Then", "There",
    "These", "They", "This", "Those", "To", "Today", "We", "What", "When", "Where", "Which", "While", "Who",
    "Why", "With", "You",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<&str> {
        sentences(text).into_iter().map(|r| &text[r]).collect()
    }

    #[test]
    fn lists_are_in_order() {
        for list in [BEFORE_MORE, AT_EITHER_END, STARTERS] {
            assert!(list.windows(2).all(|w| w[0] < w[1]));
        }
    }

    #[test]
    fn prose() {
        assert_eq!(of("One. Two! Three? Four"), ["One.", "Two!", "Three?", "Four"]);
        assert_eq!(
            of("He said \"Stop.\" Then (he left.) So."),
            ["He said \"Stop.\"", "Then (he left.)", "So."]
        );
        assert_eq!(of("Wait... what? Yes."), ["Wait... what?", "Yes."]);
        assert_eq!(of("これは一つ。これは二つ！終わり"), ["これは一つ。", "これは二つ！", "終わり"]);
    }

    #[test]
    fn dots_that_end_nothing() {
        for one in [
            "Dr. Lopez met Mr. J. Smith at 10 a.m. Monday.",
            "The U.S. Navy has e.g. Ohio.",
            "It grew 3.5 percent (2024 est.) in all.",
            "Real GDP: $31,900 (2024 est.).",
            "See no. 5 of vol. 3, pp. 4-5, approx. 20 km.",
            "Version 1.2.3 of example.com is out",
            "Acme Inc. Berlin",
        ] {
            assert_eq!(of(one), [one]);
        }
        assert_eq!(of("He lives in the U.S. The Navy does not.").len(), 2);
        assert_eq!(of("They sell fish, wine etc. They buy oil.").len(), 2);
    }

    #[test]
    fn lines_of_records_stand_alone() {
        assert_eq!(of("Area › total: 176,215 sq km\nArea › land: 175,015 sq km").len(), 2);
        assert_eq!(of("# Head\n- One. Two.\n- Three\n\n|a|b|\n|-|-|\n|1|2|").len(), 6);
    }

    #[test]
    fn wrapped_lines_are_joined() {
        let text = "The certificate of the gateway expired in the night of 14\nMarch. Nobody was told before the morning, which is why the\nshop was down for six hours. It was renewed.";
        assert_eq!(of(text).len(), 3);
    }

    #[test]
    fn no_text_breaks_it() {
        for text in ["", ".", "...", " . ", "。", "\u{301}.\u{301}A", "a.\u{2028}B", "\r\n\r\n"] {
            for range in sentences(text) {
                assert!(!text[range].is_empty());
            }
        }
    }
}
