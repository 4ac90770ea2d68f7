//! Texts in JSON as models write it: quotation marks, escapes, line breaks.

/// What had to be done to read a text.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) mended: Vec<&'static str>,
    pub(super) guessed: Vec<&'static str>,
}

/// The mark that ends what another one begins.
pub(super) fn closing(open: char) -> Option<char> {
    match open {
        '"' | '\'' | '`' => Some(open),
        '“' | '„' => Some('”'),
        '‘' => Some('’'),
        _ => None,
    }
}

/// Reads the text that begins with the quotation mark `open`, and says how many bytes it took.
pub(super) fn read(source: &str, open: char, notes: &mut Notes) -> (String, usize) {
    let close = closing(open).unwrap_or(open);
    if open != '"' {
        notes.mended.push("quotation marks");
    }
    let mut text = String::new();
    let mut at = open.len_utf8();
    while let Some(rest) = source.get(at..).filter(|rest| !rest.is_empty()) {
        let Some(c) = rest.chars().next() else { break };
        match c {
            '\\' => at += escape(rest, &mut text, notes),
            _ if c == close => {
                at += c.len_utf8();
                if ends(source.get(at..).unwrap_or_default(), close) {
                    return (text, at);
                }
                notes.guessed.push("quotation marks in texts");
                text.push(c);
            }
            _ => {
                if matches!(c, '\n' | '\r' | '\t') || (c as u32) < 0x20 {
                    notes.mended.push("line breaks in texts");
                }
                text.push(c);
                at += c.len_utf8();
            }
        }
    }
    notes.guessed.push("an end that was cut off");
    (text, source.len())
}

/// Whether a quotation mark with this behind it ends the text: what can stand behind a text does. A text on the next line
/// means that only the comma is missing.
fn ends(rest: &str, close: char) -> bool {
    let blanks = rest.len() - rest.trim_start().len();
    let has_break = rest.get(..blanks).is_some_and(|blanks| blanks.contains('\n'));
    match rest.trim_start().chars().next() {
        None | Some(',' | '}' | ']' | ':') => true,
        Some('/' | '#') => blanks > 0,
        Some(c) => has_break && (c == close || c == '`' || c == '<'),
    }
}

/// Reads an escape, and says how many bytes it took. What is none in JSON is text, the backslash included: `\_` of
/// Markdown, `\(` and `\upcite` of TeX.
fn escape(rest: &str, text: &mut String, notes: &mut Notes) -> usize {
    let plain = match rest.chars().nth(1) {
        Some('"') => Some('"'),
        Some('\\') => Some('\\'),
        Some('/') => Some('/'),
        Some('b') => Some('\u{8}'),
        Some('f') => Some('\u{c}'),
        Some('n') => Some('\n'),
        Some('r') => Some('\r'),
        Some('t') => Some('\t'),
        Some('\'') => {
            notes.mended.push("escapes");
            Some('\'')
        }
        _ => None,
    };
    if let Some(c) = plain {
        text.push(c);
        return 2;
    }
    let Some(high) = unit(rest) else {
        notes.mended.push("escapes");
        text.push('\\');
        return 1;
    };
    let low = rest.get(6..).and_then(unit).filter(|low| (0xdc00..0xe000).contains(low));
    match (char::from_u32(high), low) {
        (Some(c), _) => {
            text.push(c);
            6
        }
        (None, Some(low)) if high < 0xdc00 => {
            let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
            text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            12
        }
        (None, _) => {
            notes.mended.push("escapes");
            text.push(char::REPLACEMENT_CHARACTER);
            6
        }
    }
}

/// The number of a `\uXXXX` that a text begins with.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let is_hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
    is_hex.then(|| u32::from_str_radix(digits, 16).ok())?
}
