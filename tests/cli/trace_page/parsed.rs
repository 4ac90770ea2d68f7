//! A page as a browser reads it, and what it must not hold.

use std::collections::{BTreeMap, BTreeSet};

use html5gum::{DefaultEmitter, Token, Tokenizer};

/// Elements that the page is made of. Nothing else may come in, whatever stands in a run.
const ELEMENTS: &[&str] = &[
    "a",
    "b",
    "body",
    "button",
    "code",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "figcaption",
    "figure",
    "form",
    "h1",
    "h2",
    "h4",
    "head",
    "header",
    "html",
    "input",
    "label",
    "li",
    "line",
    "main",
    "meta",
    "nav",
    "ol",
    "output",
    "p",
    "path",
    "rect",
    "script",
    "section",
    "span",
    "style",
    "summary",
    "svg",
    "table",
    "tbody",
    "td",
    "text",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
];

/// Elements without an end tag.
const VOID: [&str; 2] = ["input", "meta"];

/// Elements that end a paragraph when they begin.
const BLOCKS: [&str; 13] =
    ["details", "div", "dl", "figure", "form", "h2", "h4", "header", "ol", "p", "section", "table", "ul"];

/// A page that was read.
#[derive(Debug, Default)]
pub struct Parsed {
    /// How often each element occurs.
    pub elements: BTreeMap<String, usize>,
    /// All text but that of script and styles, as a person reads it.
    pub text: String,
    /// The ids of elements.
    pub ids: BTreeSet<String>,
    /// The targets of links.
    pub links: Vec<String>,
}

/// Reads a page.
///
/// # Panics
///
/// It is not well formed, or holds something that the page is not made of.
pub fn parse(page: &str) -> Parsed {
    let mut emitter = DefaultEmitter::<usize>::new_with_span();
    emitter.naively_switch_states(true);
    let mut parsed = Parsed::default();
    let mut open: Vec<String> = Vec::new();
    for Ok(token) in Tokenizer::new_with_emitter(page, emitter) {
        match token {
            Token::StartTag(tag) => {
                let name = utf8(&tag.name);
                assert!(ELEMENTS.contains(&&*name), "<{name}> has no place in the page");
                let in_paragraph = open.iter().any(|o| o == "p");
                assert!(!(in_paragraph && BLOCKS.contains(&&*name)), "<{name}> in a paragraph ends it");
                for (attribute, value) in &tag.attributes {
                    parsed.attribute(&name, &utf8(attribute), &utf8(value));
                }
                *parsed.elements.entry(name.clone()).or_default() += 1;
                if !VOID.contains(&&*name) {
                    open.push(name);
                }
            }
            Token::EndTag(tag) => {
                let name = utf8(&tag.name);
                assert_eq!(open.pop().as_ref(), Some(&name), "within {open:?}");
            }
            Token::String(text) if !matches!(open.last().map(String::as_str), Some("script" | "style")) => {
                parsed.text.push_str(&utf8(&text));
            }
            Token::String(_) => {}
            Token::Comment(text) => panic!("a comment: {}", utf8(&text)),
            Token::Doctype(doctype) => assert_eq!(utf8(&doctype.name), "html"),
            Token::Error(error) => panic!("{:?} at {}", error, &page[..page.len().min(80)]),
        }
    }
    assert!(open.is_empty(), "not closed: {open:?}");
    for link in &parsed.links {
        assert!(parsed.ids.contains(link), "the link #{link} leads nowhere");
    }
    parsed
}

impl Parsed {
    fn attribute(&mut self, element: &str, name: &str, value: &str) {
        assert!(
            !name.starts_with("on") && name != "style" && name != "src",
            "{name}=\"{value}\" on <{element}>"
        );
        match name {
            "href" => {
                let target = value.strip_prefix('#');
                let target = target.unwrap_or_else(|| panic!("a link out of the page: {value}"));
                self.links.push(target.to_owned());
            }
            "id" => assert!(self.ids.insert(value.to_owned()), "the id {value} occurs twice"),
            _ => {}
        }
    }
}

fn utf8(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the page is UTF-8")
}
