//! Models that lately could not serve, so that not each of many parallel calls runs into the same trouble.
//!
//! It is kept in memory and decides nothing but who of a route is asked, which each dispatch records.

use std::collections::BTreeMap;
use std::time::Duration;

use deepgraph_protocol::{ErrorKind, StepError};
use tokio::time::Instant;

/// How long a model is passed over that was in trouble and does not say for how long.
const USUAL: Duration = Duration::from_secs(10);

/// How long a model is passed over that was not found, or does not take what it is asked; also the longest that its own word is taken for.
const LONGEST: Duration = Duration::from_secs(300);

/// Until when models are passed over, by name.
#[derive(Debug, Default)]
pub(crate) struct Troubles(BTreeMap<String, Instant>);

impl Troubles {
    /// A model could not serve. One that was asked in place of the configured one is passed over for other failures too:
    /// it is no help then.
    pub(crate) fn note(&mut self, model: &str, in_place: bool, error: &StepError) {
        let is_no_help = in_place && error.kind.spoils_fallback();
        if !error.kind.fails_over() && !is_no_help {
            return;
        }
        let wait = match (error.kind, error.retry_after_ms) {
            // A shorter request may fit.
            (ErrorKind::ContextOverflow, _) => USUAL,
            (ErrorKind::NotFound | ErrorKind::Unauthorized | ErrorKind::InvalidRequest, _) => LONGEST,
            (_, Some(ms)) => Duration::from_millis(ms).min(LONGEST),
            (_, None) => USUAL,
        };
        self.0.insert(model.to_owned(), Instant::now() + wait);
    }

    /// A model has answered.
    pub(crate) fn is_over(&mut self, model: &str) {
        self.0.remove(model);
    }

    /// Until when a model is passed over; none: it is not.
    pub(crate) fn until(&self, model: &str) -> Option<Instant> {
        self.0.get(model).copied().filter(|until| *until > Instant::now())
    }
}
