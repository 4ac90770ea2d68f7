//! The ops that say what was new: `read` and `facts`.
//!
//! The score is part of their results, so it stands in the journal and in recordings, and is not made again when a run is
//! folded or replayed.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use deepgraph_protocol::{ErrorKind, Fact, Map, Source, StepError, Value};
use deepgraph_research::gain::{Known, Scorer};
use serde::de::DeserializeOwned;

use crate::call::CallContext;
use crate::ops::{Op, beside};
use crate::sources::{self, Sources};

/// `read`, with the facts of what was read that are new. What is read is one thing, what of it is new another: the
/// second depends on what is known by then, so it is no part of what `cache` keeps.
pub(crate) struct ReadOp {
    pub sources: Sources,
    pub scorer: Arc<dyn Scorer>,
}

#[async_trait]
impl Op for ReadOp {
    async fn call(&self, input: Map, _: &CallContext) -> Result<Value, StepError> {
        match earlier_answer(&input) {
            Some(reference) => Ok(part_of(reference)),
            None => sources::read(&self.sources, input).await,
        }
    }

    fn finishes(&self) -> bool {
        true
    }

    async fn finish(&self, brought: Value, given: Map) -> Result<Value, StepError> {
        if let Some(part) = read_on(&brought, &given)? {
            return Ok(part);
        }
        let scorer = self.scorer.clone();
        beside("finding what is new", move || with_score(&brought, &given, &*scorer)).await
    }
}

/// What the `source` begins with where `read` goes on with an answer that was too long, not with a document.
const REFERENCE: &str = "ref:";

/// The answer of an earlier call that is to be read on.
fn earlier_answer(input: &Map) -> Option<&str> {
    input.get("source").and_then(Value::as_str).filter(|source| source.starts_with(REFERENCE))
}

/// What is brought for it: its text is given by the graph's instance, which knows it.
fn part_of(reference: &str) -> Value {
    Value::record([
        ("text", Value::from("")),
        ("document", Value::from(reference)),
        ("title", Value::from("")),
        ("sources", Value::empty_map()),
    ])
}

/// The part of an earlier answer, where that is what was read; it cites nothing and tells no new facts.
fn read_on(brought: &Value, given: &Map) -> Result<Option<Value>, StepError> {
    let reference = brought.text("document");
    if !reference.starts_with(REFERENCE) {
        return Ok(None);
    }
    let Some(part) = given.get("answer") else {
        let message = format!(
            "there is no answer \"{reference}\" in this conversation, or it has no such part; the note behind a cut \
             answer says how to read on"
        );
        return Err(StepError::new(ErrorKind::NotFound, message));
    };
    let mut fields = brought.as_map().cloned().unwrap_or_default();
    fields.insert("text".into(), part.clone());
    fields.insert("facts".into(), Value::empty_list());
    fields.insert("pages".into(), Value::empty_map());
    Ok(Some(Value::from(fields)))
}

/// `facts`: those of sources that came from elsewhere.
pub(crate) struct FactsOp {
    pub scorer: Arc<dyn Scorer>,
}

#[async_trait]
impl Op for FactsOp {
    async fn call(&self, input: Map, _: &CallContext) -> Result<Value, StepError> {
        let sources = input.get("sources").cloned().unwrap_or_default();
        Ok(Value::record([("text", Value::from("")), ("sources", sources)]))
    }

    fn finishes(&self) -> bool {
        true
    }

    async fn finish(&self, brought: Value, given: Map) -> Result<Value, StepError> {
        let scorer = self.scorer.clone();
        beside("finding what is new", move || counted(&with_score(&brought, &given, &*scorer)?)).await
    }
}

/// A score without the sources, with the number of facts as its text.
fn counted(scored: &Value) -> Result<Value, StepError> {
    let mut fields = scored.as_map().cloned().unwrap_or_default();
    fields.remove("sources");
    let count = fields.get("facts").and_then(Value::as_list).map_or(0, <[Value]>::len);
    fields.insert("text".into(), Value::from(format!("{count} new")));
    Ok(Value::from(fields))
}

/// A result with the score of its `sources`, given what is known.
fn with_score(result: &Value, given: &Map, scorer: &dyn Scorer) -> Result<Value, StepError> {
    let mut fields = result.as_map().cloned().unwrap_or_default();
    let sources: BTreeMap<String, Source> = field(&fields, "sources")?;
    let known: Vec<Fact> = field(given, "known")?;
    let pages: BTreeMap<String, String> = field(given, "pages")?;
    let mut read: Vec<Source> = sources.into_iter().map(|(id, source)| Source { id, ..source }).collect();
    read.sort_by(|a, b| (&a.document, a.span.start).cmp(&(&b.document, b.span.start)));
    let scored = scorer.score(&read, &Known { facts: &known, pages: &pages });
    fields.insert("facts".into(), scored.facts.iter().map(Value::of).collect());
    fields.insert("pages".into(), Value::of(&scored.pages));
    if !scored.repeats.is_empty() {
        fields.insert("repeats".into(), Value::of(&scored.repeats));
    }
    Ok(Value::from(fields))
}

/// The facts of sources, of which nothing is known before.
#[cfg(feature = "mcp")]
pub(crate) async fn facts_of(sources: Value, scorer: Arc<dyn Scorer>) -> Result<Value, StepError> {
    beside("finding what is new", move || {
        let scored = with_score(&Value::record([("sources", sources)]), &Map::new(), &*scorer)?;
        Ok(scored.get("facts").cloned().unwrap_or_else(Value::empty_list))
    })
    .await
}

/// A field, or its type's empty value where it is missing or null.
fn field<T: DeserializeOwned + Default>(fields: &Map, name: &str) -> Result<T, StepError> {
    let Some(value) = fields.get(name).filter(|value| !value.is_null()) else { return Ok(T::default()) };
    value.to().map_err(|e| {
        StepError::new(ErrorKind::InvalidInput, format!("the field \"{name}\" can not be read: {e}"))
    })
}

#[cfg(test)]
mod tests {
    use deepgraph_research::gain::HashedFacts;

    use super::*;

    fn result(sources: Value) -> Value {
        Value::record([("text", Value::from("what was read")), ("sources", sources)])
    }

    fn sources(text: &str) -> Value {
        let source = Source { document: "a.md".into(), text: text.into(), ..Source::default() };
        Value::record([("abcdef-1", Value::of(&source))])
    }

    fn count(scored: &Value) -> usize {
        scored.get("facts").and_then(Value::as_list).map_or(0, <[Value]>::len)
    }

    #[test]
    fn a_result_tells_what_is_new_given_what_is_known() {
        let read = result(sources("The port has 12 quays. It has 5 cranes."));
        let first = with_score(&read, &Map::new(), &HashedFacts).expect("it is scored");
        assert_eq!((count(&first), first.text("text")), (2, "what was read"));
        assert_eq!(first.get("repeats"), None);
        let input: Map = [
            ("known".into(), first.get("facts").cloned().unwrap_or_default()),
            ("pages".into(), first.get("pages").cloned().unwrap_or_default()),
        ]
        .into();
        let again = with_score(&read, &input, &HashedFacts).expect("it is scored");
        assert_eq!(count(&again), 0);
        assert_eq!(again.get("repeats").map(Value::to_string), Some("[\"abcdef-1\"]".to_owned()));
    }

    #[test]
    fn what_is_no_fact_is_told_by_field() {
        for name in ["known", "pages"] {
            let input: Map = [(name.into(), Value::Int(5))].into();
            let error = with_score(&result(Value::empty_map()), &input, &HashedFacts).expect_err(name);
            assert!(error.kind == ErrorKind::InvalidInput && error.message.contains(name), "{error}");
        }
    }
}
