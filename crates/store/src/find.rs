//! Which run a person means.

use crate::record::cut;
use crate::{RunId, StoreError};

/// How many runs an error names.
const NAMED: usize = 8;

/// What a search needs from a store: ids, newest first.
pub(crate) trait Ids {
    /// Up to `limit` ids that start with `prefix`, which has lower-case hexadecimal digits and hyphens only.
    fn starting_with(&self, prefix: &str, limit: usize) -> Result<Vec<RunId>, StoreError>;
}

/// The one run that `text` means: `last`, an id, or the beginning of one.
pub(crate) fn find(ids: &dyn Ids, text: &str) -> Result<RunId, StoreError> {
    let prefix = text.trim().to_lowercase();
    if prefix == "last" {
        return ids.starting_with("", 1)?.pop().ok_or_else(|| none_of("last", Vec::new()));
    }
    let could_be_an_id = !prefix.is_empty() && prefix.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    let mut found = if could_be_an_id { ids.starting_with(&prefix, NAMED)? } else { Vec::new() };
    match found.len() {
        0 => Err(none_of(text, ids.starting_with("", NAMED)?)),
        1 => Ok(found.remove(0)),
        _ => Err(StoreError::AmbiguousRun { prefix, candidates: found }),
    }
}

fn none_of(text: &str, newest: Vec<RunId>) -> StoreError {
    StoreError::NoSuchRun { prefix: cut(text), newest }
}
