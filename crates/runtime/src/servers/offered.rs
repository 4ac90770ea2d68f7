//! Which tools of a user's own servers are offered, and under which names.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_graph::{ServerTool, ToolOrigin};
use deepgraph_tools::mcp::ToolDecl;

use super::settings::{Effect, McpServerSettings};

/// The most names of a server's tools in a message.
const MOST_NAMES: usize = 20;

/// The tools of one server that its settings choose, as they are offered.
///
/// # Errors
///
/// Settings that name tools that the server does not have.
pub(super) fn chosen(
    server: &str,
    settings: &McpServerSettings,
    listed: &[ToolDecl],
) -> Result<Vec<ServerTool>, Vec<String>> {
    let place = format!("services.mcp.{server}");
    let has = |name: &str| listed.iter().any(|tool| tool.name == name);
    let only = settings.only.iter().map(|name| ("only", name));
    let rename = settings.rename.keys().map(|name| ("rename", name));
    let effect = settings.effect.keys().map(|name| ("effect", name));
    let unknown = only.chain(rename).chain(effect).filter(|(_, name)| !has(name));
    let mistakes: Vec<String> = unknown
        .map(|(key, name)| format!("{place}.{key}: the server has no tool \"{name}\"; {}", names(listed)))
        .collect();
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let is_chosen = |tool: &&ToolDecl| settings.only.is_empty() || settings.only.contains(&tool.name);
    Ok(listed.iter().filter(is_chosen).map(|tool| offered(server, settings, tool)).collect())
}

fn offered(server: &str, settings: &McpServerSettings, tool: &ToolDecl) -> ServerTool {
    let name = settings.rename.get(&tool.name).unwrap_or(&tool.name);
    let effect = settings.effect.get(&tool.name);
    ServerTool {
        name: name.as_str().into(),
        description: tool.description.as_str().into(),
        input_schema: tool.input_schema.clone(),
        read_only: effect.map(|effect| *effect == Effect::Read).or(tool.read_only),
        idempotent: tool.idempotent,
        destructive: tool.destructive,
        origin: Some(ToolOrigin { server: server.into(), tool: tool.name.as_str().into() }),
    }
}

/// Names that several tools would have.
pub(super) fn clashes(tools: &[ServerTool]) -> Vec<String> {
    let mut first: BTreeMap<&Arc<str>, &ToolOrigin> = BTreeMap::new();
    let mut clashes = Vec::new();
    for (name, origin) in tools.iter().filter_map(|tool| Some((&tool.name, tool.origin.as_ref()?))) {
        let Some(other) = first.insert(name, origin) else { continue };
        clashes.push(format!(
            "two tools would be called \"{name}\": {} of {} and {} of {}: give one another name: \
             services.mcp.{}.rename: {{\"{}\": NAME}}",
            other.tool, other.server, origin.tool, origin.server, origin.server, origin.tool
        ));
    }
    clashes
}

fn names(listed: &[ToolDecl]) -> String {
    let names: Vec<&str> = listed.iter().take(MOST_NAMES).map(|tool| tool.name.as_str()).collect();
    match listed.len().saturating_sub(names.len()) {
        _ if names.is_empty() => "it has none".to_owned(),
        0 => format!("it has {}", names.join(", ")),
        more => format!("it has {} and {more} more", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use deepgraph_protocol::Value;
    use serde_json::json;

    use super::*;

    fn listed(names: &[&str]) -> Vec<ToolDecl> {
        let tool = |name: &&str| ToolDecl {
            name: (*name).to_owned(),
            description: String::new(),
            input_schema: Value::Null,
            read_only: Some(*name == "get"),
            idempotent: None,
            destructive: Some(true),
        };
        names.iter().map(tool).collect()
    }

    fn settings(value: serde_json::Value) -> McpServerSettings {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn tools_are_chosen_renamed_and_said_to_read() {
        let settings = settings(json!({
            "only": ["get", "put"], "rename": {"put": "files_put"}, "effect": {"put": "read", "get": "write"},
        }));
        let tools = chosen("files", &settings, &listed(&["get", "list", "put"])).unwrap();
        let told: Vec<_> = tools.iter().map(|tool| (&*tool.name, tool.read_only, tool.destructive)).collect();
        assert_eq!(told, [("get", Some(false), Some(true)), ("files_put", Some(true), Some(true))]);
        assert_eq!(tools[1].origin, Some(ToolOrigin { server: "files".into(), tool: "put".into() }));
    }

    #[test]
    fn settings_of_tools_that_are_not_there_are_refused() {
        let settings = settings(json!({"only": ["gte"], "effect": {"drop": "read"}}));
        assert_eq!(
            chosen("files", &settings, &listed(&["get", "list"])).unwrap_err(),
            [
                "services.mcp.files.only: the server has no tool \"gte\"; it has get, list",
                "services.mcp.files.effect: the server has no tool \"drop\"; it has get, list",
            ]
        );
        let many: Vec<String> = (0..25).map(|n| format!("t{n}")).collect();
        let many = listed(&many.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(chosen("files", &settings, &many).unwrap_err()[0].ends_with("t19 and 5 more"));
    }

    #[test]
    fn two_tools_of_one_name_are_refused() {
        let none = settings(json!({}));
        let renamed = settings(json!({"rename": {"find": "get"}}));
        let mut tools = chosen("a", &none, &listed(&["get"])).unwrap();
        tools.extend(chosen("b", &renamed, &listed(&["find"])).unwrap());
        assert_eq!(
            clashes(&tools),
            [
                "two tools would be called \"get\": get of a and find of b: give one another name: services.mcp.b.rename: {\"find\": NAME}"
            ]
        );
        assert_eq!(clashes(&tools[..1]), [""; 0]);
    }
}
