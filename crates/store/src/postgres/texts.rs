//! Long texts, as they are read: those of many rows with one question to the server.

use std::collections::{BTreeMap, BTreeSet};

use super::session::Session;
use crate::StoreError;
use crate::packed::named_texts;

/// How many rows are read together: their texts are in memory twice for a moment.
pub(super) const AT_ONCE: usize = 256;

/// Texts by their hash.
#[derive(Debug, Default)]
pub(super) struct Texts(BTreeMap<String, Vec<u8>>);

impl Texts {
    /// The bytes of a text, if it is there.
    pub(super) fn get(&mut self, hash: &str) -> Option<Vec<u8>> {
        self.0.get(hash).cloned()
    }
}

impl Session {
    /// The long texts that these pieces of packed JSON name.
    pub(super) fn texts_of<'a>(
        &mut self,
        packed: impl Iterator<Item = &'a str>,
    ) -> Result<Texts, StoreError> {
        let hashes: BTreeSet<&str> = packed.flat_map(named_texts).collect();
        if hashes.is_empty() {
            return Ok(Texts::default());
        }
        let hashes = Vec::from_iter(hashes);
        let rows = self.all("SELECT hash, text FROM texts WHERE hash = ANY ($1)", &[&hashes])?;
        let texts = rows.iter().filter_map(|row| Some((row.try_get(0).ok()?, row.try_get(1).ok()?)));
        Ok(Texts(texts.collect()))
    }
}
