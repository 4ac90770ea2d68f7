//! Which stage of the stock graph a request comes from, and how far that is.

use serde_json::Value as Json;

/// A stage of the stock graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    Clarify,
    Brief,
    Supervisor,
    Researcher,
    Compress,
    Report,
}

impl Stage {
    /// By the structured output that is asked for, the tools that are offered, and the last message. Where structured output
    /// is not asked for, since the server had refused it, the prompt tells.
    pub fn of(body: &Json) -> Stage {
        let shape = body["response_format"]["json_schema"]["name"].as_str().unwrap_or_default();
        let offers = |name: &str| {
            let tools = body["tools"].as_array().into_iter().flatten();
            tools.filter_map(|tool| tool["function"]["name"].as_str()).any(|offered| offered == name)
        };
        let says = |text: &str| messages(body).any(|message| text_of(message).contains(text));
        if shape == "ClarifyWithUser" || (shape.is_empty() && says("need_clarification")) {
            return Stage::Clarify;
        }
        if shape == "ResearchQuestion" || (shape.is_empty() && says("research_brief")) {
            return Stage::Brief;
        }
        if offers("ConductResearch") {
            return Stage::Supervisor;
        }
        if offers("search") {
            return Stage::Researcher;
        }
        if says("Clean up what was found") { Stage::Compress } else { Stage::Report }
    }
}

/// The messages of a request.
pub fn messages(body: &Json) -> impl DoubleEndedIterator<Item = &Json> {
    body["messages"].as_array().into_iter().flatten()
}

/// The text of a message, whether it comes whole or in parts.
pub fn text_of(message: &Json) -> String {
    match &message["content"] {
        Json::String(text) => text.clone(),
        Json::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// How far a stage is: the supervisor that has delegated is at 1; a researcher that has searched at 1, that has read at 2.
pub fn turn(stage: Stage, body: &Json) -> usize {
    let called = |name: &str| {
        let calls = messages(body).flat_map(|message| message["tool_calls"].as_array().into_iter().flatten());
        calls.into_iter().any(|call| {
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            let readable = serde_json::from_str::<Json>(arguments).is_ok_and(|read| read.is_object());
            call["function"]["name"] == name && readable
        })
    };
    match stage {
        Stage::Supervisor => usize::from(called("ConductResearch")),
        Stage::Researcher if called("read") => 2,
        Stage::Researcher => usize::from(called("search")),
        _ => 0,
    }
}

/// What is wrong about the answers to the calls of a conversation: each call has its answer, directly behind it.
pub fn broken(body: &Json) -> Option<String> {
    let all: Vec<&Json> = messages(body).collect();
    let mut at = 0;
    while let Some(message) = all.get(at) {
        at += 1;
        let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
        if message["role"] == "tool" {
            return Some(format!("message {at} answers no call that stands before it"));
        }
        for call in calls {
            let answered =
                all.get(at).is_some_and(|m| m["role"] == "tool" && m["tool_call_id"] == call["id"]);
            if !answered {
                return Some(format!("the call {} is not answered", call["id"]));
            }
            at += 1;
        }
    }
    None
}
