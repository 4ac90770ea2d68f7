//! URLs of a draft as citations: of a page that was read, or invented.
//!
//! Before the citations are checked, each URL, link and note of the draft becomes a mark like those of sources: of the
//! passages of its page, or of none. So what is said with a URL is judged as everything else is, and no URL is left that the
//! run did not read.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use deepgraph_protocol::Source;

use super::urls::{Link, Notes, is_url, links, links_of};
use crate::canonical::canonical;
use crate::handoff::Sources;
use crate::text::blocks::{item_mark, lines};

/// A draft without URLs, and what stands for them.
#[derive(Debug, Default)]
pub(super) struct Resolved {
    /// The draft.
    pub text: String,
    /// The sources of each mark that was put in; none: the page was not read.
    pub marks: BTreeMap<String, Vec<String>>,
    /// URLs that went without a mark: of pages that were read, and of others.
    pub dropped: Dropped,
}

/// URLs that stand nowhere any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Dropped {
    /// Of pages that were read.
    pub known: u64,
    /// Of others.
    pub unknown: u64,
}

/// What the run has read, by URL.
pub(super) struct Pages<'s> {
    sources: &'s Sources,
    by_url: BTreeMap<String, Vec<String>>,
    /// URLs that stand in documents of the user's own.
    own: BTreeSet<String>,
}

impl<'s> Pages<'s> {
    /// The pages of some sources.
    pub fn of(sources: &'s Sources) -> Pages<'s> {
        let mut by_url: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (id, source) in sources {
            // A page counts under every name that the run had it by.
            let names = [url_of(source), Some(source.document.as_str()), source.asked.as_deref()];
            let is_page = url_of(source).is_some();
            let names: BTreeSet<String> =
                names.into_iter().flatten().filter(|_| is_page).filter_map(canonical).collect();
            for url in names {
                by_url.entry(url).or_default().push(id.clone());
            }
        }
        // What a server's tool answered says how it was found; a URL in it may lead anywhere.
        let is_own = |source: &&Source| url_of(source).is_none() && source.found.is_none();
        let texts = sources.values().filter(is_own).map(|source| source.text.as_str());
        let urls = texts.flat_map(links_of).filter_map(|link| link.target);
        let own = urls.filter_map(|url| named(&url)).collect();
        Pages { sources, by_url, own }
    }

    /// The passages of the page of a URL; none where it was not read.
    fn passages(&self, url: &str) -> Option<&Vec<String>> {
        self.by_url.get(&named(url)?)
    }

    /// The passages that a link leads to: those of the page of a URL in it, those whose ids it names.
    fn led_to(&self, target: &str) -> Vec<String> {
        let target = target.trim();
        let urls = links_of(target).into_iter().filter_map(|link| link.target);
        let urls = urls.chain(is_url(target).then(|| target.to_owned()));
        let of_pages: Vec<String> = urls.filter_map(|url| self.passages(&url)).flatten().cloned().collect();
        if !of_pages.is_empty() {
            return of_pages;
        }
        let ids = target.split(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | ',' | ';' | '(' | ')'));
        let ids: BTreeSet<&str> = ids.filter(|id| self.sources.contains_key(*id)).collect();
        if !ids.is_empty() {
            return ids.into_iter().map(str::to_owned).collect();
        }
        let is_named = |source: &Source| url_of(source).is_none() && names(target, &source.document);
        self.sources.iter().filter(|(_, source)| is_named(source)).map(|(id, _)| id.clone()).collect()
    }

    /// Whether a URL stands in a document of the user's own: a report may repeat it.
    fn is_in_documents(&self, url: &str) -> bool {
        named(url).is_some_and(|url| self.own.contains(&url))
    }

    /// A text without URLs of pages that were not read.
    pub fn without_others(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for link in links_of(text) {
            let target = link.target.as_deref().unwrap_or("");
            if self.passages(target).is_some() || self.is_in_documents(target) {
                continue;
            }
            out.push_str(&text[at..link.range.start]);
            // What stands for people may hold addresses itself.
            out.push_str(&self.without_others(&text[link.label.clone()]));
            at = link.range.end;
        }
        out + &text[at..]
    }
}

/// The canonical form of a URL as it is written in prose.
fn named(url: &str) -> Option<String> {
    match url {
        url if url.contains("://") || url.starts_with("10.") => canonical(url),
        url if url.get(..4).is_some_and(|head| head.eq_ignore_ascii_case("doi:")) => canonical(url),
        url => canonical(&format!("https://{}", url.trim_start_matches('/'))),
    }
}

/// Whether a text names a document as a word of its own.
fn names(text: &str, document: &str) -> bool {
    let is_apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '/' | '-' | '_'));
    !document.is_empty()
        && text.match_indices(document).any(|(at, found)| {
            let behind = text[at + found.len()..].trim_start_matches('.');
            is_apart(text[..at].chars().next_back()) && is_apart(behind.chars().next())
        })
}

/// The URL of a page; none of a document.
pub(super) fn url_of(source: &Source) -> Option<&str> {
    let is_page = |name: &str| name.starts_with("https://") || name.starts_with("http://");
    source.url.as_deref().or_else(|| Some(source.document.as_str()).filter(|name| is_page(name)))
}

/// The draft `body` with marks for its URLs. `list` is the list of sources that the draft had at its end.
pub(super) fn resolve(body: &str, list: &str, pages: &Pages) -> Resolved {
    let mut notes = Notes::default();
    notes.read(list, true);
    notes.lines.clear();
    notes.read(body, false);
    let told = std::mem::take(&mut notes.lines);
    let mut resolved = Resolved::default();
    for link in links_of(list) {
        resolved.dropped.count(!pages.led_to(link.target.as_deref().unwrap_or("")).is_empty());
    }
    let mut writer =
        Writer { body, pages, prefix: prefix(body, pages.sources), at: 0, has_cut: false, resolved };
    let mut found = links(body, &notes).into_iter().peekable();
    for line in lines(body) {
        let mut own: Vec<Link> = Vec::new();
        while let Some(link) = found.next_if(|link| link.range.start < line.end) {
            own.push(link);
        }
        own.retain(|link| !pages.is_in_documents(link.target.as_deref().unwrap_or("\u{0}")));
        writer.line(&line, &own, told.contains(&line));
    }
    writer.close()
}

impl Dropped {
    fn count(&mut self, is_known: bool) {
        match is_known {
            true => self.known += 1,
            false => self.unknown += 1,
        }
    }
}

/// Begins the ids of marks that stand for URLs: nothing in the draft and no source has it.
fn prefix(body: &str, sources: &Sources) -> String {
    let taken = |prefix: &str| body.contains(prefix) || sources.keys().any(|id| id.starts_with(prefix));
    let mut names = (0_u32..).map(|n| format!("u{n:05}-"));
    names.find(|name| !taken(name)).unwrap_or_default()
}

struct Writer<'a> {
    body: &'a str,
    pages: &'a Pages<'a>,
    prefix: String,
    /// Up to where the body is written.
    at: usize,
    /// Whether whole lines went.
    has_cut: bool,
    resolved: Resolved,
}

impl Writer<'_> {
    fn line(&mut self, line: &Range<usize>, links: &[Link], is_note: bool) {
        let text = &self.body[line.clone()];
        if is_note || is_list_of_urls(text, line.start, links) {
            // The line goes with its end.
            links.iter().for_each(|link| {
                let is_known = !self.led_to(link).is_empty();
                self.resolved.dropped.count(is_known);
            });
            self.copy(line.start);
            self.has_cut = true;
            let end = self.body[line.end..].find('\n').map_or(self.body.len(), |at| line.end + at + 1);
            self.at = self.at.max(end);
            return;
        }
        let is_heading = text.trim_start().starts_with('#');
        for link in links {
            let led_to = self.led_to(link);
            let range = around(self.body, &link.range);
            self.copy(range.start);
            if is_heading {
                self.resolved.dropped.count(!led_to.is_empty());
                // The name of a page that was read; of another nothing is left but what stands for people.
                let name = match link.label.is_empty() {
                    true if led_to.is_empty() => String::new(),
                    true => host(link.target.as_deref().unwrap_or("")).to_owned(),
                    false => self.pages.without_others(&self.body[link.label.clone()]),
                };
                self.resolved.text.push_str(&name);
            } else {
                self.mark(link, led_to);
            }
            self.at = self.at.max(range.end);
        }
    }

    fn led_to(&self, link: &Link) -> Vec<String> {
        link.target.as_deref().map(|target| self.pages.led_to(target)).unwrap_or_default()
    }

    fn mark(&mut self, link: &Link, led_to: Vec<String>) {
        let label = self.pages.without_others(&self.body[link.label.clone()]);
        let text = &mut self.resolved.text;
        text.push_str(&label);
        if text.chars().next_back().is_some_and(|c| !c.is_whitespace()) {
            text.push(' ');
        }
        let id = format!("{}{}", self.prefix, self.resolved.marks.len() + 1);
        text.push_str(&format!("[{id}]"));
        self.resolved.marks.insert(id, led_to);
    }

    fn copy(&mut self, to: usize) {
        if let Some(text) = self.body.get(self.at..to) {
            self.resolved.text.push_str(text);
        }
        self.at = self.at.max(to);
    }

    fn close(mut self) -> Resolved {
        self.copy(self.body.len());
        while self.has_cut && self.resolved.text.contains("\n\n\n") {
            self.resolved.text = self.resolved.text.replace("\n\n\n", "\n\n");
        }
        self.resolved
    }
}

/// Whether a line is an item with nothing but URLs in it.
fn is_list_of_urls(line: &str, start: usize, links: &[Link]) -> bool {
    let indent = line.len() - line.trim_start().len();
    let mark = item_mark(line.trim_start());
    if links.is_empty() || mark == 0 {
        return false;
    }
    let mut rest = String::new();
    let mut at = indent + mark;
    for link in links {
        rest.push_str(line.get(at..link.range.start.saturating_sub(start)).unwrap_or(""));
        rest.push_str(
            line.get(link.label.start.saturating_sub(start)..link.label.end.saturating_sub(start))
                .unwrap_or(""),
        );
        at = link.range.end.saturating_sub(start);
    }
    rest.push_str(line.get(at..).unwrap_or(""));
    !rest.contains(char::is_alphanumeric)
}

/// A link with the brackets that stand around it alone: `(https://…)`, `(source: https://…)`.
fn around(text: &str, range: &Range<usize>) -> Range<usize> {
    const LEADS: [&str; 6] = ["", "see", "source:", "sources:", "via", "doi:"];
    let before = text[..range.start].trim_end_matches(' ');
    let Some(open) = before.rfind('(') else { return range.clone() };
    let lead = before[open + 1..].trim().to_lowercase();
    match text[range.end..].strip_prefix(')') {
        Some(_) if LEADS.contains(&lead.as_str()) => open..range.end + 1,
        _ => range.clone(),
    }
}

/// The host of a URL, which is none by itself.
fn host(url: &str) -> &str {
    let behind = url.split_once("://").map_or(url, |(_, rest)| rest);
    behind.split(['/', '?', '#']).next().unwrap_or("")
}

#[cfg(test)]
mod tests;
