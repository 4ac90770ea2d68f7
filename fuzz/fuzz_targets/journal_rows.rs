#![no_main]

use std::sync::{Arc, OnceLock};

use deepgraph_fuzz::{journal, mutate};
use deepgraph_graph::{Bundle, OpTable};
use deepgraph_trace::Journal;
use libfuzzer_sys::fuzz_target;

/// The journals of the repository, with their graphs compiled.
fn kept() -> &'static [(Journal, Arc<Bundle>)] {
    static KEPT: OnceLock<Vec<(Journal, Arc<Bundle>)>> = OnceLock::new();
    KEPT.get_or_init(|| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/journals");
        let files = std::fs::read_dir(folder).expect("the folder of journals is there");
        let mut paths: Vec<_> = files.filter_map(|file| Some(file.ok()?.path())).collect();
        paths.retain(|path| path.extension().is_some_and(|e| e == "jsonl"));
        paths.sort();
        let read = |path: &std::path::PathBuf| {
            let text = std::fs::read_to_string(path).expect("it can be read");
            let journal = Journal::read(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let bundle = journal.compile(&OpTable::stock()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            (journal, bundle)
        };
        paths.iter().map(read).collect()
    })
}

fuzz_target!(|data: &[u8]| {
    let Some((first, changes)) = data.split_first() else { return };
    let kept = kept();
    let (journal, bundle) = &kept[usize::from(*first) % kept.len()];
    let mut rows = journal.rows.clone();
    mutate::mutate(&mut rows, changes);
    journal::folded(bundle, &rows);
});
