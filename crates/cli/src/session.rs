//! The threads that a command works on, and the MCP servers that live on them: closed on every way out.

use std::future::Future;
use std::time::Duration;

use deepgraph_graph::Bundle;
use deepgraph_runtime::{Canceller, RunError, Servers};
use tokio::runtime::{Builder, Runtime};

use crate::error::CliError;
use crate::screen::Screen;
use crate::servers::Access;
use crate::signals::{self, Signals};

/// The longest time that servers are waited for at the end. Whatever is left then is ended with the threads.
const CLOSING: Duration = Duration::from_secs(8);
/// The longest time that threads are waited for, where servers lived on them.
const LAST_STEPS: Duration = Duration::from_secs(1);

/// What a command works on.
pub struct Session {
    threads: Runtime,
    /// Listening since the servers were started, so that no Ctrl-C is lost before the run listens.
    signals: Option<Signals>,
    servers: Servers,
    has_servers: bool,
}

/// Works in a session. At the end of it its servers are closed, however it ended; that takes some seconds at most, and
/// a Ctrl-C cuts it short.
///
/// # Errors
///
/// The threads can not be had; those of the work.
pub fn with<T>(work: impl FnOnce(&mut Session) -> Result<T, CliError>) -> Result<T, CliError> {
    run(Builder::new_multi_thread().enable_all(), work)
}

/// The same for a replay: its time stands still while something is done, and no wait takes any.
///
/// # Errors
///
/// As [`with`].
pub fn with_paused_time<T>(work: impl FnOnce(&mut Session) -> Result<T, CliError>) -> Result<T, CliError> {
    run(Builder::new_current_thread().enable_all().start_paused(true), work)
}

fn run<T>(
    threads: &mut Builder,
    work: impl FnOnce(&mut Session) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let threads = threads.build().map_err(CliError::Threads)?;
    let mut session = Session { threads, signals: None, servers: Servers::default(), has_servers: false };
    let result = work(&mut session);
    session.close();
    result
}

impl Session {
    /// The servers that there are now.
    pub fn servers(&self) -> &Servers {
        &self.servers
    }

    /// Connects to all servers of a graph, and to the user's own. Ctrl-C gives it up.
    ///
    /// # Errors
    ///
    /// What is wrong with each server that can not be used; that it was given up.
    pub fn connect(&mut self, bundle: &Bundle, access: &Access) -> Result<(), CliError> {
        self.has_servers = true;
        let (connected, signals) = self.threads.block_on(async {
            let mut signals = Signals::new();
            let connected = tokio::select! {
                connected = Servers::connect(bundle, &access.secrets, &access.user) => Some(connected),
                () = signals::heard(&mut signals) => None,
            };
            (connected, signals)
        });
        self.signals = signals;
        self.servers = connected.ok_or(CliError::Interrupted)?.map_err(unusable)?;
        Ok(())
    }

    /// Makes the servers known of a graph that knows their tools, the user's own included. Nothing is connected yet.
    ///
    /// # Errors
    ///
    /// A text of a server that can not be made.
    pub fn prepare(&mut self, bundle: &Bundle, access: &Access) -> Result<(), CliError> {
        self.has_servers = true;
        let _threads = self.threads.enter();
        self.servers = Servers::lazy(bundle, &access.secrets, &access.user).map_err(unusable)?;
        Ok(())
    }

    /// Drives a run to its end while Ctrl-C cancels it.
    pub fn drive<T>(&mut self, canceller: Canceller, screen: &Screen, work: impl Future<Output = T>) -> T {
        let signals = self.signals.take();
        self.threads.block_on(async {
            let listener = signals::listen(signals.or_else(Signals::new), canceller, screen.clone());
            let done = work.await;
            listener.abort();
            done
        })
    }

    fn close(self) {
        if !self.has_servers {
            // A step that can not be called off (a read that hangs) must not hold the program.
            return self.threads.shutdown_background();
        }
        self.threads.block_on(async {
            let mut signals = Signals::new();
            tokio::select! {
                () = self.servers.close() => {}
                () = signals::heard(&mut signals) => {}
                () = tokio::time::sleep(CLOSING) => {}
            }
        });
        self.threads.shutdown_timeout(LAST_STEPS);
    }
}

/// What is wrong with servers, one after the other. What a server said itself is indented.
pub fn unusable(errors: Vec<RunError>) -> CliError {
    CliError::Servers(errors.iter().map(|error| error.to_string().replace('\n', "\n    ")).collect())
}
