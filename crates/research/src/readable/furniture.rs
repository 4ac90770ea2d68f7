//! Statements that belong to the page, not to what it says.

use crate::text::figures::{self, Amount};
use crate::text::words::{fold, words};

/// Share of a line's words that make it a link.
const OF_LINKS: f64 = 0.6;
/// The longest line that can be the date of a page, in bytes.
const LONGEST_DATE_LINE: usize = 200;
/// The longest value that can say that there is none, in bytes.
const LONGEST_NOTHING: usize = 40;

/// Whether a statement without labels belongs to the page, not to what the page says: links to other pages, the date of
/// the last change, nothing at all. `value` is what stands behind its labels.
pub fn is_furniture(line: &str, value: &str) -> bool {
    is_empty_field(line, value) || is_link(line)
}

/// Whether a field with a label says nothing: there is no value, or it is the date of the page. `Legal status: in use` is
/// no link, whatever its words.
pub fn is_empty_field(line: &str, value: &str) -> bool {
    is_nothing(value) || is_date_line(line)
}

/// A value that says that there is none: `n/a`, `—`, `..`. `✓` and `+` say something, and `Na` is sodium.
fn is_nothing(value: &str) -> bool {
    let is_plain_sign = |c: char| {
        c.is_whitespace()
            || (c.is_ascii_punctuation() && c != '+')
            || matches!(c, '–' | '—' | '−' | '…' | '·' | '•' | '›')
    };
    if value.chars().all(is_plain_sign) {
        return true;
    }
    let bare = value.trim().trim_matches(|c: char| matches!(c, '*' | '_' | '`' | '(' | ')' | '.'));
    value.len() <= LONGEST_NOTHING
        && (bare == "NaN"
            || matches!(fold(bare).as_str(), "n/a" | "n.a" | "null" | "tbd" | "tba" | "undefined"))
}

/// When the page was changed or fetched, and nothing else. A date without such a word is the date of something.
fn is_date_line(line: &str) -> bool {
    if line.len() > LONGEST_DATE_LINE {
        return false;
    }
    let figures = figures::find(line);
    let is_date = |f: &figures::Figure| matches!(f.amount, Amount::Date { .. }) || f.year().is_some();
    let inside = |at: usize| figures.iter().any(|f| f.at <= at && at < f.end());
    let beside: Vec<String> = words(line)
        .filter(|(at, word)| !inside(*at) && !word.starts_with(|c: char| c.is_ascii_digit()))
        .map(|(_, word)| fold(word))
        .collect();
    figures.iter().any(is_date)
        && figures.iter().all(|figure| is_date(figure) || figure.len <= 2)
        && beside.iter().any(|word| DONE.contains(&word.as_str()))
        && beside.iter().all(|word| CHANGED.contains(&word.as_str()))
}

/// Whether a line without figures is made of the words of links, nearly all of it, and is no sentence.
fn is_link(line: &str) -> bool {
    let (mut all, mut of_links) = (0_usize, 0_usize);
    for (_, word) in words(line) {
        let word = fold(word);
        if VERBS.contains(&word.as_str()) {
            return false;
        }
        all += 1;
        of_links += usize::from(LINKS.contains(&word.as_str()));
    }
    let is_sentence = all > 2 && line.trim_end().ends_with('.');
    all > 0 && !is_sentence && of_links as f64 >= OF_LINKS * all as f64 && figures::find(line).is_empty()
}

/// Words of sentences that links are without.
const VERBS: &[&str] = &["are", "be", "been", "had", "has", "have", "is", "was", "were", "will"];

/// Words of the links that stand on every page of a site.
const LINKS: &[&str] = &[
    "about",
    "accept",
    "account",
    "advertise",
    "all",
    "archive",
    "back",
    "blog",
    "careers",
    "cart",
    "close",
    "contact",
    "cookie",
    "cookies",
    "copyright",
    "email",
    "facebook",
    "faq",
    "feedback",
    "follow",
    "footer",
    "help",
    "home",
    "imprint",
    "instagram",
    "jobs",
    "legal",
    "linkedin",
    "log",
    "login",
    "logout",
    "main",
    "menu",
    "more",
    "navigation",
    "newsletter",
    "next",
    "notice",
    "our",
    "policy",
    "previous",
    "print",
    "privacy",
    "read",
    "register",
    "reserved",
    "rights",
    "rss",
    "search",
    "share",
    "sign",
    "sitemap",
    "skip",
    "subscribe",
    "terms",
    "to",
    "top",
    "tweet",
    "twitter",
    "up",
    "us",
    "youtube",
    "content",
    "page",
    "in",
    "of",
    "service",
    "use",
    "this",
];

/// Words that say what was done to a page, by someone or something that keeps it.
const DONE: &[&str] = &[
    "accessed",
    "archived",
    "changed",
    "checked",
    "copied",
    "edited",
    "fetched",
    "generated",
    "mirror",
    "mirrored",
    "modified",
    "page",
    "posted",
    "printed",
    "retrieved",
    "reviewed",
    "snapshot",
    "updated",
    "viewed",
    "visited",
];

/// Words that stand beside the date of a page.
const CHANGED: &[&str] = &[
    "a",
    "accessed",
    "am",
    "archived",
    "at",
    "changed",
    "checked",
    "copied",
    "created",
    "date",
    "edited",
    "fetched",
    "from",
    "generated",
    "gmt",
    "last",
    "mirror",
    "mirrored",
    "modified",
    "of",
    "on",
    "page",
    "pm",
    "posted",
    "printed",
    "published",
    "retrieved",
    "reviewed",
    "site",
    "snapshot",
    "the",
    "this",
    "time",
    "updated",
    "utc",
    "version",
    "viewed",
    "visited",
    "was",
];
