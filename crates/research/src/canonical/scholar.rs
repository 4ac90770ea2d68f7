//! Papers: a DOI and an arXiv id name a text wherever it is shown.

use url::Url;

use super::percent;

/// Characters of a DOI that stay as they are in its URL.
const PLAIN: &[u8] = b"/()!*',:@$&+=;";

/// The canonical URL of a DOI or arXiv id that is written as such. None for a URL.
pub fn named(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let rest =
        |prefix: &str| lower.strip_prefix(prefix).map(|rest| rest.trim_start_matches([':', ' ', '\t']));
    if let Some(id) = rest("arxiv").and_then(arxiv_id) {
        return Some(arxiv_url(&id));
    }
    let doi = rest("doi").unwrap_or(&lower);
    // Written in a text, a DOI ends before the mark that ends the sentence.
    doi_of(doi.trim_end_matches(['.', ',', ';', ':', '"', '\'', '>', ']'])).map(|doi| doi_url(&doi))
}

/// The canonical URL of a text at a resolver of DOIs or at arXiv.
pub fn at(host: &str, url: &Url) -> Option<String> {
    match host {
        "doi.org" | "dx.doi.org" => {
            let path = percent::decoded(url.path()).to_lowercase();
            doi_of(path.trim_start_matches('/').trim_end_matches('/')).map(|doi| doi_url(&doi))
        }
        "arxiv.org" | "export.arxiv.org" | "ar5iv.org" | "ar5iv.labs.arxiv.org" => {
            let path = url.path().to_ascii_lowercase();
            let rest = ["/abs/", "/pdf/", "/html/", "/format/", "/ps/"];
            let id = rest.iter().find_map(|kind| path.strip_prefix(kind))?;
            arxiv_id(id).map(|id| arxiv_url(&id))
        }
        _ => None,
    }
}

/// A DOI in lower case: `10.`, a registrant of 4 to 9 digits and parts, a slash, a suffix without white space.
fn doi_of(text: &str) -> Option<String> {
    let (registrant, suffix) = text.strip_prefix("10.")?.split_once('/')?;
    let mut parts = registrant.split('.');
    let digits = parts.next()?;
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_registrant = (4..=9).contains(&digits.len()) && is_number(digits) && parts.all(is_number);
    let is_suffix =
        !suffix.is_empty() && !suffix.chars().any(|char| char.is_whitespace() || char.is_control());
    (is_registrant && is_suffix).then(|| text.into())
}

fn doi_url(doi: &str) -> String {
    if let Some(id) = doi.strip_prefix("10.48550/arxiv.").and_then(arxiv_id) {
        return arxiv_url(&id);
    }
    // Two encodings of one DOI are one: it is written from the text that it stands for.
    format!("https://doi.org/{}", percent::encoded(doi, PLAIN))
}

/// The id of a text at arXiv without version and file name: `2301.00001`, `hep-th/9901001`.
fn arxiv_id(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches('/');
    let text = text.strip_suffix(".pdf").unwrap_or(text);
    let without_version = match text.rsplit_once('v') {
        Some((id, version)) if !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit()) => id,
        _ => text,
    };
    let are_digits = |part: &str, lengths: &[usize]| {
        lengths.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_new = without_version
        .split_once('.')
        .is_some_and(|(month, number)| are_digits(month, &[4]) && are_digits(number, &[4, 5]));
    let is_old = without_version.split_once('/').is_some_and(|(archive, number)| {
        let is_archive = archive.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'.'));
        !archive.is_empty() && is_archive && are_digits(number, &[7])
    });
    (is_new || is_old).then(|| without_version.into())
}

fn arxiv_url(id: &str) -> String {
    format!("https://arxiv.org/abs/{id}")
}
