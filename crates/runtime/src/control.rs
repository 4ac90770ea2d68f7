//! Cancelling a run from outside.

use tokio::sync::watch;

/// How urgently a run is to stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cancel {
    /// Not at all.
    #[default]
    No,
    /// Let steps in flight come to their end, within a grace; start nothing new.
    Cooperative,
    /// Give steps in flight up at once.
    AtOnce,
}

impl Cancel {
    /// How urgent it is when somebody asks once more.
    pub(crate) fn next(self) -> Cancel {
        if self == Cancel::No { Cancel::Cooperative } else { Cancel::AtOnce }
    }
}

/// The end that asks for cancellation.
#[derive(Clone, Debug)]
pub struct Canceller(watch::Sender<Cancel>);

/// The end that a driver listens to.
#[derive(Clone, Debug)]
pub struct Control(watch::Receiver<Cancel>);

impl Control {
    /// Both ends.
    pub fn new() -> (Canceller, Control) {
        let (sender, receiver) = watch::channel(Cancel::No);
        (Canceller(sender), Control(receiver))
    }

    /// Waits until the urgency has risen above `known`. Never ends when nobody can raise it any more.
    pub(crate) async fn raised(&mut self, known: Cancel) -> Cancel {
        // Copied out at once: what is lent can not stay in a future that moves between threads.
        let raised = self.0.wait_for(|level| *level > known).await.map(|level| *level);
        match raised {
            Ok(level) => level,
            Err(_) => std::future::pending().await,
        }
    }
}

impl Canceller {
    /// Asks for cancellation; the first time cooperatively, from the second time on at once.
    pub fn cancel(&self) {
        self.0.send_modify(|level| *level = level.next());
    }
}
