//! The graph that a user means: a file, or one that the program brings along.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use deepgraph_graph::{Bundle, Diagnostics, Files, Loaded, OpTable, load};
use deepgraph_runtime::Folder;
use deepgraph_runtime::Servers;
use deepgraph_store::RunRecord;
use include_dir::{Dir, include_dir};

use crate::error::CliError;
use crate::screen::Screen;

static STOCK: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../graphs");

/// The name of the file in a graph's folder.
const FILE: &str = "graph.yaml";

/// The graph where none is named.
pub const DEFAULT: &str = "deep_research";

/// The names of the graphs that the program brings along.
pub fn stock_names() -> Vec<&'static str> {
    let folders = STOCK.dirs().filter(|dir| dir.get_file(dir.path().join(FILE)).is_some());
    let mut names: Vec<_> = folders.filter_map(|dir| dir.path().to_str()).collect();
    names.sort_unstable();
    names
}

/// The text files of a stock graph, by path in its folder.
pub fn stock_files(name: &str) -> Option<BTreeMap<String, String>> {
    let folder = STOCK.get_dir(name).filter(|_| stock_names().contains(&name))?;
    let mut open = vec![folder];
    let mut files = BTreeMap::new();
    while let Some(dir) = open.pop() {
        open.extend(dir.dirs());
        for file in dir.files() {
            if let (Ok(path), Some(text)) = (file.path().strip_prefix(name), file.contents_utf8()) {
                files.insert(path.to_string_lossy().replace('\\', "/"), text.to_owned());
            }
        }
    }
    Some(files)
}

/// Loads the graph that `name` means: a stock graph's name, a graph file, or a folder with a `graph.yaml`. The name
/// of a stock graph always means that one; `./NAME` is the folder.
///
/// # Errors
///
/// The mistakes of the file; or that there is no such graph.
pub fn load_named(name: &str) -> Result<Result<Loaded, Diagnostics>, CliError> {
    load_with(name, &OpTable::stock())
}

/// The same, against these ops.
///
/// # Errors
///
/// As [`load_named`].
pub fn load_with(name: &str, ops: &OpTable) -> Result<Result<Loaded, Diagnostics>, CliError> {
    if let Some(files) = stock_files(name) {
        return Ok(load(&format!("{name}/{FILE}"), &WithStock(files), ops));
    }
    let path = file_of(name);
    if !path.exists() {
        return Err(no_graph(name));
    }
    Ok(load(&path.to_string_lossy(), &WithStock(Folder::of(&path)), ops))
}

/// The file that a path means: itself, or the `graph.yaml` of a folder.
pub fn file_of(name: &str) -> PathBuf {
    let mut path = PathBuf::from(name);
    if path.is_dir() {
        path.push(FILE);
    }
    path
}

/// The graph to run; its warnings are shown.
///
/// # Errors
///
/// As [`load_named`], mistakes included.
pub fn bundle(name: &str, screen: &Screen) -> Result<Arc<Bundle>, CliError> {
    load_named(name)?.map(|loaded| shown(loaded, screen)).map_err(CliError::Graph)
}

/// The graph; its warnings are shown.
pub fn shown(loaded: Loaded, screen: &Screen) -> Arc<Bundle> {
    if !loaded.warnings.is_empty() {
        screen.say(loaded.warnings.to_string().trim_end());
    }
    Arc::new(loaded.bundle)
}

/// The same graph, from the same texts, with the tools that its servers have.
pub fn with_tools(bundle: &Bundle, servers: &Servers) -> Result<Loaded, Diagnostics> {
    let source = &bundle.source;
    load(&source.entry, &source.files, &servers.op_table(&OpTable::stock()))
}

/// The graph of a stored run, compiled again from the texts in its record.
///
/// # Errors
///
/// They can not be read, or do not compile in this version of the program.
pub fn stored_bundle(record: &RunRecord) -> Result<Arc<Bundle>, CliError> {
    Ok(deepgraph_runtime::stored_bundle(record, &OpTable::stock())?)
}

fn no_graph(name: &str) -> CliError {
    let stock = stock_names();
    let alike = |stock: &&str| strsim::jaro_winkler(&name.to_lowercase(), stock);
    let nearest = stock.iter().copied().max_by(|a, b| alike(a).total_cmp(&alike(b)));
    let nearest = nearest.filter(|best| alike(best) > 0.8).map(str::to_owned);
    CliError::NoGraph { name: name.to_owned(), stock: stock.join(", "), nearest }
}

/// The files of the graphs that the program brings along, as `stock:NAME/graph.yaml`, and no others.
pub struct Stock;

impl Files for Stock {
    fn read(&self, path: &str) -> Result<String, String> {
        WithStock(BTreeMap::new()).read(path)
    }
}

/// Files, and those of the graphs that the program brings along.
struct WithStock<F>(F);

impl<F: Files> Files for WithStock<F> {
    fn read(&self, path: &str) -> Result<String, String> {
        let Some(stock) = path.strip_prefix("stock:") else { return self.0.read(path) };
        let file = STOCK.get_file(stock).and_then(|file| file.contents_utf8());
        file.map(str::to_owned).ok_or_else(|| format!("the stock graphs are {}", stock_names().join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_stock_graphs_are_brought_along_and_load() {
        assert!(stock_names().contains(&DEFAULT));
        for name in stock_names() {
            let files = stock_files(name).unwrap();
            assert!(files.contains_key(FILE), "{name}: {:?}", files.keys());
            let loaded = load_named(name).unwrap().unwrap_or_else(|mistakes| panic!("{name}:\n{mistakes}"));
            assert_eq!(&*loaded.bundle.root().name, name);
            assert!(loaded.bundle.servers.is_empty(), "{name} starts nothing and connects to nothing");
        }
    }

    #[test]
    fn a_graph_is_a_file_or_a_folder_too() {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in stock_files("quick_answer").unwrap() {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let by_folder = load_named(&folder.path().to_string_lossy()).unwrap().unwrap();
        let by_file = load_named(&folder.path().join(FILE).to_string_lossy()).unwrap().unwrap();
        assert_eq!(by_folder.bundle.hash, by_file.bundle.hash);
        assert_eq!(by_folder.bundle.hash, load_named("quick_answer").unwrap().unwrap().bundle.hash);
    }

    #[test]
    fn unknown_names_are_told_the_known_ones() {
        let error = load_named("deep_reserch").unwrap_err().to_string();
        assert!(error.contains("did you mean deep_research?") && error.contains("quick_answer"), "{error}");
        assert!(!load_named("zzz").unwrap_err().to_string().contains("mean"));
    }
}
