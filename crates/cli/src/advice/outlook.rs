//! How a run that is over could go on: asked of what the commands themselves ask, so that no advice is refused.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_engine::{LedgerView, Machine, NotResumable};
use deepgraph_graph::Bundle;
use deepgraph_protocol::{EntryBody, Map, Meter, ResumeFrom, ScopePath, Value};
use deepgraph_runtime::{Again, Clock as _, RunError, StepEnd, SystemClock, fold};
use deepgraph_store::{RunRecord, Store, Stored};

use super::remedy::Sets;
use crate::commands::fork;
use crate::models;
use crate::settings::Settings;
use crate::stored;

/// Why a further attempt would not be let go on.
#[derive(Clone, Debug, PartialEq)]
pub enum No {
    /// The engine says so.
    Engine(NotResumable),
    /// A value does not fit, or the run is a replay.
    Other,
}

/// What can be asked of a run that is over.
pub trait Outlook {
    /// Whether `resume` with these values would be let go on.
    ///
    /// # Errors
    ///
    /// Why not.
    fn resumes(&self, set: &Sets, from: ResumeFrom) -> Result<(), No>;

    /// The step from whose end on a fork with these values would start an instance anew; none where no fork would.
    fn fork_before(&self, scope: &ScopePath, set: &Sets) -> Option<String>;

    /// The configuration of its last attempt.
    fn config(&self) -> &Map;

    /// What the last model call of an instance reserved, in base units of a meter. Of an instance that ended because a
    /// call did not fit, it is what that call would have needed.
    fn last_call(&self, scope: &ScopePath, meter: Meter) -> Option<u64>;

    /// What the run used.
    fn used(&self) -> LedgerView;
}

/// A stored run.
pub struct OfRun {
    bundle: Arc<Bundle>,
    record: RunRecord,
    settings: Settings,
    rows: Vec<Stored>,
    again: Again,
    used: LedgerView,
    ends: OnceCell<Vec<StepEnd>>,
}

impl OfRun {
    /// The outlook of a stored run; none where it is not over, or its journals can not be read. Advice is no reason to
    /// fail.
    pub fn of(store: &dyn Store, record: &RunRecord, bundle: &Arc<Bundle>) -> Option<OfRun> {
        let rows = store.entries(&record.run_id, 0).ok()?;
        let again = Again::of(store, record, bundle.clone(), &BTreeMap::new(), ResumeFrom::Research).ok()?;
        let machines = fold(bundle, &rows, |_| {}).ok()?;
        let used = machines.get(&ScopePath::root()).map(Machine::ledger)?;
        let settings = Settings::of(record).ok()?;
        let (bundle, record, ends) = (bundle.clone(), record.clone(), OnceCell::new());
        Some(OfRun { bundle, record, settings, rows, again, used, ends })
    }

    fn ends(&self) -> &[StepEnd] {
        self.ends
            .get_or_init(|| stored::step_ends(&self.bundle, &self.rows, &self.record).unwrap_or_default())
    }
}

impl Outlook for OfRun {
    fn resumes(&self, set: &Sets, from: ResumeFrom) -> Result<(), No> {
        if self.settings.replay.is_some() {
            return Err(No::Other);
        }
        let now = self.again.config.iter().map(|(key, value)| (key.to_string(), value.clone()));
        let mut wanted: BTreeMap<String, Value> = now.collect();
        wanted.extend(set.iter().map(|(key, text)| (key.clone(), Value::from(text.as_str()))));
        let config = self.bundle.config_of(wanted).map_err(|_| No::Other)?;
        let settings = Settings { config: config.clone(), ..self.settings.clone() };
        models::check_prices(&self.bundle, &settings).map_err(|_| No::Other)?;
        let mut again = self.again.clone();
        (again.config, again.from) = (config, from);
        again.check(SystemClock.now()).map_err(|error| match error {
            RunError::NotResumable { why, .. } => No::Engine(why),
            _ => No::Other,
        })
    }

    fn fork_before(&self, scope: &ScopePath, set: &Sets) -> Option<String> {
        let started = self.rows.iter().find(|row| row.scope == *scope)?.seq;
        let child = scope.step()?;
        let above = |end: &&StepEnd| {
            end.scope.step().is_none_or(|parent| child.below(&parent).is_some()) && end.seq < started
        };
        let end = self.ends().iter().rfind(above)?;
        let set: Vec<String> = set.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let branch = fork::cut(&self.bundle, &self.record, &self.rows, end, &set);
        branch.is_ok().then(|| end.step.to_string())
    }

    fn config(&self) -> &Map {
        &self.again.config
    }

    fn last_call(&self, scope: &ScopePath, meter: Meter) -> Option<u64> {
        let of_scope = self.rows.iter().rev().filter(|row| row.scope == *scope);
        let mut reserved = of_scope.filter_map(|row| match (&row.entry.body, meter) {
            (EntryBody::Dispatched { reserve_tokens, request: Some(_), .. }, Meter::Tokens) => {
                Some(*reserve_tokens)
            }
            (EntryBody::Dispatched { reserve_micro_usd, request: Some(_), .. }, Meter::CostUsd) => {
                *reserve_micro_usd
            }
            _ => None,
        });
        reserved.next().filter(|n| *n > 0)
    }

    fn used(&self) -> LedgerView {
        self.used
    }
}
