//! Reading the index.

use deepgraph_protocol::{Piece, Source, Span};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row as SqlRow, params};

/// A passage as it stands in the index.
#[derive(Clone, Debug)]
pub struct Row {
    /// The number of the passage in its document, from 1.
    pub ordinal: usize,
    /// The passage.
    pub source: Source,
    /// Other names of what the document is about.
    pub names: String,
}

/// A document as it stands in the index.
#[derive(Clone, Debug)]
pub struct DocumentRow {
    /// Its row number.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its date.
    pub date: Option<String>,
    /// How many passages it has.
    pub passages: usize,
}

const PASSAGES: &str = "SELECT d.key, d.name, coalesce(p.title, d.title), coalesce(p.date, d.date), p.ordinal, p.section,
    p.text, p.start, p.\"end\", p.line, p.page, p.pieces, d.names FROM passage p JOIN document d ON d.id = p.document";
const DOCUMENTS: &str = "SELECT id, name, title, date, passages FROM document WHERE passages > 0";

/// How many documents and passages can be searched.
pub fn totals(connection: &Connection) -> rusqlite::Result<(usize, usize)> {
    let sql = "SELECT count(*), coalesce(sum(passages), 0) FROM document WHERE passages > 0";
    connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// The document whose passage ids begin with a key.
pub fn document_by_key(connection: &Connection, key: &str) -> rusqlite::Result<Option<DocumentRow>> {
    let sql = format!("{DOCUMENTS} AND key = ?1");
    connection.prepare_cached(&sql)?.query_row([key], document).optional()
}

/// The document of a name.
pub fn document_by_name(connection: &Connection, name: &str) -> rusqlite::Result<Option<DocumentRow>> {
    let sql = format!("{DOCUMENTS} AND name = ?1");
    connection.prepare_cached(&sql)?.query_row([name], document).optional()
}

/// Names and titles of all documents, by name.
pub fn names_and_titles(connection: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let sql = "SELECT name, title FROM document WHERE passages > 0 ORDER BY name";
    connection.prepare(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// All passages of a document, in order.
pub fn passages_of(connection: &Connection, document: i64) -> rusqlite::Result<Vec<Row>> {
    let sql = format!("{PASSAGES} WHERE p.document = ?1 ORDER BY p.ordinal");
    connection.prepare_cached(&sql)?.query_map([document], passage)?.collect()
}

/// Passages by row number, in the order of the numbers.
pub fn rows_by_id(connection: &Connection, ids: &[i64]) -> rusqlite::Result<Vec<Row>> {
    let sql = format!("{PASSAGES} WHERE p.id = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    ids.iter().map(|id| statement.query_row(params![id], passage)).collect()
}

fn document(row: &SqlRow<'_>) -> rusqlite::Result<DocumentRow> {
    Ok(DocumentRow {
        id: row.get(0)?,
        name: row.get(1)?,
        title: row.get(2)?,
        date: row.get(3)?,
        passages: row.get(4)?,
    })
}

fn passage(row: &SqlRow<'_>) -> rusqlite::Result<Row> {
    let key: String = row.get(0)?;
    let ordinal: usize = row.get(4)?;
    let page = row.get(10)?;
    let pieces: Option<String> = row.get(11)?;
    let source = Source {
        id: format!("{key}-{ordinal}"),
        document: row.get(1)?,
        title: row.get(2)?,
        date: row.get(3)?,
        section: row.get(5)?,
        text: row.get(6)?,
        span: Span { start: row.get(7)?, end: row.get(8)?, line: row.get(9)?, page },
        pieces: read_pieces(pieces.as_deref(), page)
            .map_err(|error| rusqlite::Error::FromSqlConversionFailure(11, Type::Text, Box::new(error)))?,
        url: None,
        author: None,
        fetched: None,
        hash: None,
        found: None,
        asked: None,
    };
    Ok(Row { ordinal, source, names: row.get(12)? })
}

/// Pieces as they are kept: `[[at, len, start, end, line], ...]`. The page is the passage's.
pub fn write_pieces(pieces: &[Piece]) -> Option<String> {
    let numbers: Vec<[u64; 5]> =
        pieces.iter().map(|p| [p.at, p.len, p.span.start, p.span.end, p.span.line]).collect();
    if numbers.is_empty() { None } else { serde_json::to_string(&numbers).ok() }
}

fn read_pieces(text: Option<&str>, page: Option<u64>) -> serde_json::Result<Vec<Piece>> {
    let Some(text) = text else { return Ok(Vec::new()) };
    let numbers: Vec<[u64; 5]> = serde_json::from_str(text)?;
    let piece =
        |[at, len, start, end, line]: [u64; 5]| Piece { at, len, span: Span { start, end, line, page } };
    Ok(numbers.into_iter().map(piece).collect())
}
