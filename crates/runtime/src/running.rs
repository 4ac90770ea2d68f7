//! A run at work.

use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_protocol::StepId;
use deepgraph_store::RunId;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::RunError;
use crate::control::{Canceller, Control};
use crate::progress::{Observer, Told};
use crate::run::{Ended, NewRun, Runtime};

/// A run that is driven by a task. It goes on when this is dropped.
#[derive(Debug)]
pub struct Running {
    run: RunId,
    canceller: Canceller,
    events: mpsc::UnboundedReceiver<Told>,
    task: JoinHandle<Result<Ended, RunError>>,
}

/// What is done with a run.
pub(crate) enum Work {
    /// It is started.
    Start(Box<NewRun>),
    /// It goes on, with answers to its questions.
    Resume(Arc<Bundle>, Vec<(Option<StepId>, String)>),
}

impl Running {
    pub(crate) fn spawn(
        tokio: &Handle,
        runtime: &Arc<Runtime>,
        run: RunId,
        work: Work,
        observer: Option<Box<dyn Observer>>,
    ) -> Running {
        let (canceller, control) = Control::new();
        let (sender, events) = mpsc::unbounded_channel();
        let mut observer = Both { events: sender, own: observer };
        let (runtime, id) = (runtime.clone(), run.clone());
        let task = tokio.spawn(async move {
            match work {
                Work::Start(new) => runtime.start(&id, &new, control, &mut observer).await,
                Work::Resume(bundle, answers) => {
                    runtime.resume(&id, bundle, answers, control, &mut observer).await
                }
            }
        });
        Running { run, canceller, events, task }
    }

    /// Its id, under which it is in the store.
    pub fn id(&self) -> &RunId {
        &self.run
    }

    /// Asks for cancellation: the first time steps in flight may come to their end, the second time they are given
    /// up.
    pub fn cancel(&self) {
        self.canceller.cancel();
    }

    /// What asks for cancellation, to be kept elsewhere.
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }

    /// The next event; none when the run is over or waits. Events wait here until they are taken.
    pub async fn next_event(&mut self) -> Option<Told> {
        self.events.recv().await
    }

    /// How it ended, once it is over or waits for answers.
    ///
    /// # Errors
    ///
    /// Driving it failed. What is committed is kept, and the run can be resumed.
    pub async fn ended(self) -> Result<Ended, RunError> {
        let Running { run, task, .. } = self;
        task.await.unwrap_or_else(|why| Err(RunError::Broken { run: run.to_string(), why: why.to_string() }))
    }
}

/// Tells events to whoever holds the run, and all to an observer of its own.
struct Both {
    events: mpsc::UnboundedSender<Told>,
    own: Option<Box<dyn Observer>>,
}

impl Observer for Both {
    fn told(&mut self, told: &Told) {
        if let Some(own) = &mut self.own {
            own.told(told);
        }
        // Nobody may be left who wants them.
        let _ = self.events.send(told.clone());
    }

    fn preview(&mut self, step: &StepId, piece: &str) {
        if let Some(own) = &mut self.own {
            own.preview(step, piece);
        }
    }
}
