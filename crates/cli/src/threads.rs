//! Threads that work side by side: how many, and how they are started.

use std::io;
use std::num::NonZeroUsize;
use std::thread::{self, Scope, ScopedJoinHandle};

use crate::error::CliError;

/// The stack of a thread: graphs that call graphs are played within each other.
const STACK: usize = 16 << 20;

/// How many threads: as many as were asked for, else as many as there are processors; no more than there is work.
pub fn count(asked: Option<NonZeroUsize>, work: u64) -> usize {
    let jobs = asked.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    jobs.get().min(usize::try_from(work).unwrap_or(usize::MAX))
}

/// Starts a thread.
///
/// # Errors
///
/// The system has no room for it.
pub fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, CliError> {
    let started = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
    started.map_err(|error| CliError::Threads(io::Error::other(error)))
}

/// Reads `--jobs`.
///
/// # Errors
///
/// What is wrong, for people.
pub fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    match text.parse::<usize>() {
        Ok(jobs) => NonZeroUsize::new(jobs).ok_or_else(|| {
            "at least 1 has to go on at once; without it as many as there are processors".into()
        }),
        Err(_) => Err("it has to be a whole number from 1 on".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_more_threads_than_work() {
        assert_eq!(count(NonZeroUsize::new(200_000), 3), 3);
        assert_eq!(count(NonZeroUsize::new(2), 3), 2);
        assert!(count(None, u64::MAX) >= 1);
    }

    #[test]
    fn jobs_are_a_number_from_1_on() {
        assert_eq!(jobs("3").map(NonZeroUsize::get), Ok(3));
        assert!(jobs("0").unwrap_err().contains("at least 1"));
        assert!(jobs("many").unwrap_err().contains("whole number"));
        assert!(jobs("-1").unwrap_err().contains("whole number"));
    }
}
