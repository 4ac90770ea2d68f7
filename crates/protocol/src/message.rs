//! Conversations with chat models.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Value;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions.
    System,
    /// The person, or the graph on their behalf.
    User,
    /// The model.
    Assistant,
    /// The answer to one tool call.
    Tool,
}

/// One message of a conversation. In state it is a record with the same fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Identity within its channel; a message written again under a known id replaces the old one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Arc<str>>,
    /// Who speaks.
    pub role: Role,
    /// The text; may be empty beside tool calls.
    #[serde(default)]
    pub content: Arc<str>,
    /// The calls that an assistant message makes, in call order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// In a tool message: the call that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<Arc<str>>,
    /// In a tool message: the tool's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
}

/// One call that a model made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id of the call, unique within the conversation.
    pub id: Arc<str>,
    /// The name as the model wrote it, offered or not.
    pub name: Arc<str>,
    /// The arguments as the model wrote them: JSON text if all is well, anything else if it is not.
    pub arguments: Arc<str>,
}

impl Message {
    /// A message with text only.
    pub fn new(role: Role, content: impl Into<Arc<str>>) -> Message {
        Message {
            id: None,
            role,
            content: content.into(),
            tool_calls: Vec::new(),
            tool_call_id: None,
            name: None,
        }
    }

    /// A system message.
    pub fn system(content: impl Into<Arc<str>>) -> Message {
        Message::new(Role::System, content)
    }

    /// A user message.
    pub fn user(content: impl Into<Arc<str>>) -> Message {
        Message::new(Role::User, content)
    }

    /// An assistant message.
    pub fn assistant(content: impl Into<Arc<str>>, tool_calls: Vec<ToolCall>) -> Message {
        Message { tool_calls, ..Message::new(Role::Assistant, content) }
    }

    /// The answer to a call.
    pub fn tool(call: &ToolCall, content: impl Into<Arc<str>>) -> Message {
        Message {
            tool_call_id: Some(call.id.clone()),
            name: Some(call.name.clone()),
            ..Message::new(Role::Tool, content)
        }
    }

    /// The record that stands for it in state.
    pub fn to_value(&self) -> Value {
        Value::of(self)
    }

    /// Reads a record of state. Short forms are understood: `{user: TEXT}`, `{assistant: TEXT}`,
    /// `{system: TEXT}`.
    pub fn from_value(value: &Value) -> Result<Message, String> {
        for (key, role) in [("user", Role::User), ("assistant", Role::Assistant), ("system", Role::System)] {
            if let Some(content) = value.get(key) {
                return match content {
                    Value::Text(text) => Ok(Message::new(role, text.clone())),
                    Value::Null => Ok(Message::new(role, "")),
                    other => Ok(Message::new(role, other.to_json_text())),
                };
            }
        }
        value.to().map_err(|e| format!("not a message: {e}"))
    }
}
