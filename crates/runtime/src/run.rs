//! Starting, resuming and driving a run: the public face.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_engine::Machine;
use deepgraph_graph::{Bundle, GraphIx};
use deepgraph_model::Models;
use deepgraph_protocol::{EntryBody, Exit, Map, RunStatus, ScopeEnd, ScopePath, Started, StepId, Value};
use deepgraph_store::{RunId, RunRecord, RunUpdate, Store};
use deepgraph_trace::Recording;
use tokio::sync::mpsc;

use crate::RunError;
use crate::answers::{self, open_questions};
use crate::ask::{Asker, Question, Unattended};
use crate::clock::Clock;
use crate::control::{Cancel, Control};
use crate::driver::{Driver, Stop};
use crate::ops::Ops;
use crate::persist;
use crate::progress::Observer;
use crate::resume::{Live, fold, fold_live};
use crate::work::Work;

/// What runs are driven with.
pub struct Runtime {
    /// Where journals and records are kept.
    pub store: Arc<dyn Store>,
    /// The models.
    pub models: Arc<Models>,
    /// The ops.
    pub ops: Ops,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Who answers questions.
    pub asker: Option<Arc<dyn Asker>>,
    /// What becomes of questions when nobody answers them here.
    pub unattended: Unattended,
    /// What answers in place of models, persons and ops that reach outside; none: these themselves. The clock of a
    /// replayed run begins when the recorded run did.
    pub replay: Option<Arc<Recording>>,
}

/// A run that is to be started.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// The question, for the record.
    pub question: String,
    /// The graph as the user named it, for the record.
    pub graph: String,
    /// The graph.
    pub bundle: Arc<Bundle>,
    /// The root's input.
    pub input: Map,
    /// The effective configuration.
    pub config: Map,
    /// What a resume needs to set the same things up again (models, documents), as the caller likes it. A run that was
    /// recorded and never started is started from the fields `input`, `config` and `thread` in it, see [`Work::of`].
    pub settings: serde_json::Value,
    /// The conversation that it belongs to: channels with `persist: thread` go on from its last run.
    pub thread: Option<String>,
}

/// How driving came to an end.
#[derive(Debug)]
pub enum Ended {
    /// The run is over.
    Over(Box<Outcome>),
    /// The run waits for answers.
    Waiting(Vec<Question>),
}

/// A run that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Its status.
    pub status: RunStatus,
    /// How the root ended, and what it handed up.
    pub end: ScopeEnd,
}

impl Ended {
    /// How the run ended, where it is over.
    pub fn outcome(self) -> Option<Outcome> {
        if let Ended::Over(outcome) = self { Some(*outcome) } else { None }
    }

    /// The questions that it waits for; none where it is over.
    pub fn questions(&self) -> &[Question] {
        if let Ended::Waiting(questions) = self { questions } else { &[] }
    }
}

impl Outcome {
    /// The text of an output channel; "" where it holds none.
    pub fn text(&self, channel: &str) -> &str {
        self.end.output.get(channel).and_then(Value::as_str).unwrap_or("")
    }

    /// How all instances ended: the root, then those below it in delegation order.
    pub fn exits(&self) -> impl Iterator<Item = &Exit> {
        std::iter::once(&self.end.exit).chain(&self.end.children)
    }
}

impl Runtime {
    /// Records a run and returns its id; nothing is driven yet.
    ///
    /// # Errors
    ///
    /// [`RunError::NoKey`]: a channel can not be kept; the store fails. Nothing is recorded then.
    pub fn record(&self, new: &NewRun) -> Result<RunId, RunError> {
        // Nothing of a replay is kept for later runs.
        if self.replay.is_none() {
            persist::keys(&new.bundle, &new.input, new.thread.as_deref())?;
        }
        let run = RunId::new();
        let bundle = serde_json::to_value(&new.bundle.source).unwrap_or_default();
        let at = self.clock.now();
        let record =
            RunRecord::queued(run.clone(), &new.question, &new.graph, at, bundle, new.settings.clone());
        self.store.create_run(&record)?;
        Ok(run)
    }

    /// Does with a recorded run what there is to do: it is driven from its start, or goes on where it was left. Then its
    /// journals are folded, the steps that were open are sent out again, and no committed step is carried out a second
    /// time.
    ///
    /// # Errors
    ///
    /// [`RunError::NotAsked`]: an answer is for a question that is not open; whoever drives the run goes on then.
    /// [`RunError::NotStarted`]; [`RunError::NotRecorded`]; the journals do not fold; the store fails.
    pub async fn drive(
        &self,
        run: &RunId,
        work: Work,
        control: Control,
        observer: &mut dyn Observer,
    ) -> Result<Ended, RunError> {
        self.drive_under(run, work, Cancel::No, control, observer).await
    }

    /// The same for a run that is cancelled before anything of it is carried out, unless that is [`Cancel::No`].
    pub(crate) async fn drive_under(
        &self,
        run: &RunId,
        work: Work,
        cancel: Cancel,
        control: Control,
        observer: &mut dyn Observer,
    ) -> Result<Ended, RunError> {
        let (previews, received) = mpsc::unbounded_channel();
        let mut driver = match work {
            Work::Start(new) => self.start(run, &new, previews)?,
            Work::Resume { bundle, answers } => self.resume(run, bundle, answers, previews, observer)?,
            Work::Again(again) => self.again(run, *again, previews, observer)?,
        };
        match cancel {
            Cancel::No => driver.reopen(),
            how => driver.cancel_first(how, observer).await?,
        }
        self.finish(driver, control, observer, received).await
    }

    fn start(
        &self,
        run: &RunId,
        new: &NewRun,
        previews: mpsc::UnboundedSender<(StepId, String)>,
    ) -> Result<Driver<'_>, RunError> {
        let epoch = self.store.claim(run)?;
        let mut driver = Driver::new(self, run.clone(), epoch, new.bundle.clone(), previews);
        let root = ScopePath::root();
        let machine = Machine::new(new.bundle.clone(), GraphIx(0), root.clone());
        driver.machines.insert(root.clone(), Live { machine, position: 0 });
        let (input, config) = (Arc::new(new.input.clone()), Arc::new(new.config.clone()));
        let graph = new.bundle.root().path.clone();
        let mut started = Started::first(graph, input, config, new.bundle.hash.clone());
        match &driver.replay {
            // Nothing of a replay is kept for later runs.
            Some(replay) => started.persisted = replay.kept().clone(),
            None => persist::recall(&*self.store, &new.bundle, new.thread.as_deref(), &mut started)?,
        }
        driver.keys = started.keys.clone();
        driver.commit_later(&root, EntryBody::Started(started));
        Ok(driver)
    }

    pub(crate) fn resume(
        &self,
        run: &RunId,
        bundle: Arc<Bundle>,
        answers: Vec<(Option<StepId>, String)>,
        previews: mpsc::UnboundedSender<(StepId, String)>,
        observer: &mut dyn Observer,
    ) -> Result<Driver<'_>, RunError> {
        let answers = self.assigned(run, &bundle, answers)?;
        let epoch = self.store.claim(run)?;
        let rows = self.store.entries(run, 0)?;
        if rows.is_empty() {
            return Err(RunError::NotStarted { run: run.to_string() });
        }
        let mut driver = Driver::new(self, run.clone(), epoch, bundle.clone(), previews);
        driver.answers = answers;
        driver.keys = rows.iter().find_map(|row| keys_of(&row.entry.body)).unwrap_or_default();
        let tally = &mut driver.tally;
        let machines = fold_live(&bundle, &rows, &mut |told| {
            tally.note(&told.event);
            observer.told(&told);
        });
        driver.machines = machines.map_err(|graph| RunError::UnknownGraph { run: run.to_string(), graph })?;
        if let Some(row) = rows.last() {
            driver.not_before(row.entry.at);
        }
        driver.is_cancelled_already();
        Ok(driver)
    }

    /// Which open question each answer is for.
    fn assigned(
        &self,
        run: &RunId,
        bundle: &Arc<Bundle>,
        answers: Vec<(Option<StepId>, String)>,
    ) -> Result<BTreeMap<StepId, String>, RunError> {
        if answers.is_empty() {
            return Ok(BTreeMap::new());
        }
        let rows = self.store.entries(run, 0)?;
        let machines = fold(bundle, &rows, |_| {})
            .map_err(|graph| RunError::UnknownGraph { run: run.to_string(), graph })?;
        answers::assigned(run, answers, &open_questions(machines.values()))
    }

    async fn finish(
        &self,
        mut driver: Driver<'_>,
        mut control: Control,
        observer: &mut dyn Observer,
        mut previews: mpsc::UnboundedReceiver<(StepId, String)>,
    ) -> Result<Ended, RunError> {
        let stop = match driver.drive(&mut control, observer, &mut previews).await {
            // Nobody can go on with it: it is over.
            Err(error @ RunError::NotRecorded { .. }) => {
                driver.record(&RunUpdate { status: Some(RunStatus::Failed), ..RunUpdate::default() }).await?;
                return Err(error);
            }
            stop => stop?,
        };
        match stop {
            Stop::Waiting(questions) => {
                driver
                    .record(&RunUpdate { status: Some(RunStatus::AwaitingInput), ..RunUpdate::default() })
                    .await?;
                Ok(Ended::Waiting(questions))
            }
            Stop::Over(end) => {
                let exit = &end.exit;
                let status = RunStatus::of_ended(&exit.reason, exit.class, exit.findings, end.report, false);
                let mut update = driver.over(status, &end);
                persist::leave(&driver.keys, &end, &mut update);
                driver.record(&update).await?;
                let outcome = Outcome { status, end: *end };
                if status == RunStatus::Exhausted {
                    observer.exhausted(&driver.run, &outcome);
                }
                Ok(Ended::Over(Box::new(outcome)))
            }
        }
    }
}

/// The keys of the channels that a run keeps, from its first entry.
fn keys_of(entry: &EntryBody) -> Option<BTreeMap<Arc<str>, Arc<str>>> {
    if let EntryBody::Started(started) = entry { Some(started.keys.clone()) } else { None }
}
