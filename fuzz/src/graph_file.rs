//! Any text as a graph file.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use deepgraph_graph::{Bundle, Drawing, OpTable, bounds, load};

/// Lines that part the files of an input: `--- NAME`. Without one, all of it is `graph.yaml`.
const PART: &str = "\n--- ";

/// Loads it. What loads is drawn, bounded and compiled again; what does not has its mistakes written.
pub fn check(text: &str) {
    let mut parts = text.split(PART);
    let mut files = BTreeMap::new();
    files.insert("graph.yaml".to_owned(), parts.next().unwrap_or_default().to_owned());
    for part in parts {
        let (name, text) = part.split_once('\n').unwrap_or((part, ""));
        files.insert(name.trim().to_owned(), text.to_owned());
    }
    match load("graph.yaml", &files, &OpTable::stock()) {
        Ok(loaded) => {
            told(&loaded.warnings);
            sound(&loaded.bundle);
        }
        Err(mistakes) => {
            assert!(!mistakes.is_empty(), "a file that does not load has a mistake");
            told(&mistakes);
        }
    }
}

fn told(diagnostics: &deepgraph_graph::Diagnostics) {
    let mut text = String::new();
    for diagnostic in diagnostics.iter() {
        let _ = write!(text, "{diagnostic:?}");
    }
    let _ = write!(text, "{diagnostics}");
}

fn sound(bundle: &Bundle) {
    let again =
        Bundle::from_source(&bundle.source, &OpTable::stock()).expect("it compiles from its own texts");
    assert_eq!(again.hash, bundle.hash);
    // What must be given has no default: no configuration, so no bounds.
    if let Ok(config) = bundle.config_of(BTreeMap::new()) {
        let _ = bounds(bundle, &config);
    }
    let drawing = Drawing::of(bundle);
    assert!(!drawing.mermaid().is_empty() && !drawing.dot().is_empty());
    // Large drawings take long, and only because they are large.
    if bundle.graphs.iter().map(|graph| graph.nodes.len()).sum::<usize>() <= 12 {
        let _ = drawing.svg();
    }
}
