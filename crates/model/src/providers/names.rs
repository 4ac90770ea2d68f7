//! Tool names on the wire: servers take letters, digits, `_` and `-`, graphs also have `server.tool`.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_protocol::ToolSpec;

use super::schema::safe_name;

/// Which name stands for which tool in one request.
#[derive(Default)]
pub(super) struct ToolNames {
    wire: BTreeMap<Arc<str>, String>,
    tools: BTreeMap<String, Arc<str>>,
}

impl ToolNames {
    /// The names of the tools of one request. Two tools never share a name on the wire.
    pub(super) fn of(tools: &[ToolSpec]) -> ToolNames {
        let mut names = ToolNames { wire: BTreeMap::new(), tools: BTreeMap::new() };
        let (plain, odd): (Vec<_>, Vec<_>) =
            tools.iter().partition(|tool| safe_name(&tool.name, "") == *tool.name);
        for tool in plain.into_iter().chain(odd) {
            let base = safe_name(&tool.name, "tool");
            let mut name = base.clone();
            let mut number = 2_u32;
            while names.tools.get(&name).is_some_and(|other| *other != tool.name) {
                name = format!("{}_{number}", base.chars().take(56).collect::<String>());
                number += 1;
            }
            names.wire.insert(tool.name.clone(), name.clone());
            names.tools.insert(name, tool.name.clone());
        }
        names
    }

    /// The name on the wire, also of tools that are not offered (any more).
    pub(super) fn wire(&self, tool: &str) -> String {
        self.wire.get(tool).cloned().unwrap_or_else(|| safe_name(tool, "tool"))
    }

    /// The tool that a name on the wire stands for; a name that stands for none is kept as it is.
    pub(super) fn tool(&self, wire: &str) -> Arc<str> {
        self.tools.get(wire).cloned().unwrap_or_else(|| wire.into())
    }
}

#[cfg(test)]
mod tests {
    use deepgraph_protocol::{ToolRole, Value};

    use super::*;

    fn tool(name: &str) -> ToolSpec {
        ToolSpec {
            name: name.into(),
            description: "".into(),
            parameters: Value::empty_map(),
            role: ToolRole::State,
        }
    }

    #[test]
    fn odd_names_go_there_and_back_and_collide_with_none() {
        let offered = ["web.search", "web_search", "web search", "read"].map(tool);
        let names = ToolNames::of(&offered);
        assert_eq!(names.wire("web_search"), "web_search");
        assert_eq!(names.wire("web.search"), "web_search_2");
        assert_eq!(names.wire("web search"), "web_search_3");
        for tool in &offered {
            assert_eq!(names.tool(&names.wire(&tool.name)), tool.name);
        }
        assert_eq!(&*names.tool("invented"), "invented");
        assert_eq!(names.wire("gone.away"), "gone_away");
    }
}
