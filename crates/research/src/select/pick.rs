//! The few statements, of all that match, that are handed on.

use super::about::{Level, level};
use super::candidate::{Candidate, Pool};
use super::matching::{LABELLED, Match, Matcher};
use super::wording::sentence;
use crate::question::{Asks, Facet, Part};
use crate::said::Said;
use crate::staleness::{Claim, is_later as is_later_date};
use crate::text::similar::Fingerprint;
use crate::text::words::Stems;

/// The most statements for one facet of one title.
const MOST: usize = 4;
/// The most statements about a subject of which nothing in particular is asked.
const MOST_OVERVIEW: usize = 5;
/// The most titles that one subject may stand for ("Congo").
const MOST_TITLES: usize = 3;
/// How much worse a later statement may match than the older one that it replaces.
const LATER_MAY_LACK: f64 = 0.25;

/// A statement that may be handed on.
#[derive(Clone)]
pub(super) struct Scored<'p, 'a> {
    /// The statement.
    pub candidate: &'p Candidate<'a>,
    /// How plainly it is about the subject.
    pub level: Option<Level>,
    /// How well it matches.
    pub found: Match,
    /// Its place among all statements.
    pub order: usize,
    /// Whether a later document says otherwise.
    pub is_superseded: bool,
}

/// The statements that answer one facet of a part, best first, each as a sentence.
pub(super) fn pick<'p, 'a>(
    pool: &'p Pool<'a>,
    part: &Part,
    facet: Option<&Facet>,
) -> Vec<(&'p Candidate<'a>, String)> {
    let mut scored = score(pool, part, facet);
    scored.sort_by(|a, b| b.found.score.total_cmp(&a.found.score).then(a.order.cmp(&b.order)));
    let chosen = match facet {
        Some(facet) => latest(&scored, best(&scored, facet)),
        None => overview(scored),
    };
    distinct(chosen).into_iter().map(|s| (s.candidate, sentence(part, &s))).collect()
}

fn score<'p, 'a>(pool: &'p Pool<'a>, part: &Part, facet: Option<&Facet>) -> Vec<Scored<'p, 'a>> {
    if facet.is_some_and(|f| names_unknown(pool, part, f)) {
        return Vec::new();
    }
    let matcher = facet.map(|facet| Matcher::new(pool, facet));
    let mut scored = Vec::new();
    for (order, candidate) in pool.candidates.iter().enumerate() {
        let level = part.subject.as_ref().and_then(|s| level(s, candidate));
        if part.subject.is_some() && level.is_none() {
            continue;
        }
        let found = match &matcher {
            Some(matcher) => matcher.matches(level, candidate),
            None => Some(Match { score: overview_score(candidate, level), label: 0.0, at: None }),
        };
        scored.extend(found.map(|found| Scored { candidate, level, found, order, is_superseded: false }));
    }
    scored
}

/// Whether a question without subject has a name in it that stands nowhere: whatever else matches, it is about
/// something else.
fn names_unknown(pool: &Pool, part: &Part, facet: &Facet) -> bool {
    let words = crate::text::words::content_words(&facet.text);
    let mut names = words.filter(|(at, word)| *at > 0 && word.starts_with(char::is_uppercase));
    part.subject.is_none() && names.any(|(_, word)| !pool.knows(&crate::text::words::stem(word)))
}

/// For "tell me about …": sentences before records, plain statements about the subject before others.
fn overview_score(candidate: &Candidate, level: Option<Level>) -> f64 {
    let prose = if candidate.is_prose && candidate.value.split(' ').count() >= 6 { 0.2 } else { 0.0 };
    level.map_or(0.0, Level::bonus) + prose
}

/// The best statements, and others that are nearly as good: the latest of each series, few of each title.
fn best<'p, 'a>(scored: &[Scored<'p, 'a>], facet: &Facet) -> Vec<Scored<'p, 'a>> {
    let Some(top) = scored.first() else { return Vec::new() };
    let (top_score, is_exact, top_level) = (top.found.score, top.found.label > LABELLED, top.level);
    let margin = match facet.asks {
        Asks::List => 0.06,
        _ if is_exact => 0.02,
        _ => 0.1,
    };
    let near = scored.iter().filter(|s| s.found.score >= top_score - margin - later_is_better(facet));
    let mut chosen: Vec<Scored> = Vec::new();
    for next in near.cloned() {
        let rival = chosen.iter().position(|s| is_series(s, &next));
        match rival {
            Some(i) if is_later(&next, &chosen[i], facet) => chosen[i] = next,
            Some(_) => {}
            None if next.found.score >= top_score - margin && next.level == top_level => chosen.push(next),
            None => {}
        }
    }
    few_of_each_title(chosen)
}

/// Years of a series may score a little apart; they are compared with each other nevertheless.
fn later_is_better(facet: &Facet) -> f64 {
    if facet.years.is_empty() { 0.05 } else { 0.0 }
}

/// Whether two statements are the same label of the same title, for other years.
fn is_series(a: &Scored, b: &Scored) -> bool {
    let label = |s: &Scored| -> Stems { s.candidate.path.iter().flat_map(|l| l.stems.clone()).collect() };
    let is_labelled =
        |s: &Scored| s.candidate.own_labels > 0 && s.candidate.year.is_some() && !s.candidate.is_prose;
    is_labelled(a) && is_labelled(b) && a.candidate.title == b.candidate.title && label(a) == label(b)
}

fn is_later(a: &Scored, b: &Scored, facet: &Facet) -> bool {
    facet.years.is_empty() && a.candidate.year > b.candidate.year
}

fn few_of_each_title<'p, 'a>(chosen: Vec<Scored<'p, 'a>>) -> Vec<Scored<'p, 'a>> {
    let mut titles: Vec<(&Stems, usize)> = Vec::new();
    let mut kept = Vec::new();
    for scored in chosen {
        let title = &scored.candidate.title;
        let known = titles.iter().position(|(known, _)| *known == title);
        let at = known.unwrap_or(titles.len());
        if known.is_none() {
            titles.push((title, 0));
        }
        if at < MOST_TITLES && titles[at].1 < MOST {
            titles[at].1 += 1;
            kept.push(scored);
        }
    }
    kept
}

/// Where a later document gives other figures, that one first. An older statement is kept, and is called superseded only where
/// the later one says the same word for word. One without a date stands behind those with one.
fn latest<'p, 'a>(scored: &[Scored<'p, 'a>], chosen: Vec<Scored<'p, 'a>>) -> Vec<Scored<'p, 'a>> {
    let date = |s: &Scored<'p, 'a>| s.candidate.passage.date.as_deref();
    let claims: Vec<(&Scored, Claim)> = scored.iter().map(|s| (s, claim(s.candidate))).collect();
    let has_double = |one: &Scored<'p, 'a>, claim: &Claim| {
        let of = |s: &Scored<'p, 'a>| (&s.candidate.passage.document, &s.candidate.passage.date);
        claims.iter().any(|(s, other)| of(s) == of(one) && claim.is_double(other))
    };
    let mut kept: Vec<Scored> = Vec::new();
    for old in chosen {
        let own = claim(old.candidate);
        let is_as_good = |s: &Scored<'p, 'a>| {
            s.level >= old.level
                && s.found.score >= old.found.score - LATER_MAY_LACK
                && is_rival(old.candidate, s.candidate)
        };
        let supersedes = |s: &Scored<'p, 'a>, claim: &Claim| {
            date(s).zip(date(&old)).is_some_and(|(new, old)| is_later_date(new, old))
                && own.superseded_by(claim).is_some()
                && !has_double(&old, &own)
                && !has_double(s, claim)
        };
        let newer = || claims.iter().filter(|(s, _)| date(s) > date(&old));
        let last = |s: &Scored<'p, 'a>| (date(s).map(str::to_owned), std::cmp::Reverse(s.order));
        // A sentence in a document on something else may be the news of the same thing.
        let says_so = newer().filter(|(s, claim)| supersedes(s, claim)).max_by_key(|(s, _)| last(s));
        let newest = says_so.or_else(|| newer().filter(|(s, _)| is_as_good(s)).max_by_key(|(s, _)| last(s)));
        if let Some((newest, _)) = newest.filter(|(newest, _)| !kept.iter().any(|s| s.order == newest.order))
        {
            kept.push((*newest).clone());
        }
        if !kept.iter().any(|s| s.order == old.order) {
            kept.push(Scored { is_superseded: says_so.is_some(), ..old });
        }
    }
    kept
}

fn claim(candidate: &Candidate) -> Claim {
    let from = candidate.path.len() - candidate.own_labels.min(candidate.path.len());
    let texts = |labels: &'_ [super::candidate::Label]| -> Vec<String> {
        labels.iter().map(|label| label.text.clone()).collect()
    };
    let (above, own) = candidate.path.split_at(from);
    let own = texts(own);
    let labels: Vec<&str> = own.iter().map(String::as_str).collect();
    Claim::of(&candidate.passage.title, &texts(above).join(" "), &labels, &candidate.value)
}

/// Whether two statements that answer the same give other figures. A record's value has no words to compare by.
fn is_rival(a: &Candidate, b: &Candidate) -> bool {
    let (mine, other) = (Fingerprint::of(&a.value), Fingerprint::of(&b.value));
    if a.is_prose && b.is_prose { mine.is_rival(&other) } else { mine.has_other_figures(&other) }
}

/// The first statements of the plainest kind, in the order of the documents.
fn overview<'p, 'a>(scored: Vec<Scored<'p, 'a>>) -> Vec<Scored<'p, 'a>> {
    let top = scored.first().and_then(|s| s.level);
    let mut chosen: Vec<Scored> = scored.into_iter().filter(|s| s.level == top).take(MOST_OVERVIEW).collect();
    chosen.sort_by_key(|s| s.order);
    chosen
}

/// Without those that say what another one says.
fn distinct<'p, 'a>(chosen: Vec<Scored<'p, 'a>>) -> Vec<Scored<'p, 'a>> {
    let mut seen: Vec<(Fingerprint, Said)> = Vec::new();
    let mut kept = Vec::new();
    for scored in chosen {
        let labels = scored.candidate.path.iter().map(|l| l.text.as_str()).collect::<Vec<_>>().join(" ");
        let (title, value) = (&scored.candidate.passage.title, &scored.candidate.value);
        let print = Fingerprint::of(&format!("{title} {labels} {value}"));
        let said = Said::of(&format!("{title} {labels}"), value);
        if !seen.iter().any(|(s, known)| s.is_near(&print) && known.covers(&said)) {
            seen.push((print, said));
            kept.push(scored);
        }
    }
    kept
}
