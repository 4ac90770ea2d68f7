//! Chat models behind one trait.

use async_trait::async_trait;
use deepgraph_protocol::{ModelReply, ModelRequest, StepError};

/// Where the pieces of a reply go while it is being written. A preview is never state: only the reply is.
pub type Preview<'a> = &'a (dyn Fn(&str) + Send + Sync);

/// A chat model.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// Answers one request. Dropping the future cancels the call.
    async fn reply(&self, request: &ModelRequest, preview: Preview<'_>) -> Result<ModelReply, StepError>;
}
