//! Looking names up for a connection, without addresses that may not be connected to.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::Guard;

/// Looks up the addresses of a name.
pub trait Lookup: Send + Sync + 'static {
    /// The addresses of a name, in the order to try them.
    fn lookup(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The system's way to look names up.
#[derive(Clone, Copy, Debug)]
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let name = name.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// A resolver that leaves away addresses that may not be connected to. An HTTP client connects only to what its
/// resolver gives, so this is where a name that changes its mind is caught.
pub struct GuardedResolver {
    guard: Option<Guard>,
    lookup: Arc<dyn Lookup>,
}

impl GuardedResolver {
    /// With a guard; none lets all addresses pass.
    pub fn new(guard: Option<Guard>, lookup: Arc<dyn Lookup>) -> GuardedResolver {
        GuardedResolver { guard, lookup }
    }
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let found = self.lookup.lookup(name.as_str());
        let guard = self.guard.clone();
        Box::pin(async move {
            let mut allowed = Vec::new();
            let mut refused = None;
            for ip in found.await? {
                match guard.as_ref().and_then(|guard| guard.refused(ip)) {
                    None => allowed.push(SocketAddr::new(ip, 0)),
                    Some(what) => refused = Some(Refused(what)),
                }
            }
            match (allowed.is_empty(), refused) {
                (true, Some(refused)) => Err(refused.into()),
                (true, None) => Err(io::Error::other("the name has no address").into()),
                (false, _) => Ok(Box::new(allowed.into_iter()) as Addrs),
            }
        })
    }
}

/// A name that leads only to what may not be connected to.
#[derive(Clone, Copy, Debug)]
struct Refused(&'static str);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it leads to {}", self.0)
    }
}

impl Error for Refused {}

/// What a name led to, where a request failed since it may not be connected to.
pub fn refused_by_resolver(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(Refused(what)) = error.downcast_ref::<Refused>() {
            return Some(what);
        }
        cause = error.source();
    }
    None
}
