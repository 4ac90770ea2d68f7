//! Ctrl-C and SIGTERM while a run is driven: first cooperatively, then at once, then hard.

use deepgraph_runtime::Canceller;
use tokio::task::JoinHandle;

use crate::exit_status::ExitStatus;
use crate::screen::Screen;

/// Listens until the task is given up. Called within a tokio runtime.
pub fn listen(signals: Option<Signals>, canceller: Canceller, screen: Screen) -> JoinHandle<()> {
    tokio::spawn(async move {
        let Some(mut signals) = signals else { return };
        for times in 1.. {
            signals.next().await;
            match times {
                1 => screen.say(
                    "Cancelling: steps at work may still come to their end. Ctrl-C again stops at once.",
                ),
                2 => screen
                    .say("Stopping at once. Ctrl-C again ends the program; the run can then be resumed."),
                _ => std::process::exit(i32::from(ExitStatus::Interrupted.code())),
            }
            canceller.cancel();
        }
    })
}

/// Waits for the next signal; for ever where none can be heard.
pub async fn heard(signals: &mut Option<Signals>) {
    match signals {
        Some(signals) => signals.next().await,
        None => std::future::pending().await,
    }
}

/// The signals that ask for an end, from when this was made on. Made within a tokio runtime; from then on the system's
/// own way of ending the program does not apply.
#[cfg(unix)]
pub struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// None where the system refuses: then its own way of ending the program applies.
    pub fn new() -> Option<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Some(Signals {
            interrupt: signal(SignalKind::interrupt()).ok()?,
            terminate: signal(SignalKind::terminate()).ok()?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Ctrl-C.
#[cfg(not(unix))]
pub struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub fn new() -> Option<Signals> {
        Some(Signals)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
