//! Where two long lines differ.

use similar::{ChangeTag, TextDiff};

/// A region that differs: the words before and after. Either can be "".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Byte where it begins in the text before.
    pub before_at: usize,
    /// Its words before.
    pub before: String,
    /// Byte where it begins in the text after.
    pub after_at: usize,
    /// Its words after.
    pub after: String,
}

/// Words of a middle that are compared one by one; a longer one is one region.
const MOST_WORDS: usize = 3_000;
/// Regions with no more than so many equal bytes between them are one.
const JOINED: usize = 12;

/// The regions in which two texts differ, by words, in order.
pub fn regions(before: &str, after: &str) -> Vec<Region> {
    if before == after {
        return Vec::new();
    }
    let (ones, others) = (words(before), words(after));
    let same = |(a, b): &(&&str, &&str)| a == b;
    let start = ones.iter().zip(&others).take_while(same).count();
    let (one, other) = (ones.get(start..).unwrap_or_default(), others.get(start..).unwrap_or_default());
    let end = one.iter().rev().zip(other.iter().rev()).take_while(same).count();
    let one = one.get(..one.len() - end).unwrap_or_default();
    let other = other.get(..other.len() - end).unwrap_or_default();
    let start = ones.iter().take(start).map(|word| word.len()).sum();
    if one.len().max(other.len()) > MOST_WORDS {
        let (before, after) = (one.concat(), other.concat());
        return vec![Region { before_at: start, before, after_at: start, after }];
    }
    let (mut before_at, mut after_at) = (start, start);
    let mut regions: Vec<Region> = Vec::new();
    let mut equal = String::new();
    for change in TextDiff::from_slices(one, other).iter_all_changes() {
        let word = change.value();
        match change.tag() {
            ChangeTag::Equal => equal.push_str(word),
            tag => {
                let is_new = regions.is_empty() || equal.len() > JOINED;
                if is_new {
                    let (before, after) = (String::new(), String::new());
                    regions.push(Region { before_at, before, after_at, after });
                }
                if let Some(region) = regions.last_mut() {
                    if !is_new {
                        region.before.push_str(&equal);
                        region.after.push_str(&equal);
                    }
                    let side = if tag == ChangeTag::Delete { &mut region.before } else { &mut region.after };
                    side.push_str(word);
                }
                equal.clear();
            }
        }
        before_at += if change.tag() == ChangeTag::Insert { 0 } else { word.len() };
        after_at += if change.tag() == ChangeTag::Delete { 0 } else { word.len() };
    }
    regions
}

/// A text cut into words, white space, line breaks as JSON writes them, and other single characters.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let kind = kind(first);
        let end = match kind {
            Character::Escape => rest.char_indices().nth(2).map_or(rest.len(), |(at, _)| at),
            Character::Other => first.len_utf8(),
            Character::Word | Character::Space => rest.find(|c| self::kind(c) != kind).unwrap_or(rest.len()),
        };
        let (word, after) = rest.split_at(end);
        words.push(word);
        rest = after;
    }
    words
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Character {
    Word,
    Space,
    Escape,
    Other,
}

fn kind(c: char) -> Character {
    match c {
        '_' | '.' | '-' | '\'' => Character::Word,
        '\\' => Character::Escape,
        c if c.is_alphanumeric() => Character::Word,
        c if c.is_whitespace() => Character::Space,
        _ => Character::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(one: &str, other: &str) -> Vec<(String, String)> {
        let trimmed = |text: &str| text.trim().to_owned();
        regions(one, other).iter().map(|r| (trimmed(&r.before), trimmed(&r.after))).collect()
    }

    fn pair(one: &str, other: &str) -> (String, String) {
        (one.to_owned(), other.to_owned())
    }

    #[test]
    fn a_changed_word_is_a_region() {
        assert_eq!(found("the old tower is high", "the new tower is high"), [pair("old", "new")]);
        assert_eq!(found(r#"{a: "x\nold"}"#, r#"{a: "x\nnew"}"#), [pair("old", "new")]);
        assert_eq!(found("0.02", "0.05"), [pair("0.02", "0.05")]);
        assert_eq!(found("one two", "one more two"), [pair("", "more")]);
        assert!(found("same", "same").is_empty());
    }

    #[test]
    fn words_far_apart_are_two_regions() {
        let (one, other) = ("old tower of the good people, sixty", "new tower of the good people, ninety");
        assert_eq!(found(one, other), [pair("old", "new"), pair("sixty", "ninety")]);
    }

    #[test]
    fn regions_are_where_they_say() {
        for (one, other) in
            [("a a a", "a a"), ("", "x"), ("ä ö ü", "ä ü"), ("x ", "x  "), ("a b\\", "a b \\c")]
        {
            let found = regions(one, other);
            assert!(!found.is_empty(), "{one:?} {other:?}");
            for region in found {
                assert!(one[region.before_at..].starts_with(&region.before), "{one:?} {other:?}");
                assert!(other[region.after_at..].starts_with(&region.after), "{one:?} {other:?}");
            }
        }
    }
}
