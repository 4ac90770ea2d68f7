//! Web pages: the text that a reader sees, with the bytes that it stands in.

use html5gum::{DefaultEmitter, Token, Tokenizer};

use crate::mapped::Mapped;
use crate::passage::Origin;

use super::html_reader::Reader;
pub use super::outline::Outline;
use super::{Extracted, stem};

/// Elements that a reader does not see, or that are not the page's own text.
pub const HIDDEN: [&[u8]; 11] = [
    b"script",
    b"style",
    b"template",
    b"noscript",
    b"nav",
    b"svg",
    b"iframe",
    b"object",
    b"select",
    b"button",
    b"textarea",
];
/// Reads a page.
pub fn extract(name: &str, text: &str, base: usize) -> Extracted {
    let mut outline = Outline::default();
    let head = read(&Mapped::verbatim(text, 0), &mut outline);
    let title = head.title.or_else(|| outline.title().map(str::to_owned)).unwrap_or_else(|| stem(name));
    let passages = Origin::file(text, base).passages(&outline.finish(&title));
    Extracted { title, date: head.date, passages, ..Extracted::default() }
}

/// What a page says about itself.
#[derive(Debug, Default)]
pub struct Head {
    /// Its title.
    pub title: Option<String>,
    /// Its date, `YYYY-MM-DD`.
    pub date: Option<String>,
}

/// Appends the blocks of a page or a fragment to an outline.
pub fn read(html: &Mapped, outline: &mut Outline) -> Head {
    read_tokens(html, &tokens(html.text()), &|_| true, outline)
}

/// The tags and texts of a page, each with the bytes where it stands.
pub fn tokens(html: &str) -> Vec<Token<usize>> {
    tokens_within(html, usize::MAX)
}

/// The same, as many as there may be.
pub fn tokens_within(html: &str, most: usize) -> Vec<Token<usize>> {
    let mut emitter = DefaultEmitter::<usize>::new_with_span();
    emitter.naively_switch_states(true);
    Tokenizer::new_with_emitter(html, emitter).map(|Ok(token)| token).take(most).collect()
}

/// Appends the blocks of those tokens of a page that are kept.
pub fn read_tokens(
    html: &Mapped,
    tokens: &[Token<usize>],
    is_kept: &dyn Fn(&Token<usize>) -> bool,
    outline: &mut Outline,
) -> Head {
    let mut reader = Reader::new(html, outline, unclosed(tokens));
    for token in tokens.iter().filter(|token| is_kept(token)) {
        reader.token(token);
    }
    reader.finish()
}

/// Hidden elements that are opened more often than closed: those can not be skipped, the rest of the page would
/// go with them.
fn unclosed(tokens: &[Token<usize>]) -> Vec<&'static [u8]> {
    let balance = |name: &[u8]| -> i64 {
        tokens.iter().fold(0, |sum, token| match token {
            Token::StartTag(tag) if !tag.self_closing && tag.name.as_slice() == name => sum + 1,
            Token::EndTag(tag) if tag.name.as_slice() == name => sum - 1,
            _ => sum,
        })
    };
    HIDDEN.into_iter().filter(|name| balance(name) > 0).collect()
}
