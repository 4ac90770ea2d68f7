//! Which of the servers in a run's record may be reached when somebody goes on with it. The record may be somebody else's, in
//! a store that several people share: what it starts, and what it gets of the secrets in the environment, is what whoever
//! goes on with it has in a configuration of his own.

use std::collections::BTreeMap;
use std::path::Path;

use deepgraph_runtime::{McpServerSettings, McpSettings};

use crate::config::file::ConfigFile;
use crate::error::CliError;
use crate::home::Home;
use crate::services::Services;

/// The servers that the configuration of whoever goes on with a run names: `config.yaml` of his home, and the file of
/// `--config`.
///
/// # Errors
///
/// A file that can not be read, or whose services do not fit.
pub fn named(home: &Home, config: Option<&Path>) -> Result<Vec<McpSettings>, CliError> {
    let files = home.config_file();
    let files = files.as_deref().into_iter().chain(config);
    files.map(|file| Ok(Services::read(&ConfigFile::read(file)?.services)?.mcp())).collect()
}

/// The servers of a record in two: those that may be reached, and why each of the others may not.
pub(super) fn split(recorded: McpSettings, named: &[McpSettings]) -> (McpSettings, BTreeMap<String, String>) {
    let mut kept = BTreeMap::new();
    let mut refused = BTreeMap::new();
    for (name, server) in recorded.0 {
        let is_named = named.iter().filter_map(|own| own.0.get(&name)).any(|own| is_same(own, &server));
        if is_named || is_harmless(&name, &server) {
            kept.insert(name, server);
        } else {
            let why = refusal(&name, &server);
            refused.insert(name, why);
        }
    }
    (McpSettings(kept), refused)
}

/// Whether two servers are reached in the same way.
fn is_same(one: &McpServerSettings, other: &McpServerSettings) -> bool {
    one.command == other.command
        && one.env == other.env
        && one.url == other.url
        && one.headers == other.headers
}

/// Whether nothing is started for a server, and it gets no secret.
fn is_harmless(name: &str, server: &McpServerSettings) -> bool {
    let alone = McpSettings(BTreeMap::from([(name.to_owned(), server.clone())]));
    server.command.is_empty() && alone.secrets().is_empty()
}

fn refusal(name: &str, server: &McpServerSettings) -> String {
    let (what, how) = match server.command.is_empty() {
        true => ("connected to, since it gets secrets", "`url` and `headers`"),
        false => ("started", "`command` and `env`"),
    };
    format!(
        "the MCP server \"{name}\" of the run's record is not {what}: your own configuration does not name it in this way. \
         If it is to be, put services.mcp.{name} with the same {how} into config.yaml of --home, or give the file of the run \
         with --config at `deepgraph resume`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> McpSettings {
        let value = deepgraph_graph::read_data("config.yaml", text).expect("it is YAML");
        Services::read(&value).expect("it fits").mcp()
    }

    #[test]
    fn only_what_is_named_alike_is_reached() {
        let recorded = settings(
            "mcp:\n  same: {command: [a, b]}\n  other: {command: [a, b]}\n  env: {command: [a], env: {PATH: /x}}\n  \
             gone: {command: [a]}\n  open: {url: 'http://127.0.0.1:1'}\n  \
             locked: {url: 'http://127.0.0.1:1', headers: {Authorization: '{{ secret.KEY }}'}}\n",
        );
        let own = settings(
            "mcp:\n  same: {command: [a, b], max_calls: 3}\n  other: {command: [a, c]}\n  env: {command: [a]}\n  \
             locked: {url: 'http://127.0.0.1:2', headers: {Authorization: '{{ secret.KEY }}'}}\n",
        );
        let (kept, refused) = split(recorded.clone(), &[own]);
        assert_eq!(kept.0.keys().collect::<Vec<_>>(), ["open", "same"]);
        assert_eq!(refused.keys().collect::<Vec<_>>(), ["env", "gone", "locked", "other"]);
        assert!(refused["gone"].contains("services.mcp.gone with the same `command`"), "{refused:?}");
        assert!(refused["locked"].contains("secrets"), "{refused:?}");
        assert!(split(recorded.clone(), &[McpSettings::default(), recorded]).1.is_empty());
    }
}
