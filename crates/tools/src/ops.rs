//! The ops `search` and `read`: what a graph calls by name, over records.

use deepgraph_protocol::{ErrorKind, Map, Source, StepError, Value};
use deepgraph_research::passage::render;

use crate::corpus::Corpus;
use crate::error::CorpusError;
use crate::read::Document;

/// Hits of a search where the call does not say.
const DEFAULT_LIMIT: i64 = 8;
/// Most hits of a search.
const MOST_HITS: i64 = 50;
/// Most bytes of passage text that one call brings back.
const MOST_BYTES: usize = 24 * 1024;
/// Bytes of a document that `search` with `read` adds for each document hit.
const READ_ALONG: usize = 4 * 1024;

/// Searches: `{query, limit?, read?}` to `{text, hits, sources}`; `text` is for a model to read. With `read`, passages
/// of the same documents that answer the query next best are added.
///
/// # Errors
///
/// `invalid_input` for a missing or wrong parameter, `tool` where the index can not be used.
pub fn search_op(corpus: &Corpus, input: &Map) -> Result<Value, StepError> {
    let query = text_param(input, "query")?.ok_or_else(|| missing("query"))?;
    let limit = int_param(input, "limit", 1, MOST_HITS)?.unwrap_or(DEFAULT_LIMIT);
    let read = bool_param(input, "read")?;
    let found = corpus.search(query, usize::try_from(limit).unwrap_or(1)).map_err(step_error)?;
    let (hits, mut sources): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    if read {
        read_along(corpus, query, &mut sources)?;
    }
    let text = if hits.is_empty() { nothing_found(query) } else { render_all(&sources) };
    Ok(Value::record([
        ("text", Value::from(text)),
        ("hits", hits.iter().map(Value::of).collect()),
        ("sources", by_id(&sources)),
    ]))
}

/// Reads: `{source, query?, from?}` to `{text, document, title, sources}`; `text` is for a model to read.
///
/// # Errors
///
/// `invalid_input` for a missing or wrong parameter, `not_found` where there is no such document or passage,
/// `tool` where the index can not be used.
pub fn read_op(corpus: &Corpus, input: &Map) -> Result<Value, StepError> {
    let source = text_param(input, "source")?.ok_or_else(|| missing("source"))?;
    let query = text_param(input, "query")?.filter(|query| !query.trim().is_empty());
    let from = int_param(input, "from", 1, i64::MAX)?.unwrap_or(0);
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    let document = corpus.read(source, query, from, MOST_BYTES).map_err(step_error)?;
    let text = match extent(&document, query.is_some()) {
        Some(extent) => format!("{extent}\n\n{}", render_all(&document.passages)),
        None => render_all(&document.passages),
    };
    Ok(Value::record([
        ("text", Value::from(text)),
        ("document", Value::from(document.document)),
        ("title", Value::from(document.title)),
        ("sources", by_id(&document.passages)),
    ]))
}

/// What part of a document was read, where it is not all. It stands before the passages: what stands behind one
/// would be taken for its text.
fn extent(document: &Document, for_query: bool) -> Option<String> {
    let (shown, total) = (document.passages.len(), document.total_passages);
    match document.next {
        Some(next) => {
            let first = next.saturating_sub(shown);
            let last = next.saturating_sub(1);
            Some(format!("Passages {first} to {last} of {total}. Read on with from: {next}."))
        }
        None if for_query && shown < total => Some(format!(
            "The {shown} of {total} passages that answer the query best. Leave out the query to read all."
        )),
        None if shown < total => Some(format!("The last {shown} of {total} passages.")),
        None => None,
    }
}

/// Adds the passages of the documents hit that answer the query next best, document by document.
fn read_along(corpus: &Corpus, query: &str, sources: &mut Vec<Source>) -> Result<(), StepError> {
    let mut documents: Vec<String> = Vec::new();
    for source in sources.iter() {
        if !documents.contains(&source.document) {
            documents.push(source.document.clone());
        }
    }
    let mut bytes: usize = sources.iter().map(|source| source.text.len()).sum();
    for document in documents {
        let read = corpus.read(&document, Some(query), 0, READ_ALONG).map_err(step_error)?;
        for passage in read.passages {
            let is_new = sources.iter().all(|known| known.id != passage.id);
            if is_new && bytes + passage.text.len() <= MOST_BYTES {
                bytes += passage.text.len();
                sources.push(passage);
            }
        }
    }
    Ok(())
}

fn nothing_found(query: &str) -> String {
    format!(
        "No passage matches \"{query}\". Try fewer or other words: the subject's name alone, a synonym, or the \
         words that the documents themselves would use."
    )
}

fn render_all(sources: &[Source]) -> String {
    render(&sources.iter().collect::<Vec<_>>())
}

fn by_id(sources: &[Source]) -> Value {
    Value::record(sources.iter().map(|source| (source.id.as_str(), Value::of(source))))
}

fn step_error(error: CorpusError) -> StepError {
    let kind = match error {
        CorpusError::NotFound { .. }
        | CorpusError::NoSuchPassage { .. }
        | CorpusError::PathNotFound { .. } => ErrorKind::NotFound,
        CorpusError::PathUnreadable { .. } | CorpusError::Index { .. } => ErrorKind::Tool,
    };
    StepError::new(kind, error.to_string())
}

fn missing(name: &str) -> StepError {
    StepError::new(ErrorKind::InvalidInput, format!("the parameter \"{name}\" is missing"))
}

fn wrong(name: &str, wanted: &str, value: &Value) -> StepError {
    let message =
        format!("the parameter \"{name}\" must be {wanted}, not {} ({})", value.kind(), shortened(value));
    StepError::new(ErrorKind::InvalidInput, message)
}

fn shortened(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 80 { text } else { text.chars().take(80).chain(['…']).collect() }
}

/// A parameter that is there and not null.
fn param<'a>(input: &'a Map, name: &str) -> Option<&'a Value> {
    input.get(name).filter(|value| !value.is_null())
}

fn text_param<'a>(input: &'a Map, name: &str) -> Result<Option<&'a str>, StepError> {
    match param(input, name) {
        None => Ok(None),
        Some(value) => value.as_str().map(Some).ok_or_else(|| wrong(name, "a string", value)),
    }
}

fn int_param(input: &Map, name: &str, least: i64, greatest: i64) -> Result<Option<i64>, StepError> {
    let Some(value) = param(input, name) else { return Ok(None) };
    let wanted = if greatest == i64::MAX {
        format!("an integer from {least}")
    } else {
        format!("an integer from {least} to {greatest}")
    };
    let number = value.as_int().filter(|number| (least..=greatest).contains(number));
    number.map(Some).ok_or_else(|| wrong(name, &wanted, value))
}

fn bool_param(input: &Map, name: &str) -> Result<bool, StepError> {
    match param(input, name) {
        None => Ok(false),
        Some(Value::Bool(yes)) => Ok(*yes),
        Some(value) => Err(wrong(name, "true or false", value)),
    }
}

#[cfg(test)]
mod tests;
