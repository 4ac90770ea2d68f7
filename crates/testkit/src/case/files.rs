//! The files that the graph of a case names.

use std::path::{Path, PathBuf};

use deepgraph_graph::Files;

/// What the paths of files of stock graphs begin with.
pub(crate) const STOCK: &str = "stock:";

/// Files of a graph's folder; those of a stock graph are in the folder of its name, next to it.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Files for Folder {
    fn read(&self, path: &str) -> Result<String, String> {
        let Some(stock) = path.strip_prefix(STOCK) else {
            return std::fs::read_to_string(self.0.join(path)).map_err(|e| e.to_string());
        };
        let beside = self.0.join("..").join(stock);
        std::fs::read_to_string(beside).map_err(|_| "there is no such file".to_owned())
    }
}

/// Files, with those of the stock graphs from elsewhere, where there is an elsewhere.
pub(crate) struct WithStock<'a> {
    pub(crate) own: &'a dyn Files,
    pub(crate) stock: Option<&'a dyn Files>,
}

impl Files for WithStock<'_> {
    fn read(&self, path: &str) -> Result<String, String> {
        match (self.stock, path.starts_with(STOCK)) {
            (Some(stock), true) => stock.read(path),
            _ => self.own.read(path),
        }
    }
}

/// The stock graphs that are in folders of their names beside the folder of a case, or beside what its folder is in.
pub(crate) struct Beside<'a>(pub(crate) &'a Path);

impl Files for Beside<'_> {
    fn read(&self, path: &str) -> Result<String, String> {
        let none = || "no stock graphs are known here, and there is no folder of that name beside".to_owned();
        let file = path.strip_prefix(STOCK).ok_or_else(none)?;
        let folders = [self.0.join(".."), self.0.join("../..")];
        let read = |folder: &PathBuf| std::fs::read_to_string(folder.join(file)).ok();
        folders.iter().find_map(read).ok_or_else(none)
    }
}

/// The files of one stock graph, as those of a graph that is loaded by itself.
pub(crate) struct StockGraph<'a> {
    pub(crate) name: &'a str,
    pub(crate) stock: &'a dyn Files,
}

impl Files for StockGraph<'_> {
    fn read(&self, path: &str) -> Result<String, String> {
        match path.starts_with(STOCK) {
            true => self.stock.read(path),
            false => self.stock.read(&format!("{STOCK}{}/{path}", self.name)),
        }
    }
}
