//! Where a page leads.

use html5gum::Token;
use url::Url;

use crate::web::canonical::{address, canonical_of};

use super::clean::cleaned;
use super::head::attribute;

/// Most links that are kept of a page.
const MOST: usize = 200;
/// Longest text of a link, in characters.
const LONGEST: usize = 120;

/// A link of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The address that it leads to.
    pub url: String,
    /// Its words.
    pub text: String,
}

/// The links of those parts of a page that are kept: pages of the web, each once, in order. `base` is what they are
/// relative to, `page` the address of the page itself, which is not among them.
pub fn links(tokens: &[Token<usize>], is_kept: &dyn Fn(usize) -> bool, base: &Url, page: &Url) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    let mut known: Vec<String> = canonical_of(page).into_iter().collect();
    let mut open: Option<(Url, String)> = None;
    for token in tokens {
        match token {
            Token::StartTag(tag) if tag.name.as_slice() == b"a" => {
                close(&mut open, &mut links, &mut known);
                let href = attribute(tag, b"href");
                if is_kept(tag.span.start) && !href.trim().is_empty() {
                    open = base.join(href.trim()).ok().map(|url| (url, String::new()));
                }
            }
            Token::EndTag(tag) if tag.name.as_slice() == b"a" => close(&mut open, &mut links, &mut known),
            Token::String(text) => {
                if let Some((_, words)) = &mut open {
                    words.push_str(&String::from_utf8_lossy(&text.value));
                }
            }
            _ => {}
        }
        if links.len() >= MOST {
            break;
        }
    }
    close(&mut open, &mut links, &mut known);
    links.truncate(MOST);
    links
}

fn close(open: &mut Option<(Url, String)>, links: &mut Vec<Link>, known: &mut Vec<String>) {
    let Some((url, words)) = open.take() else { return };
    let Some(canonical) = canonical_of(&url) else { return };
    let text = cleaned(&words).split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() || known.contains(&canonical) {
        return;
    }
    known.push(canonical);
    links.push(Link { url: address(&url), text: text.chars().take(LONGEST).collect() });
}
