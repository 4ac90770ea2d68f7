//! The web as a source: pages that are fetched, checked, read and cut into passages, and search engines.
//!
//! What is read of the web is text and no more: it is data of somebody else. Where the text goes, see `docs/web.md`.

pub use deepgraph_research::canonical;
mod cache;
mod error;
mod fetch;
mod guard;
mod page;
mod read;
mod robots;
mod search;
mod settings;
#[cfg(test)]
mod tests;

pub use error::WebError;
pub use fetch::USER_AGENT;
pub use page::Link;
pub use read::{Web, WebPage};
pub use search::{
    CallFee, Chosen, Engine, EngineFailure, EngineSettings, PRICES_AS_OF, Search, SearchAnswer, SearchQuery,
    SearchSettings, TimeRange, Unknown,
};
pub use settings::{Proxy, WebSettings};
