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

    /// The record that stands for it in state. Texts are shared with it, not copied.
    pub fn to_value(&self) -> Value {
        let mut fields: Vec<(&str, Value)> =
            vec![("role", Value::from(self.role.name())), ("content", Value::Text(self.content.clone()))];
        let texts = [("id", &self.id), ("tool_call_id", &self.tool_call_id), ("name", &self.name)];
        for (name, text) in texts {
            fields.extend(text.iter().map(|text| (name, Value::Text(text.clone()))));
        }
        if !self.tool_calls.is_empty() {
            fields.push(("tool_calls", self.tool_calls.iter().map(ToolCall::to_value).collect()));
        }
        Value::record(fields)
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
        Message::of_record(value).unwrap_or_else(|| value.to()).map_err(|e| format!("not a message: {e}"))
    }

    /// Reads the record that [`Message::to_value`] makes, without copying its texts. None where it is another.
    fn of_record(value: &Value) -> Option<Result<Message, serde_json::Error>> {
        let mut message = Message::new(Role::User, "");
        for (field, value) in value.as_map()? {
            match (&**field, value) {
                ("role", Value::Text(name)) => message.role = Role::parse(name)?,
                ("content", Value::Text(text)) => message.content = text.clone(),
                ("id", Value::Text(text)) => message.id = Some(text.clone()),
                ("tool_call_id", Value::Text(text)) => message.tool_call_id = Some(text.clone()),
                ("name", Value::Text(text)) => message.name = Some(text.clone()),
                ("tool_calls", Value::List(calls)) => {
                    message.tool_calls = calls.iter().map(ToolCall::of_record).collect::<Option<_>>()?;
                }
                _ => return None,
            }
        }
        value.get("role").map(|_| Ok(message))
    }
}

impl Role {
    const ALL: [(&'static str, Role); 4] = [
        ("system", Role::System),
        ("user", Role::User),
        ("assistant", Role::Assistant),
        ("tool", Role::Tool),
    ];

    /// The name in a record.
    pub fn name(self) -> &'static str {
        Role::ALL.iter().find(|(_, role)| *role == self).map_or("", |(name, _)| name)
    }

    fn parse(name: &str) -> Option<Role> {
        Role::ALL.iter().find(|(known, _)| *known == name).map(|(_, role)| *role)
    }
}

impl ToolCall {
    /// The record that stands for it in state. Texts are shared with it, not copied.
    pub fn to_value(&self) -> Value {
        Value::record([
            ("id", Value::Text(self.id.clone())),
            ("name", Value::Text(self.name.clone())),
            ("arguments", Value::Text(self.arguments.clone())),
        ])
    }

    fn of_record(value: &Value) -> Option<ToolCall> {
        let text = |name: &str| match value.get(name) {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        };
        Some(ToolCall { id: text("id")?, name: text("name")?, arguments: text("arguments")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_of_a_message_is_its_json_and_comes_back() {
        let call = ToolCall { id: "1".into(), name: "search".into(), arguments: "{}".into() };
        let messages = [
            Message::system("a"),
            Message { id: Some("m".into()), ..Message::user("ü") },
            Message::assistant("", vec![call.clone()]),
            Message::tool(&call, "found"),
        ];
        for message in messages {
            let value = message.to_value();
            assert_eq!(value, Value::of(&message));
            assert_eq!(Message::from_value(&value), Ok(message));
        }
    }

    #[test]
    fn what_is_no_message_is_told() {
        for text in ["{}", "{\"role\": \"x\"}", "[]", "{\"role\": \"user\", \"content\": 3}"] {
            let value: Value = serde_json::from_str(text).unwrap();
            assert!(Message::from_value(&value).unwrap_err().starts_with("not a message"), "{text}");
        }
        let strange: Value = serde_json::from_str("{\"role\": \"user\", \"more\": 3}").unwrap();
        assert_eq!(Message::from_value(&strange), Ok(Message::user("")));
    }
}
