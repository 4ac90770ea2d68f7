//! Searching the index.

mod query;
mod rank;
mod words;

use std::cmp::Ordering;

use deepgraph_protocol::{Hit, Source};
use rusqlite::{Connection, params};

use crate::index::{Row, rows_by_id};

pub use query::Query;

/// How many candidates full-text search gives to be ranked.
const CANDIDATES: usize = 300;

/// The best passages for a query, best first; equals in the order of documents and passages.
pub fn search(connection: &Connection, text: &str, limit: usize) -> rusqlite::Result<Vec<(Hit, Source)>> {
    let Some(query) = Query::new(text, connection)? else { return Ok(Vec::new()) };
    if limit == 0 {
        return Ok(Vec::new());
    }
    let wanted = CANDIDATES.max(limit.saturating_mul(2));
    let mut ids = candidates(connection, &query.any(), wanted)?;
    if let Some(all) = query.all() {
        ids.extend(candidates(connection, &all, wanted)?);
    }
    ids.sort_unstable();
    ids.dedup();
    let mut ranked = rank(&query, rows_by_id(connection, &ids)?);
    ranked.truncate(limit);
    Ok(ranked.into_iter().map(|(score, row)| (hit(&row.source, score), row.source)).collect())
}

/// Passages with their scores, best first.
pub fn rank(query: &Query, rows: Vec<Row>) -> Vec<(f64, Row)> {
    let mut ranked: Vec<(f64, Row)> = rows.into_iter().map(|row| (rank::score(query, &row), row)).collect();
    ranked.sort_by(|(a_score, a), (b_score, b)| {
        let by_score = b_score.partial_cmp(a_score).unwrap_or(Ordering::Equal);
        by_score
            .then_with(|| a.source.document.cmp(&b.source.document))
            .then_with(|| a.ordinal.cmp(&b.ordinal))
    });
    ranked
}

fn candidates(connection: &Connection, expression: &str, limit: usize) -> rusqlite::Result<Vec<i64>> {
    let sql = "SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY bm25(words, 8.0, 4.0, 2.0, 1.0), rowid LIMIT ?2";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    connection.prepare_cached(sql)?.query_map(params![expression, limit], |row| row.get(0))?.collect()
}

fn hit(source: &Source, score: f64) -> Hit {
    Hit {
        source: source.id.clone(),
        document: source.document.clone(),
        title: source.title.clone(),
        text: source.text.clone(),
        score,
        url: None,
        date: None,
        found: None,
    }
}

#[cfg(test)]
mod tests;
