//! What may be kept: the bounds that a store checks before it writes.

use std::io;

use serde::Serialize;

use crate::{Append, RunId, RunRecord, RunUpdate, StoreError};

/// How deeply lists and records may be nested in the JSON form of an entry or a field of a record. The JSON
/// reader refuses more than 127, so that anything deeper would be written and never read again.
pub(crate) const MAX_DEPTH: usize = 120;

/// Refuses what could not be read back. `what` names the thing in the error.
pub(crate) fn check<T: Serialize>(
    thing: &T,
    run: &RunId,
    what: impl Fn() -> String,
) -> Result<(), StoreError> {
    let mut meter = DepthMeter::default();
    let Err(error) = serde_json::to_writer(&mut meter, thing) else { return Ok(()) };
    Err(if meter.depth > MAX_DEPTH {
        StoreError::TooDeep { run: run.clone(), what: what(), max: MAX_DEPTH }
    } else {
        StoreError::Encode { run: run.clone(), what: what(), detail: error.to_string() }
    })
}

/// How many bytes the JSON form of a thing has.
pub(crate) fn length<T: Serialize>(thing: &T) -> u64 {
    struct Count(u64);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // What can not be put into JSON has no length.
    let _ = serde_json::to_writer(&mut count, thing);
    count.0
}

/// Reads JSON as it is written and keeps nothing but the depth. It stops the writer at the bound, so that the
/// depth of the data is not the depth of the stack.
#[derive(Default)]
struct DepthMeter {
    depth: usize,
    in_text: bool,
    escaped: bool,
}

impl io::Write for DepthMeter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_text = !self.in_text,
                _ if self.in_text => {}
                b'[' | b'{' => {
                    self.depth += 1;
                    if self.depth > MAX_DEPTH {
                        return Err(io::Error::other("nested too deeply"));
                    }
                }
                b']' | b'}' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// [`check`] for a batch of entries.
pub(crate) fn check_batch(run: &RunId, batch: &[Append]) -> Result<(), StoreError> {
    for append in batch {
        let what =
            || format!("the entry at position {} of scope \"{}\"", append.expected_position, append.scope);
        check(&append.entry, run, what)?;
    }
    Ok(())
}

/// [`check`] for a new record.
pub(crate) fn check_record(record: &RunRecord) -> Result<(), StoreError> {
    let run = &record.run_id;
    check(&record.output, run, || "the output".into())?;
    check(&record.bundle, run, || "the bundle".into())?;
    check(&record.settings, run, || "the settings".into())
}

/// [`check`] for a change of a record.
pub(crate) fn check_update(run: &RunId, update: &RunUpdate) -> Result<(), StoreError> {
    check(&update.output, run, || "the output".into())?;
    check(&update.settings, run, || "the settings".into())?;
    update
        .keep
        .iter()
        .try_for_each(|(key, value)| check(value, run, || format!("the value kept as \"{key}\"")))
}
