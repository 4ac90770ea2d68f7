//! One name for a page that has many addresses.
//!
//! The canonical URL is what a page is known by: it names the document, and ids of passages come from it. It is made
//! from the address alone, without asking anybody:
//!
//! * `http` and `https` are one (written `https`), as long as the port is the usual one of its scheme. With another
//!   port the scheme stays: there is no other server to mean.
//! * The host is in lower case and ASCII (IDNA), without a last dot. A first label `www`, `m`, `mobile` or `amp` is
//!   left away, and the `m` of `en.m.wikipedia.org`, where at least two labels stay that can be a site of their own:
//!   `www.example.com` is `example.com`, but `m.co.uk` stays. By convention these hosts show the same pages. AMP
//!   paths (`/amp`) are not changed: only the page itself tells whether it is a copy (`rel=canonical`). Addresses in
//!   the AMP caches of `google.com/amp/s/` and `cdn.ampproject.org` are those of the pages that they show.
//! * A last slash of the path goes, and so do ids of sessions (`;jsessionid=`).
//! * Parameters that only track a reader go (`utm_*`, `gclid`, ...). The others are ordered by name; those of one name
//!   keep their order.
//! * Percent-encoding is in its normal form (RFC 3986, section 6.2.2): letters, digits and `-._~` plain, hexadecimal
//!   digits in upper case.
//! * Fragments go, but for `#!` and `#/`, which choose a page in sites that are one script.
//! * A DOI, in whatever form, is `https://doi.org/10...` in lower case. A text at arXiv, in whatever form and version,
//!   is `https://arxiv.org/abs/ID`.
//!
//! An address in this form need not be one that answers (`gov.uk` does not do without `www.`). So a page keeps the
//! address where it was read too, and [`ways`] tells what else to try.

mod host;
mod percent;
mod query;
mod scholar;

use url::Url;

/// Longest address that is looked at, in bytes.
pub const LONGEST: usize = 8 * 1024;

/// The canonical URL of an address, or of a DOI or arXiv id that is written as one (`doi:10...`, `DOI 10...`,
/// `arXiv:2301.00001`). None for all else: this is no page of the web.
///
/// Doing it again changes nothing.
pub fn canonical(text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() || text.len() > LONGEST {
        return None;
    }
    if let Some(named) = scholar::named(text) {
        return Some(named);
    }
    let url = Url::parse(text).ok()?;
    canonical_of(&url)
}

/// The canonical URL of a URL. None where its scheme is not of the web.
pub fn canonical_of(url: &Url) -> Option<String> {
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    if let Some(inner) = host::in_amp_cache(url) {
        return canonical_of(&inner);
    }
    let host = host::canonical(url.host_str()?);
    if let Some(named) = scholar::at(&host, url) {
        return Some(named);
    }
    let (scheme, port) = match url.port() {
        // `http://host:443` and `https://host:80` are odd, and not the same as without the port.
        Some(port) => (url.scheme(), format!(":{port}")),
        None => ("https", String::new()),
    };
    let path = path(url.path());
    let query = url.query().map(query::canonical).filter(|query| !query.is_empty());
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    let fragment = url.fragment().filter(|fragment| chooses_page(fragment));
    let fragment = fragment.map(|fragment| format!("#{}", percent::normal(fragment))).unwrap_or_default();
    Some(format!("{scheme}://{host}{port}{path}{query}{fragment}"))
}

/// An address as it can be fetched and shown: without fragment, tracking and spelling variants, with scheme and host
/// as they are.
pub fn address(url: &Url) -> String {
    let mut url = url.clone();
    if !url.fragment().is_some_and(chooses_page) {
        url.set_fragment(None);
    }
    let kept = url.query().map(query::without_tracking).filter(|query| !query.is_empty());
    url.set_query(kept.as_deref());
    // A user's name and password are nobody else's business.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}

/// Addresses that a canonical URL may stand for, best first, itself among them.
pub fn ways(canonical: &str) -> Vec<String> {
    let mut ways = vec![canonical.to_owned()];
    let Ok(url) = Url::parse(canonical) else { return ways };
    let Some(url::Host::Domain(host)) = url.host() else { return ways };
    let Some(rest) = canonical.strip_prefix("https://") else { return ways };
    if url.port().is_some() {
        return ways;
    }
    let has_www = host.starts_with("www.");
    if !has_www {
        ways.push(format!("https://www.{rest}"));
    }
    ways.push(format!("http://{rest}"));
    if !has_www {
        ways.push(format!("http://www.{rest}"));
    }
    ways
}

/// A path or query with its percent-encoding in normal form.
pub fn normal_part(part: &str) -> String {
    percent::normal(part)
}

/// Whether two URLs belong to one site: the same host but for `www.` and the like, or one below the other.
pub fn is_same_site(one: &Url, other: &Url) -> bool {
    let (Some(one_host), Some(other_host)) = (one.host_str(), other.host_str()) else { return false };
    let (one_host, other_host) = (host::canonical(one_host), host::canonical(other_host));
    let is_below = |inner: &str, outer: &str| {
        outer.contains('.') && inner.strip_suffix(outer).is_some_and(|rest| rest.ends_with('.'))
    };
    let is_name = matches!(one.host(), Some(url::Host::Domain(_)));
    let is_near = is_name && (is_below(&one_host, &other_host) || is_below(&other_host, &one_host));
    let usual = |url: &Url| url.port().is_none();
    (one_host == other_host || is_near) && (one.port() == other.port() || (usual(one) && usual(other)))
}

/// Whether a fragment chooses a page rather than a place in it.
fn chooses_page(fragment: &str) -> bool {
    (fragment.starts_with('!') || fragment.starts_with('/')) && fragment.len() > 1
}

fn path(path: &str) -> String {
    let path = percent::normal(path);
    let path = without_session(&path);
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() { "/".into() } else { trimmed.into() }
}

/// A path without the id of a session, which servers of Java put there.
fn without_session(path: &str) -> String {
    let mut parts = path.split(';');
    let mut kept: String = parts.next().unwrap_or_default().into();
    for part in parts {
        let is_session = part.get(..11).is_some_and(|name| name.eq_ignore_ascii_case("jsessionid="));
        if is_session {
            // What follows the id is path again.
            kept.extend(part.find('/').and_then(|at| part.get(at..)));
        } else {
            kept.push(';');
            kept.push_str(part);
        }
    }
    kept
}

#[cfg(test)]
mod tests;
