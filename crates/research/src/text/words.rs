//! Words, their stems and the words that carry no content.

use std::collections::BTreeSet;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

/// A set of stems.
pub type Stems = BTreeSet<String>;

/// The words of a text with their byte offsets, in order; punctuation is left out, `U.S`, `3.4` and `don't` are one
/// word each, `price_per_vessel` is three.
pub fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.unicode_word_indices().flat_map(|(start, word)| {
        let mut at = start;
        let parts = word.split('_').map(move |part| {
            let found = (at, part);
            at += part.len() + 1;
            found
        });
        parts.filter(|(_, part)| !part.is_empty())
    })
}

/// A word in the form in which words are compared: lower case, without accents, possessive and ending.
pub fn stem(word: &str) -> String {
    let folded = fold(word);
    let bare = folded.strip_suffix("'s").unwrap_or(&folded).trim_matches('\'');
    if !bare.bytes().all(|b| b.is_ascii_alphabetic()) {
        return bare.replace('.', "");
    }
    let regular = IRREGULAR.binary_search_by_key(&bare, |(form, _)| form).map_or(bare, |i| IRREGULAR[i].1);
    Stemmer::create(Algorithm::English).stem(regular).into_owned()
}

/// Lower case, without accents, typographic apostrophes made plain.
pub fn fold(text: &str) -> String {
    text.nfkd()
        .filter(|c| !unicode_normalization::char::is_combining_mark(*c))
        .map(|c| if matches!(c, '’' | 'ʼ' | '‘') { '\'' } else { c })
        .flat_map(char::to_lowercase)
        .collect()
}

/// The stems of a text's content words: no stop words, no numbers.
pub fn content_stems(text: &str) -> Stems {
    content_words(text).map(|(_, word)| stem(word)).filter(|s| !s.is_empty()).collect()
}

/// The content words of a text with their offsets: no stop words, no numbers.
pub fn content_words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    words(text).filter(|(_, word)| !is_number(word) && !is_stop(word))
}

/// Whether a word starts with a digit and holds no letters.
pub fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_numeric()) && !word.chars().any(char::is_alphabetic)
}

/// Whether a character is of a script that puts no space between words: Han, kana, Thai, Lao, Myanmar and Khmer.
pub fn is_written_without_spaces(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// Whether a word carries no content of its own: articles, pronouns, prepositions, auxiliaries, question words.
pub fn is_stop(word: &str) -> bool {
    let folded = fold(word);
    let bare = folded.split('\'').next().unwrap_or("");
    STOP.binary_search(&bare).is_ok()
}

/// Whether a word says little by itself: it qualifies others (`main`, `total`) or is a light verb (`live`, `have`).
pub fn is_qualifier(stem: &str) -> bool {
    QUALIFIERS.binary_search(&stem).is_ok()
}

/// Irregular forms with their regular ones, in byte order.
const IRREGULAR: &[(&str, &str)] = &[
    ("began", "begin"),
    ("begun", "begin"),
    ("bought", "buy"),
    ("broke", "break"),
    ("broken", "break"),
    ("brought", "bring"),
    ("built", "build"),
    ("caught", "catch"),
    ("children", "child"),
    ("chose", "choose"),
    ("chosen", "choose"),
    ("drawn", "draw"),
    ("drew", "draw"),
    ("driven", "drive"),
    ("drove", "drive"),
    ("fallen", "fall"),
    ("fell", "fall"),
    ("felt", "feel"),
    ("fought", "fight"),
    ("gave", "give"),
    ("given", "give"),
    ("gone", "go"),
    ("got", "get"),
    ("grew", "grow"),
    ("grown", "grow"),
    ("heard", "hear"),
    ("held", "hold"),
    ("kept", "keep"),
    ("knew", "know"),
    ("known", "know"),
    ("led", "lead"),
    ("lent", "lend"),
    ("lost", "lose"),
    ("made", "make"),
    ("men", "man"),
    ("met", "meet"),
    ("paid", "pay"),
    ("ran", "run"),
    ("risen", "rise"),
    ("rose", "rise"),
    ("said", "say"),
    ("sang", "sing"),
    ("sent", "send"),
    ("sold", "sell"),
    ("sought", "seek"),
    ("spent", "spend"),
    ("spoke", "speak"),
    ("spoken", "speak"),
    ("stood", "stand"),
    ("taken", "take"),
    ("taught", "teach"),
    ("thought", "think"),
    ("threw", "throw"),
    ("thrown", "throw"),
    ("told", "tell"),
    ("took", "take"),
    ("understood", "understand"),
    ("went", "go"),
    ("withdrawn", "withdraw"),
    ("withdrew", "withdraw"),
    ("women", "woman"),
    ("won", "win"),
    ("worn", "wear"),
    ("written", "write"),
    ("wrote", "write"),
];

/// In byte order.
const STOP: &[&str] = &[
    "a", "about", "above", "across", "after", "again", "against", "all", "along", "also", "although", "am",
    "among", "an", "and", "any", "are", "aren", "as", "at", "be", "because", "been", "before", "being",
    "below", "between", "both", "but", "by", "can", "could", "couldn", "did", "didn", "do", "does", "doesn",
    "doing", "don", "down", "during", "each", "either", "etc", "few", "for", "from", "further", "had", "has",
    "have", "having", "he", "her", "here", "hers", "him", "his", "how", "i", "if", "in", "into", "is", "isn",
    "it", "its", "itself", "just", "let", "ll", "may", "me", "might", "more", "most", "much", "must", "my",
    "neither", "no", "nor", "not", "of", "off", "on", "once", "only", "onto", "or", "other", "our", "out",
    "over", "own", "per", "please", "s", "same", "shall", "she", "should", "since", "so", "some", "such",
    "t", "than", "that", "the", "their", "theirs", "them", "then", "there", "these", "they", "this", "those",
    "through", "to", "too", "under", "until", "up", "upon", "us", "ve", "versus", "very", "via", "vs", "was",
    "wasn", "we", "were", "weren", "what", "whatever", "when", "where", "whether", "which", "while", "who",
    "whom", "whose", "why", "will", "with", "within", "without", "won", "would", "you", "your", "yours",
];

/// Stems, in byte order.
const QUALIFIERS: &[&str] = &[
    "actual", "avail", "averag", "becom", "biggest", "call", "chief", "come", "current", "data", "detail",
    "exact", "exist", "fact", "figur", "general", "get", "give", "go", "greatest", "happen", "highest",
    "includ", "inform", "key", "know", "largest", "latest", "level", "lie", "like", "live", "look", "lowest",
    "main", "major", "mean", "name", "need", "new", "newest", "number", "occur", "offici", "overal",
    "precis", "present", "primari", "princip", "recent", "relev", "smallest", "statist", "sum", "take",
    "text", "today", "top", "total", "valu", "want",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_in_order() {
        assert!(STOP.windows(2).all(|w| w[0] < w[1]));
        assert!(QUALIFIERS.windows(2).all(|w| w[0] < w[1]));
        assert!(IRREGULAR.windows(2).all(|w| w[0].0 < w[1].0));
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for (a, b) in [
            ("Exports", "export"),
            ("languages", "Language"),
            ("Bogotá", "bogota"),
            ("U.S.", "us"),
            ("company’s", "company"),
            ("caused", "causes"),
            ("ＡＢＣ", "abc"),
            ("chosen", "chooses"),
        ] {
            assert_eq!(stem(a), stem(b), "{a} {b}");
        }
        assert_ne!(stem("Niger"), stem("Nigeria"));
    }

    #[test]
    fn content_leaves_function_words_and_numbers_out() {
        let stems = content_stems("What was the population of Chile in 2,024?");
        assert_eq!(stems.into_iter().collect::<Vec<_>>(), ["chile", "popul"]);
        assert_eq!(content_stems("东京人口").len(), 4);
        assert!(content_stems("").is_empty());
        let parts: Vec<_> = words("a price_per_vessel_ x").collect();
        assert_eq!(parts, [(0, "a"), (2, "price"), (8, "per"), (12, "vessel"), (20, "x")]);
    }
}
