//! Models behind any server that speaks OpenAI's chat completions.
//!
//! `genai` writes the requests and moves the bytes; replies are read here from the server's own JSON, so that
//! arguments that are no JSON reach the graph as the model wrote them, streaming or not.

mod connection;
mod error;
mod names;
mod reply;
mod request;
mod retry;
mod schema;
mod stream;
#[cfg(test)]
mod tests;
mod usage;

use std::sync::Arc;

use async_trait::async_trait;
use deepgraph_protocol::{ModelReply, ModelRequest, StepError};
use genai::ServiceTarget;
use genai::webc;
use serde_json::Value as Json;

use self::connection::Connection;
use self::error::Place;
use self::reply::Draft;
use self::request::Call;
use crate::{ChatModel, ModelError, Preview};

/// A server: its address, its key, and the connections that all of its models share.
#[derive(Clone)]
pub struct Server {
    connection: Arc<Connection>,
    stream: bool,
}

impl Server {
    /// Prepares a server without connecting to it.
    ///
    /// `base_url` is the part of the address before `/chat/completions`, such as `http://127.0.0.1:8000/v1`;
    /// none is OpenAI itself. `key_variable` names the environment variable with the key; it is read with each
    /// request, and may be unset where a base URL is given. `stream` asks for replies in pieces, which makes
    /// previews and finds broken connections sooner.
    ///
    /// # Errors
    ///
    /// [`ModelError::BaseUrl`] and [`ModelError::Client`].
    pub fn new(base_url: Option<&str>, key_variable: &str, stream: bool) -> Result<Server, ModelError> {
        Ok(Server { connection: Arc::new(Connection::new(base_url, key_variable)?), stream })
    }

    /// A model of the server, by the server's own name for it.
    pub fn model(&self, name: &str) -> OpenAi {
        OpenAi { server: self.clone(), name: name.into() }
    }
}

/// A model of a [`Server`].
///
/// Failures are [`StepError`]s of the kinds `unauthorized`, `not_found`, `rate_limited` (with the time to wait,
/// where the server gives one), `unavailable`, `network`, `context_overflow`, `refusal`, `invalid_output` and
/// `invalid_request`. It has no timeout of its own: drop the future to give a call up.
///
/// The server's options go through as they stand in `options` (`temperature`, `top_p`, `seed`,
/// `reasoning_effort`, ...), but for those that the request itself decides. Where a server reports no usage it
/// is estimated, and marked so.
#[derive(Clone)]
pub struct OpenAi {
    server: Server,
    name: Arc<str>,
}

#[async_trait]
impl ChatModel for OpenAi {
    async fn reply(&self, request: &ModelRequest, preview: Preview<'_>) -> Result<ModelReply, StepError> {
        let connection = &*self.server.connection;
        let key = connection.key()?;
        let place = Place {
            model: &request.model,
            host: &connection.host,
            variable: &connection.variable,
            key: &key,
        };
        let mut call = request::render(request, &self.name)?;
        let names = std::mem::take(&mut call.names);
        let target = connection.target(&self.name, &key);
        let draft = if self.server.stream {
            stream::stream(connection, target, call, &place, preview).await?
        } else {
            whole(connection, target, call, &place).await?
        };
        draft.finish(request, &names, &connection.host)
    }
}

/// Makes the call and reads the reply in one go.
async fn whole(
    connection: &Connection,
    target: ServiceTarget,
    call: Call,
    place: &Place<'_>,
) -> Result<Draft, StepError> {
    let body = match connection.client.exec_chat(target, call.chat, Some(&call.options)).await {
        Ok(response) => response.captured_raw_body.unwrap_or_default(),
        // It could not make sense of the body, of malformed arguments for one: we can.
        Err(genai::Error::ChatResponseGeneration { response_body, .. }) => *response_body,
        Err(error) => mislabelled(&error).ok_or_else(|| place.failure(&error))?,
    };
    if let Some(error) = body.get("error").filter(|error| !error.is_null()) {
        return Err(place.told(error));
    }
    let mut draft = Draft::default();
    draft.take_body(&body)?;
    Ok(draft)
}

/// The JSON of an answer that does not say that it is JSON.
fn mislabelled(error: &genai::Error) -> Option<Json> {
    let genai::Error::WebModelCall { webc_error: webc::Error::ResponseFailedNotJson { body, .. }, .. } =
        error
    else {
        return None;
    };
    serde_json::from_str(body).ok().filter(Json::is_object)
}
