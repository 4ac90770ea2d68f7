//! Whether a text can be read: structure that is found in noise is no gain (S1).
//!
//! A passage is judged as a whole by [`unreadable`], a statement in it by [`is_furniture`]. Every rule looks at shares
//! of the text, so that a page that speaks of encodings or of status codes, or quotes a line of markup, is not taken for
//! noise.

mod furniture;
mod markup;
mod wall;

use crate::text::blocks::lines;
use crate::text::words::{fold, words};

pub use furniture::{is_empty_field, is_furniture};
use markup::is_markup;
use wall::is_wall;

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
/// Lines from which a list can be a menu.
const MENU_LINES: usize = 6;
/// Words that a link of a menu has at most, in the mean.
const MENU_WORDS: f64 = 3.0;
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
