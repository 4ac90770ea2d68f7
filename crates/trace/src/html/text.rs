//! Texts: short ones as they are, long ones folded and only once.

use std::borrow::Cow;

use askama::Template;
use askama::filters::HtmlSafe;

use super::amount::{head, number, up_to};
use super::fingerprint;
use super::index::Link;
use super::pool::{Pool, Wanted};

/// The most characters and lines of a text that is not folded.
const SHORT: (usize, usize) = (320, 8);

/// Characters of a folded text that can be seen.
const HEAD: usize = 120;

/// A text as the page shows it.
#[derive(Debug, Template)]
pub(super) enum Text<'a> {
    #[template(ext = "html", source = r#"<span class="none">empty</span>"#)]
    Empty,
    #[template(ext = "html", source = r#"<div class="t short" dir="auto">{{ text }}</div>"#)]
    Short { text: Cow<'a, str> },
    /// A long text, at its first place.
    #[template(
        ext = "html",
        source = r#"<details class="long"><summary><span class="head" dir="auto">{{ head }}</span> <span class="more">{{ length }}</span></summary><div class="t" dir="auto" id="b{{ block }}">{{ text }}</div>{% if let Some(note) = cut %}<p class="note">{{ note }}</p>{% endif %}</details>"#
    )]
    Long { block: usize, head: String, length: String, text: Cow<'a, str>, cut: Option<String> },
    /// A long text that stands elsewhere.
    #[template(
        ext = "html",
        source = r##"<a class="again" href="#b{{ block }}"><span class="head" dir="auto">{{ head }}</span> <span class="more">{{ length }}, as in {{ place.label }}</span></a>"##
    )]
    Again { block: usize, head: String, length: String, place: Link },
}

impl HtmlSafe for Text<'_> {}

impl<'a> Text<'a> {
    pub(super) fn of(pool: &mut Pool<'a>, text: impl Into<Cow<'a, str>>) -> Text<'a> {
        let text = text.into();
        if text.trim().is_empty() {
            return Text::Empty;
        }
        if is_short(&text) {
            return Text::Short { text };
        }
        let head = head(up_to(&text, HEAD * 8), HEAD);
        let length = format!("{} characters", number(text.chars().count() as u64));
        match pool.want(fingerprint::of_text(&text)) {
            Wanted::There(block) => Text::Again { block: block.number, head, length, place: block.place },
            Wanted::Here(block) => {
                let (text, cut) = fit(pool, text);
                Text::Long { block: block.number, head, length, text, cut }
            }
        }
    }
}

fn is_short(text: &str) -> bool {
    text.len() <= SHORT.0 * 4 && text.chars().count() <= SHORT.0 && text.lines().count() <= SHORT.1
}

/// Cuts a text that the page can not take whole.
fn fit<'a>(pool: &mut Pool<'a>, text: Cow<'a, str>) -> (Cow<'a, str>, Option<String>) {
    let room = pool.take(text.len());
    if room == text.len() {
        return (text, None);
    }
    let end = up_to(&text, room).len();
    let left_out = number(text[end..].chars().count() as u64);
    let note = format!("The last {left_out} characters are left out here: see the JSON form of the trace.");
    let cut = match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[..end]),
        Cow::Owned(mut text) => {
            text.truncate(end);
            Cow::Owned(text)
        }
    };
    (cut, Some(note))
}

#[cfg(test)]
mod tests {
    use super::super::pool::LONGEST_TEXT;
    use super::*;

    fn pool<'a>() -> Pool<'a> {
        let mut pool = Pool::new();
        pool.go_to(Link { anchor: "s1".into(), label: "first.1".into() }, 1);
        pool
    }

    #[test]
    fn a_long_text_stands_once() {
        let (mut pool, long) = (pool(), "word ".repeat(100));
        let first = Text::of(&mut pool, &*long).to_string();
        pool.go_to(Link { anchor: "s2".into(), label: "second.1".into() }, 1);
        let second = Text::of(&mut pool, long.clone()).to_string();
        assert!(first.contains(&long) && first.contains(r#"id="b1""#), "{first}");
        assert!(second.contains(r##"href="#b1""##) && second.contains("as in first.1"), "{second}");
        assert!(second.len() < 300, "{second}");
    }

    #[test]
    fn short_texts_stand_as_they_are() {
        let mut pool = pool();
        assert_eq!(
            Text::of(&mut pool, "a <b>").to_string(),
            r#"<div class="t short" dir="auto">a &#60;b&#62;</div>"#
        );
        assert_eq!(Text::of(&mut pool, " \n").to_string(), r#"<span class="none">empty</span>"#);
    }

    #[test]
    fn a_text_that_is_too_long_is_cut_and_says_so() {
        let text = "é".repeat(LONGEST_TEXT);
        let Text::Long { text, cut, .. } = Text::of(&mut pool(), text) else { panic!("it is long") };
        assert_eq!(text.len(), LONGEST_TEXT);
        assert!(cut.is_some_and(|note| note.contains("131\u{a0}072 characters are left out")));
    }
}
