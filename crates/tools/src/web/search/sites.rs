//! Sites: a host, with all hosts below it.

use url::{Host, Url};

/// The host of a site as people write it: `example.com`, `*.example.com`, `https://www.example.com/docs`. None where it is
/// none.
pub(super) fn read(site: &str) -> Option<String> {
    let site = site.trim();
    let site = site.split_once("://").map_or(site, |(_, rest)| rest);
    let site = site.split(['/', '?', '#']).next()?;
    let site = site.trim_start_matches("*.").trim_start_matches('.').trim_end_matches('.');
    match Host::parse(site).ok()? {
        Host::Domain(host) if is_name(&host) => {
            Some(host.strip_prefix("www.").map_or(host.clone(), str::to_owned))
        }
        Host::Domain(_) => None,
        address => Some(address.to_string()),
    }
}

fn is_name(host: &str) -> bool {
    !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_'))
}

/// Whether a host belongs to a site.
pub(super) fn holds(site: &str, host: &str) -> bool {
    let host = host.trim_end_matches('.');
    host.strip_suffix(site).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Whether an address belongs to one of the sites that are wanted (none: all), and to none that is not.
pub(super) fn allows(url: &str, include: &[String], exclude: &[String]) -> bool {
    let url = Url::parse(url).ok();
    let Some(host) = url.as_ref().and_then(Url::host_str) else { return false };
    let is_of = |sites: &[String]| sites.iter().any(|site| holds(site, host));
    (include.is_empty() || is_of(include)) && !is_of(exclude)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_its_host_with_all_below_it() {
        for site in ["example.com", " *.Example.COM ", "https://www.example.com/docs?x#y", ".example.com."] {
            assert_eq!(read(site).as_deref(), Some("example.com"), "{site}");
        }
        assert_eq!(read("bücher.example").as_deref(), Some("xn--bcher-kva.example"));
        for none in ["", "*", "https://", "two words", "a:b"] {
            assert_eq!(read(none), None, "{none}");
        }
        let example = ["example.com".to_owned()];
        assert!(allows("https://docs.example.com/a", &example, &[]));
        assert!(!allows("https://notexample.com/a", &example, &[]));
        assert!(!allows("https://docs.example.com/a", &[], &example));
        assert!(!allows("nowhere", &[], &[]));
    }
}
