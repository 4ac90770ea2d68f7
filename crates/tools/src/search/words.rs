//! Words as the search compares them: lower case, without diacritics, stemmed.

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Words that say nothing about what is looked for. Sorted.
pub const STOP_WORDS: [&str; 108] = [
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being",
    "between", "both", "but", "by", "can", "compare", "compared", "could", "did", "do", "does", "each",
    "either", "else", "every", "find", "for", "from", "get", "give", "had", "has", "have", "he", "her",
    "his", "how", "i", "if", "in", "into", "is", "it", "its", "list", "many", "me", "more", "most", "much",
    "my", "nor", "not", "of", "on", "or", "other", "our", "over", "per", "please", "s", "same", "she",
    "should", "show", "so", "some", "such", "t", "tell", "than", "that", "the", "their", "them", "then",
    "there", "these", "they", "this", "those", "through", "to", "too", "under", "versus", "very", "vs",
    "was", "we", "were", "what", "when", "where", "whether", "which", "who", "whom", "whose", "why", "with",
    "would", "you",
];

/// Longest word that is looked at, in bytes. Longer ones are data, not words.
const LONGEST_WORD: usize = 100;

/// Whether a word says nothing about what is looked for.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Lower case without diacritics. What is ASCII and lower case already comes back as it is.
fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfd().filter(|char| !is_combining_mark(*char)).flat_map(char::to_lowercase).collect()
}

/// Calls back with every word of a text, folded but not stemmed.
pub fn for_each_word(text: &str, mut found: impl FnMut(&str)) {
    let folded = folded(text);
    for word in folded.split(|char: char| !char.is_alphanumeric()) {
        if !word.is_empty() && word.len() <= LONGEST_WORD {
            found(word);
        }
    }
}

/// The stem of a folded word.
pub fn stem(word: &str) -> String {
    if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        Stemmer::create(Algorithm::English).stem(word).into_owned()
    } else {
        word.into()
    }
}

/// The first two bytes of a word, which stemming never changes: words that differ there have different stems.
pub fn beginning(word: &str) -> [u8; 2] {
    let mut bytes = word.bytes();
    [bytes.next().unwrap_or(0), bytes.next().unwrap_or(0)]
}
