//! Chat models behind one trait.
//!
//! [`Models`] gives a model by its configured name: `openai::NAME` (any server that speaks OpenAI's chat
//! completions), `scripted` (answers from a script, for tests), or one that the program registers itself. A
//! model that nobody asks for costs nothing: no connection, no key, no file.

mod error;
mod estimate;
pub mod extractive;
#[cfg(feature = "openai")]
pub mod openai;
mod price;
mod registry;
pub mod scripted;
mod structured;

use async_trait::async_trait;
use deepgraph_protocol::{ModelReply, ModelRequest, StepError};

pub use error::ModelError;
pub use price::Price;
pub use registry::{ModelSettings, Models};
pub use scripted::{Script, Scripted};

/// Where the pieces of a reply go while it is being written. A preview is never state: only the reply is.
pub type Preview<'a> = &'a (dyn Fn(&str) + Send + Sync);

/// A chat model.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// Answers one request. Dropping the future cancels the call.
    async fn reply(&self, request: &ModelRequest, preview: Preview<'_>) -> Result<ModelReply, StepError>;
}
