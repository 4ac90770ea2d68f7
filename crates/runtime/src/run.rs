//! Starting, resuming and driving a run: the public face.

use std::sync::Arc;

use deepgraph_engine::Machine;
use deepgraph_graph::{Bundle, GraphIx};
use deepgraph_model::Models;
use deepgraph_protocol::{EntryBody, Exit, Map, RunStatus, ScopeEnd, ScopePath, Started, StepId, Value};
use deepgraph_store::{RunId, RunRecord, RunUpdate, Store};
use deepgraph_trace::Recording;
use tokio::sync::mpsc;

use crate::RunError;
use crate::aside::aside;
use crate::ask::{Asker, Question, Unattended};
use crate::clock::Clock;
use crate::control::{Cancel, Control};
use crate::driver::{Driver, Stop};
use crate::ops::Ops;
use crate::persist;
use crate::progress::Observer;
use crate::resume::{Folded, Live};
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
    /// Records a run and returns its id; nothing is driven yet. It is durable then: this waits for the store, so a task
    /// calls it under [`spawn_blocking`](tokio::task::spawn_blocking).
    ///
    /// # Errors
    ///
    /// [`RunError::NoKey`]: a channel can not be kept; the store fails. Nothing is recorded then.
    pub fn record(&self, new: &NewRun) -> Result<RunId, RunError> {
        let run = RunId::new();
        self.record_as(&run, new)?;
        Ok(run)
    }

    /// Records a run under this id.
    pub(crate) fn record_as(&self, run: &RunId, new: &NewRun) -> Result<(), RunError> {
        // Nothing of a replay is kept for later runs.
        if self.replay.is_none() {
            persist::keys(&new.bundle, &new.input, new.thread.as_deref())?;
        }
        let bundle = serde_json::to_value(&new.bundle.source).unwrap_or_default();
        let at = self.clock.now();
        let record =
            RunRecord::queued(run.clone(), &new.question, &new.graph, at, bundle, new.settings.clone());
        Ok(self.store.create_run(&record)?)
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
        let is_further = matches!(work, Work::Again(_));
        let mut driver = match work {
            Work::Start(new) => self.start(run, &new, previews).await?,
            Work::Resume { bundle, answers } => self.resume(run, bundle, answers, previews, observer).await?,
            Work::Again(again) => self.again(run, *again, previews, observer).await?,
        };
        let cancel = match cancel {
            Cancel::No if !is_further => driver.asked_before().await?,
            how => how,
        };
        match cancel {
            Cancel::No => driver.reopen(),
            how => driver.cancel_first(how, observer).await?,
        }
        self.finish(driver, control, observer, received).await
    }

    async fn start(
        &self,
        run: &RunId,
        new: &NewRun,
        previews: mpsc::UnboundedSender<(StepId, String)>,
    ) -> Result<Driver<'_>, RunError> {
        let (input, config) = (Arc::new(new.input.clone()), Arc::new(new.config.clone()));
        let graph = new.bundle.root().path.clone();
        let mut started = Started::first(graph, input, config, new.bundle.hash.clone());
        let (store, of) = (self.store.clone(), run.clone());
        let (bundle, thread, in_replay) = (new.bundle.clone(), new.thread.clone(), self.replay.is_some());
        let claimed = aside(in_replay, run, move || {
            let epoch = store.claim(&of)?;
            // Nothing of a replay is kept for later runs.
            if !in_replay {
                persist::recall(&*store, &bundle, thread.as_deref(), &mut started)?;
            }
            Ok((epoch, started))
        });
        let (epoch, mut started) = claimed.await?;
        let mut driver = Driver::new(self, run.clone(), epoch, new.bundle.clone(), previews);
        let root = ScopePath::root();
        let machine = Machine::new(new.bundle.clone(), GraphIx(0), root.clone());
        driver.machines.insert(root.clone(), Live { machine, position: 0 });
        if let Some(replay) = &driver.replay {
            started.persisted = replay.kept().clone();
        }
        driver.keys = started.keys.clone();
        driver.commit_later(&root, EntryBody::Started(started));
        Ok(driver)
    }

    pub(crate) async fn resume(
        &self,
        run: &RunId,
        bundle: Arc<Bundle>,
        answers: Vec<(Option<StepId>, String)>,
        previews: mpsc::UnboundedSender<(StepId, String)>,
        observer: &mut dyn Observer,
    ) -> Result<Driver<'_>, RunError> {
        let (store, of) = (self.store.clone(), run.clone());
        let claimed = aside(self.replay.is_some(), run, move || {
            let mut folded = Folded::read(&*store, &of, &bundle)?;
            if folded.machines.is_empty() {
                return Err(RunError::NotStarted { run: of.to_string() });
            }
            let answers = folded.assigned(answers)?;
            let epoch = store.claim(&of)?;
            // Whoever drove it may have written until then.
            folded.catch_up(&*store)?;
            Ok((folded, epoch, answers))
        });
        let (folded, epoch, answers) = claimed.await?;
        let mut driver = self.take_up(folded, epoch, previews, observer);
        driver.answers = answers;
        Ok(driver)
    }

    /// A driver of a run as it was left.
    pub(crate) fn take_up(
        &self,
        folded: Folded,
        epoch: u64,
        previews: mpsc::UnboundedSender<(StepId, String)>,
        observer: &mut dyn Observer,
    ) -> Driver<'_> {
        let mut driver = Driver::new(self, folded.run, epoch, folded.bundle, previews);
        for told in &folded.told {
            driver.tally.note(&told.event);
            observer.told(told);
        }
        (driver.machines, driver.keys) = (folded.machines, folded.keys);
        driver.not_before(folded.at);
        driver.is_cancelled_already();
        driver
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
                // With the steps of the last commit, which came too late for its own update.
                driver.record(&driver.tally.update(RunStatus::AwaitingInput)).await?;
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
