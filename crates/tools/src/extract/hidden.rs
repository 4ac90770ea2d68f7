//! Parts of a page that a reader does not see.

use html5gum::StartTag;

/// Elements without an end tag.
pub const VOID: [&[u8]; 13] = [
    b"area", b"base", b"br", b"col", b"embed", b"hr", b"img", b"input", b"link", b"meta", b"source",
    b"track", b"wbr",
];
/// Elements that end an open paragraph when they begin.
const END_PARAGRAPH: [&[u8]; 24] = [
    b"p",
    b"div",
    b"section",
    b"article",
    b"main",
    b"header",
    b"footer",
    b"aside",
    b"ul",
    b"ol",
    b"dl",
    b"table",
    b"pre",
    b"hr",
    b"form",
    b"blockquote",
    b"h1",
    b"h2",
    b"h3",
    b"h4",
    b"h5",
    b"h6",
    b"figure",
    b"details",
];

/// Elements that are nested deeper than this in a hidden one are not kept apart.
const DEEPEST: usize = 512;

/// Whether an element says that it is not shown. A whole page that says so is shown later by a script.
pub fn is_hidden(tag: &StartTag<usize>) -> bool {
    let name = tag.name.as_slice();
    if tag.self_closing || VOID.contains(&name) || matches!(name, b"html" | b"body") {
        return false;
    }
    let style = tag.attributes.get(&b"style"[..]).map(|value| String::from_utf8_lossy(value).to_lowercase());
    let style: String = style.unwrap_or_default().chars().filter(|c| !c.is_whitespace()).collect();
    let hides = |rule: &str| {
        let value = rule.strip_suffix("!important").unwrap_or(rule);
        matches!(value, "display:none" | "visibility:hidden")
    };
    tag.attributes.contains_key(&b"hidden"[..]) || style.split(';').any(hides)
}

/// A hidden element that is open.
#[derive(Debug)]
pub struct Hidden {
    name: Vec<u8>,
    /// The elements that are open inside of it.
    inner: Vec<Vec<u8>>,
}

/// What an end tag ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Nothing outside of the hidden element.
    Nothing,
    /// The hidden element.
    Itself,
    /// An element around it, and so the hidden one too: its own end tag was left away.
    Around,
}

impl Hidden {
    /// Opens one.
    pub fn new(name: &[u8]) -> Hidden {
        Hidden { name: name.to_vec(), inner: Vec::new() }
    }

    /// Whether an element that begins here still belongs to it.
    pub fn goes_on_at(&mut self, name: &[u8], self_closing: bool) -> bool {
        while self.inner.last().is_some_and(|last| ends_before(last, name)) {
            self.inner.pop();
        }
        if self.inner.is_empty() && ends_before(&self.name, name) {
            return false;
        }
        if !self_closing && !VOID.contains(&name) && self.inner.len() < DEEPEST {
            self.inner.push(name.to_vec());
        }
        true
    }

    /// Takes an end tag in.
    pub fn end(&mut self, name: &[u8]) -> Ends {
        if let Some(at) = self.inner.iter().rposition(|inner| inner == name) {
            self.inner.truncate(at);
            return Ends::Nothing;
        }
        if self.name == name {
            return Ends::Itself;
        }
        // Only these may be without an end tag. A stray one inside of others means nothing.
        let may_be_open: [&[u8]; 10] =
            [b"p", b"li", b"dt", b"dd", b"tr", b"td", b"th", b"option", b"thead", b"tbody"];
        let around: [&[u8]; 9] =
            [b"div", b"section", b"article", b"ul", b"ol", b"dl", b"table", b"tr", b"body"];
        if may_be_open.contains(&self.name.as_slice()) && around.contains(&name) {
            Ends::Around
        } else {
            Ends::Nothing
        }
    }
}

/// Whether an open element ends where another one begins, without an end tag.
pub fn ends_before(open: &[u8], next: &[u8]) -> bool {
    match open {
        b"p" => END_PARAGRAPH.contains(&next),
        b"li" => next == b"li",
        b"dt" | b"dd" => matches!(next, b"dt" | b"dd"),
        b"td" | b"th" => matches!(next, b"td" | b"th" | b"tr" | b"tbody"),
        b"tr" => matches!(next, b"tr" | b"tbody" | b"tfoot"),
        b"thead" | b"tbody" => matches!(next, b"tbody" | b"tfoot"),
        b"option" => next == b"option",
        _ => false,
    }
}
