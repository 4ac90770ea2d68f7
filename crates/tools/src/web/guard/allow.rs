//! Entries of `allow`.

use std::net::IpAddr;

use ipnet::IpNet;
use url::{Host, Url};

use super::super::error::WebError;

/// What the user allows by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// A host, with a port or with every port.
    Host(Host<String>, Option<u16>),
    /// All addresses of a network, with every port.
    Network(IpNet),
}

impl Allowed {
    /// Reads an entry.
    pub fn parse(entry: &str) -> Result<Allowed, WebError> {
        let text = entry.trim();
        let wrong = |problem: &str| WebError::Allow { entry: entry.into(), problem: problem.into() };
        if text.is_empty() {
            return Err(wrong("it is empty"));
        }
        if let Ok(network) = text.parse::<IpNet>() {
            return Ok(Allowed::Network(network));
        }
        if let Ok(ip) = text.parse::<IpAddr>() {
            return Ok(Allowed::Network(IpNet::from(ip)));
        }
        if text.contains(['/', '@', '?', '#', '*']) {
            return Err(wrong("write it without scheme, path and wildcards"));
        }
        // The host is read as in a URL, so that spellings are one. `ws` has the usual port 80, but we look for one
        // that is written.
        let url = Url::parse(&format!("ws://{text}/")).map_err(|error| wrong(&error.to_string()))?;
        let host = url.host().ok_or_else(|| wrong("it names no host"))?.to_owned();
        let is_written = |port: &u16| text.ends_with(&format!(":{port}"));
        Ok(Allowed::Host(host, url.port_or_known_default().filter(is_written)))
    }

    /// Whether it names a host of a URL and its port.
    pub fn names(&self, host: &Host<&str>, port: u16) -> bool {
        match (self, host) {
            (Allowed::Host(allowed, allowed_port), host) => {
                is_same(allowed, host) && allowed_port.is_none_or(|allowed| allowed == port)
            }
            (Allowed::Network(network), Host::Ipv4(ip)) => network.contains(&IpAddr::V4(*ip)),
            (Allowed::Network(network), Host::Ipv6(ip)) => network.contains(&IpAddr::V6(*ip)),
            (Allowed::Network(_), Host::Domain(_)) => false,
        }
    }

    /// Whether it is a network with an address.
    pub fn has(&self, ip: IpAddr) -> bool {
        match self {
            Allowed::Network(network) => network.contains(&ip),
            Allowed::Host(..) => false,
        }
    }
}

fn is_same(allowed: &Host<String>, host: &Host<&str>) -> bool {
    match (allowed, host) {
        (Host::Domain(allowed), Host::Domain(host)) => {
            allowed.trim_end_matches('.').eq_ignore_ascii_case(host.trim_end_matches('.'))
        }
        (Host::Ipv4(allowed), Host::Ipv4(ip)) => allowed == ip,
        (Host::Ipv6(allowed), Host::Ipv6(ip)) => allowed == ip,
        _ => false,
    }
}
