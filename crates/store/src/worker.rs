//! A thread with a connection of its own, and the queue before it.
//!
//! A commit that waits for the disk takes as long for one change as for fifty. So the thread takes all that is
//! queued into one transaction, each change behind a savepoint of its own: one that is refused (fenced, wrong
//! position) is rolled back alone and answered alone, the others are committed together. Nobody is answered
//! before the commit.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use crate::StoreError;

/// How many changes share one transaction at most, so that the first of them does not wait for ever.
pub(crate) const GROUP: usize = 256;

/// How often a change is tried again that waited for one that waited for it.
const DEADLOCKS: u32 = 5;

/// The transactions of one connection.
pub(crate) trait Transactions: Send + 'static {
    /// Begins a transaction.
    fn begin(&mut self) -> Result<(), StoreError>;
    /// Marks where a change of the transaction begins.
    fn save(&mut self) -> Result<(), StoreError>;
    /// Forgets the mark.
    fn release(&mut self) -> Result<(), StoreError>;
    /// Goes back to the mark. An error means that the whole transaction is gone.
    fn undo(&mut self) -> Result<(), StoreError>;
    /// Commits.
    fn commit(&mut self) -> Result<(), Lost>;
    /// Ends the transaction without a trace, if there is one.
    fn rollback(&mut self);
}

/// Why a commit did not come back with success.
pub(crate) enum Lost {
    /// Nothing was written.
    Failed(StoreError),
    /// The connection broke: it may have been written or not. The error is for those who can not find out.
    #[cfg_attr(not(feature = "postgres"), allow(dead_code, reason = "a file does not go away"))]
    Unsure(StoreError),
}

/// One change that is asked for.
pub(crate) trait Job<S>: Send {
    /// Makes it, inside a transaction; keeps the result. It may be called again where the transaction failed.
    /// `again` says that an earlier call may have been committed nevertheless.
    fn run(&mut self, session: &mut S, again: bool) -> Result<(), StoreError>;
    /// Answers: with the result that was kept, or the error.
    fn answer(&mut self, outcome: Result<(), StoreError>);
}

/// A boxed change.
type Queued<S> = Box<dyn Job<S>>;

/// A closure as a change. Whoever waits is answered in any case: where the thread is gone, by the drop.
struct Work<T, F, D: FnOnce(Result<T, StoreError>)> {
    work: F,
    result: Option<T>,
    done: Option<D>,
    place: String,
}

impl<S, T, F, D> Job<S> for Work<T, F, D>
where
    T: Send,
    F: FnMut(&mut S, bool) -> Result<T, StoreError> + Send,
    D: FnOnce(Result<T, StoreError>) + Send,
{
    fn run(&mut self, session: &mut S, again: bool) -> Result<(), StoreError> {
        self.result = Some((self.work)(session, again)?);
        Ok(())
    }

    fn answer(&mut self, outcome: Result<(), StoreError>) {
        let stopped = || StoreError::Stopped { place: self.place.clone() };
        let result = outcome.and_then(|()| self.result.take().ok_or_else(stopped));
        if let Some(done) = self.done.take() {
            done(result);
        }
    }
}

impl<T, F, D: FnOnce(Result<T, StoreError>)> Drop for Work<T, F, D> {
    fn drop(&mut self) {
        if let Some(done) = self.done.take() {
            done(Err(StoreError::Stopped { place: std::mem::take(&mut self.place) }));
        }
    }
}

/// The queue and its thread. Dropping it lets the thread finish what is queued, and waits for that.
pub(crate) struct Worker<S> {
    queue: Option<Sender<Queued<S>>>,
    thread: Option<JoinHandle<()>>,
    /// What is written to, for errors.
    place: String,
}

impl<S> std::fmt::Debug for Worker<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker").field("place", &self.place).finish_non_exhaustive()
    }
}

impl<S: Transactions> Worker<S> {
    /// Starts the thread. `group` is how many changes share one transaction at most; `place` names in errors what is
    /// written to.
    pub(crate) fn start(mut session: S, group: usize, place: String) -> Result<Worker<S>, StoreError> {
        let (queue, jobs) = mpsc::channel();
        let failed = |e: std::io::Error| StoreError::NoThread { place: place.clone(), detail: e.to_string() };
        let name = "deepgraph-store".to_owned();
        let thread = thread::Builder::new().name(name).spawn(move || serve(&mut session, group, &jobs));
        Ok(Worker { queue: Some(queue), thread: Some(thread.map_err(failed)?), place })
    }

    /// Queues a change. `done` is called with the result once it is committed, on the thread that writes: it
    /// must be short.
    pub(crate) fn submit<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut S, bool) -> Result<T, StoreError> + Send + 'static,
        done: impl FnOnce(Result<T, StoreError>) + Send + 'static,
    ) {
        let work = Work { work, result: None, done: Some(done), place: self.place.clone() };
        if let Some(queue) = &self.queue {
            // Where the thread is gone, the change comes back and its drop answers.
            drop(queue.send(Box::new(work)));
        }
    }

    /// Queues a change and waits for its result.
    pub(crate) fn call<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut S, bool) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, answer) = mpsc::sync_channel(1);
        self.submit(work, move |result| drop(sender.send(result)));
        answer.recv().unwrap_or_else(|_| Err(StoreError::Stopped { place: self.place.clone() }))
    }
}

impl<S> Drop for Worker<S> {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take()
            // The last owner of the store may be a callback, on the thread itself.
            && thread.thread().id() != thread::current().id()
        {
            drop(thread.join());
        }
    }
}

fn serve<S: Transactions>(session: &mut S, group: usize, jobs: &Receiver<Queued<S>>) {
    while let Ok(first) = jobs.recv() {
        let others = jobs.try_iter().take(group.saturating_sub(1));
        let together = std::iter::once(first).chain(others).collect();
        write_group(session, together);
    }
}

/// Writes a group in one transaction, or, where that fails as a whole, each alone.
fn write_group<S: Transactions>(session: &mut S, mut group: Vec<Queued<S>>) {
    if let [only] = group.as_mut_slice() {
        let outcome = write_alone(session, only.as_mut(), None);
        return only.answer(outcome);
    }
    let unsure = match together(session, &mut group) {
        Together::Committed(outcomes) => {
            for (mut job, outcome) in group.into_iter().zip(outcomes) {
                job.answer(outcome);
            }
            return;
        }
        Together::NotBegun(error) => {
            group.iter_mut().for_each(|job| job.answer(Err(error.clone())));
            return;
        }
        Together::Gone { unsure } => unsure,
    };
    for mut job in group {
        let outcome = write_alone(session, job.as_mut(), unsure.clone());
        job.answer(outcome);
    }
}

/// What became of a group.
enum Together {
    /// The transaction was committed; an outcome for each change.
    Committed(Vec<Result<(), StoreError>>),
    /// There was no transaction at all.
    NotBegun(StoreError),
    /// The transaction is gone. Where it may have been committed, this is how that broke off.
    Gone { unsure: Option<StoreError> },
}

fn together<S: Transactions>(session: &mut S, group: &mut [Queued<S>]) -> Together {
    if let Err(error) = session.begin() {
        return Together::NotBegun(error);
    }
    let mut outcomes = Vec::with_capacity(group.len());
    for job in group {
        let outcome = session.save().and_then(|()| job.run(session, false));
        if let Err(StoreError::Deadlock { .. }) = outcome {
            // Those after it may build on it, so all are done again in their order.
            session.rollback();
            return Together::Gone { unsure: None };
        }
        let kept =
            if outcome.is_ok() { session.release() } else { session.undo().and_then(|()| session.release()) };
        if kept.is_err() {
            session.rollback();
            return Together::Gone { unsure: None };
        }
        outcomes.push(outcome);
    }
    match session.commit() {
        Ok(()) => Together::Committed(outcomes),
        Err(lost) => {
            session.rollback();
            Together::Gone { unsure: if let Lost::Unsure(error) = lost { Some(error) } else { None } }
        }
    }
}

/// Writes one change in a transaction of its own. `unsure` is how an earlier commit of it broke off, if one did:
/// then it is looked at once more. It is there, or it is made now.
fn write_alone<S: Transactions>(
    session: &mut S,
    job: &mut dyn Job<S>,
    mut unsure: Option<StoreError>,
) -> Result<(), StoreError> {
    let mut deadlocks = 0;
    loop {
        let begun = session.begin();
        let ran = begun.and_then(|()| job.run(session, unsure.is_some()));
        let lost = match ran {
            Ok(()) => match session.commit() {
                Ok(()) => return Ok(()),
                Err(lost) => lost,
            },
            Err(error) => Lost::Failed(error),
        };
        session.rollback();
        match (lost, unsure.take()) {
            // Somebody else went first; next time nobody does.
            (Lost::Failed(StoreError::Deadlock { .. }), earlier) if deadlocks < DEADLOCKS => {
                deadlocks += 1;
                unsure = earlier;
            }
            (Lost::Unsure(error), None) => unsure = Some(error),
            // It could not be looked at: nobody knows.
            (Lost::Failed(StoreError::Unreachable { .. }) | Lost::Unsure(_), Some(earlier)) => {
                return Err(earlier);
            }
            (Lost::Failed(error), _) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests;
