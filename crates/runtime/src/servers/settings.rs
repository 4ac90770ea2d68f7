//! MCP servers of a user's own configuration, as they are written down: `services.mcp` of a configuration file.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use deepgraph_graph::{Field, Type};
use deepgraph_model::{has_secret, is_secret_header, names_secret};
use deepgraph_protocol::Value;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::texts;

/// The most signs of a name that models are offered.
const MOST_NAME: usize = 64;

/// The servers of a user's own configuration, by name. Their tools are offered wherever a graph has `mcp.*`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct McpSettings(pub BTreeMap<String, McpServerSettings>);

/// A server: `command` or `url`, and which of its tools are offered, how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct McpServerSettings {
    /// The program that is started and its arguments. `{{ secret.NAME }}` in a text is the environment variable NAME.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The address of a server that is reached by streamable HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Variables in the environment of the program.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Headers of each request to the address.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The tools that are offered, by their names on the server; empty: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// Other names for tools, by their names on the server.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rename: BTreeMap<String, String>,
    /// What tools do to the outside, by their names on the server. It goes before what the server says of them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub effect: BTreeMap<String, Effect>,
    /// The longest time of a call for which the graph says none, in seconds or as text such as `30s`; none: a minute.
    #[serde(
        deserialize_with = "duration",
        serialize_with = "seconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub timeout: Option<Duration>,
    /// How long the server may take to be ready; none: half a minute.
    #[serde(
        deserialize_with = "duration",
        serialize_with = "seconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub connect_timeout: Option<Duration>,
    /// The most calls of its tools in one run; a run that is resumed counts anew. None: as many as the graph allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_calls: Option<u64>,
    /// The most bytes of one answer; a larger one fails its call. None: 8 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_answer_bytes: Option<usize>,
    /// Whether a run can not begin without it. Otherwise it may be down: its tools are not offered then.
    #[serde(skip_serializing_if = "is_false")]
    pub required: bool,
    /// Whether it does nothing twice that comes under the same idempotency key.
    #[serde(skip_serializing_if = "is_false")]
    pub takes_keys: bool,
}

/// What a tool does to the outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It changes nothing.
    Read,
    /// It may change something: a call whose outcome was lost is not made again.
    Write,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn duration<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let Some(value) = Option::<serde_json::Value>::deserialize(from)? else { return Ok(None) };
    let seconds = Field::of(Type::Duration).check(&Value::from_json(&value)).map_err(de::Error::custom)?;
    let seconds = seconds.as_float().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.map(Some).ok_or_else(|| de::Error::custom("must be a duration such as 30s, 10m or 1h"))
}

fn seconds<S: Serializer>(value: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    value.map(|time| time.as_secs_f64()).serialize(to)
}

impl McpSettings {
    /// The names of the environment variables that their texts read as `secret.NAME`.
    pub fn secrets(&self) -> BTreeSet<String> {
        let texts = self.0.values().flat_map(McpServerSettings::texts);
        texts.flat_map(|text| texts::names(text).unwrap_or_default()).collect()
    }

    /// What is wrong in them, each with its place; nothing where they can be used.
    pub fn mistakes(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for (name, server) in &self.0 {
            let place = format!("services.mcp.{name}");
            if !is_label(name) {
                wrong.push(format!("{place}: the name of a server has letters, digits, `_` and `-`"));
            }
            wrong.extend(server.mistakes().into_iter().map(|problem| format!("{place}{problem}")));
        }
        wrong
    }
}

impl McpServerSettings {
    /// All texts that may read secrets.
    fn texts(&self) -> impl Iterator<Item = &String> {
        let pairs = self.env.values().chain(self.headers.values());
        self.command.iter().chain(&self.url).chain(pairs)
    }

    fn mistakes(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        match (&self.url, self.command.first()) {
            (Some(_), Some(_)) => wrong.push(": has `url` and `command`; it has one".to_owned()),
            (None, None) => {
                wrong.push(": needs `url` or `command`, such as command: [program, argument]".to_owned());
            }
            (None, Some(program)) if program.trim().is_empty() => {
                wrong.push(".command: names no program".to_owned());
            }
            _ => {}
        }
        if self.url.is_none() && !self.headers.is_empty() {
            wrong.push(".headers: needs `url`".to_owned());
        }
        if self.command.is_empty() && !self.env.is_empty() {
            wrong.push(".env: needs `command`".to_owned());
        }
        for text in self.texts() {
            wrong.extend(texts::names(text).err().map(|problem| format!(": {problem}")));
        }
        wrong.extend(self.written_keys());
        for (tool, name) in &self.rename {
            if !is_label(name) {
                wrong.push(format!(
                    ".rename: {tool} can not be called \"{name}\": a name has letters, digits, `_` and `-`, begins with a \
                     letter, a digit or `_`, and has at most {MOST_NAME} signs"
                ));
            }
            if !self.only.is_empty() && !self.only.contains(tool) {
                wrong.push(format!(".rename: {tool} is not offered: it is not among `only`"));
            }
        }
        for (key, time) in [("timeout", self.timeout), ("connect_timeout", self.connect_timeout)] {
            if time.is_some_and(|time| time.is_zero()) {
                wrong.push(format!(".{key}: must be more than 0"));
            }
        }
        wrong
    }
}

impl McpServerSettings {
    /// Keys that stand in the settings themselves: these are kept in the records of runs, and printed.
    fn written_keys(&self) -> Vec<String> {
        let reads_secret = |text: &str| texts::names(text).is_ok_and(|names| !names.is_empty());
        let headers = self.headers.iter().filter(|(name, _)| is_secret_header(name) || names_secret(name));
        let variables = self.env.iter().filter(|(name, _)| names_secret(name));
        let headers = headers.map(|(name, text)| (format!(".headers.{name}"), text));
        let places = headers.chain(variables.map(|(name, text)| (format!(".env.{name}"), text)));
        let written = places.filter(|(_, text)| !text.trim().is_empty() && !reads_secret(text));
        let mut wrong: Vec<String> = written
            .map(|(place, _)| {
                format!("{place}: carries a key, and settings are written down; put it into an environment variable, and write {{{{ secret.VARIABLE }}}}")
            })
            .collect();
        if self.url.as_deref().is_some_and(|url| has_secret(url) && !reads_secret(url)) {
            wrong.push(
                ".url: holds a user name, a password or a key; write {{ secret.VARIABLE }} in its place"
                    .to_owned(),
            );
        }
        wrong
    }
}

/// Whether providers take it as the name of a tool.
fn is_label(name: &str) -> bool {
    let first = name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let rest = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    first && rest && name.len() <= MOST_NAME
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn settings(value: serde_json::Value) -> McpSettings {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn they_are_read_and_written_alike() {
        let written = json!({"files": {
            "command": ["npx", "server", "./data"], "env": {"KEY": "{{ secret.FILES_KEY }}"}, "only": ["read_file"],
            "rename": {"read_file": "file"}, "effect": {"read_file": "read"}, "timeout": "1m30s", "max_calls": 20,
        }});
        let read = settings(written);
        assert_eq!(read.mistakes(), [""; 0]);
        assert_eq!(read.secrets(), BTreeSet::from(["FILES_KEY".to_owned()]));
        assert_eq!(read.0["files"].timeout, Some(Duration::from_secs(90)));
        assert_eq!(settings(serde_json::to_value(&read).unwrap()), read);
    }

    #[test]
    fn unknown_keys_and_odd_values_are_refused() {
        for (value, expected) in [
            (json!({"a": {"comand": ["x"]}}), "unknown field `comand`"),
            (json!({"a": {"command": ["x"], "timeout": "soon"}}), "must be a duration"),
            (json!({"a": {"command": ["x"], "effect": {"t": "reads"}}}), "unknown variant `reads`"),
        ] {
            let error = serde_json::from_value::<McpSettings>(value).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let wrong = settings(json!({
            "a": {},
            "b": {"command": ["x"], "url": "https://b", "headers": {"A": "{{ config.x }}"}},
            "c": {"command": [" "], "headers": {"A": "b"}, "only": ["t"], "rename": {"u": "a.b"}, "timeout": 0},
            "d.e": {"url": "https://d", "env": {"A": "b"}},
        }));
        assert_eq!(
            wrong.mistakes(),
            [
                "services.mcp.a: needs `url` or `command`, such as command: [program, argument]",
                "services.mcp.b: has `url` and `command`; it has one",
                "services.mcp.b: \"{{ config.x }}\": here only {{ secret.NAME }} is known, an environment variable",
                "services.mcp.c.command: names no program",
                "services.mcp.c.headers: needs `url`",
                "services.mcp.c.rename: u can not be called \"a.b\": a name has letters, digits, `_` and `-`, begins with a letter, a digit or `_`, and has at most 64 signs",
                "services.mcp.c.rename: u is not offered: it is not among `only`",
                "services.mcp.c.timeout: must be more than 0",
                "services.mcp.d.e: the name of a server has letters, digits, `_` and `-`",
                "services.mcp.d.e.env: needs `command`",
            ]
        );
    }
}
