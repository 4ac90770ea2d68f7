//! The conversation.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_protocol::{Message, ModelRequest, Role, ToolCall};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use super::super::names::ToolNames;
use crate::endpoint::Endpoint;
use crate::settings::Protocol;

/// What stands for a message without text where a server takes none.
const NO_TEXT: &str = "(no text)";

/// What stands between the answers to calls and words of the user's where a server wants a word of the model's there.
const NOTED: &str = "Noted.";

/// A message, with names, ids and arguments as the server takes them.
pub(super) enum Turn {
    System(String),
    User(String),
    /// The model's words, which may be none, and its calls.
    Model(String, Vec<Call>),
    /// Answers to calls.
    Answers(Vec<Answer>),
}

/// A call that the model made.
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: Json,
}

/// What came of a call.
pub(super) struct Answer {
    /// The call's id.
    pub(super) id: String,
    /// The call's name; none where the call does not stand in the conversation.
    pub(super) name: Option<String>,
    pub(super) text: String,
}

/// The messages of a request.
pub(super) fn render(request: &ModelRequest, endpoint: &Endpoint, names: &ToolNames) -> Vec<Turn> {
    let mut writer = Writer { endpoint, names, called: BTreeMap::new() };
    let mut turns: Vec<Turn> = Vec::with_capacity(request.messages.len());
    for message in &request.messages {
        let turn = writer.turn(message);
        // The answers to all calls of a turn are one message there.
        let is_joined = matches!(endpoint.protocol, Protocol::Anthropic | Protocol::Gemini);
        match (turns.last_mut(), turn) {
            (Some(Turn::Answers(before)), Turn::Answers(more)) if is_joined => before.extend(more),
            // Mistral refuses words of the user's right behind answers to calls.
            (Some(Turn::Answers(_)), turn @ Turn::User(_)) if endpoint.is_mistral() => {
                turns.push(Turn::Model(NOTED.to_owned(), Vec::new()));
                turns.push(turn);
            }
            (_, turn) => turns.push(turn),
        }
    }
    turns
}

/// Adds words to the prompt: behind its last message, if that is the user's, or else to the instructions. Servers do not
/// all take a message of the user's behind answers to calls.
pub(super) fn append(turns: &mut Vec<Turn>, words: &str) {
    if let Some(Turn::User(text)) = turns.last_mut() {
        text.push_str("\n\n");
        text.push_str(words);
        return;
    }
    match turns.first_mut() {
        Some(Turn::System(text)) => {
            text.push_str("\n\n");
            text.push_str(words);
        }
        _ => turns.insert(0, Turn::System(words.to_owned())),
    }
}

struct Writer<'a> {
    endpoint: &'a Endpoint,
    names: &'a ToolNames,
    /// The name of each call so far, by its id on the wire.
    called: BTreeMap<String, String>,
}

impl Writer<'_> {
    fn turn(&mut self, message: &Message) -> Turn {
        let text = message.content.to_string();
        match message.role {
            Role::System => Turn::System(text),
            Role::User => Turn::User(self.some(text)),
            Role::Assistant if message.tool_calls.is_empty() => Turn::Model(self.some(text), Vec::new()),
            Role::Assistant => {
                let calls: Vec<Call> = message.tool_calls.iter().map(|call| self.call(call)).collect();
                self.called.extend(calls.iter().map(|call| (call.id.clone(), call.name.clone())));
                Turn::Model(text, calls)
            }
            Role::Tool => match &message.tool_call_id {
                Some(call) => {
                    let id = self.id(call);
                    Turn::Answers(vec![Answer { name: self.called.get(&id).cloned(), id, text }])
                }
                // Servers refuse an answer that belongs to no call; its text is worth keeping.
                None => Turn::User(self.some(text)),
            },
        }
    }

    /// Text where a server takes no message without any.
    fn some(&self, text: String) -> String {
        let needs_text = matches!(self.endpoint.protocol, Protocol::Anthropic | Protocol::Gemini);
        if needs_text && text.trim().is_empty() { NO_TEXT.to_owned() } else { text }
    }

    fn call(&self, call: &ToolCall) -> Call {
        Call {
            id: self.id(&call.id),
            name: self.names.wire(&call.name),
            arguments: self.arguments(&call.arguments),
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
