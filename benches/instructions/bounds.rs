//! The counts that workloads had when their bounds were set.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// How much more than the count that was set is let through, in percent: other versions of the compiler and of the
/// C library count a little differently.
pub const MARGIN_PERCENT: u64 = 10;

const HEAD: &str = "\
# Instructions of each workload when its bound was set. More than 10 % above is a failure of CI. Written by
#   cargo run --release -p deepgraph-benches --bin instructions -- --set [NAME ...]
";

/// What may be counted where so much was counted before.
pub fn bound(counted: u64) -> u64 {
    counted + counted / 100 * MARGIN_PERCENT
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions/bounds.yaml")
}

/// The counts by workload; none where nothing was set yet.
pub fn read() -> Result<BTreeMap<String, u64>, String> {
    let path = path();
    let Ok(text) = fs::read_to_string(&path) else { return Ok(BTreeMap::new()) };
    let wrong = |what: &str| format!("{}: {what}", path.display());
    let data =
        deepgraph_graph::read_data(&path.display().to_string(), &text).map_err(|e| wrong(&e.to_string()))?;
    let counts = data.as_map().ok_or_else(|| wrong("not a mapping of workloads to counts"))?;
    let count = |(name, value): (&std::sync::Arc<str>, &deepgraph_protocol::Value)| {
        let count = value.as_int().and_then(|n| u64::try_from(n).ok());
        count.map(|n| (name.to_string(), n)).ok_or_else(|| wrong(&format!("`{name}` is no count")))
    };
    counts.iter().map(count).collect()
}

/// Writes the counts.
pub fn write(counts: &BTreeMap<String, u64>) -> Result<(), String> {
    let lines: String = counts.iter().map(|(name, count)| format!("{name}: {count}\n")).collect();
    fs::write(path(), format!("{HEAD}{lines}")).map_err(|e| format!("{}: {e}", path().display()))
}
