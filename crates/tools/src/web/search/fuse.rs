//! One ranking of the answers of several engines.
//!
//! Reciprocal rank fusion: a page has the score Σ 1 / (60 + rank), over the engines that found it, with its rank in each
//! from 1 (G. V. Cormack, C. L. A. Clarke, S. Büttcher: Reciprocal Rank Fusion outperforms Condorcet and individual Rank
//! Learning Methods, SIGIR 2009, k = 60). It needs no scores of the engines, which can not be compared. Of equals, the one
//! that is higher in an engine comes first, then the one of the engine that is named first, then the one whose canonical
//! URL is lower.
//!
//! Pages are one where their canonical URLs are, or where they are of one host and their titles and snippets have nine in
//! ten words in common.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use deepgraph_protocol::Hit;
use url::Url;

use super::answer::Found;
use super::engine::Engine;
use crate::web::canonical;

const K: f64 = 60.0;
/// Words that two pages of one host must have in common, of all that either has, to be one.
const NEARLY_ALL: f64 = 0.9;
/// Pages with fewer words are told apart by their addresses alone.
const FEWEST_WORDS: usize = 5;

/// A page that was found.
struct Page {
    canonical: String,
    /// The rank in each engine, by the place of the engine.
    ranks: BTreeMap<usize, usize>,
    address: String,
    title: String,
    text: String,
    date: Option<String>,
    words: BTreeSet<String>,
}

/// The best pages of the answers, best first. The answers come in the order in which the engines are named.
pub(super) fn fuse(answers: &[(Engine, Vec<Found>)], limit: usize) -> Vec<Hit> {
    let mut pages: BTreeMap<String, Page> = BTreeMap::new();
    for (place, (_, found)) in answers.iter().enumerate() {
        let mut rank = 0;
        let mut seen = BTreeSet::new();
        for found in found {
            let Some(canonical) = canonical::canonical(&found.url) else { continue };
            if !seen.insert(canonical.clone()) {
                continue;
            }
            rank += 1;
            let page = Page::of(canonical.clone(), place, rank, found);
            match pages.get_mut(&canonical) {
                Some(known) => known.take_in(page),
                None => drop(pages.insert(canonical, page)),
            }
        }
    }
    let mut pages: Vec<Page> = pages.into_values().collect();
    pages.sort_by(by_rank);
    let mut pages = without_near_equals(pages);
    pages.sort_by(by_rank);
    pages.truncate(limit);
    pages.into_iter().map(|page| page.hit(answers)).collect()
}

/// Puts pages of one host that say nearly the same into the best of them.
fn without_near_equals(pages: Vec<Page>) -> Vec<Page> {
    let mut kept: Vec<Page> = Vec::new();
    for page in pages {
        match kept.iter_mut().find(|better| better.is_nearly(&page)) {
            Some(better) => better.take_in(page),
            None => kept.push(page),
        }
    }
    kept
}

fn by_rank(one: &Page, other: &Page) -> Ordering {
    let best = |page: &Page| page.ranks.iter().map(|(place, rank)| (*rank, *place)).min();
    let by_score = other.score().total_cmp(&one.score());
    by_score.then_with(|| best(one).cmp(&best(other))).then_with(|| one.canonical.cmp(&other.canonical))
}

impl Page {
    fn of(canonical: String, place: usize, rank: usize, found: &Found) -> Page {
        let address = Url::parse(found.url.trim()).map(|url| canonical::address(&url));
        let words = format!("{} {}", found.title, found.text).to_lowercase();
        let words = words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        Page {
            canonical,
            ranks: BTreeMap::from([(place, rank)]),
            address: address.unwrap_or_else(|_| found.url.clone()),
            title: found.title.clone(),
            text: found.text.clone(),
            date: found.date.clone(),
            words: words.map(str::to_owned).collect(),
        }
    }

    fn score(&self) -> f64 {
        self.ranks.values().map(|rank| 1.0 / (K + *rank as f64)).sum()
    }

    /// The same page once more: it is where it is best, with the longest snippet and the most exact date.
    fn take_in(&mut self, other: Page) {
        for (place, rank) in other.ranks {
            self.ranks.entry(place).and_modify(|best| *best = rank.min(*best)).or_insert(rank);
        }
        if self.title.is_empty() {
            self.title = other.title;
        }
        if other.text.len() > self.text.len() {
            self.text = other.text;
        }
        let exactness = |date: &Option<String>| date.as_ref().map_or(0, String::len);
        if exactness(&other.date) > exactness(&self.date) {
            self.date = other.date;
        }
    }

    fn is_nearly(&self, other: &Page) -> bool {
        if host(&self.canonical) != host(&other.canonical)
            || self.words.len().min(other.words.len()) < FEWEST_WORDS
        {
            return false;
        }
        let common = self.words.intersection(&other.words).count();
        let all = self.words.len() + other.words.len() - common;
        common as f64 >= NEARLY_ALL * all as f64
    }

    fn hit(self, answers: &[(Engine, Vec<Found>)]) -> Hit {
        let engines =
            self.ranks.keys().filter_map(|place| answers.get(*place)).map(|(engine, _)| engine.name());
        let score = self.score();
        Hit {
            source: String::new(),
            document: self.canonical,
            title: if self.title.is_empty() { self.address.clone() } else { self.title },
            text: self.text,
            score,
            url: Some(self.address),
            date: self.date,
            found: Some(engines.collect::<Vec<_>>().join(", ")),
        }
    }
}

/// The host of a canonical URL.
fn host(canonical: &str) -> &str {
    let rest = canonical.split_once("://").map_or(canonical, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(url: &str, title: &str, text: &str) -> Found {
        Found { url: url.into(), title: title.into(), text: text.into(), date: None }
    }

    fn page(name: &str) -> Found {
        found(&format!("https://{name}.example/"), name, "")
    }

    fn order(hits: &[Hit]) -> Vec<&str> {
        hits.iter().map(|hit| hit.title.as_str()).collect()
    }

    #[test]
    fn what_several_engines_found_comes_before_what_one_found() {
        let answers = [
            (Engine::Tavily, vec![page("a"), page("b"), page("c")]),
            (Engine::Wikipedia, vec![page("d"), page("c")]),
        ];
        let hits = fuse(&answers, 10);
        assert_eq!(order(&hits), ["c", "a", "d", "b"]);
        assert!((hits[0].score - (1.0 / 63.0 + 1.0 / 62.0)).abs() < 1e-12);
        assert_eq!(hits[0].found.as_deref(), Some("tavily, wikipedia"));
        assert!(hits.iter().all(|hit| hit.source.is_empty() && hit.url.is_some()));
        assert_eq!(fuse(&answers, 2).len(), 2);
    }

    #[test]
    fn addresses_of_one_page_are_one_hit_with_the_best_of_both() {
        let first = Found {
            date: Some("2024".into()),
            ..found("http://www.tides.example/a/?utm_source=x", "", "short")
        };
        let second = Found {
            date: Some("2024-05-31".into()),
            ..found("https://tides.example/a#top", "Tides", "a longer snippet")
        };
        let hits = fuse(&[(Engine::Brave, vec![first.clone(), first]), (Engine::Exa, vec![second])], 10);
        assert_eq!(hits.len(), 1);
        assert_eq!((hits[0].title.as_str(), hits[0].text.as_str()), ("Tides", "a longer snippet"));
        assert_eq!(hits[0].date.as_deref(), Some("2024-05-31"));
        assert!((hits[0].score - 2.0 / 61.0).abs() < 1e-12, "twice in one engine counts once");
    }

    #[test]
    fn pages_of_one_host_that_say_nearly_the_same_are_one() {
        let text = "The tide at the harbour is highest two hours after the moon has passed over it";
        let answers = [(
            Engine::Searxng,
            vec![
                found("https://tides.example/print/1", "High tide", text),
                found("https://tides.example/1", "High tide!", text),
                found("https://other.example/1", "High tide", text),
                found(
                    "https://tides.example/2",
                    "High tide",
                    "Another text altogether about boats and nets and harbours",
                ),
            ],
        )];
        let hits = fuse(&answers, 10);
        let urls: Vec<&str> = hits.iter().filter_map(|hit| hit.url.as_deref()).collect();
        assert_eq!(
            urls,
            ["https://tides.example/print/1", "https://other.example/1", "https://tides.example/2"]
        );
    }

    #[test]
    fn equals_have_one_order_whatever_comes_first() {
        let (one, other) = (vec![page("b"), page("x")], vec![page("a"), page("y")]);
        let hits = fuse(&[(Engine::Tavily, one.clone()), (Engine::Brave, other.clone())], 10);
        assert_eq!(order(&hits), ["b", "a", "x", "y"]);
        let hits = fuse(&[(Engine::Brave, other), (Engine::Tavily, one)], 10);
        assert_eq!(order(&hits), ["a", "b", "y", "x"]);
    }

    #[test]
    fn what_is_no_page_of_the_web_is_left_out() {
        let bad = ["ftp://a.example/", "javascript:alert(1)", "", "file:///etc/passwd"]
            .map(|url| found(url, "bad", ""));
        assert!(fuse(&[(Engine::Searxng, bad.to_vec())], 10).is_empty());
    }
}
