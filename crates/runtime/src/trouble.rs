//! Models that lately could not serve, so that not each of many parallel calls runs into the same trouble.
//!
//! It is kept in memory and decides nothing but who of a route is asked, which each dispatch records.

use std::collections::BTreeMap;
use std::time::Duration;

use deepgraph_protocol::{ErrorKind, StepError};
use tokio::time::Instant;

/// How long a model is passed over that was in trouble and does not say for how long.
const USUAL: Duration = Duration::from_secs(10);

/// How long a model is passed over that was not found; also the longest that its own word is taken for.
const LONGEST: Duration = Duration::from_secs(300);

/// Until when models are passed over, by name.
#[derive(Debug, Default)]
pub(crate) struct Troubles(BTreeMap<String, Instant>);

impl Troubles {
    /// A model could not serve.
    pub(crate) fn note(&mut self, model: &str, error: &StepError) {
        if !error.kind.fails_over() {
            return;
        }
        let wait = match (error.kind, error.retry_after_ms) {
            (ErrorKind::NotFound, _) => LONGEST,
            (_, Some(ms)) => Duration::from_millis(ms).min(LONGEST),
            (_, None) => USUAL,
        };
        self.0.insert(model.to_owned(), Instant::now() + wait);
    }

    /// A model has answered.
    pub(crate) fn is_over(&mut self, model: &str) {
        self.0.remove(model);
    }

    /// Whether a model is passed over now.
    pub(crate) fn is_in_trouble(&self, model: &str) -> bool {
        self.0.get(model).is_some_and(|until| *until > Instant::now())
    }
}
