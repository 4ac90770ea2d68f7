//! Texts that stand in columns of their own. PostgreSQL has no texts with a NUL character: it and the backslash are
//! written as `\0` and `\\`.

use std::borrow::Cow;

/// The text as it goes into a column.
pub(super) fn write(text: &str) -> Cow<'_, str> {
    if text.contains(['\0', '\\']) {
        text.replace('\\', "\\\\").replace('\0', "\\0").into()
    } else {
        text.into()
    }
}

/// The text that was written.
pub(super) fn read(written: String) -> String {
    if !written.contains('\\') {
        return written;
    }
    let mut text = String::with_capacity(written.len());
    let mut chars = written.chars();
    while let Some(next) = chars.next() {
        match next {
            '\\' => text.push(if chars.next() == Some('0') { '\0' } else { '\\' }),
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in ["", "plain", "\0", "\\", "\\0", "\0\\\0\\\\0x", "ü\0🦀"] {
            let written = write(text).into_owned();
            assert!(!written.contains('\0'));
            assert_eq!(read(written), text);
        }
        assert_eq!(read("cut\\".into()), "cut\\");
    }
}
