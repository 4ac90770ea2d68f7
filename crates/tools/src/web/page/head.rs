//! What a page says about itself: title, author, dates, its own address.

use html5gum::{StartTag, Token};
use serde_json::Value;

use super::clean::cleaned;
use super::date::date;

/// Longest title or list of authors that is kept, in characters.
const LONGEST: usize = 300;
/// Most authors that are named.
const MOST_AUTHORS: usize = 8;
/// Longest part of JSON-LD that is read, in bytes.
const LONGEST_JSON: usize = 512 * 1024;
/// Longest wait of a page that leads on by itself, in seconds: a longer one is meant to be read.
const LONGEST_REFRESH: f64 = 5.0;

/// What a page says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Its title.
    pub title: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// When it was published, `YYYY-MM-DD`.
    pub published: Option<String>,
    /// When it was changed last, `YYYY-MM-DD`.
    pub modified: Option<String>,
    /// Its address, as it states it (`rel=canonical`).
    pub canonical: Option<String>,
    /// What relative addresses are relative to, as it states it.
    pub base: Option<String>,
    /// Where it leads at once by itself.
    pub refresh: Option<String>,
}

/// Reads the tags of a page.
pub fn head(tokens: &[Token<usize>]) -> Head {
    let mut found = Found::default();
    let mut inside = Inside::Nothing;
    for token in tokens {
        match token {
            Token::StartTag(tag) => inside = found.start(tag),
            Token::EndTag(_) => inside = Inside::Nothing,
            Token::String(text) => match inside {
                Inside::Title => found.title.push_str(&String::from_utf8_lossy(&text.value)),
                Inside::Json if text.value.len() <= LONGEST_JSON => {
                    if let Ok(json) = serde_json::from_slice::<Value>(&text.value) {
                        found.json(&json);
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }
    found.head()
}

/// The element whose text is read.
#[derive(Clone, Copy)]
enum Inside {
    Nothing,
    Title,
    Json,
}

/// What was found, each kind in order of trust.
#[derive(Default)]
struct Found {
    title: String,
    meta_title: Option<String>,
    json_title: Option<String>,
    authors: Vec<String>,
    json_authors: Vec<String>,
    published: Option<String>,
    json_published: Option<String>,
    modified: Option<String>,
    json_modified: Option<String>,
    time: Option<String>,
    head: Head,
}

impl Found {
    fn start(&mut self, tag: &StartTag<usize>) -> Inside {
        match tag.name.as_slice() {
            b"title" if self.title.trim().is_empty() => return Inside::Title,
            b"script" if attribute(tag, b"type").trim().eq_ignore_ascii_case("application/ld+json") => {
                return Inside::Json;
            }
            b"meta" => self.meta(tag),
            b"base" => set(&mut self.head.base, attribute(tag, b"href")),
            b"link" if has_word(&attribute(tag, b"rel"), "canonical") => {
                set(&mut self.head.canonical, attribute(tag, b"href"));
            }
            b"time" => self.time(tag),
            _ => {}
        }
        Inside::Nothing
    }

    fn meta(&mut self, tag: &StartTag<usize>) {
        let content = attribute(tag, b"content");
        if attribute(tag, b"http-equiv").eq_ignore_ascii_case("refresh") {
            self.head.refresh = self.head.refresh.take().or_else(|| refresh(&content));
        }
        for name in [&b"name"[..], b"property", b"itemprop"] {
            let name = attribute(tag, name).to_ascii_lowercase();
            match name.as_str() {
                "og:title" | "citation_title" | "dc.title" | "dcterms.title" => {
                    set(&mut self.meta_title, content.clone());
                }
                "author" | "citation_author" | "dc.creator" | "dcterms.creator" | "parsely-author"
                | "article:author" | "sailthru.author" => push_author(&mut self.authors, &content),
                "article:published_time"
                | "datepublished"
                | "citation_publication_date"
                | "citation_date"
                | "citation_online_date"
                | "dc.date"
                | "dc.date.issued"
                | "dcterms.issued"
                | "dcterms.created"
                | "parsely-pub-date"
                | "sailthru.date"
                | "pubdate"
                | "publish_date"
                | "publication_date"
                | "date"
                | "og:published_time" => set_date(&mut self.published, &content),
                "article:modified_time"
                | "datemodified"
                | "og:updated_time"
                | "dcterms.modified"
                | "last-modified"
                | "lastmod"
                | "revised"
                | "modified" => set_date(&mut self.modified, &content),
                _ => {}
            }
        }
    }

    fn time(&mut self, tag: &StartTag<usize>) {
        let when = attribute(tag, b"datetime");
        match attribute(tag, b"itemprop").to_ascii_lowercase().as_str() {
            "datemodified" => set_date(&mut self.modified, &when),
            "datepublished" => set_date(&mut self.published, &when),
            _ if tag.attributes.contains_key(&b"pubdate"[..]) => set_date(&mut self.published, &when),
            _ => set_date(&mut self.time, &when),
        }
    }

    /// Reads JSON-LD: what stands at its top or in its graph.
    fn json(&mut self, json: &Value) {
        match json {
            Value::Array(items) => items.iter().for_each(|item| self.json(item)),
            Value::Object(object) => {
                if let Some(graph @ Value::Array(_)) = object.get("@graph") {
                    self.json(graph);
                }
                let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
                let is_page = !text("headline").is_empty() || !text("datePublished").is_empty();
                if is_page {
                    set(&mut self.json_title, text("headline").into());
                    set_date(&mut self.json_published, text("datePublished"));
                    set_date(&mut self.json_modified, text("dateModified"));
                    if self.json_authors.is_empty() {
                        json_authors(object.get("author"), &mut self.json_authors);
                    }
                }
            }
            _ => {}
        }
    }

    fn head(mut self) -> Head {
        let title = one_line(&self.title);
        let meta = self.meta_title.as_deref().and_then(one_line);
        let json = self.json_title.as_deref().and_then(one_line);
        self.head.title = title.or(meta).or(json);
        let authors = if self.authors.is_empty() { &self.json_authors } else { &self.authors };
        self.head.author = one_line(&authors.join(", "));
        self.head.published = self.published.or(self.json_published);
        self.head.modified = self.modified.or(self.json_modified);
        if self.head.published.is_none() && self.head.modified.is_none() {
            self.head.published = self.time;
        }
        self.head
    }
}

fn json_authors(author: Option<&Value>, authors: &mut Vec<String>) {
    match author {
        Some(Value::String(name)) => push_author(authors, name),
        Some(Value::Object(object)) => {
            push_author(authors, object.get("name").and_then(Value::as_str).unwrap_or_default());
        }
        Some(Value::Array(list)) => {
            list.iter().filter(|item| !item.is_array()).for_each(|item| json_authors(Some(item), authors));
        }
        _ => {}
    }
}

fn push_author(authors: &mut Vec<String>, name: &str) {
    // Some give the address of a profile.
    let Some(name) = one_line(name).filter(|name| !name.contains("://")) else { return };
    if authors.len() < MOST_AUTHORS && !authors.contains(&name) {
        authors.push(name);
    }
}

/// Where a page leads by itself: `0; url=...`.
fn refresh(content: &str) -> Option<String> {
    let (wait, rest) = content.split_once([';', ','])?;
    let wait: f64 = wait.trim().parse().ok()?;
    let rest = rest.trim();
    let goal = match rest.get(..3) {
        Some(url) if url.eq_ignore_ascii_case("url") => rest.get(3..)?.trim_start().strip_prefix('=')?,
        _ => return None,
    };
    let goal = goal.trim().trim_matches(['"', '\'']);
    (wait <= LONGEST_REFRESH && !goal.is_empty()).then(|| goal.into())
}

/// A text in one line without what is not seen, not too long; none where nothing is left.
fn one_line(text: &str) -> Option<String> {
    let text = cleaned(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = text.chars().take(LONGEST).collect();
    (!short.is_empty()).then_some(short)
}

fn set(value: &mut Option<String>, text: String) {
    if value.is_none() && !text.trim().is_empty() {
        *value = Some(text.trim().into());
    }
}

fn set_date(value: &mut Option<String>, text: &str) {
    if value.is_none() {
        *value = date(text);
    }
}

fn has_word(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one.eq_ignore_ascii_case(word))
}

/// An attribute; "" where there is none.
pub fn attribute(tag: &StartTag<usize>, name: &[u8]) -> String {
    tag.attributes.get(name).map(|value| String::from_utf8_lossy(value).into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(html: &str) -> Head {
        head(&crate::extract::html::tokens(html))
    }

    #[test]
    fn meta_elements_are_read() {
        let head = of("<title> A  page\u{200B}\n| Site </title><meta name=citation_author content='Ada B'>\
                       <meta name=citation_author content='Cy D'><meta property=article:author content='https://x.test/ada'>\
                       <meta property='article:published_time' content='2024-03-01T10:00:00Z'>\
                       <meta property='article:modified_time' content='2024-04-02'>\
                       <link rel='alternate canonical' href=' /a '><base href='/b/'>");
        assert_eq!(head.title.as_deref(), Some("A page | Site"));
        assert_eq!(head.author.as_deref(), Some("Ada B, Cy D"));
        assert_eq!(
            (head.published.as_deref(), head.modified.as_deref()),
            (Some("2024-03-01"), Some("2024-04-02"))
        );
        assert_eq!((head.canonical.as_deref(), head.base.as_deref()), (Some("/a"), Some("/b/")));
    }

    #[test]
    fn json_ld_and_times_are_read() {
        let head = of(
            "<script type=application/ld+json>{\"@graph\":[{\"@type\":\"WebSite\",\"name\":\"x\"},\
                       {\"@type\":\"Article\",\"headline\":\"News\",\"author\":[{\"name\":\"Ada\"},\"Bo\"],\
                       \"datePublished\":\"2023-01-02T00:00:00+01:00\"}]}</script><script>var a = 1</script>",
        );
        assert_eq!((head.title.as_deref(), head.author.as_deref()), (Some("News"), Some("Ada, Bo")));
        assert_eq!(head.published.as_deref(), Some("2023-01-02"));
        assert_eq!(of("<time datetime=2022-02-03>x</time>").published.as_deref(), Some("2022-02-03"));
        assert_eq!(
            of("<time datetime=2022-02-03 itemprop=dateModified>x</time>").modified.as_deref(),
            Some("2022-02-03")
        );
        assert_eq!(of("<script type=application/ld+json>{broken</script>"), Head::default());
    }

    #[test]
    fn a_page_that_leads_on_is_told() {
        for (content, goal) in [
            ("0; url=/next", Some("/next")),
            ("0;URL='https://x.test/'", Some("https://x.test/")),
            ("30; url=/later", None),
            ("5", None),
            ("0; /next", None),
        ] {
            let head = of(&format!("<meta http-equiv=Refresh content=\"{content}\">"));
            assert_eq!(head.refresh.as_deref(), goal, "{content}");
        }
    }
}
