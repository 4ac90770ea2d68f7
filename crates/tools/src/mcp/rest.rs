//! How long a server that fails is left alone.

use std::time::Duration;

use tokio::time::Instant;

/// After the second failure in a row; it doubles with each further one.
const FIRST: Duration = Duration::from_secs(1);
/// The longest rest.
const MOST: Duration = Duration::from_secs(30);

/// Failures of a server in a row. One that failed once is tried again at once: it may have been restarted.
#[derive(Debug, Default)]
pub(super) struct Rest {
    tries: u32,
    until: Option<Instant>,
}

impl Rest {
    /// The server could not be reached, or broke off in a call.
    pub(super) fn failed(&mut self) {
        self.tries = self.tries.saturating_add(1);
        self.until = Instant::now().checked_add(length(self.tries));
    }

    /// The failures in a row.
    pub(super) fn tries(&self) -> u32 {
        self.tries
    }

    /// How long it is still left alone; none: it may be tried.
    pub(super) fn left(&self) -> Option<Duration> {
        let left = self.until?.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }
}

fn length(tries: u32) -> Duration {
    match tries {
        0 | 1 => Duration::ZERO,
        more => FIRST.saturating_mul(1 << (more - 2).min(10)).min(MOST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn rests_double_up_to_half_a_minute() {
        let mut rest = Rest::default();
        let mut lengths = Vec::new();
        for _ in 0..9 {
            rest.failed();
            lengths.push(rest.left().map_or(0, |left| left.as_secs()));
        }
        assert_eq!(lengths, [0, 1, 2, 4, 8, 16, 30, 30, 30]);
        tokio::time::advance(Duration::from_secs(31)).await;
        assert_eq!((rest.left(), rest.tries()), (None, 9));
    }
}
