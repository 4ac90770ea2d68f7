//! Snippets and titles as plain text.

use html5gum::{Token, Tokenizer};

/// The most characters of a snippet.
const MOST: usize = 600;

/// A text on one line, cut at a word to what a snippet may have.
pub(super) fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    cut_at_word(&words.join(" "), MOST).0
}

/// The text of a piece of HTML or JATS, on one line.
pub(super) fn of_markup(markup: &str) -> String {
    let mut text = String::new();
    for Ok(token) in Tokenizer::new(markup) {
        match token {
            Token::String(string) => text.push_str(&String::from_utf8_lossy(&string)),
            // Inline elements stand within words, all others between them.
            Token::StartTag(tag) if !is_inline(&tag.name) => text.push(' '),
            Token::EndTag(tag) if !is_inline(&tag.name) => text.push(' '),
            _ => {}
        }
    }
    plain(&text)
}

fn is_inline(name: &[u8]) -> bool {
    const INLINE: [&[u8]; 14] = [
        b"a",
        b"b",
        b"em",
        b"i",
        b"mark",
        b"span",
        b"strong",
        b"sub",
        b"sup",
        b"u",
        b"jats:bold",
        b"jats:italic",
        b"jats:sub",
        b"jats:sup",
    ];
    INLINE.contains(&name)
}

/// A text with no more than `most` characters, cut at the end of a word, and whether something was cut.
pub(super) fn cut_at_word(text: &str, most: usize) -> (String, bool) {
    let Some((end, _)) = text.char_indices().nth(most) else { return (text.to_owned(), false) };
    let head = text.get(..end).unwrap_or_default();
    // A text without spaces, as in Chinese or Japanese, is cut where it is.
    let at = head.rfind(char::is_whitespace).filter(|at| *at > head.len() / 2).unwrap_or(head.len());
    let ends_a_word = text.get(end..).is_some_and(|rest| rest.starts_with(char::is_whitespace));
    let kept = if ends_a_word { head } else { head.get(..at).unwrap_or(head) };
    (kept.trim_end().to_owned(), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        assert_eq!(
            of_markup("The <span class=\"searchmatch\">tide</span>s &amp; the moon"),
            "The tides & the moon"
        );
        assert_eq!(
            of_markup("<jats:title>Abstract</jats:title><jats:p>H<jats:sub>2</jats:sub>O</jats:p>"),
            "Abstract H2O"
        );
        assert_eq!(of_markup("a <script"), "a");
    }

    #[test]
    fn texts_are_cut_at_words() {
        assert_eq!(cut_at_word("one two three", 100), ("one two three".to_owned(), false));
        assert_eq!(cut_at_word("one two three", 9), ("one two".to_owned(), true));
        assert_eq!(cut_at_word("one two three", 7), ("one two".to_owned(), true));
        assert_eq!(cut_at_word("潮汐潮汐潮汐", 3), ("潮汐潮".to_owned(), true));
    }
}
