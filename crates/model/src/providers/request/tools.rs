//! The tools that a request offers.

use std::collections::BTreeSet;

use deepgraph_protocol::{ModelRequest, ToolSpec};
use serde_json::{Map, Value as Json, json};

use super::super::names::ToolNames;
use crate::endpoint::Endpoint;
use crate::settings::{CacheMarks, Protocol};

/// The field `tools` of the body; none where there are none.
pub(super) fn render(request: &ModelRequest, endpoint: &Endpoint, names: &ToolNames) -> Option<Json> {
    let mut tools: Vec<Json> =
        request.tools.iter().map(|tool| written(tool, endpoint.protocol, names)).collect();
    if tools.is_empty() && endpoint.protocol == Protocol::Anthropic {
        tools = called_before(request, names);
    }
    let last = tools.last_mut().and_then(Json::as_object_mut)?;
    let has_system = request.messages.iter().any(|m| m.role == deepgraph_protocol::Role::System);
    let is_marked = endpoint.protocol == Protocol::Anthropic && endpoint.cache == CacheMarks::Ephemeral;
    if is_marked && !has_system && !request.tools.is_empty() {
        last.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
    Some(match endpoint.protocol {
        Protocol::Gemini => json!([{"functionDeclarations": tools}]),
        _ => Json::Array(tools),
    })
}

fn written(tool: &ToolSpec, protocol: Protocol, names: &ToolNames) -> Json {
    let name = names.wire(&tool.name);
    let description = &*tool.description;
    let schema = tool.parameters.to_json();
    match protocol {
        Protocol::OpenAi | Protocol::Ollama => json!({"type": "function", "function": {
            "name": name, "description": description, "parameters": schema,
        }}),
        // Without "strict" the API would narrow the parameters.
        Protocol::OpenAiResp => json!({
            "type": "function", "name": name, "description": description, "parameters": schema, "strict": false,
        }),
        Protocol::Anthropic => json!({"name": name, "description": description, "input_schema": schema}),
        Protocol::Gemini => {
            let mut fields = Map::from_iter([
                ("name".to_owned(), json!(name)),
                ("description".to_owned(), json!(description)),
            ]);
            if schema
                .pointer("/properties")
                .and_then(Json::as_object)
                .is_some_and(|fields| !fields.is_empty())
            {
                fields.insert("parametersJsonSchema".to_owned(), schema);
            }
            Json::Object(fields)
        }
    }
}

/// Anthropic wants those tools declared too that were only called before.
fn called_before(request: &ModelRequest, names: &ToolNames) -> Vec<Json> {
    let calls = request.messages.iter().flat_map(|message| &message.tool_calls);
    let called: BTreeSet<String> = calls.map(|call| names.wire(&call.name)).collect();
    let any = json!({"type": "object"});
    called.into_iter().map(|name| json!({"name": name, "input_schema": any})).collect()
}
