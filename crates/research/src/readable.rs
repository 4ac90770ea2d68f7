//! Whether a text can be read: structure that is found in noise is no gain (S1).
//!
//! A passage is judged as a whole by [`unreadable`], a statement in it by [`is_furniture`]. Every rule looks at shares
//! of the text, so that a page that speaks of encodings, or quotes a line of markup, is not taken for noise.

use crate::text::blocks::lines;
use crate::text::figures::{self, Amount};
use crate::text::words::{fold, words};

/// Why a text can not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// Bytes of one encoding read as another: `ZÃ¼rich`, `�`.
    Mojibake,
    /// Encoded bytes: base64, hexadecimal.
    Encoded,
    /// Markup, style sheets or program text.
    Markup,
    /// A list of links: a navigation menu.
    Menu,
    /// A page that stands in front of the page: log in, enable JavaScript, solve a puzzle, not found.
    Wall,
}

/// Share of words with a broken sequence from which a text is mojibake.
const BROKEN_WORDS: f64 = 0.08;
/// Length from which a run without spaces can be encoded bytes, in characters.
const ENCODED_RUN: usize = 40;
/// Share of such runs from which a text is encoded.
const ENCODED: f64 = 0.8;
/// Share of the signs of markup and programs among the characters that are no space from which a text is markup.
const MARKUP_SIGNS: f64 = 0.15;
/// Lines from which a list can be a menu.
const MENU_LINES: usize = 6;
/// Words that a link of a menu has at most, in the mean.
const MENU_WORDS: f64 = 3.0;
/// Words that a page in front of the page has at most.
const WALL_WORDS: usize = 90;
/// Share of a statement's words that make it furniture.
const FURNITURE: f64 = 0.6;

/// Why a passage can not be read; none where it can.
pub fn unreadable(text: &str) -> Option<Unreadable> {
    let count = words(text).count();
    if is_mojibake(text, count) {
        Some(Unreadable::Mojibake)
    } else if is_encoded(text) {
        Some(Unreadable::Encoded)
    } else if is_markup(text) {
        Some(Unreadable::Markup)
    } else if is_wall(text, count) {
        Some(Unreadable::Wall)
    } else if is_menu(text) {
        Some(Unreadable::Menu)
    } else {
        None
    }
}

/// Whether a statement belongs to the page, not to what the page says: links to other pages, the date of the last
/// change, an empty field. `value` is what stands behind its labels.
pub fn is_furniture(line: &str, value: &str) -> bool {
    is_nothing(value) || is_date_line(line) || is_made_of(line, LINKS)
}

/// A value that says that there is none: `n/a`, `—`, `..`.
fn is_nothing(value: &str) -> bool {
    let bare = value.trim().trim_matches(|c: char| matches!(c, '*' | '_' | '`' | '(' | ')' | '.'));
    !bare.chars().any(char::is_alphanumeric)
        || matches!(fold(bare).as_str(), "n/a" | "na" | "n.a" | "null" | "nan" | "tbd" | "tba" | "undefined")
}

/// When the page was made, changed or fetched, and nothing else.
fn is_date_line(line: &str) -> bool {
    let figures = figures::find(line);
    let is_time =
        |f: &figures::Figure| matches!(f.amount, Amount::Date { .. }) || f.year().is_some() || f.len <= 2;
    let has_date = figures.iter().any(|f| matches!(f.amount, Amount::Date { .. }) || f.year().is_some());
    let inside = |at: usize| figures.iter().any(|f| f.at <= at && at < f.end());
    let beside: Vec<String> = words(line)
        .filter(|(at, word)| !inside(*at) && !word.starts_with(|c: char| c.is_ascii_digit()))
        .map(|(_, word)| fold(word))
        .collect();
    has_date
        && figures.iter().all(is_time)
        && !beside.is_empty()
        && beside.iter().all(|word| CHANGED.contains(&word.as_str()))
}

/// Whether a text without figures is made of the words of a list, nearly all of it.
fn is_made_of(line: &str, list: &[&str]) -> bool {
    let (mut all, mut of_list) = (0_usize, 0_usize);
    for (_, word) in words(line) {
        all += 1;
        of_list += usize::from(list.contains(&fold(word).as_str()));
    }
    all > 0 && of_list as f64 >= FURNITURE * all as f64 && figures::find(line).is_empty()
}

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

/// Replacement characters and control characters, or what UTF-8 looks like when it is read as Latin-1.
fn is_mojibake(text: &str, words: usize) -> bool {
    let mut broken = 0_usize;
    let mut before = ' ';
    for c in text.chars() {
        let lone = c == '\u{fffd}' || (c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{c}'));
        // Lead bytes of UTF-8 as letters, behind them a continuation byte as Latin-1 or Windows-1252 has it.
        let pair = matches!(before, 'Ã' | 'Â' | 'â' | 'Ð' | 'Ñ' | 'ã' | 'å' | 'ï')
            && (matches!(c, '\u{80}'..='\u{bf}')
                || matches!(
                    c,
                    '€' | '™'
                        | 'œ'
                        | '‚'
                        | '„'
                        | '†'
                        | '‡'
                        | '‰'
                        | 'Š'
                        | '‹'
                        | 'Œ'
                        | 'Ž'
                        | 'š'
                        | '›'
                        | 'ž'
                        | 'Ÿ'
                        | 'ƒ'
                ));
        broken += usize::from(lone || pair);
        before = c;
    }
    broken >= 3 && broken as f64 > BROKEN_WORDS * words as f64
}

/// Long runs without spaces that hold digits and letters as encoded bytes do.
fn is_encoded(text: &str) -> bool {
    let mut all = 0;
    let mut encoded = 0;
    for run in text.split_whitespace() {
        let length = run.chars().count();
        all += length;
        let fits =
            run.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'-' | b'_'));
        let digits = run.bytes().filter(u8::is_ascii_digit).count();
        let is_code = fits && length >= ENCODED_RUN && digits * 20 >= length;
        encoded += if is_code { length } else { 0 };
    }
    encoded > 0 && encoded as f64 >= ENCODED * all as f64
}

/// The signs of tags, style sheets and programs. Those of Markdown are not among them.
fn is_markup(text: &str) -> bool {
    let visible = text.chars().filter(|c| !c.is_whitespace()).count();
    let signs = text
        .chars()
        .filter(|c| matches!(c, '<' | '>' | '{' | '}' | ';' | '=' | '\\' | '&' | '$' | '@'))
        .count();
    signs >= 10 && signs as f64 >= MARKUP_SIGNS * visible as f64
}

/// A short text that asks for something before it shows the page, or says that there is no page.
fn is_wall(text: &str, words: usize) -> bool {
    let folded = fold(text);
    let folded = folded.split_whitespace().collect::<Vec<_>>().join(" ");
    words <= WALL_WORDS && WALLS.iter().any(|wall| folded.contains(wall))
}

const WALLS: &[&str] = &[
    "enable javascript",
    "javascript is disabled",
    "javascript is required",
    "requires javascript",
    "turn on javascript",
    "please log in",
    "please login",
    "please sign in",
    "log in to continue",
    "sign in to continue",
    "log in to read",
    "sign in to read",
    "subscribe to continue",
    "subscribe to read",
    "subscribers only",
    "create a free account to",
    "access denied",
    "403 forbidden",
    "404 not found",
    "page not found",
    "are you a robot",
    "not a robot",
    "verify you are human",
    "verifying you are human",
    "complete the captcha",
    "checking your browser",
    "unusual traffic",
    "enable cookies",
    "accept cookies to",
    "too many requests",
];

/// Many short lines without a figure, a colon or the end of a sentence, among them the words of links.
fn is_menu(text: &str) -> bool {
    let mut entries = 0_usize;
    let mut count = 0_usize;
    let mut links = 0_usize;
    for range in lines(text) {
        let line = text.get(range).unwrap_or("");
        for entry in line.split(['|', '»', '·', '•']) {
            let entry = entry.trim().trim_start_matches(['-', '*', '+', ' ']);
            if entry.is_empty() {
                continue;
            }
            if entry.contains([':', '.', '?', '!', ';']) || entry.contains(|c: char| c.is_ascii_digit()) {
                return false;
            }
            entries += 1;
            count += words(entry).count();
            links += usize::from(words(entry).any(|(_, word)| NAVIGATION.contains(&fold(word).as_str())));
        }
    }
    entries >= MENU_LINES && count as f64 <= MENU_WORDS * entries as f64 && links >= 2
}

/// Words of links that stand in hardly any other list.
const NAVIGATION: &[&str] = &[
    "about",
    "careers",
    "contact",
    "cookies",
    "faq",
    "help",
    "home",
    "imprint",
    "login",
    "logout",
    "menu",
    "newsletter",
    "privacy",
    "register",
    "rss",
    "search",
    "sitemap",
    "subscribe",
    "terms",
];

#[cfg(test)]
mod tests;
