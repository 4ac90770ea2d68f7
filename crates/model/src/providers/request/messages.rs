//! The conversation.

use std::sync::Arc;

use deepgraph_protocol::{Message, ModelRequest, Role, ToolCall as Called};
use genai::chat::{CacheControl, ChatMessage, ChatRole, ContentPart, MessageContent, ToolCall, ToolResponse};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use super::super::names::ToolNames;
use crate::endpoint::Endpoint;
use crate::settings::{CacheMarks, Protocol};

/// What stands for a message without text where a server takes none.
const NO_TEXT: &str = "(no text)";

/// What stands between the answers to calls and words of the user's where a server wants a word of the model's there.
const NOTED: &str = "Noted.";

/// Newer models of Google want a signature of their thoughts back with the first call of a turn; this stands for one
/// that was not kept: <https://ai.google.dev/gemini-api/docs/thought-signatures>.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// The messages of a request.
pub(super) fn render(
    request: &ModelRequest,
    name: &str,
    endpoint: &Endpoint,
    names: &ToolNames,
) -> Vec<ChatMessage> {
    let writer = Writer { name, endpoint, names };
    let mut messages: Vec<ChatMessage> = Vec::with_capacity(request.messages.len());
    for message in &request.messages {
        let message = writer.message(message);
        // Mistral refuses words of the user's right behind answers to calls.
        let is_behind_answer =
            messages.last().is_some_and(is_answer) && matches!(message.role, ChatRole::User);
        if is_behind_answer && endpoint.is_mistral() {
            messages.push(ChatMessage::assistant(NOTED));
        }
        // The answers to all calls of a turn are one message there.
        let is_joined = matches!(endpoint.protocol, Protocol::Anthropic | Protocol::Gemini);
        match messages.last_mut() {
            Some(last) if is_joined && is_answer(last) && is_answer(&message) => {
                for part in message.content {
                    last.content.push(part);
                }
            }
            _ => messages.push(message),
        }
    }
    messages
}

/// Adds words to the prompt: behind its last message, if that is the user's, or else to the instructions. Servers do not
/// all take a message of the user's behind answers to calls.
pub(super) fn append(messages: &mut Vec<ChatMessage>, words: &str) {
    let is = |message: &ChatMessage, role: &ChatRole| {
        std::mem::discriminant(&message.role) == std::mem::discriminant(role)
    };
    let words = words.to_owned();
    if let Some(last) = messages.last_mut().filter(|last| is(last, &ChatRole::User)) {
        last.content.push(ContentPart::Text(format!("\n\n{words}")));
        return;
    }
    match messages.first_mut().filter(|first| is(first, &ChatRole::System)) {
        Some(first) => first.content.push(ContentPart::Text(format!("\n\n{words}"))),
        None => messages.insert(0, ChatMessage::system(words)),
    }
}

/// Marks what the provider should keep in its cache: the instructions with the tools, and the conversation so far.
pub(super) fn mark(messages: &mut [ChatMessage], request: &ModelRequest, endpoint: &Endpoint) {
    let is_marked = endpoint.protocol == Protocol::Anthropic
        && endpoint.cache == CacheMarks::Ephemeral
        && !request.tools.is_empty();
    if !is_marked {
        return;
    }
    let is_system = |message: &&mut ChatMessage| matches!(message.role, ChatRole::System);
    if let Some(system) = messages.iter_mut().filter(is_system).last() {
        system.options = Some(CacheControl::Ephemeral.into());
    }
    if let Some(last) = messages.last_mut() {
        last.options = Some(CacheControl::Ephemeral.into());
    }
}

fn is_answer(message: &ChatMessage) -> bool {
    matches!(message.role, ChatRole::Tool)
}

struct Writer<'a> {
    name: &'a str,
    endpoint: &'a Endpoint,
    names: &'a ToolNames,
}

impl Writer<'_> {
    fn message(&self, message: &Message) -> ChatMessage {
        let text = message.content.to_string();
        match message.role {
            Role::System => ChatMessage::system(text),
            Role::User => ChatMessage::user(self.some(text)),
            Role::Assistant => {
                let calls = message.tool_calls.iter().enumerate();
                let calls = calls.map(|(at, call)| ContentPart::ToolCall(self.call(call, at == 0)));
                let text = (!text.is_empty()).then(|| ContentPart::Text(text));
                let mut content: MessageContent = text.into_iter().chain(calls).collect();
                if content.is_empty() {
                    content.push(ContentPart::Text(self.some(String::new())));
                }
                ChatMessage::assistant(content)
            }
            Role::Tool => match &message.tool_call_id {
                Some(call) => ChatMessage::tool(ToolResponse::new(self.id(call), text)),
                // Servers refuse an answer that belongs to no call; its text is worth keeping.
                None => ChatMessage::user(self.some(text)),
            },
        }
    }

    /// Text where a server takes no message without any.
    fn some(&self, text: String) -> String {
        let needs_text = matches!(self.endpoint.protocol, Protocol::Anthropic | Protocol::Gemini);
        if needs_text && text.trim().is_empty() { NO_TEXT.to_owned() } else { text }
    }

    fn call(&self, call: &Called, is_first: bool) -> ToolCall {
        let thinks = self.endpoint.protocol == Protocol::Gemini && !is_before_signatures(self.name);
        ToolCall {
            call_id: self.id(&call.id),
            fn_name: self.names.wire(&call.name),
            fn_arguments: self.arguments(&call.arguments),
            thought_signatures: (thinks && is_first).then(|| vec![NO_SIGNATURE.to_owned()]),
        }
    }

    /// Arguments from earlier turns. Some servers take nothing but a record; others parse the history, so that what is no
    /// JSON is sent as a JSON string.
    fn arguments(&self, raw: &str) -> Json {
        let read = serde_json::from_str(raw).unwrap_or_else(|_| Json::from(raw));
        match self.endpoint.protocol {
            Protocol::OpenAi | Protocol::OpenAiResp => read,
            Protocol::Anthropic | Protocol::Gemini | Protocol::Ollama if read.is_object() => read,
            Protocol::Anthropic | Protocol::Gemini | Protocol::Ollama => json!({"unreadable_arguments": raw}),
        }
    }

    /// The id of a call as the server takes it. Calls of a conversation may come from another provider: their ids are
    /// made to fit, the same for a call and its answer.
    fn id(&self, id: &Arc<str>) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let (fits, length) = match self.endpoint.protocol {
            Protocol::Anthropic => (id.chars().all(is_plain), 40),
            Protocol::OpenAiResp => (id.len() <= 64, 40),
            // <https://docs.mistral.ai/capabilities/function_calling>: nine letters and digits.
            Protocol::OpenAi if self.endpoint.is_mistral() => {
                (id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()), 9)
            }
            Protocol::OpenAi | Protocol::Gemini | Protocol::Ollama => (true, 0),
        };
        if fits && !id.is_empty() {
            return id.to_string();
        }
        let digest = Sha256::digest(id.as_bytes());
        let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        digits.chars().take(length.max(9)).collect()
    }
}

/// Whether a model of Google is older than the signatures.
fn is_before_signatures(name: &str) -> bool {
    ["gemini-1", "gemini-2", "gemma"].iter().any(|old| name.starts_with(old))
}
