//! What has happened in a conversation.

use deepgraph_protocol::{Message, ModelRequest, Role};
use serde_json::Value as Json;

/// A call of an earlier turn and what came back.
#[derive(Clone, Debug)]
pub(super) struct Past<'a> {
    /// The tool's name.
    pub name: &'a str,
    /// The arguments; null if they were no JSON.
    pub arguments: Json,
    /// The answer; "" where there is none.
    pub answer: &'a str,
    /// The turn in which it was made, from 0.
    pub turn: usize,
}

impl Past<'_> {
    /// An argument that is text; "" where there is none.
    pub fn text(&self, name: &str) -> &str {
        self.arguments.get(name).and_then(Json::as_str).unwrap_or("")
    }

    /// Whether it was answered that it was not carried out.
    pub fn was_refused(&self) -> bool {
        let answer = self.answer.trim_start();
        answer.get(..7).is_some_and(|head| head.eq_ignore_ascii_case("refused"))
            || answer.starts_with("not taken")
    }
}

/// All calls of the conversation, in order, with their answers.
pub(super) fn past(request: &ModelRequest) -> Vec<Past<'_>> {
    let mut found = Vec::new();
    let turns = request.messages.iter().enumerate().filter(|(_, m)| m.role == Role::Assistant);
    for (turn, (at, message)) in turns.enumerate() {
        for call in &message.tool_calls {
            // Ids may come again in later turns; the answer stands behind its own turn.
            let answers = request.messages.iter().skip(at + 1).take_while(|m| m.role != Role::Assistant);
            let own = |m: &&Message| m.role == Role::Tool && m.tool_call_id.as_ref() == Some(&call.id);
            let answer = answers.into_iter().find(own).map_or("", |m| &*m.content);
            let arguments = serde_json::from_str(&call.arguments).unwrap_or(Json::Null);
            found.push(Past { name: &call.name, arguments, answer, turn });
        }
    }
    found
}

/// The text of the first user message; "" where there is none.
pub(super) fn first_user_text(request: &ModelRequest) -> &str {
    request.messages.iter().find(|m| m.role == Role::User).map_or("", |m| &*m.content)
}

/// The text of the last user message; "" where there is none.
pub(super) fn last_user_text(request: &ModelRequest) -> &str {
    request.messages.iter().rev().find(|m| m.role == Role::User).map_or("", |m| &*m.content)
}
