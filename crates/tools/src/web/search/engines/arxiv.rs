//! arXiv: `GET /api/query`, an Atom feed, as info.arxiv.org/help/api has it: one request in three seconds.
//!
//! Filters: time (`submittedDate:[YYYYMMDD0000 TO YYYYMMDD2359]`). An error is an entry whose id is below
//! `arxiv.org/api/errors`.
//!
//! Its queries have a syntax of their own. Of a query in words, quoted phrases and words that carry meaning are searched
//! in all fields: all of them where they are few, else any, the best match first.

use deepgraph_protocol::{ErrorKind, StepError};
use roxmltree::{Document, Node};

use crate::web::search::answer::{Answered, Found};
use crate::web::search::caller::{Caller, Request};
use crate::web::search::dates;
use crate::web::search::query::Asked;
use crate::web::search::text::plain;

const ATOM: &str = "http://www.w3.org/2005/Atom";
/// The most terms that all have to be there.
const MOST_REQUIRED: usize = 4;
/// The most terms.
const MOST_TERMS: usize = 20;
/// Words that say nothing about a paper, or mean something in its syntax.
const EMPTY: [&str; 47] = [
    "a", "about", "all", "an", "and", "andnot", "are", "as", "at", "be", "between", "by", "can", "do",
    "does", "for", "from", "has", "have", "how", "in", "into", "is", "it", "its", "not", "of", "on", "or",
    "that", "the", "their", "these", "this", "to", "was", "were", "what", "when", "where", "which", "who",
    "why", "will", "with", "would", "vs",
];

pub(super) async fn ask(caller: &Caller, asked: &Asked) -> Result<Answered, StepError> {
    let Some(query) = query(asked) else { return Ok(Answered::default()) };
    let mut url = caller.url("/api/query", None)?;
    url.query_pairs_mut()
        .append_pair("search_query", &query)
        .append_pair("start", "0")
        .append_pair("max_results", &asked.count.to_string())
        .append_pair("sortBy", "relevance")
        .append_pair("sortOrder", "descending");
    let feed = caller.xml(Request { url, body: None, key: None, accept: "application/atom+xml" }).await?;
    let feed = Document::parse(&feed).map_err(|error| {
        caller.who.error(ErrorKind::InvalidOutput, format!("its feed can not be read: {error}"))
    })?;
    if !feed.root_element().has_tag_name((ATOM, "feed")) {
        return Err(caller.lacks("feed"));
    }
    let mut found = Vec::new();
    for entry in feed.root_element().children().filter(|node| node.has_tag_name((ATOM, "entry"))) {
        let id = child(&entry, "id");
        if id.contains("/api/errors") {
            return Err(caller.who.error(ErrorKind::InvalidRequest, child(&entry, "summary")));
        }
        found.push(Found {
            url: id.replacen("http://", "https://", 1),
            title: child(&entry, "title"),
            text: child(&entry, "summary"),
            date: dates::read(&child(&entry, "published"), asked.today),
        });
    }
    Ok(Answered::of(found))
}

/// The text of a child, on one line.
fn child(entry: &Node<'_, '_>, name: &str) -> String {
    let child = entry.children().find(|node| node.has_tag_name((ATOM, name)));
    plain(child.and_then(|child| child.text()).unwrap_or_default())
}

/// The query in its syntax; none where nothing is left to search for.
fn query(asked: &Asked) -> Option<String> {
    let terms = terms(&asked.text);
    if terms.is_empty() {
        return None;
    }
    let joint = if terms.len() <= MOST_REQUIRED { " AND " } else { " OR " };
    let words = terms.iter().map(|term| format!("all:{term}")).collect::<Vec<_>>().join(joint);
    if !asked.has_dates() {
        return Some(words);
    }
    let day = |date: Option<jiff::civil::Date>, other: &str| {
        date.map_or_else(|| other.to_owned(), |date| date.to_string().replace('-', ""))
    };
    let (from, to) = (day(asked.from, "19910101"), day(asked.to, &day(Some(asked.today), "")));
    Some(format!("({words}) AND submittedDate:[{from}0000 TO {to}2359]"))
}

/// Quoted phrases, and the words outside of them that carry meaning.
fn terms(text: &str) -> Vec<String> {
    let mut terms: Vec<String> = Vec::new();
    for (at, part) in text.split('"').enumerate() {
        let words = part.split(|c: char| !c.is_alphanumeric() && c != '-').map(|word| word.trim_matches('-'));
        let words = words.filter(|word| !word.is_empty());
        let is_quoted = at % 2 == 1;
        if is_quoted {
            let phrase = words.collect::<Vec<_>>().join(" ");
            if !phrase.is_empty() {
                terms.push(format!("\"{phrase}\""));
            }
            continue;
        }
        let meaning = words.filter(|word| !EMPTY.contains(&word.to_lowercase().as_str()));
        terms.extend(meaning.map(str::to_owned));
    }
    terms.truncate(MOST_TERMS);
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_in_words_becomes_one_in_its_syntax() {
        assert_eq!(terms("What is the \"dark matter\" halo of M31?"), ["\"dark matter\"", "halo", "M31"]);
        assert_eq!(
            terms("graph-based (AND) -x- \"unclosed phrase"),
            ["graph-based", "x", "\"unclosed phrase\""]
        );
        assert!(terms("how is it").is_empty());
    }
}
