//! What is wrong with the settings of the web.

use std::path::PathBuf;

use thiserror::Error;

/// Why the web can not be used as it is set.
#[derive(Debug, Error)]
pub enum WebError {
    /// An entry of `allow` is none.
    #[error("services.web.allow: \"{entry}\" is no host, host:port, IP address or network: {problem}")]
    Allow {
        /// The entry.
        entry: String,
        /// What is wrong.
        problem: String,
    },
    /// The cache can not be opened.
    #[error("the cache of web pages in {} can not be used ({problem}): name another folder in services.web.cache, or none", .folder.display())]
    Cache {
        /// Its folder.
        folder: PathBuf,
        /// What the system says.
        problem: String,
    },
    /// The HTTP client can not be set up.
    #[error("the HTTP client can not be set up: {problem}")]
    Client {
        /// What is wrong.
        problem: String,
    },
    /// The search engines can not be used as they are set.
    #[error("services.search: {problem}")]
    Search {
        /// What is wrong and what to do.
        problem: String,
    },
}
