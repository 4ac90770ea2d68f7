//! The configuration of a run that is there, with other values in some places.

use std::collections::BTreeMap;

use deepgraph_graph::{Bundle, Field, Type};
use deepgraph_protocol::{EntryBody, Map, Value};
use deepgraph_trace::Row;

use crate::config;
use crate::error::CliError;

/// The configuration that a run was started with; empty where it was not.
pub fn recorded(rows: &[Row<'_>]) -> Map {
    let started = rows.iter().find_map(|row| match &row.entry.body {
        EntryBody::Started(started) if row.scope.is_root() => Some((*started.config).clone()),
        _ => None,
    });
    started.unwrap_or_default()
}

/// The configuration that a run had last: that of its last attempt.
pub fn latest(rows: &[Row<'_>]) -> Map {
    let resumed = rows.iter().rev().find_map(|row| match &row.entry.body {
        EntryBody::Resumed { config, .. } if row.scope.is_root() => Some((**config).clone()),
        _ => None,
    });
    resumed.unwrap_or_else(|| recorded(rows))
}

/// A recorded configuration with what `--set` says in place of what was recorded, checked against the graph. Keys that
/// the graph does not have any more are left out.
///
/// # Errors
///
/// All values that do not fit; keys that the graph does not have, each with the nearest one.
pub fn with(bundle: &Bundle, recorded: &Map, set: &[String]) -> Result<Map, CliError> {
    let known = recorded.iter().filter(|(key, _)| bundle.config.contains_key(*key));
    let mut values: BTreeMap<String, Value> =
        known.map(|(key, value)| (key.to_string(), value.clone())).collect();
    for text in set {
        let (key, value) = config::read_setting(text)?;
        values.insert(key, Value::from(value));
    }
    let told = |mismatches: Vec<deepgraph_graph::Mismatch>| {
        CliError::Config(mismatches.iter().map(ToString::to_string).collect())
    };
    bundle.config_of(values).map_err(told)
}

/// The values that are others, as `KEY=VALUE (it was VALUE)`.
pub fn changed(recorded: &Map, now: &Map) -> Vec<Changed> {
    let keys = now.keys().chain(recorded.keys().filter(|key| !now.contains_key(*key)));
    let of = |map: &Map, key: &std::sync::Arc<str>| map.get(key).cloned().unwrap_or(Value::Null);
    keys.filter(|key| of(recorded, key) != of(now, key))
        .map(|key| Changed { key: key.to_string(), from: of(recorded, key), to: of(now, key) })
        .collect()
}

/// A value that is another one.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Changed {
    /// The key.
    pub key: String,
    /// What it was; null where it had no value.
    pub from: Value,
    /// What it is.
    pub to: Value,
}

impl std::fmt::Display for Changed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={} (it was {})", self.key, self.to.to_json_text(), self.from.to_json_text())
    }
}

/// Seconds of a length of time such as `30d` or `12h`.
///
/// # Errors
///
/// It is none.
pub fn length_of_time(text: &str) -> Result<f64, String> {
    let field = Field::of(Type::Duration);
    let seconds = field.parse_text(text).ok().and_then(|value| value.as_float());
    seconds.ok_or_else(|| format!("\"{text}\" is no length of time: write 30d, 12h or 2w"))
}
