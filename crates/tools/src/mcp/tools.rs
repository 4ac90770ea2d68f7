//! The tools of a server.

use deepgraph_protocol::Value;
use rmcp::model::{PaginatedRequestParams, Tool};
use rmcp::service::{Peer, RoleClient, ServiceError};
use serde::{Deserialize, Serialize};

use super::words;

/// The most tools of a server. No model chooses well among more.
const MOST_TOOLS: usize = 1000;
/// The most pages of a list.
const MOST_PAGES: usize = 100;
/// The most bytes of names, descriptions and schemas of a server.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// A tool as its server declares it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolDecl {
    /// Its name on the server.
    pub name: String,
    /// What it does, for a model; "" where the server does not say.
    pub description: String,
    /// The JSON Schema of its arguments, an object.
    pub input_schema: Value,
    /// Whether it only reads, where the server says so. A hint: the server may be wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// Whether a second call with the same arguments changes nothing more, where the server says so. A hint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// Whether it may destroy what is there, where the server says so. A hint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
}

/// Why there is no list.
pub(super) enum NoList {
    /// The bound, with its unit.
    TooLong(String),
    Service(ServiceError),
}

/// All tools of a server, by name, so that the same tools are the same list. Of two with one name the first counts.
pub(super) async fn list(peer: &Peer<RoleClient>) -> Result<Vec<ToolDecl>, NoList> {
    let mut tools: Vec<ToolDecl> = Vec::new();
    let mut bytes = 0;
    let mut cursor = None;
    for _ in 0..MOST_PAGES {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let page = peer.list_tools(Some(params)).await.map_err(NoList::Service)?;
        for tool in &page.tools {
            let tool = declaration(tool);
            bytes += tool.name.len() + tool.description.len() + tool.input_schema.to_json_text().len();
            tools.push(tool);
        }
        if tools.len() > MOST_TOOLS {
            return Err(NoList::TooLong(format!("{MOST_TOOLS} tools")));
        }
        if bytes > MOST_BYTES {
            return Err(NoList::TooLong(format!(
                "{} of descriptions of tools",
                words::size(MOST_BYTES as u64)
            )));
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            tools.sort_by(|a, b| a.name.cmp(&b.name));
            tools.dedup_by(|later, first| later.name == first.name);
            return Ok(tools);
        }
    }
    Err(NoList::TooLong(format!("{MOST_PAGES} pages of tools")))
}

fn declaration(tool: &Tool) -> ToolDecl {
    let hints = tool.annotations.as_ref();
    ToolDecl {
        name: tool.name.to_string(),
        description: tool.description.as_deref().unwrap_or("").to_owned(),
        input_schema: Value::from_json(&tool.schema_as_json_value()),
        read_only: hints.and_then(|hints| hints.read_only_hint),
        idempotent: hints.and_then(|hints| hints.idempotent_hint),
        destructive: hints.and_then(|hints| hints.destructive_hint),
    }
}
