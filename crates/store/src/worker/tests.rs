//! The queue over a connection that does as it is told.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use super::*;

/// What the connection was asked for, and how the next commits go.
#[derive(Default)]
struct Script {
    calls: Vec<&'static str>,
    commits: Vec<Lost>,
    /// What was written and committed.
    written: Vec<u32>,
    pending: Vec<u32>,
    saved: usize,
}

#[derive(Clone, Default)]
struct Fake(Arc<Mutex<Script>>);

impl Fake {
    fn calls(&self) -> String {
        self.0.lock().unwrap().calls.join(" ")
    }

    fn written(&self) -> Vec<u32> {
        self.0.lock().unwrap().written.clone()
    }
}

impl Transactions for Fake {
    fn begin(&mut self) -> Result<(), StoreError> {
        self.0.lock().unwrap().calls.push("begin");
        Ok(())
    }

    fn save(&mut self) -> Result<(), StoreError> {
        let mut script = self.0.lock().unwrap();
        script.saved = script.pending.len();
        script.calls.push("save");
        Ok(())
    }

    fn release(&mut self) -> Result<(), StoreError> {
        self.0.lock().unwrap().calls.push("release");
        Ok(())
    }

    fn undo(&mut self) -> Result<(), StoreError> {
        let mut script = self.0.lock().unwrap();
        let saved = script.saved;
        script.pending.truncate(saved);
        script.calls.push("undo");
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Lost> {
        let mut script = self.0.lock().unwrap();
        script.calls.push("commit");
        let pending = std::mem::take(&mut script.pending);
        match script.commits.pop() {
            None => {
                script.written.extend(pending);
                Ok(())
            }
            // It had been committed, but nobody was told.
            Some(Lost::Unsure(error)) => {
                script.written.extend(pending);
                Err(Lost::Unsure(error))
            }
            Some(failed) => Err(failed),
        }
    }

    fn rollback(&mut self) {
        let mut script = self.0.lock().unwrap();
        script.pending.clear();
        script.calls.push("rollback");
    }
}

fn refused() -> StoreError {
    StoreError::Postgres { place: "here".into(), detail: "refused".into() }
}

/// Writes a number; 13 is refused. One that is there already is not written again where that may be.
fn number(number: u32) -> impl FnMut(&mut Fake, bool) -> Result<u32, StoreError> + Send {
    move |session, again| {
        let mut script = session.0.lock().unwrap();
        if number == 13 {
            return Err(refused());
        }
        if !(again && script.written.contains(&number)) {
            script.pending.push(number);
        }
        Ok(number)
    }
}

/// Queues these numbers while the thread is held up, and gives their answers.
fn write(worker: &Worker<Fake>, numbers: &[u32]) -> Vec<Result<u32, StoreError>> {
    let (go, wait) = channel::<()>();
    let (began, begun) = channel();
    let (sender, answers) = channel();
    worker.submit(move |_, _| Ok((began.send(()).is_ok(), wait.recv().is_ok())), |_| {});
    begun.recv().unwrap();
    for &n in numbers {
        let sender = sender.clone();
        worker.submit(number(n), move |result| sender.send((n, result)).unwrap());
    }
    go.send(()).unwrap();
    drop(sender);
    let mut answers: Vec<_> = answers.iter().collect();
    answers.sort_by_key(|(n, _)| numbers.iter().position(|m| m == n));
    answers.into_iter().map(|(_, result)| result).collect()
}

fn started() -> (Fake, Worker<Fake>) {
    let fake = Fake::default();
    let worker = Worker::start(fake.clone(), GROUP, "here".into()).unwrap();
    (fake, worker)
}

#[test]
fn what_is_queued_shares_a_commit_and_what_is_refused_is_undone_alone() {
    let (fake, worker) = started();
    let answers = write(&worker, &[1, 13, 2]);
    assert!(matches!(answers[..], [Ok(1), Err(StoreError::Postgres { .. }), Ok(2)]), "{answers:?}");
    drop(worker);
    assert_eq!(fake.written(), [1, 2]);
    let calls = fake.calls();
    assert!(
        calls.ends_with("begin save release save undo release save release commit"),
        "one transaction: {calls}"
    );
}

#[test]
fn a_group_that_can_not_be_committed_is_written_one_by_one() {
    let (fake, worker) = started();
    // The first commit is that of what held the thread up; the last in the list comes first.
    fake.0.lock().unwrap().commits = vec![Lost::Failed(refused()), Lost::Failed(refused())];
    let answers = write(&worker, &[1, 2, 13]);
    assert!(matches!(answers[..], [Ok(1), Ok(2), Err(_)]), "{answers:?}");
    drop(worker);
    assert_eq!(fake.written(), [1, 2]);
}

#[test]
fn what_may_have_been_committed_is_looked_at_and_not_written_twice() {
    let unsure = || Lost::Unsure(StoreError::OutcomeUnknown { place: "here".into(), detail: "gone".into() });
    for numbers in [&[1][..], &[1, 2, 3]] {
        let (fake, worker) = started();
        fake.0.lock().unwrap().commits = vec![unsure(), Lost::Failed(refused())];
        let answers = write(&worker, numbers);
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
        drop(worker);
        assert_eq!(fake.written(), numbers);
    }
    // Twice in a row: nobody knows.
    let (fake, worker) = started();
    fake.0.lock().unwrap().commits = vec![unsure(), unsure(), Lost::Failed(refused())];
    let answers = write(&worker, &[1]);
    assert!(matches!(answers[..], [Err(StoreError::OutcomeUnknown { .. })]), "{answers:?}");
}

#[test]
fn a_panic_is_an_error_for_everybody_and_nobody_hangs() {
    let (_, worker) = started();
    let (sender, answers) = channel();
    let told = |sender: &std::sync::mpsc::Sender<_>| {
        let sender = sender.clone();
        move |result: Result<(), StoreError>| sender.send(result).unwrap()
    };
    worker.submit(|_, _| panic!("planted"), told(&sender));
    worker.submit(|_, _| Ok(()), told(&sender));
    for _ in 0..2 {
        let answer = answers.recv().unwrap();
        // Whatever was written before the panic had an answer of its own.
        assert!(matches!(answer, Err(StoreError::Stopped { .. })), "{answer:?}");
    }
    assert!(matches!(worker.call(number(1)), Err(StoreError::Stopped { .. })));
}

#[test]
fn what_is_queued_is_written_before_the_worker_is_gone() {
    let (fake, worker) = started();
    for n in 0..100 {
        worker.submit(number(n + 100), |_| {});
    }
    drop(worker);
    assert_eq!(fake.written().len(), 100);
}
