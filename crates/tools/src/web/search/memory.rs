//! What an engine answered is kept for a while, and the same is asked once at a time: no query is sent to an engine twice.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use deepgraph_protocol::StepError;
use tokio::time::Instant;

use super::answer::Answered;

/// How long an answer is kept.
const KEPT_FOR: Duration = Duration::from_secs(60 * 60);
/// How many are.
const MOST_KEPT: usize = 500;

/// What one engine answered, by query.
#[derive(Debug, Default)]
pub(super) struct Memory(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    by_key: BTreeMap<String, Arc<Entry>>,
    /// The oldest first.
    order: VecDeque<String>,
}

#[derive(Debug, Default)]
struct Entry {
    /// How often the engine was asked.
    asked: AtomicU64,
    /// Held by the one that asks; all others wait for it.
    kept: tokio::sync::Mutex<Option<Kept>>,
}

#[derive(Clone, Debug)]
struct Kept {
    at: Instant,
    outcome: Result<Answered, StepError>,
}

impl Kept {
    fn is_fresh(&self) -> bool {
        self.outcome.is_ok() && self.at.elapsed() < KEPT_FOR
    }
}

/// What came of a query.
pub(super) struct Came {
    pub(super) outcome: Result<Answered, StepError>,
    /// Whether the engine was asked for it now, and not before or by somebody else.
    pub(super) was_asked: bool,
}

impl Memory {
    /// What was answered to a query, or what `ask` brings. Of several that want the same at the same time one asks; the
    /// others get what it got, its failure too. A failure is not kept for those that come later.
    pub(super) async fn once(
        &self,
        key: String,
        ask: impl Future<Output = Result<Answered, StepError>>,
    ) -> Came {
        let entry = self.entry(key);
        let before = entry.asked.load(Ordering::Acquire);
        let mut kept = entry.kept.lock().await;
        let is_of_now = entry.asked.load(Ordering::Acquire) != before;
        if let Some(kept) = kept.as_ref().filter(|kept| is_of_now || kept.is_fresh()) {
            return Came { outcome: kept.outcome.clone(), was_asked: false };
        }
        // Given up here, it lets the next one ask.
        let outcome = ask.await;
        *kept = Some(Kept { at: Instant::now(), outcome: outcome.clone() });
        entry.asked.fetch_add(1, Ordering::AcqRel);
        Came { outcome, was_asked: true }
    }

    /// Whether a query was answered a short time ago.
    pub(super) fn has(&self, key: &str) -> bool {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = entries.by_key.get(key).and_then(|entry| entry.kept.try_lock().ok());
        kept.is_some_and(|kept| kept.as_ref().is_some_and(Kept::is_fresh))
    }

    fn entry(&self, key: String) -> Arc<Entry> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.by_key.get(&key) {
            return entry.clone();
        }
        while entries.order.len() >= MOST_KEPT {
            let oldest = entries.order.pop_front().unwrap_or_default();
            entries.by_key.remove(&oldest);
        }
        entries.order.push_back(key.clone());
        entries.by_key.entry(key).or_default().clone()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use deepgraph_protocol::ErrorKind;

    use super::*;

    fn answer() -> Answered {
        Answered { notes: vec!["an answer".into()], ..Answered::default() }
    }

    #[tokio::test(start_paused = true)]
    async fn askers_at_the_same_time_share_one_answer_or_one_failure() {
        for outcome in [Ok(answer()), Err(StepError::new(ErrorKind::Unavailable, "down"))] {
            let (memory, asked) = (Memory::default(), Cell::new(0));
            let ask = || async {
                asked.set(asked.get() + 1);
                tokio::time::sleep(Duration::from_secs(1)).await;
                outcome.clone()
            };
            let all = [(); 5].map(|()| memory.once("tides".into(), ask()));
            let came = futures::future::join_all(all).await;
            assert_eq!(asked.get(), 1);
            assert_eq!(came.iter().filter(|came| came.was_asked).count(), 1);
            assert!(came.iter().all(|came| came.outcome == outcome));
            // A failure is not kept.
            memory.once("tides".into(), ask()).await;
            assert_eq!(asked.get(), if outcome.is_ok() { 1 } else { 2 });
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_given_up_lets_the_next_one_ask() {
        let memory = Memory::default();
        let for_ever = memory.once("tides".into(), std::future::pending());
        let other = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            memory.once("tides".into(), async { Ok(answer()) }).await
        };
        let given_up = tokio::time::timeout(Duration::from_secs(2), for_ever);
        let (given_up, came) = tokio::join!(given_up, other);
        assert!(given_up.is_err() && came.was_asked && came.outcome.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn answers_are_kept_for_an_hour_and_no_more_than_so_many() {
        let memory = Memory::default();
        memory.once("tides".into(), async { Ok(answer()) }).await;
        assert!(memory.has("tides") && !memory.has("moon"));
        tokio::time::advance(KEPT_FOR).await;
        assert!(!memory.has("tides"));
        for n in 0..=MOST_KEPT {
            memory.once(n.to_string(), async { Ok(answer()) }).await;
        }
        assert!(!memory.has("0") && memory.has("1") && memory.has(&MOST_KEPT.to_string()));
    }
}
