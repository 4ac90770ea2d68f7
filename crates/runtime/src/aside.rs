//! What waits for the store or reads whole journals is done beside the threads that drive runs.
//!
//! A store may wait for a disk, or for a server that is away, for as long as its options say; a long journal takes time
//! to fold. A task that did either itself would hold up its thread with all other runs and timers on it.

use tokio::task::spawn_blocking;

use crate::RunError;

/// Does some work where it may take its time. In a replay it is done here: its time is paused and goes on by itself
/// while its task waits for another thread, so that all timers would come due.
pub(crate) async fn aside<T: Send + 'static>(
    in_replay: bool,
    what: impl ToString,
    work: impl FnOnce() -> Result<T, RunError> + Send + 'static,
) -> Result<T, RunError> {
    if in_replay {
        return work();
    }
    let broken =
        |why: tokio::task::JoinError| RunError::Broken { run: what.to_string(), why: why.to_string() };
    spawn_blocking(work).await.map_err(broken)?
}
