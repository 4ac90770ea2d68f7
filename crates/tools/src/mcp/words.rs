//! Texts from outside, made fit to stand in a message.

/// One line of at most `most` characters, without colours and control characters.
pub(super) fn line(text: &str, most: usize) -> String {
    let plain = plain(text);
    let words: Vec<&str> = plain.split_whitespace().collect();
    shortened(&words.join(" "), most)
}

/// A text of at most `most` characters, without colours and control characters; its lines are kept.
pub(super) fn lines(text: &str, most: usize) -> String {
    shortened(plain(text).trim(), most)
}

/// A size for people: `17 bytes`, `2.5 KiB`, `8 MiB`.
pub(super) fn size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..1024 => return format!("{bytes} bytes"),
        1024..1_048_576 => (1024.0, "KiB"),
        _ => (1_048_576.0, "MiB"),
    };
    let number = format!("{:.1}", bytes as f64 / unit);
    format!("{} {name}", number.strip_suffix(".0").unwrap_or(&number))
}

fn shortened(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most).collect();
    format!("{kept}… ({} characters more)", count - most)
}

/// Without escape sequences of terminals and control characters other than the line feed.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\n' => plain.push('\n'),
            '\t' => plain.push(' '),
            c if c.is_control() => {}
            c => plain.push(c),
        }
    }
    plain
}

/// Skips the rest of an escape sequence: `[` and all up to its letter, or one character.
fn skip_escape(chars: &mut std::str::Chars<'_>) {
    if chars.next() == Some('[') {
        for c in chars.by_ref() {
            if ('@'..='~').contains(&c) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_controls_go() {
        assert_eq!(line("\u{1b}[31mError:\u{1b}[0m\tno\r\n  file\u{7}", 100), "Error: no file");
        assert_eq!(lines(" a\r\nb\u{1b}c\n\n", 100), "a\nb");
        assert_eq!(line("\u{1b}[31", 100), "");
    }

    #[test]
    fn sizes_are_for_people() {
        for (bytes, expected) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1 KiB"),
            (2600, "2.5 KiB"),
            (8 * 1024 * 1024, "8 MiB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
    }

    #[test]
    fn what_is_cut_is_said() {
        assert_eq!(line("äöü", 3), "äöü");
        assert_eq!(line("äöüß", 3), "äöü… (1 characters more)");
    }
}
