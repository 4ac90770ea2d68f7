//! What of a page is its content, and what is around it: navigation, headers, footers, banners, and what a reader does
//! not see.
//!
//! Pages mark their content (`main`, `article`, roles), and what is not (`nav`, `footer`, `aside`, classes such as
//! `sidebar`). A mark is believed as long as most of the text does not go with it: then the page means something
//! else by it.

use std::ops::Range;

use super::elements::Element;
use super::unseen;

/// Least text of an element that is taken for the content by its mark, in bytes, and its least share of the text in
/// percent.
const LEAST_CONTENT: usize = 140;
const LEAST_SHARE: usize = 12;
/// Share of the text from which an element is the content, whatever its mark says, in percent.
const IS_CONTENT: usize = 60;
/// The same for marks that are only words of a class.
const IS_CONTENT_BY_CLASS: usize = 40;
/// Share of links from which a block is a list of them, in percent, and their least number.
const LINKS_SHARE: usize = 80;
const LEAST_LINKS: usize = 5;

/// Words of `class` and `id` of what is around the content.
const AROUND: [&str; 62] = [
    "ad",
    "ads",
    "advert",
    "advertisement",
    "banner",
    "breadcrumb",
    "breadcrumbs",
    "catlinks",
    "consent",
    "cookie",
    "cookie-banner",
    "cookie-consent",
    "cookie-notice",
    "cookies",
    "footer",
    "global-nav",
    "header-links",
    "headerlink",
    "masthead",
    "menu",
    "menubar",
    "mw-editsection",
    "mw-jump-link",
    "nav",
    "navbar",
    "navbox",
    "navheader",
    "navfooter",
    "navigation",
    "newsletter",
    "noprint",
    "page-footer",
    "pager",
    "pagination",
    "popup",
    "print-only",
    "printfooter",
    "promo",
    "recommended",
    "related",
    "related-articles",
    "related-posts",
    "rightsidebar",
    "screen-reader-text",
    "share",
    "share-buttons",
    "sharing",
    "sidebar",
    "site-footer",
    "site-nav",
    "skip-link",
    "skip-to-content",
    "skiplink",
    "skipnav",
    "social",
    "social-share",
    "sphinxsidebar",
    "sponsored",
    "subscribe",
    "toolbar",
    "topbar",
    "visually-hidden",
];
/// Values of `role` of what is around the content.
const AROUND_ROLES: [&str; 11] = [
    "alertdialog",
    "banner",
    "complementary",
    "contentinfo",
    "dialog",
    "menu",
    "menubar",
    "navigation",
    "search",
    "tablist",
    "toolbar",
];

/// The bytes of a page that are not read, in order, without overlap.
pub fn dropped(elements: &[Element<'_>], length: usize) -> Vec<Range<usize>> {
    let hidden = ranges(elements, unseen::is_unseen);
    let seen = Seen::new(elements, &hidden);
    let mut dropped = hidden.clone();
    if let Some(main) = seen.main() {
        let head = elements.iter().find(|element| element.name() == b"head").map_or(0, |head| head.end);
        dropped.push(head.min(main.start)..main.start);
        dropped.push(main.end..length);
        // Inside of its content a page marks what is around an article of it.
        dropped.extend(ranges(elements, |element| {
            element.start > main.start && seen.is_around(element, main.text)
        }));
    } else {
        let total = seen.total();
        dropped.extend(ranges(elements, |element| seen.is_around(element, total)));
        let left = total.saturating_sub(text_in(elements, &merged(dropped.clone())));
        dropped.extend(ranges(elements, |element| is_link_list(element, left)));
    }
    merged(dropped)
}

/// Whether a byte is in one of the ranges, which are in order.
pub fn is_dropped(dropped: &[Range<usize>], at: usize) -> bool {
    let after = dropped.partition_point(|range| range.start <= at);
    after.checked_sub(1).and_then(|last| dropped.get(last)).is_some_and(|range| range.contains(&at))
}

/// What a reader sees of a page.
struct Seen<'e, 't> {
    elements: &'e [Element<'t>],
    hidden: &'e [Range<usize>],
}

impl<'e, 't> Seen<'e, 't> {
    fn new(elements: &'e [Element<'t>], hidden: &'e [Range<usize>]) -> Seen<'e, 't> {
        Seen { elements, hidden }
    }

    fn total(&self) -> usize {
        self.elements.iter().filter(|element| element.parent.is_none()).map(|element| element.text).sum()
    }

    /// The element that holds the content: the one that is marked so, where it has a share of the text.
    fn main(&self) -> Option<&'e Element<'t>> {
        let least = (self.total() * LEAST_SHARE / 100).max(LEAST_CONTENT);
        let marked = |is_it: &dyn Fn(&Element<'t>) -> bool| {
            let mut found = self.elements.iter().filter(|element| {
                is_it(element) && element.text >= least && !is_dropped(self.hidden, element.start)
            });
            let first = found.next()?;
            // The first may hold the others; side by side they are a list of contents.
            found.all(|other| other.start < first.end).then_some(first)
        };
        marked(&|element| element.name() == b"main" || element.attribute(b"role") == "main")
            .or_else(|| marked(&|element| element.attribute(b"itemprop") == "articlebody"))
            .or_else(|| marked(&|element| element.name() == b"article"))
            .or_else(|| {
                marked(&|element| {
                    matches!(
                        element.attribute(b"id").as_str(),
                        "content" | "main-content" | "main" | "bodycontent"
                    )
                })
            })
    }

    /// Whether an element is around the content. `total`: the text of which it is a part.
    fn is_around(&self, element: &Element<'t>, total: usize) -> bool {
        let has = |percent: usize| element.text * 100 >= total * percent && element.text > 0;
        let role = element.attribute(b"role");
        if matches!(element.name(), b"nav") || AROUND_ROLES.contains(&role.as_str()) {
            return !has(IS_CONTENT) || element.linked * 2 > element.text;
        }
        match element.name() {
            b"html" | b"body" | b"head" | b"main" | b"article" | b"pre" | b"code" | b"table" | b"td"
            | b"tr" => {
                return false;
            }
            b"aside" | b"footer" => return !has(IS_CONTENT) && !self.is_in_article(element),
            b"header" => {
                return !has(IS_CONTENT) && !self.is_in_article(element) && !self.holds(element, b"h1");
            }
            _ => {}
        }
        let is_named = [&b"class"[..], b"id"]
            .iter()
            .any(|name| element.attribute(name).split_ascii_whitespace().any(|word| AROUND.contains(&word)));
        is_named && !has(IS_CONTENT_BY_CLASS) && !self.holds(element, b"h1")
    }

    fn is_in_article(&self, element: &Element<'t>) -> bool {
        let mut at = element.parent;
        while let Some(parent) = at.and_then(|number| self.elements.get(number)) {
            if matches!(parent.name(), b"article" | b"blockquote") {
                return true;
            }
            at = parent.parent;
        }
        false
    }

    fn holds(&self, element: &Element<'t>, name: &[u8]) -> bool {
        let first = self.elements.partition_point(|inner| inner.start <= element.start);
        let inner = self.elements.iter().skip(first).take_while(|inner| inner.start < element.end);
        inner.into_iter().any(|inner| inner.name() == name)
    }
}

/// Whether a block is hardly anything but links, and there is other text to read.
fn is_link_list(element: &Element<'_>, left: usize) -> bool {
    matches!(element.name(), b"ul" | b"ol" | b"div" | b"table" | b"p" | b"section")
        && element.links >= LEAST_LINKS
        && element.linked * 100 >= element.text * LINKS_SHARE
        && element.text * 100 < left * IS_CONTENT_BY_CLASS
}

/// The bytes of elements, in order.
fn ranges(elements: &[Element<'_>], is_it: impl Fn(&Element<'_>) -> bool) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for element in elements {
        let is_inside = ranges.last().is_some_and(|last| element.start < last.end);
        if !is_inside && is_it(element) {
            ranges.push(element.start..element.end);
        }
    }
    ranges
}

/// The text of the outermost elements in ranges.
fn text_in(elements: &[Element<'_>], ranges: &[Range<usize>]) -> usize {
    let is_in = |element: &Element<'_>| is_dropped(ranges, element.start);
    let is_outermost = |element: &&Element<'_>| {
        is_in(element) && !element.parent.and_then(|parent| elements.get(parent)).is_some_and(is_in)
    };
    elements.iter().filter(is_outermost).map(|element| element.text).sum()
}

fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.retain(|range| range.start < range.end);
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}
