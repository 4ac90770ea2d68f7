//! URLs and DOIs that stand in a text as they are.

use std::ops::Range;

/// Endings of hosts that make a URL of a word with a slash behind them, although it has no scheme.
const HOSTS: &[&str] = &[
    "app", "at", "au", "be", "biz", "br", "ca", "ch", "cn", "co", "com", "cz", "de", "dev", "dk", "edu",
    "es", "eu", "fi", "fr", "gov", "ie", "in", "info", "int", "io", "it", "jp", "kr", "mil", "mx", "net",
    "news", "nl", "no", "nz", "org", "pl", "pt", "ru", "se", "site", "tv", "uk", "us", "xyz", "za",
];

/// Schemes that do without slashes.
const SCHEMES: &[&str] = &["data:text", "javascript:"];

/// Whether a word is a URL or a DOI, and nothing else.
pub(in crate::cite) fn is_url(word: &str) -> bool {
    let is_whole = bare(word, 0).is_some_and(|range| range.start == 0 && range.end + 1 >= word.len());
    is_whole || has_scheme(word) || word.starts_with("//") && word.contains('.')
}

/// The URL or DOI that begins at a byte of a text, without the punctuation behind it.
pub(in crate::cite) fn bare(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..)?;
    let end = rest.find(ends_url).unwrap_or(rest.len());
    let word = trimmed(&rest[..end]);
    let is_found =
        has_scheme(word) || (has_prefix(word, "www.") && word.len() > 6) || is_doi(word) || has_host(word);
    is_found.then(|| at..at + word.len())
}

/// `https://example.org`, `file:///etc`: whatever the scheme.
fn has_scheme(word: &str) -> bool {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    };
    word.split_once("://").is_some_and(|(scheme, rest)| is_scheme(scheme) && !rest.is_empty())
        || SCHEMES.iter().any(|scheme| has_prefix(word, scheme) && word.len() > scheme.len())
}

fn has_prefix(word: &str, prefix: &str) -> bool {
    word.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
}

/// What no URL has in it as it is written in prose.
fn ends_url(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(
            c,
            '<' | '>'
                | '"'
                | '`'
                | '|'
                | '['
                | ']'
                | '{'
                | '}'
                | '“'
                | '”'
                | '»'
                | '«'
                | '。'
                | '，'
                | '、'
                | '）'
                | '」'
                | '…'
        )
}

/// A word without the punctuation of the sentence, and without a bracket that it does not open.
fn trimmed(word: &str) -> &str {
    let mut word = word;
    loop {
        let open = word.matches('(').count();
        let shorter = word.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*', '_', '’']);
        let shorter = if shorter.matches(')').count() > open {
            shorter.strip_suffix(')').unwrap_or(shorter)
        } else {
            shorter
        };
        if shorter.len() == word.len() {
            return word;
        }
        word = shorter;
    }
}

/// `10.1000/182`, `doi:10.1000/182`.
fn is_doi(word: &str) -> bool {
    let word = if has_prefix(word, "doi:") { &word[4..] } else { word };
    let Some((registrant, suffix)) = word.strip_prefix("10.").and_then(|rest| rest.split_once('/')) else {
        return false;
    };
    let mut parts = registrant.split('.');
    let first = parts.next().unwrap_or("");
    (4..=9).contains(&first.len())
        && registrant.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        && !suffix.is_empty()
}

/// `example.org/reports/2024`.
fn has_host(word: &str) -> bool {
    let Some((host, _)) = word.split_once('/') else { return false };
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    let labels: Vec<&str> = host.split('.').collect();
    let is_label =
        |label: &&str| !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let Some((ending, names)) = labels.split_last() else { return false };
    !names.is_empty()
        && labels.iter().all(is_label)
        && names.iter().any(|name| name.bytes().any(|b| b.is_ascii_alphabetic()))
        && HOSTS.contains(&ending.to_ascii_lowercase().as_str())
}
