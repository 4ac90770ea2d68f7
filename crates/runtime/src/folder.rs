//! Graph files on the disk.

use std::path::{Path, PathBuf};

use deepgraph_graph::Files;

/// The files of a folder and of those below it.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// The folder that a graph file lies in.
    pub fn of(graph: &Path) -> Folder {
        Folder(graph.parent().map(Path::to_path_buf).unwrap_or_default())
    }
}

impl Files for Folder {
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(self.0.join(path)).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
            std::io::ErrorKind::InvalidData => "it is not UTF-8 text".to_owned(),
            _ => error.to_string(),
        })
    }
}
