//! The time of a call: what the graph says, else what the op says.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use deepgraph_protocol::{Map, StepError, Value};
use deepgraph_runtime::{CallContext, Op};

use super::world::{Slow, World};
use crate::support::graph;

/// An op that never answers, and knows how long it is to be waited for.
struct Endless;

#[async_trait]
impl Op for Endless {
    async fn call(&self, _: Map, _: &CallContext) -> Result<Value, StepError> {
        std::future::pending().await
    }

    fn default_timeout(&self) -> Option<Duration> {
        Some(Duration::from_millis(30))
    }
}

#[tokio::test]
async fn an_op_has_its_own_timeout_where_the_graph_gives_none() {
    let bundle = graph(
        "deepgraph: 1
state: {question: string, said: {type: [string], reduce: append}}
input: [question]
output: [said]
start: own
nodes:
  own:
    call: search
    input: {query: question}
    retry: 1
    on_error: {update: {said: error.message}, to: given}
  given:
    call: search
    input: {query: question}
    retry: 1
    timeout: 60ms
    on_error: {update: {said: error.message}}
",
    );
    let mut world = World::new(&bundle, Slow::new(Vec::new(), 1, Duration::ZERO));
    world.runtime.ops.add("search", Arc::new(Endless));
    let (_, outcome, _) = world.run(&[]).await;
    let said = outcome.end.output.get("said").map(Value::to_json_text);
    assert_eq!(said.as_deref(), Some(r#"["no answer within 0.03 s","no answer within 0.06 s"]"#));
}
