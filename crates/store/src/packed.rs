//! Entries and records as they go into rows: JSON, with long texts kept once.
//!
//! A page that ten researchers read stands in ten entries, and a graph's prompts in the record of every run of
//! it. So a text of more than [`LONG`] bytes goes to a table of its own under its SHA-256, and the JSON around
//! it keeps `{"$text": HASH}` in its place. A key of that name in the data itself gets one more `$` in front.
//!
//! Packing is done before a write is queued, on the caller's thread: the one thread that writes only writes.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::{Append, RunId, RunRecord, RunUpdate, StoreError, limits};

/// From how many bytes on a text is kept apart.
const LONG: usize = 4096;

/// The key of the record that stands for a long text.
const KEY: &str = "$text";

/// JSON for a row, and the long texts that were taken out of it.
#[derive(Debug, Default)]
pub(crate) struct Packed {
    pub(crate) json: String,
    pub(crate) texts: Vec<LongText>,
}

/// A text of its own.
#[derive(Debug)]
pub(crate) struct LongText {
    /// The SHA-256 of its bytes, in lower-case hexadecimal digits.
    pub(crate) hash: String,
    pub(crate) text: String,
}

/// An entry, ready to be written.
#[derive(Debug)]
pub(crate) struct PackedEntry {
    pub(crate) scope: String,
    pub(crate) position: u64,
    pub(crate) at: i64,
    pub(crate) entry: Packed,
}

/// A change of a record, ready to be written.
#[derive(Debug)]
pub(crate) struct PackedUpdate {
    /// The fields that are no JSON; those below are none in it.
    pub(crate) plain: RunUpdate,
    pub(crate) exits: Option<Packed>,
    pub(crate) output: Option<Packed>,
    pub(crate) settings: Option<Packed>,
    pub(crate) keep: Vec<(String, Packed)>,
}

/// A new record, ready to be written.
#[derive(Debug)]
pub(crate) struct PackedRecord {
    pub(crate) record: RunRecord,
    pub(crate) exits: Packed,
    pub(crate) output: Packed,
    pub(crate) bundle: Packed,
    pub(crate) settings: Packed,
}

/// One call of `append`, ready to be written.
#[derive(Debug)]
pub(crate) struct PackedAppend {
    pub(crate) run: RunId,
    pub(crate) epoch: u64,
    pub(crate) entries: Vec<PackedEntry>,
    pub(crate) update: Option<PackedUpdate>,
}

/// Why packed JSON could not be unpacked: the JSON is wrong, or the store failed.
pub(crate) enum Unpack {
    /// The JSON, or a text that it names, is damaged.
    Corrupt(String),
    /// The store failed.
    Store(StoreError),
}

/// Finds the bytes of a long text by its hash.
pub(crate) type Lookup<'a> = dyn FnMut(&str) -> Result<Option<Vec<u8>>, StoreError> + 'a;

impl PackedAppend {
    /// Checks and packs what a caller wants written.
    pub(crate) fn of(
        run: &RunId,
        epoch: u64,
        batch: &[Append],
        update: Option<&RunUpdate>,
    ) -> Result<PackedAppend, StoreError> {
        limits::check_batch(run, batch)?;
        if let Some(update) = update {
            limits::check_update(run, update)?;
        }
        let entry = |append: &Append| {
            Ok(PackedEntry {
                scope: append.scope.as_str().to_owned(),
                position: append.expected_position,
                at: append.entry.at,
                entry: pack(run, "an entry", &append.entry)?,
            })
        };
        let entries = batch.iter().map(entry).collect::<Result<_, StoreError>>()?;
        // Who only looks writes nothing.
        let update = update.filter(|update| **update != RunUpdate::default());
        let update = update.map(|update| PackedUpdate::of(run, update)).transpose()?;
        Ok(PackedAppend { run: run.clone(), epoch, entries, update })
    }
}

impl PackedUpdate {
    fn of(run: &RunId, update: &RunUpdate) -> Result<PackedUpdate, StoreError> {
        let keep =
            update.keep.iter().map(|(key, value)| Ok((key.clone(), pack(run, "a value to keep", value)?)));
        Ok(PackedUpdate {
            exits: update.exits.as_ref().map(|exits| pack(run, "the list of exits", exits)).transpose()?,
            output: update.output.as_ref().map(|output| pack(run, "the output", output)).transpose()?,
            settings: update.settings.as_ref().map(|set| pack(run, "the settings", set)).transpose()?,
            keep: keep.collect::<Result<_, StoreError>>()?,
            plain: RunUpdate {
                current_step: update.current_step.clone(),
                exits: None,
                output: None,
                settings: None,
                keep: Vec::new(),
                ..*update
            },
        })
    }

    /// Every packed part.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Packed> {
        [&self.exits, &self.output, &self.settings].into_iter().flatten()
    }
}

impl PackedRecord {
    /// Checks and packs a new record.
    pub(crate) fn of(record: &RunRecord) -> Result<PackedRecord, StoreError> {
        limits::check_record(record)?;
        let run = &record.run_id;
        let packed = PackedRecord {
            exits: pack(run, "the list of exits", &record.exits)?,
            output: pack(run, "the output", &record.output)?,
            bundle: pack(run, "the bundle", &record.bundle)?,
            settings: pack(run, "the settings", &record.settings)?,
            record: record.clone(),
        };
        Ok(packed)
    }

    /// Every packed part.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Packed> {
        [&self.exits, &self.output, &self.bundle, &self.settings].into_iter()
    }
}

/// The JSON of `thing` as it goes into a row, without its long texts. `what` names the thing in errors.
fn pack<T: Serialize>(run: &RunId, what: &str, thing: &T) -> Result<Packed, StoreError> {
    let failed = |e: serde_json::Error| StoreError::Encode {
        run: run.clone(),
        what: what.into(),
        detail: e.to_string(),
    };
    let json = serde_json::to_string(thing).map_err(failed)?;
    if json.len() <= LONG && !json.contains(KEY) {
        return Ok(Packed { json, texts: Vec::new() });
    }
    drop(json);
    let mut value = serde_json::to_value(thing).map_err(failed)?;
    let mut texts = Vec::new();
    take_out(&mut texts, &mut value);
    Ok(Packed { json: value.to_string(), texts })
}

/// The hashes of the long texts that packed JSON names. Inside of texts the quotes are escaped, so nothing else looks
/// like the record that stands for one.
#[cfg(feature = "postgres")]
pub(crate) fn named_texts(json: &str) -> impl Iterator<Item = &str> {
    json.split("{\"$text\":\"").skip(1).filter_map(|rest| rest.split('"').next())
}

/// What was packed.
pub(crate) fn unpack<T: DeserializeOwned>(json: &str, lookup: &mut Lookup<'_>) -> Result<T, Unpack> {
    let corrupt = |e: serde_json::Error| Unpack::Corrupt(e.to_string());
    if !json.contains(KEY) {
        return serde_json::from_str(json).map_err(corrupt);
    }
    let mut value = serde_json::from_str(json).map_err(corrupt)?;
    put_back(lookup, &mut value)?;
    serde_json::from_value(value).map_err(corrupt)
}

fn take_out(texts: &mut Vec<LongText>, value: &mut Value) {
    match value {
        Value::String(text) if text.len() > LONG => {
            let hash = hash(text);
            let reference = Value::Object(Map::from_iter([(KEY.to_string(), Value::String(hash.clone()))]));
            if let Value::String(text) = std::mem::replace(value, reference) {
                texts.push(LongText { hash, text });
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| take_out(texts, item)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| take_out(texts, field));
            rename(fields, |key| is_escaped(key, 1).then(|| format!("${key}")));
        }
        _ => {}
    }
}

fn put_back(lookup: &mut Lookup<'_>, value: &mut Value) -> Result<(), Unpack> {
    match value {
        Value::Array(items) => items.iter_mut().try_for_each(|item| put_back(lookup, item))?,
        Value::Object(fields) => {
            if let Some(named) = fields.get(KEY) {
                let hash = named.as_str().unwrap_or("");
                *value = Value::String(long_text(lookup, hash)?);
                return Ok(());
            }
            fields.values_mut().try_for_each(|field| put_back(lookup, field))?;
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

fn long_text(lookup: &mut Lookup<'_>, wanted: &str) -> Result<String, Unpack> {
    let corrupt = |why: &str| Unpack::Corrupt(format!("its text {wanted} {why}"));
    let bytes = lookup(wanted).map_err(Unpack::Store)?.ok_or_else(|| corrupt("is missing"))?;
    let text = String::from_utf8(bytes).map_err(|_| corrupt("is not UTF-8"))?;
    if hash(&text) == wanted { Ok(text) } else { Err(corrupt("is not what was written")) }
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
