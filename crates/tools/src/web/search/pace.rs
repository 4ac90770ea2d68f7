//! How fast an engine is asked: a least time between two requests, and peace after it said that it had too many.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use deepgraph_protocol::{ErrorKind, StepError};
use tokio::time::{Instant, sleep_until};

use super::engine::Engine;

/// The longest that a request waits for its turn.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// How long an engine is left in peace that had too many requests and does not say how long.
pub(super) const USUAL_PEACE: Duration = Duration::from_secs(10);
/// The longest that it is.
const LONGEST_PEACE: Duration = Duration::from_secs(60 * 60);

/// The pace of one engine, shared by all that ask it in this process.
#[derive(Debug)]
pub(super) struct Pace {
    engine: Engine,
    gap: Duration,
    turns: Mutex<Turns>,
}

#[derive(Debug, Default)]
struct Turns {
    /// When the next request may be sent.
    next: Option<Instant>,
    /// Until when none is.
    peace: Option<Instant>,
}

impl Pace {
    pub(super) fn new(engine: Engine, gap: Duration) -> Pace {
        Pace { engine, gap, turns: Mutex::default() }
    }

    /// Waits for the turn of a request.
    ///
    /// # Errors
    ///
    /// `rate_limited`, unsent: the engine wants peace, or too many requests wait already.
    pub(super) async fn turn(&self) -> Result<(), StepError> {
        let turn = self.take_turn(Instant::now())?;
        sleep_until(turn).await;
        // It may have said meanwhile that it had too many.
        self.is_at_peace(Instant::now()).map_or(Ok(()), Err)
    }

    fn take_turn(&self, now: Instant) -> Result<Instant, StepError> {
        if let Some(wants_peace) = self.is_at_peace(now) {
            return Err(wants_peace);
        }
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = turns.next.map_or(now, |next| next.max(now));
        let wait = turn.duration_since(now);
        if wait > LONGEST_WAIT {
            let why = format!("{}: too many searches wait for it already", self.engine);
            return Err(limited(why, wait));
        }
        turns.next = Some(turn + self.gap);
        Ok(turn)
    }

    fn is_at_peace(&self, now: Instant) -> Option<StepError> {
        let turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let left = turns.peace?.checked_duration_since(now).filter(|left| !left.is_zero())?;
        let why = format!("{}: it had too many requests and is not asked again yet", self.engine);
        Some(limited(why, left))
    }

    /// The engine had too many requests: it is left in peace for as long as it says.
    pub(super) fn leave_in_peace(&self, asked: Duration) {
        let until = Instant::now() + asked.min(LONGEST_PEACE);
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.peace = Some(turns.peace.map_or(until, |before| before.max(until)));
    }
}

fn limited(why: String, wait: Duration) -> StepError {
    let ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1);
    StepError { retry_after_ms: Some(ms), ..StepError::new(ErrorKind::RateLimited, why) }.unsent()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn requests_keep_their_distance() {
        let pace = Pace::new(Engine::Arxiv, Duration::from_secs(3));
        let begun = Instant::now();
        for after in [0, 3, 6] {
            pace.turn().await.unwrap();
            assert_eq!(begun.elapsed().as_secs(), after);
        }
        tokio::time::advance(Duration::from_secs(60)).await;
        pace.turn().await.unwrap();
        assert_eq!(begun.elapsed().as_secs(), 66, "time that went by is not saved up");
    }

    #[tokio::test(start_paused = true)]
    async fn an_engine_that_had_too_many_is_left_in_peace() {
        let pace = Pace::new(Engine::Arxiv, Duration::from_secs(3));
        pace.leave_in_peace(Duration::from_secs(30));
        pace.leave_in_peace(Duration::from_secs(5));
        let error = pace.turn().await.unwrap_err();
        assert_eq!(
            (error.kind, error.retry_after_ms, error.unsent),
            (ErrorKind::RateLimited, Some(30_000), true)
        );
        tokio::time::advance(Duration::from_secs(30)).await;
        pace.turn().await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_ever() {
        let pace = Pace::new(Engine::Arxiv, Duration::from_secs(3));
        let now = Instant::now();
        let given = (0..100).filter(|_| pace.take_turn(now).is_ok()).count();
        assert_eq!(given, 21);
    }
}
