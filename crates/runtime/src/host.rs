//! A program of one's own that runs graphs: everything that runs share, with defaults that work.

use std::path::Path;
use std::sync::Arc;

use deepgraph_graph::{Bundle, Diagnostics, OpTable, build, load};
use deepgraph_model::{ChatModel, ModelSettings, Models};
use deepgraph_protocol::Hidden;
use deepgraph_research::gain::Scorer;
use deepgraph_research::intent::{IntentClassifier, RuleClassifier};
use deepgraph_store::{MemoryStore, RunId, RunRecord, Store, StoreError};
use deepgraph_tools::Corpus;
use deepgraph_trace::{FoldError, Recording};

use crate::RunError;
use crate::aside::aside;
use crate::ask::{Asker, Unattended};
use crate::clock::{Clock, SystemClock};
use crate::custom::CustomOp;
use crate::folder::Folder;
use crate::launch::{Launch, Resumption};
use crate::ops::Ops;
use crate::replay::recording;
use crate::run::Runtime;
use crate::servers::Servers;
use crate::sources::{Sources, WebSource};
use crate::work::stored_bundle;

/// Runs graphs inside a tokio program: what all runs share. A clone is the same host.
///
/// Runs are tasks of the tokio runtime that they are started in. As many as one likes run at once; each has its own
/// journal, and they share the store, the models and the ops.
#[derive(Clone)]
pub struct Host {
    runtime: Arc<Runtime>,
    ops: Arc<OpTable>,
    intents: Arc<dyn IntentClassifier>,
}

/// What a [`Host`] is made of.
pub struct HostBuilder {
    store: Arc<dyn Store>,
    models: ModelSettings,
    own_models: Vec<(String, Arc<dyn ChatModel>)>,
    sources: Sources,
    scorer: Option<Arc<dyn Scorer>>,
    own_ops: Vec<CustomOp>,
    asker: Option<Arc<dyn Asker>>,
    unattended: Unattended,
    clock: Arc<dyn Clock>,
    replay: Option<Arc<Recording>>,
    intents: Arc<dyn IntentClassifier>,
}

impl Host {
    /// A host to set up. As it is, it keeps runs in memory, has the stock ops without documents and the built-in
    /// models, and lets runs wait that ask a question.
    pub fn builder() -> HostBuilder {
        HostBuilder {
            store: Arc::new(MemoryStore::new()),
            models: ModelSettings::default(),
            own_models: Vec::new(),
            sources: Sources::default(),
            scorer: None,
            own_ops: Vec::new(),
            asker: None,
            unattended: Unattended::Wait,
            clock: Arc::new(SystemClock),
            replay: None,
            intents: Arc::new(RuleClassifier),
        }
    }

    /// The ops that graphs are checked against.
    pub fn ops(&self) -> &OpTable {
        &self.ops
    }

    /// Where runs are kept.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.runtime.store
    }

    /// What finds the class of a question.
    pub fn intents(&self) -> &dyn IntentClassifier {
        &*self.intents
    }

    /// What runs are driven with.
    pub fn runtime(&self) -> &Arc<Runtime> {
        &self.runtime
    }

    /// A host of the same store, models and ops, with the tools of a graph's MCP servers as ops. Its graph is loaded
    /// again with that host: only then are its calls of these tools checked.
    pub fn with_servers(&self, servers: &Servers) -> Host {
        let Runtime { store, models, ops, clock, asker, unattended, replay } = &*self.runtime;
        let mut ops = ops.clone();
        servers.add_to(&mut ops);
        let runtime = Runtime {
            store: store.clone(),
            models: models.clone(),
            ops,
            clock: clock.clone(),
            asker: asker.clone(),
            unattended: *unattended,
            replay: replay.clone(),
        };
        Host {
            runtime: Arc::new(runtime),
            ops: Arc::new(servers.op_table(&self.ops)),
            intents: self.intents.clone(),
        }
    }

    /// Checks and compiles a built graph. Its warnings are told by `graph.load(host.ops())`.
    ///
    /// # Errors
    ///
    /// All mistakes.
    pub fn load(&self, graph: &build::Graph) -> Result<Arc<Bundle>, Diagnostics> {
        graph.load(&self.ops).map(|loaded| Arc::new(loaded.bundle))
    }

    /// Checks and compiles a graph file, with the prompts and graphs beside it that it names.
    ///
    /// # Errors
    ///
    /// All mistakes; that the file can not be read.
    pub fn load_file(&self, path: impl AsRef<Path>) -> Result<Arc<Bundle>, Diagnostics> {
        let path = path.as_ref();
        let folder = Folder::of(path);
        load(&path.to_string_lossy(), &folder, &self.ops).map(|loaded| Arc::new(loaded.bundle))
    }

    /// A run of a graph, to be given its input and started.
    pub fn run(&self, bundle: &Arc<Bundle>) -> Launch {
        Launch::new(self.clone(), bundle.clone())
    }

    /// A run of the store, to be taken up where it was left: by another process, or because it waits for an answer.
    /// The graph is the one that it was started with.
    ///
    /// # Errors
    ///
    /// There is no such run, or its graph does not compile against the ops of this host.
    pub async fn resume(&self, run: &RunId) -> Result<Resumption, RunError> {
        let record = self.record_of(run).await?;
        let ops = self.ops.clone();
        let read = self.aside(run, move || stored_bundle(&record, &ops).map(|bundle| (record, bundle)));
        let (record, bundle) = read.await?;
        Ok(Resumption::new(self.clone(), record, bundle))
    }

    /// The record of a run, which must be there.
    pub(crate) async fn record_of(&self, run: &RunId) -> Result<RunRecord, RunError> {
        let (store, of) = (self.store().clone(), run.clone());
        let read = self.aside(run, move || Ok(store.run(&of)?));
        Ok(read.await?.ok_or_else(|| StoreError::UnknownRun { run: run.clone() })?)
    }

    /// Does some work of a run where it may wait for the store.
    pub(crate) async fn aside<T: Send + 'static>(
        &self,
        run: &RunId,
        work: impl FnOnce() -> Result<T, RunError> + Send + 'static,
    ) -> Result<T, RunError> {
        aside(self.runtime.replay.is_some(), run, work).await
    }
}

impl Host {
    /// The recording of a run of the store, with these secrets taken out of it: keys of models and servers, as far as
    /// anything may have repeated them.
    ///
    /// # Errors
    ///
    /// There is no such run, its graph does not compile against the ops of this host, or its journal does not fold.
    pub async fn recording(&self, run: &RunId, hidden: &Hidden) -> Result<Recording, RunError> {
        let resumption = self.resume(run).await?;
        let (store, of, hidden) = (self.store().clone(), run.clone(), hidden.clone());
        let made = self.aside(run, move || {
            let rows = store.entries(&of, 0)?;
            let broken = |why: FoldError| RunError::Broken { run: of.to_string(), why: why.to_string() };
            recording(resumption.bundle(), resumption.record(), &rows, &hidden).map_err(broken)
        });
        made.await
    }
}

impl HostBuilder {
    /// Where runs are kept.
    pub fn store(mut self, store: impl Store + 'static) -> HostBuilder {
        self.store = Arc::new(store);
        self
    }

    /// A store that others hold as well.
    pub fn shared_store(mut self, store: Arc<dyn Store>) -> HostBuilder {
        self.store = store;
        self
    }

    /// How models of providers are reached, and what the model `scripted` answers.
    pub fn models(mut self, settings: ModelSettings) -> HostBuilder {
        self.models = settings;
        self
    }

    /// A model of one's own under a name, or under all names of a provider: `mine` answers to `mine::any` too.
    pub fn model(mut self, name: impl Into<String>, model: impl ChatModel + 'static) -> HostBuilder {
        self.own_models.push((name.into(), Arc::new(model)));
        self
    }

    /// The documents that `search` and `read` work on.
    pub fn documents(mut self, corpus: Corpus) -> HostBuilder {
        self.sources.corpus = Some(Arc::new(corpus));
        self
    }

    /// Searches and reads the web, beside the documents if there are some.
    pub fn web(mut self, web: Arc<dyn WebSource>) -> HostBuilder {
        self.sources.web = Some(web);
        self
    }

    /// What says which facts of a document are new, for limits on gain: with embeddings, for instance. Else facts are
    /// compared by hash, figures and words: [`HashedFacts`](deepgraph_research::gain::HashedFacts).
    pub fn scorer(mut self, scorer: impl Scorer + 'static) -> HostBuilder {
        self.scorer = Some(Arc::new(scorer));
        self
    }

    /// An op of one's own. It goes before a stock op of the same name.
    pub fn op(mut self, op: CustomOp) -> HostBuilder {
        self.own_ops.push(op);
        self
    }

    /// Somebody who answers the questions of runs.
    pub fn asker(mut self, asker: impl Asker + 'static) -> HostBuilder {
        self.asker = Some(Arc::new(asker));
        self
    }

    /// What becomes of questions where nobody answers them.
    pub fn unattended(mut self, what: Unattended) -> HostBuilder {
        self.unattended = what;
        self
    }

    /// The time that runs are recorded and their limits measured with; else the machine's clock. With
    /// [`TokioClock`](crate::TokioClock), the time of a run is virtual in a tokio runtime whose time is paused. A replayed
    /// run has the time of its recording.
    pub fn clock(mut self, clock: impl Clock + 'static) -> HostBuilder {
        self.clock = Arc::new(clock);
        self
    }

    /// What answers in place of models, persons and ops that reach outside: no network is needed, no key, and no
    /// documents. A run of the same graph with the same input does what the recorded one did; where it asks for
    /// something else, driving it fails with [`RunError::NotRecorded`]. The recorded input and configuration are in
    /// [`Recording::input_for`] and [`Recording::config_for`].
    pub fn replay(mut self, recording: Recording) -> HostBuilder {
        self.replay = Some(Arc::new(recording));
        self
    }

    /// What finds the class of a question, for graphs with `intents`; else the rules of [`RuleClassifier`].
    pub fn intents(mut self, classifier: impl IntentClassifier + 'static) -> HostBuilder {
        self.intents = Arc::new(classifier);
        self
    }

    /// The host.
    ///
    /// # Errors
    ///
    /// The signature of an op has mistakes.
    pub fn build(self) -> Result<Host, Diagnostics> {
        let mut models = Models::new(self.models);
        for (name, model) in self.own_models {
            models.register(name, model);
        }
        let (mut table, mut ops) = (OpTable::stock(), Ops::stock(self.sources.clone()));
        if let Some(scorer) = self.scorer {
            ops.score_with(self.sources, scorer);
        }
        for op in self.own_ops {
            op.add_to(&mut table, &mut ops)?;
        }
        let runtime = Runtime {
            store: self.store,
            models: Arc::new(models),
            ops,
            clock: self.clock,
            asker: self.asker,
            unattended: self.unattended,
            replay: self.replay,
        };
        Ok(Host { runtime: Arc::new(runtime), ops: Arc::new(table), intents: self.intents })
    }
}

#[cfg(test)]
mod tests;
