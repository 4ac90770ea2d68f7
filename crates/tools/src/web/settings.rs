//! How pages are fetched: `services.web` of the configuration.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// How pages are fetched. Every field has a default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebSettings {
    /// Addresses that may be asked though they are not public, by name: `HOST`, `HOST:PORT`, an IP address, or a
    /// network such as `10.0.0.0/8`. A name allows what it leads to, so name only what you trust.
    pub allow: Vec<String>,
    /// Whether `robots.txt` of a site is obeyed.
    pub robots: bool,
    /// Whether a proxy of the environment is used.
    pub proxy: Proxy,
    /// The folder of the cache of pages; none: pages are kept in memory only.
    pub cache: Option<PathBuf>,
    /// Most bytes of bodies that the cache holds.
    pub cache_bytes: u64,
    /// Most bytes of a page, as sent and as unpacked.
    pub most_bytes: usize,
    /// Longest time for a page with its redirects, in seconds. Time in which a host is left in peace is not counted.
    pub timeout: u64,
    /// Least time between two requests to a host, in milliseconds.
    pub gap: u64,
}

/// Which proxy is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proxy {
    /// None. A proxy looks names up by itself, so we could not see which address is connected to.
    #[default]
    None,
    /// The one that `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` name. It has to keep private addresses out itself: here
    /// only addresses that are written as such and known names are refused.
    Environment,
}

impl Default for WebSettings {
    fn default() -> WebSettings {
        WebSettings {
            allow: Vec::new(),
            robots: true,
            proxy: Proxy::None,
            cache: None,
            cache_bytes: 128 * 1024 * 1024,
            most_bytes: 10 * 1024 * 1024,
            timeout: 30,
            gap: 500,
        }
    }
}
