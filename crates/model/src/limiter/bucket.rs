//! What is left of one limit: a bucket that fills up steadily.

use std::time::Duration;

use tokio::time::Instant;

use super::headers::Told;

/// In which time a limit that is given per minute fills up again.
const MINUTE: f64 = 60.0;

/// The longest that a filling is waited for before it is looked at again.
const LONGEST_LOOK: f64 = 300.0;

/// What is left of a limit. Without a limit there is always enough.
pub(super) struct Bucket {
    /// What its owner allows per minute.
    set: Option<f64>,
    /// The most that it holds; none: no limit is known.
    size: Option<f64>,
    /// What is in it.
    level: f64,
    /// What comes in per second.
    rate: f64,
    /// When `level` was right.
    at: Option<Instant>,
}

impl Bucket {
    pub(super) fn new(per_minute: Option<u64>) -> Bucket {
        let set = per_minute.map(|n| n.max(1) as f64);
        let size = set;
        Bucket { set, size, level: size.unwrap_or(0.0), rate: size.unwrap_or(0.0) / MINUTE, at: None }
    }

    /// When there is enough for an amount; none: now. No amount waits for more than a full bucket.
    pub(super) fn ready(&mut self, amount: u64, now: Instant) -> Option<Instant> {
        self.fill(now);
        let size = self.size?;
        let lacks = (amount as f64).min(size) - self.level;
        (lacks > 0.0).then(|| {
            let wait = if self.rate > 0.0 { (lacks / self.rate).min(LONGEST_LOOK) } else { LONGEST_LOOK };
            // A millisecond more, so that no rounding leaves it a hair short.
            now + Duration::from_secs_f64(wait) + Duration::from_millis(1)
        })
    }

    /// Takes an amount out.
    pub(super) fn take(&mut self, amount: u64) {
        if let Some(size) = self.size {
            self.level -= (amount as f64).min(size);
        }
    }

    /// Of what was taken, something else was used.
    pub(super) fn correct(&mut self, taken: u64, used: u64, now: Instant) {
        self.fill(now);
        if let Some(size) = self.size {
            let level = self.level + (taken as f64).min(size) - used as f64;
            // More than a bucket is no debt that anyone could have.
            self.level = level.clamp(-size, size);
        }
    }

    /// Takes what the provider says of it. The owner's own limit stays: the lower of the two holds.
    pub(super) fn learn(&mut self, told: &Told, now: Instant) {
        self.fill(now);
        let Some(limit) = told.limit.map(|n| n as f64).or(self.size).filter(|size| *size > 0.0) else {
            return;
        };
        let first = self.size.is_none();
        let size = self.set.map_or(limit, |set| set.min(limit));
        // What is gone comes back within the time until the limit is whole again.
        let back = match (told.remaining, told.reset) {
            (Some(left), Some(reset)) if !reset.is_zero() && (left as f64) < limit => {
                Some((limit - left as f64) / reset.as_secs_f64())
            }
            _ => None,
        };
        let own = self.set.map(|set| set / MINUTE);
        let rate = back.unwrap_or(if first { limit / MINUTE } else { self.rate });
        self.rate = own.map_or(rate, |own| own.min(rate));
        self.size = Some(size);
        let left = told.remaining.map_or(size, |n| n as f64).min(size);
        self.level = if first { left } else { self.level.min(left) };
        self.at = Some(now);
    }

    fn fill(&mut self, now: Instant) {
        let Some(size) = self.size else { return };
        let since = self.at.replace(now).map_or(0.0, |at| now.saturating_duration_since(at).as_secs_f64());
        self.level = (self.level + self.rate * since).min(size);
    }
}
