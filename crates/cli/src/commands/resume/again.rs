//! `deepgraph resume` of a run that is over: its next attempt.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use deepgraph_graph::Bundle;
use deepgraph_protocol::{ResumeFrom, Value};
use deepgraph_runtime::{Again, Clock, RunError, SystemClock, Work};
use deepgraph_store::{RunRecord, Store};

use crate::advice::outlook::OfRun;
use crate::advice::remedy::{self, Sets};
use crate::config::{self, Environment, Wanted};
use crate::drive::Driver;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::settings::Settings;
use crate::{models, session, stored};

/// What a further attempt is to do otherwise.
#[derive(Clone, Debug, Args)]
pub struct AgainOptions {
    /// Of a run that is over: set one value of the configuration, such as the limit that ended it, and go on where it
    /// stopped; may be repeated
    #[arg(long, value_name = "KEY=VALUE", conflicts_with_all = ["answer", "graph"])]
    set: Vec<String>,
    /// Of a run that is over: go on with this model in every stage: sets each key called model or ending in _model
    #[arg(long, value_name = "PROVIDER::NAME", conflicts_with_all = ["answer", "graph"])]
    model: Option<String>,
    /// Of a run that is over: go on with this model where the one of a stage can not serve; may be repeated
    #[arg(long, value_name = "PROVIDER::NAME", conflicts_with_all = ["answer", "graph"])]
    fallback: Vec<String>,
    /// Of a run that is over: go on with its research where it stopped, or make its report alone again
    #[arg(long, value_name = "STAGE", conflicts_with_all = ["answer", "graph"])]
    from: Option<From>,
}

/// Where a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum From {
    /// With the research, where it stopped
    Research,
    /// With the report alone, over what the research found
    Report,
}

impl AgainOptions {
    /// Whether a further attempt is wanted.
    pub fn is_wanted(&self) -> bool {
        !self.set.is_empty() || self.model.is_some() || !self.fallback.is_empty() || self.from.is_some()
    }

    fn from(&self) -> ResumeFrom {
        match self.from {
            Some(From::Report) => ResumeFrom::Report,
            Some(From::Research) | None => ResumeFrom::Research,
        }
    }

    /// Lets the run go on.
    ///
    /// # Errors
    ///
    /// It is not over, has nothing to go on with, or would end again at once; the configuration does not fit; driving it
    /// failed.
    pub fn go_on(
        &self,
        driver: &Driver,
        store: &dyn Store,
        record: &RunRecord,
        bundle: &Arc<Bundle>,
        mut settings: Settings,
        own: Option<&Path>,
    ) -> Result<ExitStatus, CliError> {
        let run = record.run_id.to_string();
        if !record.status.is_terminal() || stored::broke_off(bundle, store, record)? {
            return Err(CliError::NotOverYet { run, status: record.status.name() });
        }
        if let Some(recording) = settings.replay {
            return Err(CliError::Replay { run, recording });
        }
        if driver.records() {
            return Err(CliError::RecordsOneAttempt { run });
        }
        let held = driver.hold(&record.run_id)?;
        self.put_into(bundle, &mut settings)?;
        models::check_prices(bundle, &settings)?;
        // A key that was taken away is to have no value any more.
        let value = |key: &str| settings.config.get(key).cloned().unwrap_or(Value::Null);
        let set = bundle.config.keys().map(|key| (key.to_string(), value(key))).collect();
        let mut again = Again::of(store, record, bundle.clone(), &set, self.from())?;
        again
            .check(SystemClock.now())
            .map_err(|error| refused(error, store, record, bundle, &self.set, self.from()))?;
        let of_servers = driver.servers(bundle, &settings, own)?;
        let ready = driver.ready(bundle, &settings)?;
        // What the new models need is kept out of all that is written of the run.
        let used = models::keys_in_use(bundle, &settings);
        if let Some(keys) = &mut settings.keys {
            keys.extend(used);
        }
        again.settings = settings.to_record();
        session::with(|session| {
            session.prepare(bundle, &of_servers)?;
            driver.drive(session, held, ready, &record.run_id, bundle, Work::Again(Box::new(again)))
        })
    }

    /// The values that are given, over those that the run had.
    fn put_into(&self, bundle: &Bundle, settings: &mut Settings) -> Result<(), CliError> {
        let before: BTreeMap<_, _> =
            settings.config.iter().map(|(key, value)| (key.to_string(), value.clone())).collect();
        let wanted = Wanted {
            set: self.set.clone(),
            model: self.model.clone(),
            fallbacks: self.fallback.clone(),
            recorded: Some(before),
            ..Wanted::default()
        };
        let config = config::effective(bundle, &wanted, &Environment::new())?;
        for (key, origin) in config.origins {
            if !matches!(origin, config::Origin::Recording | config::Origin::Default) {
                settings.origins.insert(key, origin);
            }
        }
        settings.config = config.values;
        if settings.origins.contains_key(config::fallbacks::KEY) && !config.fallbacks.is_empty() {
            settings.fallback_models = config.fallbacks;
        }
        Ok(())
    }
}

/// A refusal with a command that would not be refused.
fn refused(
    error: RunError,
    store: &dyn Store,
    record: &RunRecord,
    bundle: &Arc<Bundle>,
    set: &[String],
    from: ResumeFrom,
) -> CliError {
    let RunError::NotResumable { run, .. } = &error else { return error.into() };
    let given = set.iter().filter_map(|text| config::read_setting(text).ok());
    let given: Sets = given.map(|(key, value)| (key, value.to_owned())).collect();
    let command = OfRun::of(store, record, bundle).and_then(|outlook| {
        let goes_on = |from| remedy::settled(&outlook, bundle, given.clone(), from).map(|sets| (sets, from));
        goes_on(from).or_else(|| goes_on(ResumeFrom::Report))
    });
    let hint = match command {
        Some((sets, from)) => format!("what would be let go on: {}", remedy::resume(run, &sets, from)),
        None => format!("how it ended, and what else helps: deepgraph show {run}"),
    };
    CliError::NotResumable { why: error.to_string(), hint }
}
