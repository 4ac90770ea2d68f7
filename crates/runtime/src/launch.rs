//! Runs that are about to be driven: new ones, and those of the store.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_graph::{Bundle, Mismatch};
use deepgraph_protocol::{Map, ResumeFrom, StepId, Value};
use deepgraph_store::{RunId, RunRecord};
use tokio::runtime::Handle;

use crate::RunError;
use crate::again::Again;
use crate::answers;
use crate::host::Host;
use crate::intent::{Intended, with_intent};
use crate::progress::Observer;
use crate::run::NewRun;
use crate::running::Running;
use crate::work::{SetUp, Work};

/// A run of a graph that is not started yet.
pub struct Launch {
    host: Host,
    bundle: Arc<Bundle>,
    input: Map,
    config: BTreeMap<String, Value>,
    intended: Intended,
    thread: Option<String>,
    observer: Option<Box<dyn Observer>>,
}

/// A run of the store that is about to go on.
pub struct Resumption {
    host: Host,
    record: RunRecord,
    bundle: Arc<Bundle>,
    answers: Vec<(Option<StepId>, String)>,
    raised: BTreeMap<String, Value>,
    from: Option<ResumeFrom>,
    observer: Option<Box<dyn Observer>>,
}

impl Launch {
    pub(crate) fn new(host: Host, bundle: Arc<Bundle>) -> Launch {
        let (input, config) = (Map::new(), BTreeMap::new());
        Launch { host, bundle, input, config, intended: Intended::default(), thread: None, observer: None }
    }

    /// The value of an input channel.
    pub fn input(mut self, channel: &str, value: impl Into<Value>) -> Launch {
        self.input.insert(channel.into(), value.into());
        self
    }

    /// The value of a key of the configuration, in place of its default. A text is read as the type of the key wants
    /// it: `"30m"`.
    pub fn config(mut self, key: &str, value: impl Into<Value>) -> Launch {
        self.config.insert(key.to_owned(), value.into());
        self
    }

    /// The class of the question; else the host's classifier finds it.
    pub fn intent(mut self, intended: Intended) -> Launch {
        self.intended = intended;
        self
    }

    /// The conversation that the run belongs to: channels that are kept with the thread go on from its last run.
    pub fn thread(mut self, name: impl Into<String>) -> Launch {
        self.thread = Some(name.into());
        self
    }

    /// Somebody who is told of every event and preview while the run is driven.
    pub fn observer(mut self, observer: impl Observer + 'static) -> Launch {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Records the run and starts it, as a task of the tokio runtime that this is called in. The run is durable when this
    /// returns.
    ///
    /// # Errors
    ///
    /// The input or the configuration does not fit the graph; a channel can not be kept; the store fails; there is no
    /// tokio runtime. Nothing is recorded then.
    pub async fn start(self) -> Result<Running, RunError> {
        let tokio = tokio_here()?;
        let root = self.bundle.root();
        let graph = || root.name.to_string();
        let input = self.bundle.input_of(None, &self.input);
        let input = input.map_err(|wrong| RunError::Input { graph: graph(), problem: listed(&wrong) })?;
        let question = question(&self.bundle, &input);
        let intent = self.intended.choose(self.host.intents(), &self.bundle, &question)?;
        let config = with_intent(&self.bundle, intent.as_ref(), self.config);
        let config = self.bundle.config_of(config);
        let config = config.map_err(|wrong| RunError::Config { graph: graph(), problem: listed(&wrong) })?;
        let set_up =
            SetUp { input: input.clone(), config: config.clone(), thread: self.thread.clone(), intent };
        let new = NewRun {
            question,
            graph: graph(),
            bundle: self.bundle.clone(),
            input,
            config,
            settings: serde_json::to_value(&set_up).unwrap_or_default(),
            thread: self.thread,
        };
        let (runtime, run) = (self.host.runtime().clone(), RunId::new());
        let of = run.clone();
        let recorded = self.host.aside(&run, move || runtime.record_as(&of, &new).map(|()| new)).await?;
        Ok(Running::spawn(&tokio, self.host.runtime(), run, Work::Start(Box::new(recorded)), self.observer))
    }
}

impl Resumption {
    pub(crate) fn new(host: Host, record: RunRecord, bundle: Arc<Bundle>) -> Resumption {
        Resumption {
            host,
            record,
            bundle,
            answers: Vec::new(),
            raised: BTreeMap::new(),
            from: None,
            observer: None,
        }
    }

    /// What is known of the run.
    pub fn record(&self) -> &RunRecord {
        &self.record
    }

    /// The graph of the run.
    pub fn bundle(&self) -> &Arc<Bundle> {
        &self.bundle
    }

    /// An answer to the only question that is open. Where there is none, or more than one, driving the run fails with
    /// [`RunError::NotAsked`].
    pub fn answer(mut self, text: impl Into<String>) -> Resumption {
        self.answers.push((None, text.into()));
        self
    }

    /// An answer to the question of an id. Where it is not open, driving the run fails with [`RunError::NotAsked`].
    pub fn answer_to(mut self, question: &StepId, text: impl Into<String>) -> Resumption {
        self.answers.push((Some(question.clone()), text.into()));
        self
    }

    /// Of a run that is over: it goes on as its next attempt, with a key of the configuration set to another value, such
    /// as a limit that ended it. What it used and counted stays; no step that is done is paid for again, but for the
    /// report. Driving it fails with [`RunError::NotResumable`] where there is nothing to go on with, or the limit would
    /// be reached again at once.
    pub fn raise(mut self, key: &str, value: impl Into<Value>) -> Resumption {
        self.raised.insert(key.to_owned(), value.into());
        self.from.get_or_insert(ResumeFrom::Research);
        self
    }

    /// Of a run that is over: its report alone is made again, over what the research left; with [`raise`](Self::raise)
    /// by another model.
    pub fn report_again(mut self) -> Resumption {
        self.from = Some(ResumeFrom::Report);
        self
    }

    /// Somebody who is told of every event and preview, from the beginning of the run: those that happened before are
    /// told first.
    pub fn observer(mut self, observer: impl Observer + 'static) -> Resumption {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Goes on with the run, as a task of the tokio runtime that this is called in. No step that is committed is
    /// carried out again. A run that is over ends at once, as it did.
    ///
    /// # Errors
    ///
    /// There is no tokio runtime. A run that is to go on after its end is not over, or the configuration does not fit. The run was never started and its record does not say how to ([`RunError::NoSetUp`]), or
    /// it is answered.
    pub async fn start(self) -> Result<Running, RunError> {
        let tokio = tokio_here()?;
        let run = self.record.run_id.clone();
        let work = match self.from {
            None => Work::of(&self.record, self.bundle, self.answers)?,
            Some(from) => {
                answers::assigned(&run, self.answers, &[])?;
                let (store, record, bundle) = (self.host.store().clone(), self.record, self.bundle);
                let raised = self.raised;
                let again = move || Again::of(&*store, &record, bundle, &raised, from);
                Work::Again(Box::new(self.host.aside(&run, again).await?))
            }
        };
        Ok(Running::spawn(&tokio, self.host.runtime(), run, work, self.observer))
    }
}

fn tokio_here() -> Result<Handle, RunError> {
    Handle::try_current().map_err(|_| RunError::NoTokio)
}

/// What does not fit, in one sentence.
fn listed(wrong: &[Mismatch]) -> String {
    let wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
    wrong.join("; ")
}

/// What the record shows as the question: the first text that the graph is given.
fn question(bundle: &Bundle, input: &Map) -> String {
    let root = bundle.root();
    let names = root.input.iter().filter_map(|ix| root.channels.get(ix.0)).map(|channel| &channel.name);
    let mut texts = names.filter_map(|name| input.get(name)).filter_map(Value::as_str);
    texts.next().unwrap_or_default().to_owned()
}
