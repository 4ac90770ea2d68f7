//! Ctrl-C and SIGTERM while a run is driven: first cooperatively, then at once, then hard.

use deepgraph_runtime::Canceller;

use crate::exit_status::INTERRUPTED;
use crate::screen::Screen;

/// Listens until the program ends. Called within a tokio runtime; from here on the system's own way of ending the
/// program does not apply.
pub fn listen(canceller: Canceller, screen: Screen) {
    let signals = Signals::new();
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
                _ => std::process::exit(INTERRUPTED),
            }
            canceller.cancel();
        }
    });
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// None where the system refuses: then its own way of ending the program applies.
    fn new() -> Option<Signals> {
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

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> Option<Signals> {
        Some(Signals)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
