//! Folders of documents for tests.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::{Corpus, IndexReport};

/// A folder of documents and a place for its index, gone at the end of the test.
pub struct Folder {
    place: TempDir,
}

impl Folder {
    /// An empty folder.
    pub fn new() -> Folder {
        let folder = Folder { place: tempfile::tempdir().unwrap() };
        fs::create_dir(folder.docs()).unwrap();
        folder
    }

    /// A folder with documents.
    pub fn with(files: &[(&str, &str)]) -> Folder {
        let folder = Folder::new();
        for (name, content) in files {
            folder.write(name, content);
        }
        folder
    }

    pub fn docs(&self) -> PathBuf {
        self.place.path().join("docs")
    }

    pub fn index_dir(&self) -> PathBuf {
        self.place.path().join("index")
    }

    pub fn path(&self) -> &Path {
        self.place.path()
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.docs().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn remove(&self, name: &str) {
        fs::remove_file(self.docs().join(name)).unwrap();
    }

    pub fn open(&self) -> (Corpus, IndexReport) {
        self.open_paths(&[self.docs()])
    }

    pub fn open_paths(&self, paths: &[PathBuf]) -> (Corpus, IndexReport) {
        Corpus::open(paths, &self.index_dir(), &mut |_| {}).unwrap()
    }

    /// The index file. There must be one.
    pub fn index_file(&self) -> PathBuf {
        let mut files = fs::read_dir(self.index_dir()).unwrap().map(|entry| entry.unwrap().path());
        files.find(|file| file.extension().is_some_and(|end| end == "sqlite")).unwrap()
    }
}

/// Ids of the best hits of a query.
pub fn ids(corpus: &Corpus, query: &str) -> Vec<String> {
    corpus.search(query, 10).unwrap().into_iter().map(|(hit, _)| hit.source).collect()
}

/// The text of the best hit of a query.
pub fn best(corpus: &Corpus, query: &str) -> String {
    corpus.search(query, 1).unwrap().into_iter().map(|(hit, _)| hit.text).collect()
}
