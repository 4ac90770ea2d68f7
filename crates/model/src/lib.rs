//! Chat models behind one trait.
//!
//! [`Models`] gives a model by its configured name: `PROVIDER::NAME` of a provider that is built in or set (with the
//! feature `providers`), `extractive`, `scripted` (answers from a script, for tests), or one that the program registers
//! itself. A model that nobody asks for costs nothing: no connection, no key, no file.

mod bound;
mod endpoint;
mod error;
mod estimate;
pub mod extractive;
mod facts;
// Only calls of providers teach anything.
#[cfg_attr(not(feature = "providers"), allow(dead_code))]
mod learnt;
pub mod limiter;
mod listed;
mod price;
#[cfg(feature = "providers")]
mod providers;
mod registry;
pub mod scripted;
mod secret;
mod settings;
#[cfg_attr(not(feature = "providers"), allow(dead_code))]
mod structured;
// Without providers, only the scripted model uses a part of it.
#[cfg_attr(not(feature = "providers"), allow(dead_code))]
mod weak;

use async_trait::async_trait;
use deepgraph_protocol::{ModelReply, ModelRequest, StepError};

pub use bound::asked_output;
pub use error::ModelError;
pub use limiter::Account;
pub use listed::{ListedModel, ListedProvider};
pub use price::Price;
#[cfg(feature = "providers")]
pub use providers::RemoteModel;
pub use registry::Models;
pub use scripted::{Script, Scripted};
pub use secret::{has_secret, is_secret_header, is_variable, names_secret};
pub use settings::{CacheMarks, ModelFacts, ModelSettings, Protocol, ProviderSettings, ToolMode};

/// Where the pieces of a reply go while it is being written. A preview is never state: only the reply is.
pub type Preview<'a> = &'a (dyn Fn(&str) + Send + Sync);

/// A chat model.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// Answers one request. Dropping the future cancels the call.
    async fn reply(&self, request: &ModelRequest, preview: Preview<'_>) -> Result<ModelReply, StepError>;
}
