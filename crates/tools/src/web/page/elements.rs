//! The elements of a page, from its tags: where each begins and ends, how much text it has, and how much of that is
//! links. Enough to tell content from what is around it, without losing the bytes.

use html5gum::{StartTag, Token};

use crate::extract::hidden::{VOID, ends_before};

/// Elements deeper than this are not told apart from those around them.
const DEEPEST: usize = 400;
/// Elements whose text is not read.
const UNREAD: [&[u8]; 11] = [
    b"script",
    b"style",
    b"template",
    b"noscript",
    b"svg",
    b"iframe",
    b"object",
    b"select",
    b"button",
    b"textarea",
    b"title",
];

/// An element.
#[derive(Debug)]
pub struct Element<'t> {
    /// Its start tag.
    pub tag: &'t StartTag<usize>,
    /// Its first byte.
    pub start: usize,
    /// The byte behind its end.
    pub end: usize,
    /// The number of the element around it.
    pub parent: Option<usize>,
    /// Bytes of its text without white space, with those of the elements inside.
    pub text: usize,
    /// How many of them are the text of links.
    pub linked: usize,
    /// Links in it.
    pub links: usize,
}

impl Element<'_> {
    /// Its name.
    pub fn name(&self) -> &[u8] {
        &self.tag.name
    }

    /// An attribute in lower case; "" where there is none.
    pub fn attribute(&self, name: &[u8]) -> String {
        let value = self.tag.attributes.get(name);
        value.map(|value| String::from_utf8_lossy(value).to_ascii_lowercase()).unwrap_or_default()
    }
}

/// The elements of a page, in the order of their start tags.
pub fn elements(tokens: &[Token<usize>], length: usize) -> Vec<Element<'_>> {
    let mut tree = Tree { elements: Vec::new(), open: Vec::new(), unread: 0, links: 0 };
    for token in tokens {
        match token {
            Token::StartTag(tag) => tree.start(tag),
            Token::EndTag(tag) => tree.end(&tag.name, tag.span.start, tag.span.end),
            Token::String(text) => tree.text(&text.value),
            _ => {}
        }
    }
    tree.finish(length)
}

struct Tree<'t> {
    elements: Vec<Element<'t>>,
    /// The numbers of the elements that are open, outermost first.
    open: Vec<usize>,
    /// How many of those are not read, and how many are links: text is often, and nesting deep.
    unread: usize,
    links: usize,
}

impl<'t> Tree<'t> {
    fn start(&mut self, tag: &'t StartTag<usize>) {
        while self.innermost().is_some_and(|open| ends_before(open.name(), &tag.name)) {
            self.close(tag.span.start);
        }
        let number = self.elements.len();
        self.elements.push(Element {
            tag,
            start: tag.span.start,
            end: tag.span.end,
            parent: self.open.last().copied(),
            text: 0,
            linked: 0,
            links: usize::from(tag.name.as_slice() == b"a"),
        });
        if !tag.self_closing && !VOID.contains(&tag.name.as_slice()) && self.open.len() < DEEPEST {
            self.open.push(number);
            self.unread += usize::from(UNREAD.contains(&tag.name.as_slice()));
            self.links += usize::from(tag.name.as_slice() == b"a");
        }
    }

    fn end(&mut self, name: &[u8], start: usize, end: usize) {
        let is_it = |number: &usize| self.elements.get(*number).is_some_and(|open| open.name() == name);
        let Some(at) = self.open.iter().rposition(is_it) else { return };
        while self.open.len() > at + 1 {
            self.close(start);
        }
        self.close(end);
    }

    fn text(&mut self, text: &[u8]) {
        let length = text.iter().filter(|byte| !byte.is_ascii_whitespace()).count();
        if length == 0 || self.unread > 0 {
            return;
        }
        let is_linked = self.links > 0;
        if let Some(element) = self.open.last().and_then(|number| self.elements.get_mut(*number)) {
            element.text += length;
            element.linked += if is_linked { length } else { 0 };
        }
    }

    fn innermost(&self) -> Option<&Element<'t>> {
        self.open.last().and_then(|number| self.elements.get(*number))
    }

    fn close(&mut self, end: usize) {
        if let Some(element) = self.open.pop().and_then(|number| self.elements.get_mut(number)) {
            element.end = end;
            self.unread -= usize::from(UNREAD.contains(&element.name())).min(self.unread);
            self.links -= usize::from(element.name() == b"a").min(self.links);
        }
    }

    /// Ends what is open and adds up, from the inside.
    fn finish(mut self, length: usize) -> Vec<Element<'t>> {
        while !self.open.is_empty() {
            self.close(length);
        }
        for number in (0..self.elements.len()).rev() {
            let Some(Element { parent: Some(parent), text, linked, links, .. }) = self.elements.get(number)
            else {
                continue;
            };
            let (parent, text, linked, links) = (*parent, *text, *linked, *links);
            if let Some(parent) = self.elements.get_mut(parent) {
                parent.text += text;
                parent.linked += linked;
                parent.links += links;
            }
        }
        self.elements
    }
}
