//! The HTTP clients: one that connects to public addresses only, and one for what the user allows by name.

use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;

use super::super::error::WebError;
use super::super::guard::{Guard, GuardedResolver, Lookup, Trust};
use super::super::settings::Proxy;

/// Who we say that we are. Sites can address us in `robots.txt` as `deepgraph`.
pub const USER_AGENT: &str = concat!("deepgraph/", env!("CARGO_PKG_VERSION"), " (research agent)");
/// Longest time to connect, in seconds.
const CONNECT: u64 = 10;

/// The clients.
pub struct Clients {
    public: reqwest::Client,
    named: reqwest::Client,
}

impl Clients {
    /// Sets them up. They follow no redirects, keep no cookies, and unpack nothing: that is done where it is checked.
    pub fn new(guard: &Guard, lookup: &Arc<dyn Lookup>, proxy: Proxy) -> Result<Clients, WebError> {
        // Fails if there is a process-wide choice already: then that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Clients {
            public: client(GuardedResolver::new(Some(guard.clone()), Arc::clone(lookup)), proxy)?,
            named: client(GuardedResolver::new(None, Arc::clone(lookup)), proxy)?,
        })
    }

    /// The client for a URL.
    pub fn of(&self, trust: Trust) -> &reqwest::Client {
        match trust {
            Trust::Public => &self.public,
            Trust::Named => &self.named,
        }
    }
}

fn client(resolver: GuardedResolver, proxy: Proxy) -> Result<reqwest::Client, WebError> {
    let resolver = Arc::new(resolver);
    let builder = || {
        let builder = reqwest::Client::builder()
            .user_agent(USER_AGENT)
            .redirect(Policy::none())
            .referer(false)
            .no_gzip()
            .no_brotli()
            .no_deflate()
            .no_zstd()
            .tcp_nodelay(true)
            .connect_timeout(Duration::from_secs(CONNECT))
            // Servers close idle connections just when they are used again.
            .pool_max_idle_per_host(0)
            .dns_resolver(Arc::clone(&resolver));
        match proxy {
            Proxy::None => builder.no_proxy(),
            Proxy::Environment => builder,
        }
    };
    // Without CA certificates in the system pages can be read over http still.
    builder()
        .build()
        .or_else(|_| builder().tls_certs_only([]).build())
        .map_err(|error| WebError::Client { problem: super::failure::root_cause(&error) })
}
