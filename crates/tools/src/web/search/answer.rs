//! What a search brought.

use deepgraph_protocol::{Fee, Hit, StepError};

use super::engine::Engine;
use super::fees::Told;

/// What a search brought.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchAnswer {
    /// The pages, best first. `url` can be fetched, `document` is the canonical URL, `text` is the snippet, `found` names
    /// the engines, `score` is that of reciprocal rank fusion. `source` is empty: what was not read can not be cited.
    pub hits: Vec<Hit>,
    /// What a reader of the answer should know: what could not be filtered, what was cut, which engines do not fit.
    pub notes: Vec<String>,
    /// The engines that failed. Where all did, the search did.
    pub failed: Vec<EngineFailure>,
    /// What the search cost.
    pub fee: Fee,
}

/// An engine that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineFailure {
    /// The engine.
    pub engine: Engine,
    /// What went wrong. `unauthorized` also where an account has nothing left to pay with.
    pub error: StepError,
}

/// A result of one engine.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Found {
    /// The address, as the engine gave it.
    pub(super) url: String,
    pub(super) title: String,
    /// The snippet, as plain text.
    pub(super) text: String,
    /// ISO 8601, as far as the engine knows it: a year, a month, a day.
    pub(super) date: Option<String>,
}

/// The answer of one engine.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Answered {
    /// Best first.
    pub(super) found: Vec<Found>,
    pub(super) notes: Vec<String>,
    /// What it said that it charged.
    pub(super) told: Option<Told>,
}

impl Answered {
    pub(super) fn of(found: Vec<Found>) -> Answered {
        Answered { found, notes: Vec::new(), told: None }
    }
}
