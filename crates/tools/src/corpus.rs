//! The corpus: documents, indexed.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use deepgraph_protocol::{Hit, Source};
use rusqlite::Connection;

use crate::error::CorpusError;
use crate::files::{self, Root};
use crate::index::{self, Trouble};
use crate::read::{self, Document, ReadError};
use crate::report::{IndexProgress, IndexReport};
use crate::search;

/// Documents that can be searched and read. Made by [`Corpus::open`]; it can be shared between threads, and its
/// methods block.
#[derive(Debug)]
pub struct Corpus {
    connection: Mutex<Connection>,
    roots: Vec<Root>,
    index_dir: PathBuf,
    /// None: the index is in memory.
    file: Option<PathBuf>,
}

impl Corpus {
    /// Opens the documents at `paths` (folders, with all that is below, and files), and brings their index up to
    /// date: new and changed files are read, those that are gone are dropped.
    ///
    /// The index is a file under `index_dir`, one for each set of paths; several processes may use it. Where it
    /// is damaged or of another version it is built anew; where no file can be written the index is kept in
    /// memory, and the report says so. Documents that can not be read are in the report too.
    ///
    /// # Errors
    ///
    /// A path that does not exist or can not be read at all.
    pub fn open(
        paths: &[PathBuf],
        index_dir: &Path,
        progress: &mut dyn FnMut(IndexProgress<'_>),
    ) -> Result<(Corpus, IndexReport), CorpusError> {
        let roots = files::roots(paths)?;
        let file = index::index_file(&roots, index_dir);
        let (connection, report, in_file) = match index_in_file(&roots, index_dir, &file, progress) {
            Ok((connection, report)) => (connection, report, true),
            Err(trouble) => {
                let (connection, report) = index_in_memory(&roots, index_dir, trouble, progress)?;
                (connection, report, false)
            }
        };
        let connection = Mutex::new(connection);
        Ok((Corpus { connection, roots, index_dir: index_dir.into(), file: in_file.then_some(file) }, report))
    }

    /// The passages that answer a query best, best first, at most `limit`. The query is free text without any
    /// syntax. A passage need not hold all of its words; an empty query has no hits.
    ///
    /// # Errors
    ///
    /// The index can not be used.
    pub fn search(&self, query: &str, limit: usize) -> Result<Vec<(Hit, Source)>, CorpusError> {
        self.with(|connection| Ok(search::search(connection, query, limit)?))
    }

    /// Reads a document: as many passages as hold `max_bytes` of text, at least one.
    ///
    /// `what` is the id of a source, the name of a document, or its title where only one has it. With a query,
    /// the passages that answer it best, in the order of the document; without, from passage `from` on. `from`
    /// counts from 1; 0 is the beginning, or shortly before the passage that `what` names.
    ///
    /// # Errors
    ///
    /// [`CorpusError::NotFound`] with the nearest names; [`CorpusError::NoSuchPassage`]; the index can not be used.
    pub fn read(
        &self,
        what: &str,
        query: Option<&str>,
        from: usize,
        max_bytes: usize,
    ) -> Result<Document, CorpusError> {
        self.with(|connection| read::read(connection, what, query, from, max_bytes))
    }

    /// How many documents and passages can be searched.
    ///
    /// # Errors
    ///
    /// The index can not be used.
    pub fn size(&self) -> Result<(usize, usize), CorpusError> {
        self.with(|connection| Ok(index::totals(connection)?))
    }

    /// Works with the index. Where it turns out to be damaged, it is built anew and the work done again.
    fn with<T>(&self, work: impl Fn(&Connection) -> Result<T, ReadError>) -> Result<T, CorpusError> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let result = match (work(&connection), &self.file) {
            (Err(ReadError::Sql(error)), Some(file)) if index::is_damage(&error) => {
                *connection = self.rebuilt(file)?;
                work(&connection)
            }
            (result, _) => result,
        };
        result.map_err(|error| match error {
            ReadError::Corpus(error) => error,
            ReadError::Sql(error) => self.index_error(error),
        })
    }

    fn rebuilt(&self, file: &Path) -> Result<Connection, CorpusError> {
        let rebuilt = index::remove(file).and_then(|()| {
            index_in_file(&self.roots, &self.index_dir, file, &mut |_| {}).map(|(connection, _)| connection)
        });
        match rebuilt {
            Ok(connection) => Ok(connection),
            Err(trouble) => index_in_memory(&self.roots, &self.index_dir, trouble, &mut |_| {})
                .map(|(connection, _)| connection),
        }
    }

    fn index_error(&self, error: rusqlite::Error) -> CorpusError {
        let file = self.file.as_ref().map_or_else(|| IN_MEMORY.into(), |file| file.display().to_string());
        CorpusError::Index { file, error }
    }
}

const IN_MEMORY: &str = "the index in memory";

fn index_in_file(
    roots: &[Root],
    index_dir: &Path,
    file: &Path,
    progress: &mut dyn FnMut(IndexProgress<'_>),
) -> Result<(Connection, IndexReport), Trouble> {
    let mut connection = index::open_file(file)?;
    let listing = files::list(roots, index_dir);
    match index::update(&mut connection, &listing, progress) {
        Ok(report) => Ok((connection, report)),
        Err(error) if index::is_damage(&error) => {
            drop(connection);
            index::remove(file)?;
            connection = index::open_file(file)?;
            let report = index::update(&mut connection, &listing, progress)?;
            Ok((connection, report))
        }
        Err(error) => Err(error.into()),
    }
}

fn index_in_memory(
    roots: &[Root],
    index_dir: &Path,
    reason: Trouble,
    progress: &mut dyn FnMut(IndexProgress<'_>),
) -> Result<(Connection, IndexReport), CorpusError> {
    let listing = files::list(roots, index_dir);
    let built = index::open_in_memory().and_then(|mut connection| {
        let report = index::update(&mut connection, &listing, progress)?;
        Ok((connection, report))
    });
    let (connection, report) = built.map_err(|error| CorpusError::Index { file: IN_MEMORY.into(), error })?;
    Ok((connection, IndexReport { in_memory: Some(reason.to_string()), ..report }))
}

#[cfg(test)]
mod tests;
