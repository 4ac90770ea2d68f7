//! Reading a document from the index.

use deepgraph_protocol::Source;
use rusqlite::Connection;

use crate::error::CorpusError;
use crate::index::{self, DocumentRow, Row};
use crate::search::{self, Query};

/// How many names are told where one was not found.
const NEAREST: usize = 3;
/// Where a passage is asked for, reading begins so many before it.
const BEFORE: usize = 1;

/// A document, or as much of it as was asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// Its name.
    pub document: String,
    /// Its title.
    pub title: String,
    /// Its date, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// The passages, in the order of the document.
    pub passages: Vec<Source>,
    /// How many passages the document has.
    pub total_passages: usize,
    /// Where to read on: the number of the next passage, from 1. None at the end, and for a query.
    pub next: Option<usize>,
}

/// What can go wrong inside: the corpus knows the index's file and adds it.
pub enum ReadError {
    Corpus(CorpusError),
    Sql(rusqlite::Error),
}

impl From<rusqlite::Error> for ReadError {
    fn from(error: rusqlite::Error) -> ReadError {
        ReadError::Sql(error)
    }
}

/// Reads passages of a document. See [`Corpus::read`](crate::Corpus::read).
pub fn read(
    connection: &Connection,
    what: &str,
    query: Option<&str>,
    from: usize,
    max_bytes: usize,
) -> Result<Document, ReadError> {
    let (document, passage) = find(connection, what)?;
    let default = passage.map_or(1, |ordinal| ordinal.saturating_sub(BEFORE).max(1));
    let query = match query {
        Some(text) => Query::new(text, connection)?,
        None => None,
    };
    let start = match (from, &query) {
        (0, Some(_)) => 1,
        (0, None) => default,
        (from, _) => from,
    };
    if start > document.passages {
        let (document, passages) = (document.name, document.passages);
        return Err(ReadError::Corpus(CorpusError::NoSuchPassage { document, wanted: start, passages }));
    }
    let mut rows = index::passages_of(connection, document.id)?;
    rows.retain(|row| row.ordinal >= start);
    let (rows, next) = match query {
        Some(query) => (best(&query, rows, max_bytes), None),
        None => in_order(rows, max_bytes),
    };
    Ok(Document {
        document: document.name,
        title: document.title,
        date: document.date,
        passages: rows.into_iter().map(|row| row.source).collect(),
        total_passages: document.passages,
        next,
    })
}

/// As many passages as fit, at least one, and the number of the next.
pub fn in_order(mut rows: Vec<Row>, max_bytes: usize) -> (Vec<Row>, Option<usize>) {
    let mut bytes = 0;
    let fits = rows.iter().take_while(|row| {
        bytes += row.source.text.len();
        bytes <= max_bytes
    });
    let count = fits.count().max(1);
    let next = rows.get(count).map(|row| row.ordinal);
    rows.truncate(count);
    (rows, next)
}

/// The best passages for a query, as many as fit, in the order of the document.
pub fn best(query: &Query, rows: Vec<Row>, max_bytes: usize) -> Vec<Row> {
    let ranked = search::rank(query, rows).into_iter().map(|(_, row)| row).collect();
    let (mut rows, _) = in_order(ranked, max_bytes);
    rows.sort_by_key(|row| row.ordinal);
    rows
}

/// Finds a document by the id of a passage, by its name, or by its title where only one has it.
fn find(connection: &Connection, what: &str) -> Result<(DocumentRow, Option<usize>), ReadError> {
    let name = what.trim().trim_start_matches("./");
    let id = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
    if let Some(document) = index::document_by_name(connection, name)? {
        return Ok((document, None));
    }
    if let Some((key, ordinal)) = id.rsplit_once('-')
        && let Ok(ordinal) = ordinal.parse::<usize>()
        && let Some(document) = index::document_by_key(connection, key)?
    {
        if ordinal == 0 || ordinal > document.passages {
            let (document, passages) = (document.name, document.passages);
            return Err(ReadError::Corpus(CorpusError::NoSuchPassage {
                document,
                wanted: ordinal,
                passages,
            }));
        }
        return Ok((document, Some(ordinal)));
    }
    let names = index::names_and_titles(connection)?;
    let mut titled = names.iter().filter(|(_, title)| title.to_lowercase() == name.to_lowercase());
    if let (Some((only, _)), None) = (titled.next(), titled.next())
        && let Some(document) = index::document_by_name(connection, only)?
    {
        return Ok((document, None));
    }
    Err(ReadError::Corpus(CorpusError::NotFound {
        what: what.into(),
        documents: names.len(),
        nearest: nearest(name, &names),
    }))
}

/// The documents whose name, file name or title is nearest to a text.
fn nearest(what: &str, names: &[(String, String)]) -> Vec<String> {
    // Long texts are no names, and comparing takes the product of the lengths.
    let what: String = what.chars().take(200).collect::<String>().to_lowercase();
    let likeness = |text: &str| strsim::jaro_winkler(&what, &text.to_lowercase());
    let mut scored: Vec<(f64, &str)> = names
        .iter()
        .map(|(name, title)| {
            let file = name.rsplit('/').next().unwrap_or(name);
            (likeness(name).max(likeness(file)).max(likeness(title)), name.as_str())
        })
        .collect();
    scored.sort_by(|(a, a_name), (b, b_name)| b.total_cmp(a).then_with(|| a_name.cmp(b_name)));
    scored.into_iter().take(NEAREST).map(|(_, name)| name.to_owned()).collect()
}
