mod by_schema;
mod calls;
mod mend;
mod repeat;
mod think;

use deepgraph_protocol::{Map, Message, ModelReply, ModelRequest, OutputShape, ToolRole, ToolSpec, Value};
use serde_json::json;

pub(super) fn tool(name: &str) -> ToolSpec {
    let parameters = json!({
        "type": "object",
        "properties": {"query": {"type": "string", "description": "what to look for", "default": ""}},
        "required": ["query"],
        "title": "Search",
    });
    ToolSpec {
        name: name.into(),
        description: "Looks something up.".into(),
        parameters: Value::from_json(&parameters),
        role: ToolRole::State,
    }
}

pub(super) fn request(tools: &[&str], schema: Option<serde_json::Value>) -> ModelRequest {
    ModelRequest {
        model: "mine::small".into(),
        messages: vec![Message::system("Be brief."), Message::user("How tall is it?")],
        tools: tools.iter().map(|name| tool(name)).collect(),
        output: schema.map(|schema| OutputShape { name: "Plan".into(), schema: Value::from_json(&schema) }),
        max_output: None,
        options: Map::new(),
        context: Map::new(),
    }
}

pub(super) fn reply(text: &str) -> ModelReply {
    ModelReply::saying("small", text)
}

/// A text cut into pieces at these places.
pub(super) fn pieces<'t>(text: &'t str, cuts: &[usize]) -> Vec<&'t str> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
    places.retain(|place| text.is_char_boundary(*place));
    places.extend([0, text.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}
