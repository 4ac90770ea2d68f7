//! Pages that stand in front of the page.
//!
//! Such a page speaks to its reader ("Please enable JavaScript"), or names a status and no more ("404 Not Found"). A page
//! that speaks of such pages does neither: "The server returned 404 Not Found for 12 of 40 rulings."

use crate::text::sentences::sentences;
use crate::text::words::{fold, words};

/// Words that such a page has at most.
const MOST_WORDS: usize = 90;
/// Share of its words in sentences that speak to the reader or name a status.
const SHARE: f64 = 0.5;
/// Statuses that it names at most: more are a list of them.
const MOST_STATUSES: usize = 2;
/// Words that may stand behind a status.
const BEHIND_STATUS: usize = 3;

/// A short text that asks for something before it shows the page, or says that there is no page. `count` is the number
/// of its words.
pub(super) fn is_wall(text: &str, count: usize) -> bool {
    if count == 0 || count > MOST_WORDS {
        return false;
    }
    let (mut is_any, mut statuses, mut of_wall) = (false, 0, 0);
    for range in sentences(text) {
        let words: Vec<String> = words(text.get(range).unwrap_or("")).map(|(_, word)| fold(word)).collect();
        let is_status = is_status(&words);
        let is_wall = asks(&words) || is_status;
        is_any |= is_wall;
        statuses += usize::from(is_status);
        of_wall += if is_wall || speaks_to_reader(&words) { words.len() } else { 0 };
    }
    is_any && statuses <= MOST_STATUSES && of_wall as f64 >= SHARE * count as f64
}

/// Whether a sentence asks its reader for something: it begins with that, or it says "please" or "you".
fn asks(sentence: &[String]) -> bool {
    ASKED.iter().filter_map(|phrase| halves(sentence, phrase)).any(|(before, behind)| {
        // "Users were asked to please log in" says what others were asked.
        let is_told =
            before.last().is_some_and(|word| matches!(word.as_str(), "to" | "said" | "says" | "asked"));
        let is_clause = before.len() <= 6 && matches!(before.first().map(String::as_str), Some("to"));
        before.is_empty()
            || before.last().is_some_and(|word| word == "please")
            || (is_clause && !is_told)
            || speaks_to_reader(before)
            || speaks_to_reader(behind)
            || OF_PAGE.iter().any(|page| before == *page)
    })
}

/// Whether a sentence names a status and no more: "Error 404 Not Found".
fn is_status(sentence: &[String]) -> bool {
    STATUS.iter().filter_map(|phrase| halves(sentence, phrase)).any(|(before, behind)| {
        let is_of_status = |word: &String| {
            matches!(word.as_str(), "http" | "error" | "status" | "code" | "sorry" | "oops")
                || word.bytes().all(|b| b.is_ascii_digit())
        };
        before.len() <= 3 && before.iter().all(is_of_status) && behind.len() <= BEHIND_STATUS
    }) || halves(sentence, "not found on this server").is_some()
}

fn speaks_to_reader(words: &[String]) -> bool {
    words.iter().any(|word| matches!(word.as_str(), "please" | "you" | "your" | "you're"))
}

/// What stands before and behind a phrase.
fn halves<'s>(sentence: &'s [String], phrase: &str) -> Option<(&'s [String], &'s [String])> {
    let phrase: Vec<&str> = phrase.split(' ').collect();
    let at = sentence.windows(phrase.len()).position(|part| part == phrase.as_slice())?;
    Some((sentence.get(..at)?, sentence.get(at + phrase.len()..)?))
}

/// What such a page asks for.
const ASKED: &[&str] = &[
    "accept cookies to",
    "are you a robot",
    "checking your browser",
    "complete the captcha",
    "create a free account to",
    "enable cookies",
    "enable javascript",
    "javascript is disabled",
    "javascript is required",
    "log in to continue",
    "log in to read",
    "not a robot",
    "please log in",
    "please login",
    "please sign in",
    "requires javascript",
    "sign in to continue",
    "sign in to read",
    "subscribe to continue",
    "subscribe to read",
    "turn on javascript",
    "unusual traffic",
    "verify you are human",
    "verifying you are human",
];

/// How such a page speaks of itself.
const OF_PAGE: &[&[&str]] = &[
    &["i'm"],
    &["i", "am"],
    &["the", "page"],
    &["the", "site"],
    &["this", "app"],
    &["this", "page"],
    &["this", "site"],
    &["this", "website"],
];

/// What it says instead of a page.
const STATUS: &[&str] = &[
    "404 not found",
    "403 forbidden",
    "access denied",
    "page not found",
    "subscribers only",
    "too many requests",
];
