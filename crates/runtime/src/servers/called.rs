//! Tools of servers as ops.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use deepgraph_protocol::{ErrorKind, Hidden, Map, Source, StepError, Value};
use deepgraph_research::gain::Scorer;
use deepgraph_research::passage::render;
use deepgraph_tools::mcp::{Said, Server, passages};

use crate::{CallContext, Op, scored};

/// The longest time of a call that has no timeout of its own.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// A tool of a server.
pub(super) struct Called {
    pub server: Server,
    pub takes_key: bool,
    pub tool: String,
    pub scorer: Arc<dyn Scorer>,
    pub secrets: Hidden,
    pub timeout: Option<Duration>,
    pub allowance: Option<Arc<Allowance>>,
}

#[async_trait]
impl Op for Called {
    async fn call(&self, input: Map, context: &CallContext) -> Result<Value, StepError> {
        if let Some(allowance) = &self.allowance {
            allowance.take()?;
        }
        // Whoever calls bounds the time: what is dropped is given up, and the server is told.
        match self.server.call_under(context.idempotency_key(), &self.tool, &input, Duration::MAX).await {
            Ok(answer) => self.result(&input, self.secrets.value(&answer), context.writes()).await,
            Err(error) => Err(StepError { message: self.secrets.text(&error.message), ..error }),
        }
    }

    fn takes_key(&self) -> bool {
        self.takes_key
    }

    fn default_timeout(&self) -> Option<Duration> {
        Some(self.timeout.unwrap_or(DEFAULT_TIMEOUT))
    }
}

impl Called {
    /// `{text, data, sources, facts}`. What was written is no source, so nothing of it is cited.
    async fn result(&self, input: &Map, answer: Value, writes: bool) -> Result<Value, StepError> {
        let said = Said {
            server: self.server.name(),
            tool: &self.tool,
            arguments: input,
            resource: answer.get("resource").and_then(Value::as_str),
            text: answer.text("text"),
        };
        let (sources, rest) = if writes { (Vec::new(), "") } else { passages(&said) };
        let text = if sources.is_empty() { said.text.to_owned() } else { shown(&sources, rest) };
        let by_id = |source: &Source| (source.id.clone(), Value::of(source));
        let sources = Value::record(sources.iter().map(by_id));
        let facts = scored::facts_of(sources.clone(), self.scorer.clone()).await?;
        let data = answer.get("data").cloned().unwrap_or_default();
        Ok(Value::record([
            ("text", Value::from(text)),
            ("data", data),
            ("sources", sources),
            ("facts", facts),
        ]))
    }
}

/// Passages with their ids, and what is too long to be cited, marked so that none of its lines passes for a source.
fn shown(sources: &[Source], rest: &str) -> String {
    let mut text = render(&sources.iter().collect::<Vec<_>>());
    if !rest.is_empty() {
        text.push_str("\nWhat follows is too long to be cited:\n");
        rest.lines().for_each(|line| text.extend(["| ", line, "\n"]));
    }
    text
}

/// How many calls of a server's tools are left in a run.
#[derive(Debug)]
pub(super) struct Allowance {
    server: String,
    most: u64,
    made: AtomicU64,
}

impl Allowance {
    /// Of one of the user's own servers.
    pub(super) fn of(server: &str, most: u64) -> Allowance {
        Allowance { server: server.to_owned(), most, made: AtomicU64::new(0) }
    }

    fn take(&self) -> Result<(), StepError> {
        if self.made.fetch_add(1, Ordering::SeqCst) < self.most {
            return Ok(());
        }
        let message = format!(
            "the MCP server \"{}\" was called {} times in this run, the most that services.mcp.{}.max_calls allows",
            self.server, self.most, self.server
        );
        Err(StepError::new(ErrorKind::Refused, message).unsent())
    }
}

/// A tool of a server that the configuration does not have any more, or can not be used.
pub(super) struct Unusable {
    pub why: String,
}

#[async_trait]
impl Op for Unusable {
    async fn call(&self, _: Map, _: &CallContext) -> Result<Value, StepError> {
        Err(StepError::new(ErrorKind::Unavailable, self.why.clone()).unsent())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_beyond_the_allowance_are_refused_and_not_made() {
        let allowance = Allowance::of("files", 2);
        assert!(allowance.take().is_ok() && allowance.take().is_ok());
        let error = allowance.take().unwrap_err();
        assert_eq!((error.kind, error.unsent), (ErrorKind::Refused, true));
        assert!(error.message.contains("2 times") && error.message.contains("services.mcp.files.max_calls"));
    }
}
