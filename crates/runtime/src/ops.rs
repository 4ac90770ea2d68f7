//! The ops that graphs can call.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use deepgraph_protocol::{ErrorKind, Map, StepError, Value};
use deepgraph_tools::Corpus;

/// Something that a graph can call by name: pure work, or work on the outside.
#[async_trait]
pub trait Op: Send + Sync {
    /// Carries one call out. Dropping the future gives it up.
    ///
    /// `input` has the fields that the op's signature declares; fields that are null were left out. The result
    /// is the record that the signature declares.
    async fn call(&self, input: Map) -> Result<Value, StepError>;

    /// The longest time of a call for which the graph gives no `timeout`; none: unbounded.
    fn default_timeout(&self) -> Option<Duration> {
        None
    }
}

/// Ops by name.
#[derive(Clone, Default)]
pub struct Ops(BTreeMap<String, Arc<dyn Op>>);

impl Ops {
    /// The stock ops of the graph language, over these documents (none: `search` and `read` say that there are
    /// none).
    pub fn stock(corpus: Option<Arc<Corpus>>) -> Ops {
        let mut ops = Ops::default();
        for op in deepgraph_research::ops::OPS {
            ops.add(op.name, Arc::new(Pure(op.run)));
        }
        ops.add("search", Arc::new(Sourced { corpus: corpus.clone(), call: deepgraph_tools::search_op }));
        ops.add("read", Arc::new(Sourced { corpus, call: read_with_facts }));
        ops
    }

    /// Adds an op, or puts it in place of one of the same name.
    pub fn add(&mut self, name: impl Into<String>, op: Arc<dyn Op>) {
        self.0.insert(name.into(), op);
    }

    /// The op of a name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Op>> {
        self.0.get(name)
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl fmt::Debug for Ops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// A function of its input.
struct Pure(fn(&Map) -> Result<Value, StepError>);

#[async_trait]
impl Op for Pure {
    async fn call(&self, input: Map) -> Result<Value, StepError> {
        (self.0)(&input)
    }
}

/// A function over the local documents.
struct Sourced {
    corpus: Option<Arc<Corpus>>,
    call: fn(&Corpus, &Map) -> Result<Value, StepError>,
}

#[async_trait]
impl Op for Sourced {
    async fn call(&self, input: Map) -> Result<Value, StepError> {
        let corpus = self.corpus.clone().ok_or_else(|| {
            StepError::new(ErrorKind::NotFound, "this run has no sources: give it documents with --docs PATH")
        })?;
        let call = self.call;
        match tokio::task::spawn_blocking(move || call(&corpus, &input)).await {
            Ok(result) => result,
            Err(failure) => {
                Err(StepError::new(ErrorKind::Tool, format!("reading the documents failed: {failure}")))
            }
        }
    }
}

/// `read`, with the facts of what was read.
fn read_with_facts(corpus: &Corpus, input: &Map) -> Result<Value, StepError> {
    let result = deepgraph_tools::read_op(corpus, input)?;
    let Value::Map(fields) = &result else { return Ok(result) };
    let sources = fields.get("sources").and_then(Value::as_map);
    let facts: Vec<Value> = sources
        .into_iter()
        .flat_map(|sources| sources.values())
        .filter_map(|source| source.to().ok())
        .flat_map(|source| deepgraph_research::facts::facts(&source))
        .map(|fact| Value::of(&fact))
        .collect();
    let mut fields = (**fields).clone();
    fields.insert("facts".into(), Value::from(facts));
    Ok(Value::from(fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_op_of_the_graph_language_is_there_and_no_other() {
        let ops = Ops::stock(None);
        let declared: Vec<String> =
            deepgraph_graph::OpTable::stock().names().map(|name| name.to_string()).collect();
        assert_eq!(ops.names().collect::<Vec<_>>(), declared);
    }
}
