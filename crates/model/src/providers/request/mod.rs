//! A [`ModelRequest`] in the words of `genai`, or as the body of a request.

mod messages;
mod ollama;
mod options;
mod shape;
mod tools;

use deepgraph_protocol::{ErrorKind, ModelRequest, StepError};
use genai::chat::{ChatOptions, ChatRequest, ToolChoice};
use serde_json::{Map, Value as Json};

use super::connection::Connection;
use super::names::ToolNames;
use crate::learnt::OutputMode;
use crate::settings::{ModelFacts, Protocol, ToolMode};

/// One call.
pub(super) struct Call {
    pub(super) content: Content,
    /// How tools are called on the wire.
    pub(super) names: ToolNames,
}

/// What is sent.
pub(super) enum Content {
    /// As `genai` takes it: messages and tools, and everything else.
    Chat(Box<ChatRequest>, Box<ChatOptions>),
    /// The body as it is sent.
    Body(Json),
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
    let mut messages = messages::render(request, name, endpoint, &names);
    if let Some(words) = shape::words(request, mode) {
        messages::append(&mut messages, &words);
    }
    messages::mark(&mut messages, request, endpoint);
    let (mut body, mut options) = options::render(&asked)?;
    let tools = tools::of_body(request, endpoint, &names);
    if endpoint.protocol == Protocol::Ollama {
        let body = ollama::body(&asked, messages, tools, body);
        return Ok(Call { content: Content::Body(body), names });
    }
    let mut chat = ChatRequest::new(messages);
    if endpoint.protocol == Protocol::OpenAi {
        if !request.tools.is_empty() {
            chat = chat.with_tools(tools::of_chat(request, &names));
        }
    } else if let Some(tools) = tools {
        body.insert("tools".to_owned(), tools);
        if request.tools.is_empty() {
            options = options.with_tool_choice(ToolChoice::None);
        }
    }
    let options = options.with_extra_body(Json::Object(body));
    Ok(Call { content: Content::Chat(Box::new(chat), Box::new(options)), names })
}

/// The record that a field holds; an empty one where it holds none.
fn record(value: Option<Json>) -> Map<String, Json> {
    match value {
        Some(Json::Object(fields)) => fields,
        _ => Map::new(),
    }
}
