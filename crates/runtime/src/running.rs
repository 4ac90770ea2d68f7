//! A run at work.

use std::sync::Arc;

use deepgraph_protocol::StepId;
use deepgraph_store::RunId;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::RunError;
use crate::control::{Canceller, Control};
use crate::progress::{Observer, Told};
use crate::run::{Ended, Outcome, Runtime};
use crate::work::Work;

/// A run that is driven by a task. It goes on when this is dropped.
///
/// Events are kept for [`Running::next_event`] as long as this is there. Who wants none drops it, and keeps the
/// [`Running::canceller`], or waits for the end with [`Running::ended`].
#[derive(Debug)]
pub struct Running {
    run: RunId,
    canceller: Canceller,
    events: mpsc::UnboundedReceiver<Told>,
    task: JoinHandle<Result<Ended, RunError>>,
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
        let task = tokio.spawn(async move { runtime.drive(&id, work, control, &mut observer).await });
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

    /// How it ended, once it is over or waits for answers. Events that were not taken are dropped.
    ///
    /// # Errors
    ///
    /// Driving it failed. What is committed is kept, and the run can be resumed.
    pub async fn ended(self) -> Result<Ended, RunError> {
        let Running { run, task, events, .. } = self;
        // Nobody takes them any more: they would pile up until the end.
        drop(events);
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
        if !self.events.is_closed() {
            let _ = self.events.send(told.clone());
        }
    }

    fn preview(&mut self, step: &StepId, piece: &str) {
        if let Some(own) = &mut self.own {
            own.preview(step, piece);
        }
    }

    fn waits(&mut self, step: &StepId, model: &str, ms: u64) {
        if let Some(own) = &mut self.own {
            own.waits(step, model, ms);
        }
    }

    fn exhausted(&mut self, run: &RunId, outcome: &Outcome) {
        if let Some(own) = &mut self.own {
            own.exhausted(run, outcome);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn events_do_not_pile_up_while_only_the_end_is_waited_for() {
        let (sender, events) = mpsc::unbounded_channel();
        let (canceller, _control) = Control::new();
        let task = tokio::spawn(async move {
            sender.closed().await;
            Ok(Ended::Waiting(Vec::new()))
        });
        let running = Running { run: RunId::new(), canceller, events, task };
        let ended = tokio::time::timeout(Duration::from_secs(60), running.ended()).await;
        assert!(ended.is_ok_and(|ended| ended.is_ok()), "the events are listened to still");
    }
}
