//! The files that the graph of a case names.

use std::path::PathBuf;

use deepgraph_graph::Files;

/// Files of a graph's folder; those of a stock graph are in the folder of its name, next to it.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Files for Folder {
    fn read(&self, path: &str) -> Result<String, String> {
        let Some(stock) = path.strip_prefix("stock:") else {
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
        match (self.stock, path.starts_with("stock:")) {
            (Some(stock), true) => stock.read(path),
            _ => self.own.read(path),
        }
    }
}
