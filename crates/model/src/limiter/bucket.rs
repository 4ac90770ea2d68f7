//! What is left of one limit: a bucket that fills up steadily, and is full when its provider has said that it is.
//!
//! Some providers count in buckets, some in fixed windows of time, and headers do not tell which. What they say (so much is
//! left of so much, all of it is back then) is true of both at that moment only. Before it, what comes back is counted with
//! the slowest of the rates that were told, and nothing at all comes back where nothing was left.

use std::time::Duration;

use tokio::time::Instant;

use super::LONGEST_PAUSE;
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
    /// The limit that the provider told.
    limit: Option<f64>,
    /// When all of it is back, as the provider told.
    full_at: Option<Instant>,
    /// Whether nothing was left, so that nothing is taken out before all of it is back.
    is_out: bool,
}

impl Bucket {
    pub(super) fn new(per_minute: Option<u64>) -> Bucket {
        let set = per_minute.map(|n| n.max(1) as f64);
        let size = set;
        Bucket {
            set,
            size,
            level: size.unwrap_or(0.0),
            rate: size.unwrap_or(0.0) / MINUTE,
            at: None,
            limit: None,
            full_at: None,
            is_out: false,
        }
    }

    /// When there is enough for an amount; none: now. No amount waits for more than a full bucket.
    pub(super) fn ready(&mut self, amount: u64, now: Instant) -> Option<Instant> {
        self.fill(now);
        let size = self.size?;
        let full = self.full_at.filter(|_| self.is_out || amount as f64 > self.level);
        if self.is_out && full.is_some() {
            return full;
        }
        let lacks = (amount as f64).min(size) - self.level;
        (lacks > 0.0).then(|| {
            let wait = if self.rate > 0.0 { (lacks / self.rate).min(LONGEST_LOOK) } else { LONGEST_LOOK };
            // A millisecond more, so that no rounding leaves it a hair short.
            let filled = now + Duration::from_secs_f64(wait) + Duration::from_millis(1);
            full.map_or(filled, |full| full.min(filled))
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
        if *told == Told::default() {
            return;
        }
        let Some(limit) = told.limit.map(|n| n as f64).or(self.size).filter(|size| *size > 0.0) else {
            return;
        };
        let is_new = self.limit.replace(limit) != Some(limit);
        let size = self.set.map_or(limit, |set| set.min(limit));
        // What is gone comes back within the time until the limit is whole again.
        let back = match (told.remaining, told.reset) {
            (Some(left), Some(reset)) if !reset.is_zero() && (left as f64) < limit => {
                Some((limit - left as f64) / reset.as_secs_f64())
            }
            _ => None,
        };
        let before = if is_new { None } else { Some(self.rate) };
        let own = self.set.map(|set| set / MINUTE);
        let slowest = [back, before, own].into_iter().flatten().reduce(f64::min);
        self.rate = slowest.unwrap_or(limit / MINUTE);
        let left = told.remaining.map_or(size, |n| n as f64).min(size);
        self.level = if self.size.is_none() { left } else { self.level.min(left) };
        self.size = Some(size);
        self.at = Some(now);
        // No provider's word holds calls up for longer: then one of them asks anew.
        let full_at = told.reset.filter(|reset| !reset.is_zero()).map(|reset| now + reset.min(LONGEST_PAUSE));
        // Replies overtake each other: where nothing was left once, more was left only before.
        self.full_at = if self.is_out { self.full_at.max(full_at) } else { full_at.or(self.full_at) };
        self.is_out |= told.remaining == Some(0) && full_at.is_some();
    }

    fn fill(&mut self, now: Instant) {
        let Some(size) = self.size else { return };
        if self.full_at.is_some_and(|at| at <= now) {
            self.full_at = None;
            self.is_out = false;
            // An owner who allows less has what comes back by the minute.
            if self.set.is_none_or(|set| set >= size && self.limit == Some(size)) {
                self.level = size;
                self.at = Some(now);
                return;
            }
        }
        let since = self.at.replace(now).map_or(0.0, |at| now.saturating_duration_since(at).as_secs_f64());
        self.level = (self.level + self.rate * since).min(size);
    }
}
