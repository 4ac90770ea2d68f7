//! What a request to a model must be.

use std::sync::Arc;

use deepgraph_protocol::{Message, ModelRequest, Role};

use super::pattern::text_fits;
use super::read::Reader;
use super::tree::Node;
use super::words;

/// Conditions on a request. All that are given must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RequestMatch {
    /// Texts that stand in it.
    contains: Vec<Arc<str>>,
    /// Texts that do not.
    lacks: Vec<Arc<str>>,
    /// Texts that stand in its system message.
    system: Vec<Arc<str>>,
    /// The whole text of its last message.
    last: Option<Arc<str>>,
    /// The roles of its messages, in order, the system message included.
    messages: Option<Vec<Arc<str>>>,
    /// The tools that are offered, in any order.
    tools: Option<Vec<Arc<str>>>,
    /// The model's name.
    model: Option<Arc<str>>,
}

impl RequestMatch {
    /// Reads conditions; a text alone stands for one that the request contains.
    pub(crate) fn read(reader: &mut Reader, node: &Node) -> Option<RequestMatch> {
        let mut wanted = RequestMatch::default();
        if !node.is_map() {
            wanted.contains = reader.texts(node, "`expect`");
            return Some(wanted);
        }
        for (key, value) in reader.entries(node, "`expect` of a model", &words::REQUEST) {
            let what = format!("`{}`", key.name);
            match &*key.name {
                "contains" => wanted.contains = reader.texts(value, &what),
                "lacks" => wanted.lacks = reader.texts(value, &what),
                "system" => wanted.system = reader.texts(value, &what),
                "last" => wanted.last = reader.text(value, &what),
                "messages" => wanted.messages = Some(reader.texts(value, &what)),
                "tools" => wanted.tools = Some(reader.texts(value, &what)),
                _ => wanted.model = reader.text(value, &what),
            }
        }
        Some(wanted)
    }

    /// The conditions that a request does not meet, each as a sentence.
    pub(crate) fn unmet(&self, request: &ModelRequest) -> Vec<String> {
        let mut unmet = Vec::new();
        let stands = |text: &str| request.messages.iter().any(|m| has(&m.content, text));
        let in_system =
            |text: &str| request.messages.iter().any(|m| m.role == Role::System && has(&m.content, text));
        unmet.extend(self.contains.iter().filter(|t| !stands(t)).map(|t| format!("it lacks \"{t}\"")));
        unmet.extend(self.lacks.iter().filter(|t| stands(t)).map(|t| format!("it contains \"{t}\"")));
        let system = self.system.iter().filter(|t| !in_system(t));
        unmet.extend(system.map(|t| format!("its system message lacks \"{t}\"")));
        if let Some(wanted) = &self.last {
            let last = request.messages.last().map_or("", |m| &*m.content);
            if !text_fits(wanted, last) {
                unmet.push(format!("its last message is \"{last}\", not \"{wanted}\""));
            }
        }
        if let Some(wanted) = &self.messages {
            let roles: Vec<&str> = request.messages.iter().map(role).collect();
            if !roles.iter().copied().eq(wanted.iter().map(|r| &**r)) {
                let wanted = wanted.join(", ");
                unmet.push(format!("its messages are [{}], not [{wanted}]", roles.join(", ")));
            }
        }
        if let Some(wanted) = &self.tools {
            let mut offered: Vec<&str> = request.tools.iter().map(|tool| &*tool.name).collect();
            let mut wanted: Vec<&str> = wanted.iter().map(|name| &**name).collect();
            offered.sort_unstable();
            wanted.sort_unstable();
            if offered != wanted {
                unmet.push(format!("its tools are [{}], not [{}]", offered.join(", "), wanted.join(", ")));
            }
        }
        if let Some(wanted) = self.model.as_ref().filter(|name| ***name != *request.model) {
            unmet.push(format!("it is to the model \"{}\", not to \"{wanted}\"", request.model));
        }
        unmet
    }
}

/// Whether a text stands in another; `…` in it is any text.
fn has(text: &str, wanted: &str) -> bool {
    text_fits(&format!("…{wanted}…"), text)
}

fn role(message: &Message) -> &'static str {
    message.role.name()
}

/// A request as a failed case shows it.
pub(crate) fn shown(request: &ModelRequest) -> String {
    let mut lines: Vec<String> = Vec::new();
    for message in &request.messages {
        lines.push(format!("{}: {}", role(message), message.content));
        lines.extend(
            message.tool_calls.iter().map(|call| format!("  calls {} {}", call.name, call.arguments)),
        );
    }
    if !request.tools.is_empty() {
        let names: Vec<&str> = request.tools.iter().map(|tool| &*tool.name).collect();
        lines.push(format!("tools: {}", names.join(", ")));
    }
    if let Some(output) = &request.output {
        lines.push(format!("returns: {}", output.name));
    }
    lines.join("\n")
}
