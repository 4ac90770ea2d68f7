//! What the tests share: loading graphs, scripted turns.

pub mod postgres;
pub mod site;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deepgraph_graph::{Bundle, Files, OpTable};
use deepgraph_protocol::{Map, Value};

/// The root of the repository.
pub fn repo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests is a folder of the repository").to_owned()
}

/// Files of a folder, some of them replaced.
struct Folder {
    root: PathBuf,
    changed: BTreeMap<String, String>,
}

impl Files for Folder {
    fn read(&self, path: &str) -> Result<String, String> {
        let read = |path: PathBuf| std::fs::read_to_string(path).map_err(|e| e.to_string());
        match (self.changed.get(path), path.strip_prefix("stock:")) {
            (Some(text), _) => Ok(text.clone()),
            (None, Some(stock)) => read(repo().join("graphs").join(stock)),
            (None, None) => read(self.root.join(path)),
        }
    }
}

/// A stock graph.
pub fn stock(name: &str) -> Arc<Bundle> {
    stock_with(name, &[])
}

/// A stock graph with some texts of its file replaced. Each must be there.
pub fn stock_with(name: &str, changes: &[(&str, &str)]) -> Arc<Bundle> {
    let root = repo().join("graphs").join(name);
    let mut text = std::fs::read_to_string(root.join("graph.yaml")).expect("the stock graph is there");
    for (from, to) in changes {
        assert!(text.contains(from), "the graph no longer has: {from}");
        text = text.replace(from, to);
    }
    let changed = BTreeMap::from([("graph.yaml".to_owned(), text)]);
    load("graph.yaml", &Folder { root, changed })
}

/// A graph of one text.
pub fn graph(text: &str) -> Arc<Bundle> {
    load("graph.yaml", &BTreeMap::from([("graph.yaml".to_owned(), text.to_owned())]))
}

fn load(entry: &str, files: &dyn Files) -> Arc<Bundle> {
    match deepgraph_graph::load(entry, files, &OpTable::stock()) {
        Ok(loaded) => Arc::new(loaded.bundle),
        Err(mistakes) => panic!("the graph does not load:\n{mistakes}"),
    }
}

/// The effective configuration with these overrides.
pub fn config(bundle: &Bundle, overrides: &[(&str, Value)]) -> Map {
    let overrides = overrides.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect();
    bundle.config_of(overrides).unwrap_or_else(|e| panic!("the configuration does not fit: {e:?}"))
}

/// An input with a question.
pub fn question(text: &str) -> Map {
    Map::from([("question".into(), Value::from(text))])
}

/// Compares a text with `snapshots/GRAPH/NAME.snap`.
pub fn snapshot(graph: &str, name: &str, text: &str) {
    with_snapshots_of(graph, || insta::assert_snapshot!(name, text));
}

/// Snapshots that are compared within are those of `snapshots/GRAPH/`.
pub fn with_snapshots_of(graph: &str, test: impl FnOnce()) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(repo().join("snapshots").join(graph));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(test);
}
