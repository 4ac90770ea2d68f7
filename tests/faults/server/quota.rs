//! An account that may send only so much: told in the headers of good replies, and kept to.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So many requests in a window of time. A window begins with the first request behind the last one.
pub struct Quota {
    most: usize,
    window: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// When the window ends.
    until: Option<Instant>,
    /// How many requests it has had.
    taken: usize,
    /// How many were refused in all.
    refused: usize,
}

impl Quota {
    /// So many requests in such a window.
    pub fn new(most: usize, window: Duration) -> Quota {
        Quota { most, window, state: Mutex::default() }
    }

    /// Lets a request in, and gives the headers of its reply; none where it is refused.
    pub fn take(&self) -> Option<String> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let until = match state.until.filter(|until| *until > now) {
            Some(until) => until,
            None => {
                state.taken = 0;
                now + self.window
            }
        };
        state.until = Some(until);
        if state.taken >= self.most {
            state.refused += 1;
            return None;
        }
        state.taken += 1;
        // Rounded up: who comes then is not too early.
        let reset = until.saturating_duration_since(now).as_millis() + 1;
        Some(format!(
            "x-ratelimit-limit-requests: {}\r\nx-ratelimit-remaining-requests: {}\r\n\
             x-ratelimit-reset-requests: {reset}ms\r\n",
            self.most,
            self.most - state.taken
        ))
    }

    /// How many requests were refused.
    pub fn refused(&self) -> usize {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).refused
    }
}

/// A response with more headers.
pub fn with_headers(response: Vec<u8>, headers: &str) -> Vec<u8> {
    let status = response.windows(2).position(|end| end == b"\r\n").map_or(0, |at| at + 2);
    let (line, rest) = response.split_at(status);
    [line, headers.as_bytes(), rest].concat()
}
