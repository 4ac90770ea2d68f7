//! The configuration of a run that is there, with other values in some places.

use std::collections::BTreeMap;

use deepgraph_graph::{Bundle, Field, Type};
use deepgraph_protocol::{EntryBody, Map, Value};
use deepgraph_trace::Row;
use deepgraph_trace::refold::judged_keys;

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

/// The configuration of each attempt of a run, the first one first.
pub fn of_attempts(rows: &[Row<'_>]) -> Vec<Map> {
    let of_root = rows.iter().filter(|row| row.scope.is_root());
    let configs = of_root.filter_map(|row| match &row.entry.body {
        EntryBody::Started(started) => Some((*started.config).clone()),
        EntryBody::Resumed { config, .. } => Some((**config).clone()),
        _ => None,
    });
    configs.collect()
}

/// The values that `--set` gives to try, checked against the graph of a run. They are for keys of which its record can
/// tell what comes of them.
///
/// # Errors
///
/// All values that do not fit; keys that the graph does not have; a key that no limit and no condition reads.
pub fn to_try(bundle: &Bundle, latest: &Map, set: &[String]) -> Result<Map, CliError> {
    let config = with(bundle, latest, set)?;
    let judged = judged_keys(bundle);
    let mut values = Map::new();
    for text in set {
        let (key, _) = config::read_setting(text)?;
        if !judged.contains(&*key) {
            let judged = judged.iter().map(ToString::to_string).collect();
            return Err(CliError::NotJudged { key, judged });
        }
        values.insert(key.as_str().into(), config.get(&*key).cloned().unwrap_or(Value::Null));
    }
    Ok(values)
}

/// Those of the values that are not in force in every attempt.
pub fn changed(attempts: &[Map], set: &Map) -> Vec<Changed> {
    let of = |config: &Map, key: &str| config.get(key).cloned().unwrap_or(Value::Null);
    let changed = set.iter().map(|(key, to)| Changed {
        key: key.to_string(),
        from: attempts.iter().map(|config| of(config, key)).collect(),
        to: to.clone(),
    });
    changed.filter(|changed| changed.from.iter().any(|from| *from != changed.to)).collect()
}

/// A value that is another one.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Changed {
    /// The key.
    pub key: String,
    /// What it was, attempt by attempt; null where it had no value.
    pub from: Vec<Value>,
    /// What it is.
    pub to: Value,
}

impl std::fmt::Display for Changed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let is_one = self.from.windows(2).all(|pair| pair.first() == pair.last());
        let was: Vec<String> = match self.from.first().filter(|_| is_one) {
            Some(from) => vec![from.to_json_text()],
            None => self
                .from
                .iter()
                .zip(1..)
                .map(|(from, attempt)| format!("{} in attempt {attempt}", from.to_json_text()))
                .collect(),
        };
        write!(f, "{}={} (it was {})", self.key, self.to.to_json_text(), was.join(", "))
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
