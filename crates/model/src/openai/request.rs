//! A [`ModelRequest`] in the words of `genai`.

use deepgraph_protocol::{ErrorKind, Message, ModelRequest, Role, StepError, Value};
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ContentPart, MessageContent, ReasoningEffort, Tool, ToolCall,
    ToolResponse,
};
use serde_json::{Map, Value as Json};

use super::names::ToolNames;
use super::schema::response_format;

/// Options that the request itself decides.
const RESERVED: [&str; 9] = [
    "model",
    "messages",
    "tools",
    "functions",
    "stream",
    "stream_options",
    "response_format",
    "n",
    "max_output",
];

/// The two names that servers have for the upper bound of a reply.
const BOUNDS: [&str; 2] = ["max_tokens", "max_completion_tokens"];

/// One call as `genai` takes it.
pub(super) struct Call {
    /// Messages and tools.
    pub(super) chat: ChatRequest,
    /// Everything else.
    pub(super) options: ChatOptions,
    /// How tools are called on the wire.
    pub(super) names: ToolNames,
}

/// Renders a request for the model of that name (without the provider's prefix).
pub(super) fn render(request: &ModelRequest, name: &str) -> Result<Call, StepError> {
    if request.messages.is_empty() {
        let problem = format!("the request to {} has no message; give the node a prompt", request.model);
        return Err(StepError::new(ErrorKind::InvalidRequest, problem));
    }
    let names = ToolNames::of(&request.tools);
    let mut chat = ChatRequest::new(request.messages.iter().map(|m| message(m, &names)).collect());
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            Tool::new(names.wire(&tool.name))
                .with_description(&*tool.description)
                .with_schema(tool.parameters.to_json())
        });
        chat = chat.with_tools(tools);
    }
    Ok(Call { chat, options: options(request, name)?, names })
}

/// Sampling options and the like go into the body as they stand, so that every option that a server knows can
/// be used. The body's `model` is set there too: `genai` reads more into a name than a name (`-max`, `-low` and
/// so on as reasoning effort), and an effort of `Budget` keeps it from doing so without being sent.
fn options(request: &ModelRequest, name: &str) -> Result<ChatOptions, StepError> {
    let mut options = ChatOptions::default()
        .with_capture_usage(true)
        .with_capture_raw_body(true)
        .with_reasoning_effort(ReasoningEffort::Budget(0));
    let mut body = Map::new();
    for (key, value) in &request.options {
        if RESERVED.contains(&&**key) {
            let problem = format!(
                "the option \"{key}\" of {} can not be set: the node decides it (prompts, tools, returns, \
                 max_output); remove it from the node's options",
                request.model
            );
            return Err(StepError::new(ErrorKind::InvalidRequest, problem));
        }
        body.insert(key.to_string(), bounded(key, value, request.max_output));
    }
    if let Some(most) = request.max_output
        && !BOUNDS.iter().any(|bound| body.contains_key(*bound))
    {
        options = options.with_max_tokens(u32::try_from(most).unwrap_or(u32::MAX));
    }
    if let Some(shape) = &request.output {
        body.insert("response_format".into(), response_format(shape));
    }
    body.insert("model".into(), Json::from(name));
    Ok(options.with_extra_body(Json::Object(body)))
}

/// An option's value; a bound on the reply is never above the one that was reserved.
fn bounded(key: &str, value: &Value, most: Option<u64>) -> Json {
    let given = value.as_int().and_then(|given| u64::try_from(given).ok());
    match (given, most) {
        (Some(given), Some(most)) if BOUNDS.contains(&key) => Json::from(given.min(most)),
        _ => value.to_json(),
    }
}

fn message(message: &Message, names: &ToolNames) -> ChatMessage {
    let text = message.content.to_string();
    match message.role {
        Role::System => ChatMessage::system(text),
        Role::User => ChatMessage::user(text),
        Role::Assistant => {
            let calls = message.tool_calls.iter().map(|call| {
                ContentPart::ToolCall(ToolCall {
                    call_id: call.id.to_string(),
                    fn_name: names.wire(&call.name),
                    fn_arguments: arguments(&call.arguments),
                    thought_signatures: None,
                })
            });
            let text = (!text.is_empty()).then(|| ContentPart::Text(text));
            ChatMessage::assistant(text.into_iter().chain(calls).collect::<MessageContent>())
        }
        Role::Tool => match &message.tool_call_id {
            Some(call) => ChatMessage::tool(ToolResponse::new(&**call, text)),
            // Servers refuse an answer that belongs to no call; its text is worth keeping.
            None => ChatMessage::user(text),
        },
    }
}

/// Arguments from earlier turns. What is no JSON is sent as a JSON string: many servers parse the history.
fn arguments(raw: &str) -> Json {
    serde_json::from_str(raw).unwrap_or_else(|_| Json::from(raw))
}
