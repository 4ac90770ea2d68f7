//! Turns: one request at a time to a host, with a gap between two, whoever in the process asks.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, sleep_until};

/// Hosts that are remembered. Past that all go that nobody waits for.
const MOST_HOSTS: usize = 1024;

/// When the last request to a host was over.
type Last = Arc<tokio::sync::Mutex<Option<Instant>>>;

static HOSTS: LazyLock<Mutex<BTreeMap<String, Last>>> = LazyLock::new(Mutex::default);

/// The right to ask a host. It is given back when this is dropped.
pub struct Turn {
    last: OwnedMutexGuard<Option<Instant>>,
}

impl Turn {
    /// Waits for the turn at a host (with its port).
    pub async fn at(host: &str) -> Turn {
        let last = {
            let mut hosts = HOSTS.lock().unwrap_or_else(PoisonError::into_inner);
            if hosts.len() >= MOST_HOSTS {
                // Nobody waits for those that only this list holds.
                hosts.retain(|_, last| Arc::strong_count(last) > 1);
            }
            Arc::clone(hosts.entry(host.to_owned()).or_default())
        };
        Turn { last: last.lock_owned().await }
    }

    /// Notes that the host was asked in this turn, and may be asked once more.
    pub fn used(&mut self) {
        *self.last = Some(Instant::now());
    }

    /// Waits until the last request is so long ago.
    pub async fn rest(&self, gap: Duration) {
        if let Some(last) = *self.last {
            sleep_until(last + gap).await;
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *self.last = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_host_is_asked_one_at_a_time_with_a_gap() {
        let gap = Duration::from_secs(2);
        let begin = Instant::now();
        let asks = (0..3).map(|_| async {
            let turn = Turn::at("one.test:80").await;
            turn.rest(gap).await;
            let asked = begin.elapsed();
            tokio::time::sleep(Duration::from_secs(1)).await;
            asked
        });
        let asked = futures::future::join_all(asks).await;
        assert_eq!(asked, [Duration::ZERO, Duration::from_secs(3), Duration::from_secs(6)]);
        let other = Turn::at("other.test:80").await;
        other.rest(gap).await;
        assert_eq!(begin.elapsed(), Duration::from_secs(7));
    }
}
