//! Hosts that show the same site.

use url::Url;

/// First labels of hosts that by convention show the same pages as the host without them.
const SAME: [&str; 4] = ["www.", "m.", "mobile.", "amp."];
/// Labels below which a country's registry gives out names: `co.uk` is no site.
const REGISTRY: [&str; 11] = ["ac", "co", "com", "edu", "go", "gov", "mil", "ne", "net", "or", "org"];

/// A host in lower case without what only chooses a way to show the same pages.
pub fn canonical(host: &str) -> String {
    let host = host.to_ascii_lowercase();
    let mut host = host.trim_end_matches('.');
    while let Some(rest) = SAME.iter().find_map(|label| host.strip_prefix(label)).filter(|rest| is_site(rest))
    {
        host = rest;
    }
    // en.m.wikipedia.org
    if let Some((language, rest)) = host.split_once(".m.")
        && !language.contains('.')
        && is_wiki(rest)
    {
        return format!("{language}.{rest}");
    }
    host.into()
}

/// Whether a host name can be that of a site: two labels, and not just a registry's part of a country.
fn is_site(host: &str) -> bool {
    let labels: Vec<&str> = host.split('.').collect();
    let is_number = host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    match labels.as_slice() {
        [] | [_] => false,
        _ if is_number || labels.iter().any(|label| label.is_empty()) => false,
        [name, country] => !(country.len() == 2 && REGISTRY.contains(name)),
        _ => true,
    }
}

fn is_wiki(host: &str) -> bool {
    matches!(
        host,
        "wikipedia.org"
            | "wiktionary.org"
            | "wikibooks.org"
            | "wikinews.org"
            | "wikiquote.org"
            | "wikisource.org"
            | "wikiversity.org"
            | "wikivoyage.org"
    )
}

/// The page that an address in an AMP cache shows.
pub fn in_amp_cache(url: &Url) -> Option<Url> {
    let host = url.host_str()?;
    let path = url.path();
    let rest = if canonical(host) == "google.com" {
        path.strip_prefix("/amp/")?
    } else if host == "cdn.ampproject.org" || host.ends_with(".cdn.ampproject.org") {
        ["/c/", "/v/", "/i/", "/r/"].iter().find_map(|kind| path.strip_prefix(kind))?
    } else {
        return None;
    };
    let (scheme, rest) = match rest.strip_prefix("s/") {
        Some(rest) => ("https", rest),
        None => ("http", rest),
    };
    let first = rest.split('/').next().unwrap_or_default();
    if !first.contains('.') {
        return None;
    }
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    let inner = Url::parse(&format!("{scheme}://{rest}{query}")).ok()?;
    // A cache in a cache is a trick.
    (inner.host_str() != url.host_str()).then_some(inner)
}
