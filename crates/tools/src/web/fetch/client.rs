//! The HTTP clients: one that connects to public addresses only, and one for what the user allows by name.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::redirect::Policy;
use url::Url;

use super::super::error::WebError;
use super::super::guard::{Guard, GuardedResolver, Lookup, Trust};
use super::super::settings::Proxy;

/// Who we say that we are. Sites can address us in `robots.txt` as `deepgraph`.
pub const USER_AGENT: &str = concat!("deepgraph/", env!("CARGO_PKG_VERSION"), " (research agent)");
/// Longest time to connect, in seconds.
const CONNECT: u64 = 10;

/// The clients.
pub struct Clients {
    public: Pair,
    named: Pair,
}

/// A client without certificates, which needs nothing of the system, and one with those of the system, which takes a
/// moment to set up: when the first page over https is read.
struct Pair {
    plain: reqwest::Client,
    secure: OnceLock<reqwest::Client>,
    resolver: Arc<GuardedResolver>,
    proxy: Proxy,
}

impl Clients {
    /// Sets them up. They follow no redirects, keep no cookies, and unpack nothing: that is done where it is checked.
    pub fn new(guard: &Guard, lookup: &Arc<dyn Lookup>, proxy: Proxy) -> Result<Clients, WebError> {
        // Fails if there is a process-wide choice already: then that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Clients {
            public: Pair::new(GuardedResolver::new(Some(guard.clone()), Arc::clone(lookup)), proxy)?,
            named: Pair::new(GuardedResolver::new(None, Arc::clone(lookup)), proxy)?,
        })
    }

    /// The client for a URL.
    pub fn of(&self, trust: Trust, url: &Url) -> &reqwest::Client {
        let pair = match trust {
            Trust::Public => &self.public,
            Trust::Named => &self.named,
        };
        if url.scheme() == "https" { pair.secure() } else { &pair.plain }
    }
}

impl Pair {
    fn new(resolver: GuardedResolver, proxy: Proxy) -> Result<Pair, WebError> {
        let resolver = Arc::new(resolver);
        let plain = builder(&resolver, proxy).tls_certs_only([]).build();
        let plain =
            plain.map_err(|error| WebError::Client { problem: super::failure::root_cause(&error) })?;
        Ok(Pair { plain, secure: OnceLock::new(), resolver, proxy })
    }

    /// Where the system has no certificates, each page over https fails with that.
    fn secure(&self) -> &reqwest::Client {
        let client = || builder(&self.resolver, self.proxy).build();
        self.secure.get_or_init(|| client().unwrap_or_else(|_| self.plain.clone()))
    }
}

fn builder(resolver: &Arc<GuardedResolver>, proxy: Proxy) -> reqwest::ClientBuilder {
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
        .pool_max_idle_per_host(0);
    match proxy {
        Proxy::None => builder.no_proxy().dns_resolver(Arc::clone(resolver)),
        // The proxy's own name is looked up here, and may well lead to a private address.
        Proxy::Environment => builder,
    }
}
