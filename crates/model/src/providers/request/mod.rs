//! A [`ModelRequest`] as the body of a request.

mod anthropic;
mod chat;
mod effort;
mod gemini;
mod messages;
mod ollama;
mod options;
mod responses;
mod shape;
mod tools;

use deepgraph_protocol::{ErrorKind, ModelRequest, StepError};
use serde_json::{Map, Value as Json};

use super::connection::Connection;
use super::names::ToolNames;
use crate::learnt::OutputMode;
use crate::settings::{ModelFacts, Protocol, ToolMode};

/// One call.
pub(super) struct Call {
    /// The body as it is sent.
    pub(super) body: Json,
    /// How tools are called on the wire.
    pub(super) names: ToolNames,
}

/// The ways in which a model is asked, where there are several.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ways {
    /// For output of a given shape.
    pub(super) output: OutputMode,
    /// For tools.
    pub(super) tools: ToolMode,
}

/// A request for the model of that name (without the provider's prefix), while it is rendered.
struct Asked<'a> {
    request: &'a ModelRequest,
    name: &'a str,
    connection: &'a Connection,
    /// How output of a given shape is asked for; none where there is none.
    mode: Option<OutputMode>,
    facts: &'a ModelFacts,
}

/// Renders a request for the model of that name (without the provider's prefix).
///
/// # Errors
///
/// `invalid_request`: no messages, options that the request itself decides, or that can not be kept up over calls.
pub(super) fn render(
    request: &ModelRequest,
    name: &str,
    connection: &Connection,
    ways: Ways,
    facts: &ModelFacts,
) -> Result<Call, StepError> {
    if request.messages.is_empty() {
        let problem = format!("the request to {} has no message; give the node a prompt", request.model);
        return Err(StepError::new(ErrorKind::InvalidRequest, problem));
    }
    let endpoint = &connection.endpoint;
    let names = ToolNames::of(&request.tools);
    let mode = shape::mode(request, name, endpoint.protocol, ways.output);
    let asked = Asked { request, name, connection, mode, facts };
    let mut turns = messages::render(request, endpoint, &names);
    if let Some(words) = shape::words(request, mode) {
        messages::append(&mut turns, &words);
    }
    let set = options::render(&asked)?;
    let tools = tools::render(request, endpoint, &names);
    let body = match endpoint.protocol {
        Protocol::OpenAi => chat::body(&asked, turns, tools, set),
        Protocol::OpenAiResp => responses::body(&asked, turns, tools, set),
        Protocol::Anthropic => anthropic::body(&asked, turns, tools, set),
        Protocol::Gemini => gemini::body(&asked, turns, tools, set),
        Protocol::Ollama => ollama::body(&asked, turns, tools, set),
    };
    Ok(Call { body: Json::Object(body), names })
}

fn put(fields: &mut Map<String, Json>, key: &str, value: impl Into<Json>) {
    fields.insert(key.to_owned(), value.into());
}

/// The record that a field holds; an empty one where it holds none.
fn record(value: Option<Json>) -> Map<String, Json> {
    match value {
        Some(Json::Object(fields)) => fields,
        _ => Map::new(),
    }
}
