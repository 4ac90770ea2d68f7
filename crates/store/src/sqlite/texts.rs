//! Long texts, kept once.
//!
//! A page that ten researchers read stands in ten entries, and a graph's prompts in the record of every run of
//! it. So a text of more than [`LONG`] bytes goes to a table of its own under its SHA-256, and the JSON around
//! it keeps `{"$text": HASH}` in its place. A key of that name in the data itself gets one more `$` in front.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::session::Session;
use crate::{RunId, StoreError};

/// From how many bytes on a text is kept apart.
const LONG: usize = 4096;

/// The key of the record that stands for a long text.
const KEY: &str = "$text";

/// Why packed JSON could not be unpacked: the JSON is wrong, or the store failed.
pub(super) enum Unpack {
    /// The JSON, or a text that it names, is damaged.
    Corrupt(String),
    /// The store failed.
    Store(StoreError),
}

impl Session<'_> {
    /// The JSON of `thing` as it goes into a row, its long texts written to their table. `what` names the thing
    /// in errors.
    pub(super) fn pack<T: Serialize>(
        &self,
        run: &RunId,
        what: &str,
        thing: &T,
    ) -> Result<String, StoreError> {
        let failed = |e: serde_json::Error| StoreError::Encode {
            run: run.clone(),
            what: what.into(),
            detail: e.to_string(),
        };
        let text = serde_json::to_string(thing).map_err(failed)?;
        if text.len() <= LONG && !text.contains(KEY) {
            return Ok(text);
        }
        drop(text);
        let mut value = serde_json::to_value(thing).map_err(failed)?;
        take_out(self, &mut value)?;
        Ok(value.to_string())
    }
}

/// What was packed.
pub(super) fn unpack<T: DeserializeOwned>(session: &Session<'_>, text: &str) -> Result<T, Unpack> {
    let corrupt = |e: serde_json::Error| Unpack::Corrupt(e.to_string());
    if !text.contains(KEY) {
        return serde_json::from_str(text).map_err(corrupt);
    }
    let mut value = serde_json::from_str(text).map_err(corrupt)?;
    put_back(session, &mut value)?;
    serde_json::from_value(value).map_err(corrupt)
}

fn take_out(session: &Session<'_>, value: &mut Value) -> Result<(), StoreError> {
    match value {
        Value::String(text) if text.len() > LONG => {
            let hash = hash(text);
            session.execute("INSERT OR IGNORE INTO texts (hash, text) VALUES (?1, ?2)", (&hash, &*text))?;
            *value = Value::Object(Map::from_iter([(KEY.to_string(), Value::String(hash))]));
        }
        Value::Array(items) => {
            for item in items {
                take_out(session, item)?;
            }
        }
        Value::Object(fields) => {
            for field in fields.values_mut() {
                take_out(session, field)?;
            }
            rename(fields, |key| is_escaped(key, 1).then(|| format!("${key}")));
        }
        _ => {}
    }
    Ok(())
}

fn put_back(session: &Session<'_>, value: &mut Value) -> Result<(), Unpack> {
    match value {
        Value::Array(items) => {
            for item in items {
                put_back(session, item)?;
            }
        }
        Value::Object(fields) => {
            if let Some(named) = fields.get(KEY) {
                let hash = named.as_str().unwrap_or("");
                *value = Value::String(long_text(session, hash)?);
                return Ok(());
            }
            for field in fields.values_mut() {
                put_back(session, field)?;
            }
            rename(fields, |key| is_escaped(key, 2).then(|| key.chars().skip(1).collect()));
        }
        _ => {}
    }
    Ok(())
}

/// Whether a key is `$text` behind enough further `$`: at least `dollars` in all.
fn is_escaped(key: &str, dollars: usize) -> bool {
    let rest = key.trim_start_matches('$');
    rest == "text" && key.len() - rest.len() >= dollars
}

fn rename(fields: &mut Map<String, Value>, new_name: impl Fn(&str) -> Option<String>) {
    if fields.keys().any(|key| new_name(key).is_some()) {
        let old = std::mem::take(fields);
        *fields = old.into_iter().map(|(key, v)| (new_name(&key).unwrap_or(key), v)).collect();
    }
}

fn long_text(session: &Session<'_>, wanted: &str) -> Result<String, Unpack> {
    let corrupt = |why: &str| Unpack::Corrupt(format!("its text {wanted} {why}"));
    let sql = "SELECT text FROM texts WHERE hash = ?1";
    // Read as bytes: a damaged file may hold anything.
    let bytes = session
        .first(sql, [wanted], |row| Ok(row.get_ref(0)?.as_bytes().unwrap_or_default().to_vec()))
        .map_err(Unpack::Store)?
        .ok_or_else(|| corrupt("is missing"))?;
    let text = String::from_utf8(bytes).map_err(|_| corrupt("is not UTF-8"))?;
    if hash(&text) == wanted { Ok(text) } else { Err(corrupt("is not what was written")) }
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
