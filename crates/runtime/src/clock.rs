//! The time that entries are stamped with.

use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use deepgraph_protocol::Millis;
use tokio::time::Instant;

/// A source of time.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970-01-01 UTC. May go back; the driver does not.
    fn now(&self) -> Millis;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Millis {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
    }
}

/// A clock that goes as the time of a tokio runtime does, from when it is first read. Where that time is paused, it
/// stands still while anything is done and jumps over all that is waited for, together with timers and timeouts.
#[derive(Debug)]
pub struct TokioClock {
    starts: Millis,
    /// Set within the runtime: outside of it the time is another.
    origin: OnceLock<Instant>,
}

impl TokioClock {
    /// A clock that shows this when it is first read, in milliseconds since 1970-01-01 UTC.
    pub fn starting_at(starts: Millis) -> TokioClock {
        TokioClock { starts, origin: OnceLock::new() }
    }

    /// The moment so many milliseconds after it was first read.
    pub(crate) fn after(&self, ms: u64) -> Instant {
        self.origin() + Duration::from_millis(ms)
    }

    fn origin(&self) -> Instant {
        *self.origin.get_or_init(Instant::now)
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Millis {
        let since = Millis::try_from(self.origin().elapsed().as_millis()).unwrap_or(Millis::MAX);
        self.starts.saturating_add(since)
    }
}
