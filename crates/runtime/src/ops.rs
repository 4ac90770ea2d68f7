//! The ops that graphs can call.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use deepgraph_protocol::{ErrorKind, Fee, Map, StepError, Value};
use deepgraph_research::gain::{HashedFacts, Scorer};

use crate::call::CallContext;
use crate::scored::{FactsOp, ReadOp};
use crate::sources::{SearchOp, Sources};

/// Something that a graph can call by name: pure work, or work on the outside.
#[async_trait]
pub trait Op: Send + Sync {
    /// Carries one call out. Dropping the future gives it up.
    ///
    /// `input` has the fields that the op's signature declares; fields that are null were left out. The result
    /// is the record that the signature declares. `context` tells which call it is, with its idempotency key.
    async fn call(&self, input: Map, context: &CallContext) -> Result<Value, StepError>;

    /// Whether [`finish`](Op::finish) works on what `call` brought. Then `call` does not get the fields that only graphs
    /// give (`given` of the signature), and what it brings is what `cache` keeps: a call that is equal but for these
    /// fields uses it again.
    fn finishes(&self) -> bool {
        false
    }

    /// The result, made of what `call` brought and the fields that only graphs give. It depends on nothing else.
    async fn finish(&self, brought: Value, given: Map) -> Result<Value, StepError> {
        drop(given);
        Ok(brought)
    }

    /// Whether calls are made under their idempotency key, with a service that does nothing twice that comes under the
    /// same key. Of an op that writes, a call whose outcome was lost is then made again under its key; else it never
    /// is.
    fn takes_key(&self) -> bool {
        false
    }

    /// What a call with this input costs outside at most, before it is made; none: nothing. It is reserved, so that a limit
    /// on money is hard: a call that does not fit is not made, and neither is one of unknown price where money is
    /// bounded. What it did cost is told with [`CallContext::charge`]. `input` is that of [`call`](Op::call).
    fn fee(&self, input: &Map) -> Option<Fee> {
        let _ = input;
        None
    }

    /// The longest time of a call for which the graph gives no `timeout`; none: unbounded.
    fn default_timeout(&self) -> Option<Duration> {
        None
    }
}

/// Ops by name.
#[derive(Clone)]
pub struct Ops {
    by_name: BTreeMap<String, Arc<dyn Op>>,
    /// What says which facts are new, for ops that bring sources.
    scorer: Arc<dyn Scorer>,
}

impl Default for Ops {
    fn default() -> Ops {
        Ops { by_name: BTreeMap::new(), scorer: Arc::new(HashedFacts) }
    }
}

impl Ops {
    /// The stock ops of the graph language over these sources: documents, the web, both, or none: `search` and `read` say
    /// then that there are none.
    pub fn stock(sources: impl Into<Sources>) -> Ops {
        let sources = sources.into();
        let mut ops = Ops::default();
        for op in deepgraph_research::ops::OPS {
            ops.add(op.name, Arc::new(Pure(op.run)));
        }
        ops.add("search", Arc::new(SearchOp(sources.clone())));
        ops.score_with(sources, Arc::new(HashedFacts));
        ops
    }

    /// Puts the ops in place that say what was new, `read` and `facts`, with a scorer of one's own. Tools of servers that are
    /// added after this use it as well.
    pub fn score_with(&mut self, sources: impl Into<Sources>, scorer: Arc<dyn Scorer>) {
        self.add("read", Arc::new(ReadOp { sources: sources.into(), scorer: scorer.clone() }));
        self.add("facts", Arc::new(FactsOp { scorer: scorer.clone() }));
        self.scorer = scorer;
    }

    /// What says which facts are new.
    #[cfg(feature = "mcp")]
    pub(crate) fn scorer(&self) -> &Arc<dyn Scorer> {
        &self.scorer
    }

    /// Adds an op, or puts it in place of one of the same name.
    pub fn add(&mut self, name: impl Into<String>, op: Arc<dyn Op>) {
        self.by_name.insert(name.into(), op);
    }

    /// The op of a name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Op>> {
        self.by_name.get(name)
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }
}

impl fmt::Debug for Ops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.by_name.keys()).finish()
    }
}

/// A function of its input.
struct Pure(fn(&Map) -> Result<Value, StepError>);

#[async_trait]
impl Op for Pure {
    async fn call(&self, input: Map, _: &CallContext) -> Result<Value, StepError> {
        (self.0)(&input)
    }
}

/// Does work that takes a while beside the tasks of the program.
pub(crate) async fn beside(
    what: &str,
    work: impl FnOnce() -> Result<Value, StepError> + Send + 'static,
) -> Result<Value, StepError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(failure) => Err(StepError::new(ErrorKind::Tool, format!("{what} failed: {failure}"))),
    }
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
