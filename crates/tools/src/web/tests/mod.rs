//! Pages as a site serves them: a server on loopback, and what is read of it.

mod cache;
mod content;
mod crawl;
mod fetch;
mod manners;
mod reading;
mod safety;
mod site;
mod walls;

use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use deepgraph_protocol::{ErrorKind, StepError};
use futures::future::BoxFuture;

use super::guard::Lookup;
use super::search::Search;
use super::{SearchSettings, Web, WebPage, WebSettings};
use site::Site;

/// Looks up every name on loopback, and none anywhere else.
struct Loopback;

impl Lookup for Loopback {
    fn lookup(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let found = if name.ends_with(".test") {
            Ok(vec![[127, 0, 0, 1].into()])
        } else {
            Err(io::Error::other("no such name"))
        };
        Box::pin(async move { found })
    }
}

/// The web as seen with settings.
fn web(settings: &WebSettings) -> Web {
    let search = Search::new(&SearchSettings::default(), &|_| None).expect("no engine needs a key");
    Web::with_lookup(settings, search, &(Arc::new(Loopback) as Arc<dyn Lookup>)).expect("settings")
}

/// Settings that allow a site.
fn settings(site: &Site) -> WebSettings {
    WebSettings { allow: vec![site.host()], gap: 0, robots: false, ..WebSettings::default() }
}

/// Reads a page of a site from its beginning.
async fn read(web: &Web, url: &str) -> Result<WebPage, StepError> {
    web.read(url, None, 0, 100_000).await
}

/// Reads a page of a site that allows it.
async fn page_of(site: &Site, path: &str) -> Result<WebPage, StepError> {
    read(site.reader.get_or_init(|| web(&settings(site))), &site.url(path)).await
}

/// All text of a page.
fn text_of(page: &WebPage) -> String {
    page.passages.iter().map(|passage| passage.text.as_str()).collect::<Vec<_>>().join("\n\n")
}

/// The kind and the message of a failure.
fn failed(outcome: Result<WebPage, StepError>) -> (ErrorKind, String) {
    match outcome {
        Ok(page) => panic!("a page was read: {page:?}"),
        Err(error) => (error.kind, error.message),
    }
}
