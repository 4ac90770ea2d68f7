//! Which addresses may be asked: public ones, and those that the user allows by name.
//!
//! The check is made twice. Before a request (and before each redirect) the URL is looked at: its scheme, whether it
//! holds a password, a host that is written as an address in whatever spelling, names that always mean the machine
//! itself or its cloud. Then, when the name is looked up for the connection, addresses that are not public are taken
//! out of the answer ([`resolver`]), and only what is left is connected to. So it does not matter what a name
//! led to a moment before.

mod address;
mod allow;
mod resolver;

use std::net::IpAddr;

use url::{Host, Url};

use super::error::WebError;
use allow::Allowed;

pub use resolver::{GuardedResolver, Lookup, SystemLookup, refused_by_resolver};

/// Names that mean the machine itself, or the service that tells a machine in a cloud its keys.
const NAMES: [&str; 5] =
    ["localhost", "metadata", "metadata.google.internal", "metadata.goog", "instance-data"];

/// What may be asked.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    allowed: Vec<Allowed>,
}

/// How a URL may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// As long as its name leads to public addresses.
    Public,
    /// Wherever its name leads to: the user allows it.
    Named,
}

impl Guard {
    /// Reads the entries of `allow`.
    ///
    /// # Errors
    ///
    /// For the first entry that is none.
    pub fn new(allow: &[String]) -> Result<Guard, WebError> {
        let allowed = allow.iter().map(|entry| Allowed::parse(entry)).collect::<Result<_, _>>()?;
        Ok(Guard { allowed })
    }

    /// Whether a URL may be asked, as far as it can be told from the URL itself.
    ///
    /// # Errors
    ///
    /// Why not, as the end of a sentence that begins with the URL.
    pub fn check(&self, url: &Url) -> Result<Trust, String> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("has the scheme {}:, only http and https are read", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("holds a user name or a password, which is not sent".into());
        }
        let Some(host) = url.host() else { return Err("names no host".into()) };
        let port = url.port_or_known_default().unwrap_or(0);
        if self.allowed.iter().any(|allowed| allowed.names(&host, port)) {
            return Ok(Trust::Named);
        }
        let refused = match host {
            Host::Domain(name) => refused_name(name),
            Host::Ipv4(ip) => self.refused(IpAddr::V4(ip)),
            Host::Ipv6(ip) => self.refused(IpAddr::V6(ip)),
        };
        match refused {
            None => Ok(Trust::Public),
            Some(what) => Err(format!("leads to {what}; {}", advice(url))),
        }
    }

    /// Why an address may not be connected to; none where it may. A port is not asked for here: entries of `allow`
    /// with one are names.
    pub fn refused(&self, ip: IpAddr) -> Option<&'static str> {
        if self.allowed.iter().any(|allowed| allowed.has(ip)) { None } else { address::not_public(ip) }
    }
}

/// What a user who wants it can do.
pub fn advice(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or(0);
    format!("if it is meant to be read, allow it by name: services.web.allow: [\"{host}:{port}\"]")
}

fn refused_name(name: &str) -> Option<&'static str> {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    if name == "localhost" || name.ends_with(".localhost") {
        Some("this machine itself")
    } else if NAMES.contains(&name.as_str()) {
        Some("a metadata service")
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
