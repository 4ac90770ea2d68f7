//! A text in plain characters, before its figures are looked for.

use unicode_normalization::UnicodeNormalization;

/// The text in one form of Unicode (NFC), with full-width letters, digits and signs, digits of other scripts and
/// typographic spaces, hyphens and quotes as their plain forms, without footnote marks (`[1]`), with commas between
/// digits that are grouped by spaces (`3 449 444`).
pub(crate) fn plain(text: &str) -> String {
    plain_without(text, |_| true)
}

/// The same, with numbers in brackets where they may be indices or values (`a[1]`, `range: [5]`): only those behind the
/// end of a sentence or a part, or behind a figure, are footnote marks.
pub(super) fn plain_but_indices(text: &str) -> String {
    plain_without(text, |before| {
        let close = before.trim_end_matches(' ');
        let is_end = close.ends_with(['.', '!', '?', ';', ',', '"', '”', '»', '。', '%']);
        is_end || (close.len() == before.len() && before.ends_with(|c: char| c.is_ascii_digit()))
    })
}

fn plain_without(text: &str, is_note_behind: impl Fn(&str) -> bool) -> String {
    let text: String = text.nfc().map(plain_char).collect();
    with_group_commas(&without_footnotes(&text, is_note_behind))
}

fn plain_char(c: char) -> char {
    let code = c as u32;
    let digit = |zero: u32| char::from_u32('0' as u32 + code - zero).unwrap_or(c);
    match code {
        // Full-width forms stand in the order of ASCII.
        0xFF01..=0xFF5E => char::from_u32(code - 0xFF01 + 0x21).unwrap_or(c),
        0x0660..=0x0669 => digit(0x0660),
        0x06F0..=0x06F9 => digit(0x06F0),
        0x0966..=0x096F => digit(0x0966),
        0x066B => '.',
        0x066C => ',',
        0xFE6A => '%',
        0x2010 | 0x2011 => '-',
        0x2018 | 0x2019 | 0x02BC => '\'',
        0x2007 | 0x3000 => ' ',
        _ => c,
    }
}

/// Without numbers of up to three digits in brackets, where what stands before them lets them be footnote marks.
fn without_footnotes(text: &str, is_note_behind: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let (before, from) = rest.split_at(open);
        out.push_str(before);
        let inner = from.get(1..).unwrap_or("");
        let digits = inner.bytes().take(4).take_while(u8::is_ascii_digit).count();
        let is_footnote =
            (1..=3).contains(&digits) && inner[digits..].starts_with(']') && is_note_behind(&out);
        let len = if is_footnote { digits + 2 } else { 1 };
        if !is_footnote {
            out.push('[');
        }
        rest = from.get(len..).unwrap_or("");
    }
    out + rest
}

/// With commas for the single spaces inside `3 449 444`: one to three digits, then groups of exactly three. Columns of
/// figures of three digits are joined too, in the same way wherever they stand.
fn with_group_commas(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let is_digit = |at: usize| chars.get(at).is_some_and(char::is_ascii_digit);
    let mut out = String::with_capacity(text.len());
    let mut run = 0;
    for (at, c) in chars.iter().enumerate() {
        let groups = (1..=3).contains(&run) && (at + 1..=at + 3).all(is_digit) && !is_digit(at + 4);
        if *c == ' ' && groups {
            out.push(',');
            run = 0;
            continue;
        }
        let ties = c.is_alphanumeric() || matches!(c, '.' | ',' | '\'');
        run = match (c.is_ascii_digit(), ties) {
            (true, _) => run + 1,
            // A digit behind these is no first group: `COVID19 123`, `3.5 100`.
            (false, true) => 4,
            (false, false) => 0,
        };
        out.push(*c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_have_one_form() {
        for (text, expected) in [
            ("３，４４９．５％", "3,449.5%"),
            ("٣٤٤٩", "3449"),
            ("e\u{301}te\u{301}", "été"),
            ("25‑year", "25-year"),
            ("3 449 444 people", "3,449,444 people"),
            ("in 2020 345 people", "in 2020 345 people"),
            ("3.5 100", "3.5 100"),
            ("12 34", "12 34"),
            ("1 2345", "1 2345"),
            ("5 ports.[12] More [sic] [1234]", "5 ports. More [sic] [1234]"),
        ] {
            assert_eq!(plain(text), expected, "{text}");
        }
    }

    #[test]
    fn no_text_breaks_it() {
        for text in ["[", "[]", "]1[", "[1", " 1 ", "\u{ff5e}\u{ff5f}", "1 234 567 890 1", "[é1]"] {
            let _ = plain(text);
        }
    }
}
