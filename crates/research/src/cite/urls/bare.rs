//! URLs and DOIs that stand in a text as they are.

use std::ops::Range;

/// Endings of file names, which make no host of a word with a slash behind them.
const FILES: &[&str] = &[
    "css", "csv", "doc", "docx", "go", "gz", "htm", "html", "java", "jpeg", "jpg", "js", "json", "jsonl",
    "log", "md", "mjs", "pdf", "php", "png", "ppt", "pptx", "py", "rb", "rs", "rst", "sh", "svg", "tar",
    "tex", "toml", "ts", "tsv", "txt", "xls", "xlsx", "xml", "yaml", "yml", "zip",
];

/// Schemes that do without slashes.
const SCHEMES: &[&str] = &["data:text", "javascript:"];

/// Whether a word is a URL or a DOI, and nothing else.
pub(in crate::cite) fn is_url(word: &str) -> bool {
    let is_whole = bare(word, 0).is_some_and(|range| range.start == 0 && range.end + 1 >= word.len());
    is_whole || has_scheme(word) || web_scheme(word).is_some() || word.starts_with("//") && word.contains('.')
}

/// Whether an address of the web begins at a byte of a text, whatever stands before it: words of many scripts are written
/// without a space between, and `_`, `-` and `.` stand close.
pub(in crate::cite) fn begins_web(text: &str, at: usize) -> bool {
    let Some(rest) = text.get(at..).filter(|rest| rest.starts_with(['h', 'H', 'f', 'F', 'w', 'W'])) else {
        return false;
    };
    let is_inside_word = text[..at].chars().next_back().is_some_and(|c| c.is_ascii_alphanumeric());
    web_scheme(rest).is_some() || (has_prefix(rest, "www.") && !is_inside_word)
}

/// The length of `https://` and its like, as renderers take them: `https:/`, `https:`, with slashes of both kinds, a
/// full-width colon, an entity or an escape.
fn web_scheme(text: &str) -> Option<usize> {
    let name = ["https", "http", "ftp"].into_iter().find(|name| has_prefix(text, name))?;
    let mut rest = text.get(name.len()..)?;
    rest = rest.trim_start_matches(['\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}']);
    rest = rest.strip_prefix('\\').unwrap_or(rest);
    let colon = [":", "：", "&#58;", "&#x3a;", "&#x3A;", "&colon;"]
        .into_iter()
        .find(|colon| rest.starts_with(colon))?;
    let behind = rest.get(colon.len()..)?.trim_start_matches(['/', '\\']);
    let host: &str =
        behind.split(|c: char| ends_url(c) || matches!(c, '/' | '?' | '#' | '\\')).next().unwrap_or("");
    let is_host = host.starts_with(|c: char| c.is_alphanumeric() || c == '[')
        && (host.trim_end_matches('.').contains(['.', ':']) || text.len() - behind.len() >= name.len() + 3);
    is_host.then(|| text.len() - behind.len())
}

/// The URL or DOI that begins at a byte of a text, without the punctuation behind it.
pub(in crate::cite) fn bare(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..)?;
    let end = rest.find(ends_url).unwrap_or(rest.len());
    let word = trimmed(&rest[..end]);
    let is_found = has_scheme(word)
        || web_scheme(word).is_some()
        || (has_prefix(word, "www.") && word.len() > 6)
        || is_doi(word)
        || has_host(word);
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
        && ending.len() >= 2
        && ending.bytes().all(|b| b.is_ascii_lowercase())
        && !FILES.contains(ending)
}
