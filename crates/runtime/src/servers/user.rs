//! The servers of a user's own configuration, ready to be reached.

use std::collections::BTreeMap;
use std::fmt;

use deepgraph_protocol::Hidden;

use super::settings::{McpServerSettings, McpSettings};
use super::texts;
use crate::RunError;

/// The servers of a user's own configuration, with their secrets. A graph gets their tools where it has `mcp.*`.
#[derive(Clone, Default)]
pub struct UserServers {
    pub(super) servers: BTreeMap<String, UserServer>,
    /// Those that are not to be reached, and why.
    pub(super) left_out: BTreeMap<String, String>,
    /// The values of all their secrets, by the names of the variables.
    pub(super) secrets: BTreeMap<String, String>,
}

/// One of them.
#[derive(Clone)]
pub(super) struct UserServer {
    /// Its settings, with their texts filled in.
    pub settings: McpServerSettings,
    /// What is missing to reach it.
    pub lacks: Option<String>,
}

/// Names only.
impl fmt::Debug for UserServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UserServers").field(&self.servers.keys()).finish()
    }
}

impl UserServers {
    /// Checks settings and looks up their secrets. A server whose secret is missing counts as one that is down.
    ///
    /// # Errors
    ///
    /// What is wrong in the settings; a missing secret of a server that is required.
    pub fn read(
        settings: &McpSettings,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<UserServers, Vec<RunError>> {
        let mistakes = settings.mistakes();
        if !mistakes.is_empty() {
            return Err(mistakes.into_iter().map(|problem| RunError::Server { problem }).collect());
        }
        let mut missing = Vec::new();
        let mut servers = BTreeMap::new();
        for (name, settings) in &settings.0 {
            let server = match filled(settings, &lookup) {
                Ok(settings) => UserServer { settings, lacks: None },
                Err(why) if settings.required => {
                    missing.push(RunError::Server { problem: unusable(name, &why) });
                    continue;
                }
                Err(why) => UserServer { settings: settings.clone(), lacks: Some(unusable(name, &why)) },
            };
            servers.insert(name.clone(), server);
        }
        if !missing.is_empty() {
            return Err(missing);
        }
        let values =
            settings.secrets().into_iter().filter_map(|name| lookup(&name).map(|value| (name, value)));
        Ok(UserServers { servers, left_out: BTreeMap::new(), secrets: values.collect() })
    }

    /// Leaves a server out of a run that knows its tools: it is not reached, and calls of its tools fail with this reason.
    pub fn leave_out(&mut self, name: &str, why: &str) {
        self.servers.remove(name);
        self.left_out.insert(name.to_owned(), why.to_owned());
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// Their names, in byte order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.servers.keys().map(String::as_str)
    }

    /// The values of their secrets, to be taken out of texts.
    pub fn hidden(&self) -> Hidden {
        Hidden::new(self.secrets.values().cloned())
    }

    /// The environment variables that held secrets.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.secrets.keys().map(String::as_str)
    }
}

fn unusable(name: &str, why: &str) -> String {
    format!("the MCP server \"{name}\" (services.mcp.{name}) can not be reached: {why}")
}

fn filled(
    settings: &McpServerSettings,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Result<McpServerSettings, String> {
    let fill = |text: &String| texts::filled(text, lookup);
    let pairs = |pairs: &BTreeMap<String, String>| {
        pairs.iter().map(|(name, text)| Ok((name.clone(), fill(text)?))).collect::<Result<_, String>>()
    };
    Ok(McpServerSettings {
        command: settings.command.iter().map(fill).collect::<Result<_, _>>()?,
        url: settings.url.as_ref().map(fill).transpose()?,
        env: pairs(&settings.env)?,
        headers: pairs(&settings.headers)?,
        ..settings.clone()
    })
}
