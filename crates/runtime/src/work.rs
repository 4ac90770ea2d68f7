//! What there is to do with a run: start it, or go on with it.

use std::sync::Arc;

use deepgraph_graph::{Bundle, BundleSource, OpTable};
use deepgraph_protocol::{IntentChoice, Map, StepId};
use deepgraph_store::RunRecord;
use serde::{Deserialize, Serialize};

use crate::RunError;
use crate::again::Again;
use crate::answers;
use crate::fork::forked_from;
use crate::run::NewRun;

/// What is done with a run that is recorded.
#[derive(Clone, Debug)]
pub enum Work {
    /// It is started.
    Start(Box<NewRun>),
    /// It goes on.
    Resume {
        /// Its graph.
        bundle: Arc<Bundle>,
        /// Answers to its questions, each to the one of an id or to the only one that is open.
        answers: Vec<(Option<StepId>, String)>,
    },
    /// It was over and goes on, as its next attempt.
    Again(Box<Again>),
}

/// How a run was set up, kept in the settings of its record: the process may end between the record and the first
/// entry.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SetUp {
    pub(crate) input: Map,
    pub(crate) config: Map,
    #[serde(default)]
    pub(crate) thread: Option<String>,
    /// The class of its question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) intent: Option<IntentChoice>,
}

impl Work {
    /// What there is to do with a run of the store: it goes on where it was left, and is started where that was before
    /// its first entry.
    ///
    /// # Errors
    ///
    /// A run that has no entry: [`RunError::NoSetUp`]; [`RunError::NotAsked`] where there are answers.
    pub fn of(
        record: &RunRecord,
        bundle: Arc<Bundle>,
        answers: Vec<(Option<StepId>, String)>,
    ) -> Result<Work, RunError> {
        if record.last_event_seq > 0 {
            return Ok(Work::Resume { bundle, answers });
        }
        if let Some(from) = forked_from(record) {
            return Err(RunError::BrokenFork { run: record.run_id.to_string(), of: from.run.to_string() });
        }
        // It has asked nothing yet.
        answers::assigned(&record.run_id, answers, &[])?;
        NewRun::of_record(record, bundle).map(|new| Work::Start(Box::new(new)))
    }
}

impl NewRun {
    /// A recorded run as it was to be started, from the settings in its record.
    ///
    /// # Errors
    ///
    /// [`RunError::NoSetUp`]: they do not hold its input and its configuration, or these can not be read.
    fn of_record(record: &RunRecord, bundle: Arc<Bundle>) -> Result<NewRun, RunError> {
        let SetUp { input, config, thread, .. } = SetUp::deserialize(&record.settings)
            .map_err(|why| RunError::NoSetUp { run: record.run_id.to_string(), why: why.to_string() })?;
        Ok(NewRun {
            question: record.question.clone(),
            graph: record.graph.clone(),
            bundle,
            input,
            config,
            settings: record.settings.clone(),
            thread,
        })
    }
}

/// The graph of a stored run, compiled again from the texts in its record.
///
/// # Errors
///
/// They can not be read ([`RunError::NoStoredGraph`]), or do not compile against these ops
/// ([`RunError::StoredGraph`]).
pub fn stored_bundle(record: &RunRecord, ops: &OpTable) -> Result<Arc<Bundle>, RunError> {
    let run = record.run_id.to_string();
    let source = BundleSource::deserialize(&record.bundle)
        .map_err(|why| RunError::NoStoredGraph { run: run.clone(), why: why.to_string() })?;
    Bundle::from_source(&source, ops)
        .map(Arc::new)
        .map_err(|mistakes| RunError::StoredGraph { run, mistakes })
}
