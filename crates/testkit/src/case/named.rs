//! A graph that a case names: by a path, or as a stock graph.

use std::path::Path;

use deepgraph_graph::{Diagnostics, Files, Loaded, OpTable, load};

use super::files::{Beside, Folder, STOCK, StockGraph, WithStock};
use super::read::Reader;
use super::tree::Node;

/// The file of a folder that holds its graph.
const FILE: &str = "graph.yaml";

/// Loads the graph that `graph: NAME` means: a file, the `graph.yaml` of a folder, or `stock:NAME`. `folder` is that of
/// the case, `stock` are the files of stock graphs, where they are elsewhere. None where there is no such graph, which is
/// a mistake of the case.
pub(super) fn load_named(
    reader: &mut Reader,
    (node, name): (&Node, &str),
    folder: &Path,
    stock: Option<&dyn Files>,
    ops: &OpTable,
) -> Option<Result<Loaded, Diagnostics>> {
    let beside = Beside(folder);
    if let Some(graph) = name.strip_prefix(STOCK) {
        let files = StockGraph { name: graph, stock: stock.unwrap_or(&beside) };
        return match problem(graph, &files) {
            Some((message, help)) => {
                reader.sink.error_with_help(node.place, message, help);
                None
            }
            None => Some(load(&format!("{name}/{FILE}"), &files, ops)),
        };
    }
    let mut path = folder.join(name);
    if path.is_dir() {
        path.push(FILE);
    }
    if !path.exists() {
        let (message, help) = missing(name, &path, stock.unwrap_or(&beside));
        reader.sink.error_with_help(node.place, message, Some(help));
        return None;
    }
    let own = Folder(path.parent().unwrap_or(Path::new("")).to_owned());
    Some(load(&path.display().to_string(), &WithStock { own: &own, stock }, ops))
}

/// Why `stock:NAME` names no graph, and what to do.
fn problem(graph: &str, files: &StockGraph<'_>) -> Option<(String, Option<String>)> {
    if let Some((whole, part)) = graph.split_once('#') {
        let help = format!(
            "write `graph: stock:{whole}`, or a graph that calls the part: `call: stock:{whole}#{part}`"
        );
        return Some(("a case plays a whole graph, not a part of one".to_owned(), Some(help)));
    }
    if graph.is_empty() || graph.contains(['/', '\\', '.']) {
        let message = format!("stock:{graph} is no name of a stock graph");
        return Some((message, Some("a stock graph is named as stock:deep_research".to_owned())));
    }
    files.read(FILE).err().map(|why| (format!("there is no stock graph {graph}"), Some(why)))
}

/// What to say of a path at which there is no graph.
fn missing(name: &str, path: &Path, stock: &dyn Files) -> (String, String) {
    let help = match name.trim_start_matches("./").trim_end_matches('/') {
        bare if !bare.is_empty()
            && !bare.contains(['/', '\\', '.'])
            && stock.read(&format!("{STOCK}{bare}/{FILE}")).is_ok() =>
        {
            format!("the stock graph of that name is written stock:{bare}")
        }
        _ => "a path is taken from the folder of the case; a stock graph is written stock:NAME".to_owned(),
    };
    (format!("there is no graph {name}: {} is not there", path.display()), help)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::case::Case;

    #[test]
    fn without_files_from_elsewhere_a_stock_graph_is_found_beside() {
        let folder = tempfile::tempdir().unwrap();
        let case = "case: It is.\ngraph: stock:quick\nexpect: {output: {a: 1}}\n";
        let graph = "deepgraph: 1\nstate: {a: {type: integer, optional: true}}\noutput: [a]\nstart: n\nnodes:\n  n: {update: {a: 1}}\n";
        for (path, text) in [
            ("graphs/quick/graph.yaml", graph),
            ("graphs/mine/cases/it.yaml", case),
            ("graphs/cases/it.yaml", case),
            ("elsewhere/it.yaml", case),
        ] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        for beside in ["graphs/mine/cases/it.yaml", "graphs/cases/it.yaml"] {
            Case::load(&folder.path().join(beside)).unwrap().play().check();
        }
        let mistakes = Case::load(&folder.path().join("elsewhere/it.yaml")).unwrap_err().to_string();
        assert!(
            mistakes.contains("there is no stock graph quick") && mistakes.contains("it.yaml:2:8"),
            "{mistakes}"
        );
        // Files that are brought along go before those beside.
        let brought = std::collections::BTreeMap::from([(
            "stock:quick/graph.yaml".to_owned(),
            graph.replace("a: 1}", "a: 2}"),
        )]);
        let case = Case::load_with(&folder.path().join("graphs/mine/cases/it.yaml"), Some(&brought)).unwrap();
        assert!(!case.play().passed());
    }
}
