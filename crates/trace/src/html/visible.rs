//! Characters that can not be seen, made visible.
//!
//! Texts of a trace come from documents, models and tools. Some characters in them could change what a reader sees
//! although every markup character is escaped: controls, marks that turn the writing direction, tags that no font
//! shows. The finished page is gone through once, so that no text can be forgotten on the way.

use std::fmt::Write as _;

/// The page without characters that can not be seen. Line breaks become `\n`, tabs stay.
///
/// Controls stand as their pictures (`␀`), the rest as `⟨U+202E⟩`.
pub(super) fn visible(page: String) -> String {
    if page.chars().all(is_plain) {
        return page;
    }
    let mut out = String::with_capacity(page.len() + 64);
    let mut chars = page.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            c if is_plain(c) => out.push(c),
            '\0'..='\u{1f}' => out.push(picture(c)),
            '\u{7f}' => out.push('␡'),
            c => {
                // Writing to a string can not fail.
                let _ = write!(out, "⟨U+{:04X}⟩", u32::from(c));
            }
        }
    }
    out
}

/// The picture of a control character: U+2400 and its number.
fn picture(c: char) -> char {
    char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}')
}

fn is_plain(c: char) -> bool {
    match c {
        '\n' | '\t' => true,
        c if c.is_control() => false,
        // Direction marks, embeddings, overrides and isolates.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
        // Separators that some programs take for line breaks, and the byte order mark.
        '\u{2028}' | '\u{2029}' | '\u{feff}' => false,
        // Fillers without width that hold words apart without being seen.
        '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{fff9}'..='\u{fffb}' => false,
        // Tags: a whole alphabet that no font shows.
        '\u{e0000}'..='\u{e007f}' => false,
        // No characters at all.
        '\u{fdd0}'..='\u{fdef}' => false,
        c => u32::from(c) & 0xfffe != 0xfffe,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_not_be_seen_is_shown() {
        let shown = |text: &str| visible(text.to_owned());
        assert_eq!(shown("a\0b\u{1b}[2Jc\u{7f}\u{9b}"), "a␀b␛[2Jc␡⟨U+009B⟩");
        assert_eq!(shown("\u{202e}abc\u{2069}\u{200f}"), "⟨U+202E⟩abc⟨U+2069⟩⟨U+200F⟩");
        assert_eq!(shown("\u{e0041}\u{fffe}\u{1ffff}\u{fdd0}"), "⟨U+E0041⟩⟨U+FFFE⟩⟨U+1FFFF⟩⟨U+FDD0⟩");
        assert_eq!(shown("a\r\nb\rc\n\td"), "a\nb␍c\n\td");
    }

    #[test]
    fn writing_of_all_kinds_stays_as_it_is() {
        // The joiner between two of these is part of how they are written.
        let text = "Grüße, שלום, 日本語, क्‍ष, 👩‍🔬, 1\u{a0}000, soft\u{ad}hyphen \u{fffd}";
        assert_eq!(visible(text.to_owned()), text);
    }
}
