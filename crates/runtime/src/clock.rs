//! The time that entries are stamped with.

use std::time::{SystemTime, UNIX_EPOCH};

use deepgraph_protocol::Millis;

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
