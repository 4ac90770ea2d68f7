//! Tool calls whose arguments fit the tool's schema.

use std::sync::Arc;

use deepgraph_protocol::{ModelRequest, Role, ToolCall, ToolSpec, Value};
use serde_json::{Map, Value as Json};

use super::fill;

/// Makes the calls of one turn. Their ids come from the position in the conversation alone.
pub(super) struct Calls<'a> {
    request: &'a ModelRequest,
    made: Vec<ToolCall>,
}

impl<'a> Calls<'a> {
    /// No call yet.
    pub fn new(request: &'a ModelRequest) -> Calls<'a> {
        Calls { request, made: Vec::new() }
    }

    /// Adds a call. The values go into the parameters of their names, where the tool has them, the first also into
    /// the tool's main parameter; required parameters that are left over get a value that fits their schema.
    pub fn push(&mut self, tool: &ToolSpec, values: &[(&str, &str)]) {
        let schema = tool.parameters.to_json();
        let main = main_parameter(tool);
        let mut arguments = Map::new();
        let is_offered = |name: &str| schema.pointer(&format!("/properties/{name}")).is_some();
        for (i, (name, value)) in values.iter().enumerate() {
            let name = match &main {
                Some(main) if i == 0 => main.as_str(),
                _ => name,
            };
            if is_offered(name) && !arguments.contains_key(name) {
                let kind = schema.pointer(&format!("/properties/{name}/type")).and_then(Json::as_str);
                let number = value.parse::<i64>().ok().filter(|_| kind == Some("integer"));
                arguments.insert(name.to_owned(), number.map_or_else(|| Json::from(*value), Json::from));
            }
        }
        for name in fill::required(&schema) {
            if !arguments.contains_key(&name) {
                let value =
                    fill::parameter(&schema, &name, self.request, values.first().map_or("", |(_, v)| v));
                arguments.insert(name, value);
            }
        }
        let turn = self.request.messages.iter().filter(|m| m.role == Role::Assistant).count() + 1;
        self.made.push(ToolCall {
            id: format!("call_{turn}_{}", self.made.len() + 1).into(),
            name: tool.name.clone(),
            arguments: Arc::from(canonical(&Json::Object(arguments))),
        });
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.made.len()
    }

    /// The calls.
    pub fn finish(self) -> Vec<ToolCall> {
        self.made
    }
}

/// The parameter that carries what a call is about: the first required text of the schema, else the first text.
pub(super) fn main_parameter(tool: &ToolSpec) -> Option<String> {
    let is_text = |name: &&str| {
        let kind = tool.parameters.get("properties").and_then(|p| p.get(name)).and_then(|p| p.get("type"));
        kind.is_none_or(|kind| kind.as_str() == Some("string"))
    };
    let required = tool.parameters.get("required").and_then(Value::as_list).unwrap_or_default();
    let properties = tool.parameters.get("properties").and_then(Value::as_map);
    let names = properties.into_iter().flat_map(|p| p.keys().map(|name| &**name));
    required.iter().filter_map(Value::as_str).chain(names).find(is_text).map(str::to_owned)
}

/// JSON with its keys in byte order: the order of `serde_json`'s own maps depends on what else is built with it.
pub(super) fn canonical(json: &Json) -> String {
    Value::from_json(json).to_json_text()
}
