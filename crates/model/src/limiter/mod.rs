//! One limiter for each account at a provider, shared by all that a process sends there.
//!
//! It delays calls so that requests and tokens per minute stay within what the account is allowed: what its owner says
//! ([`Account::new`]), and what the provider says in the headers of its replies ([`Account::learn`]). Where the provider
//! refuses and asks to wait ([`Account::pause`]), only the model that was asked rests: most providers limit each model by
//! itself, and whoever turns to another of the same account shall not wait for the one that it leaves. Calls go out in the
//! order in which they came, those to a model that rests excepted. It never decides anything: a call that waits goes out
//! later, or is given up by dropping its future.
//!
//! What is left is counted in buckets. They are set anew from each reply, which quotas that are fixed when they are made
//! could not be.

mod bucket;
mod headers;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use deepgraph_protocol::{ErrorKind, StepError};
use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;

use bucket::Bucket;

/// The longest that an account rests because its provider asks for it: no provider's word stops a run for good.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// What one account at a provider (its name, base URL and key) may still send.
pub struct Account {
    /// For people: which account it is. Never its key.
    name: String,
    /// The one call whose turn it is; the others wait behind it, first come, first served. A call to a model that rests
    /// does not hold it.
    turn: Semaphore,
    state: Mutex<State>,
    /// Something was learnt: whoever waits looks again.
    learnt: Notify,
}

struct State {
    requests: Bucket,
    tokens: Bucket,
    /// The models that were asked to wait, by name.
    models: BTreeMap<String, Model>,
}

/// A model that rests, or did.
struct Model {
    /// Nobody asks it before.
    rests_until: Instant,
    /// The one call to it that waits for that; the others wait behind it.
    turn: Arc<Semaphore>,
}

impl Account {
    /// An account with the limits that its owner knows; none: what the provider tells. 0 is taken for 1.
    pub fn new(
        name: impl Into<String>,
        requests_per_minute: Option<u64>,
        tokens_per_minute: Option<u64>,
    ) -> Account {
        Account {
            name: name.into(),
            turn: Semaphore::new(1),
            state: Mutex::new(State {
                requests: Bucket::new(requests_per_minute),
                tokens: Bucket::new(tokens_per_minute),
                models: BTreeMap::new(),
            }),
            learnt: Notify::new(),
        }
    }

    /// Which account it is, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Lets a call of so many tokens to a model out now, if it does not have to wait.
    pub fn try_pass(&self, model: &str, tokens: u64) -> bool {
        // Where somebody waits already, nobody overtakes.
        let line = self.line(model);
        let Ok(_first) = line.as_ref().map(|line| line.try_acquire()).transpose() else { return false };
        let Ok(_turn) = self.turn.try_acquire() else { return false };
        self.rest(model).is_none() && self.take(tokens).is_none()
    }

    /// Waits until a call of so many tokens to a model may go out. A call that is larger than what the account may send in
    /// a minute waits for a full minute's worth. Dropping the future gives the place up.
    pub async fn pass(&self, model: &str, tokens: u64) {
        let line = self.line(model);
        // It is never closed; were it, the order would be gone, not the calls.
        let _first = match &line {
            Some(line) => line.acquire().await.ok(),
            None => None,
        };
        loop {
            while let Some(until) = self.rest(model) {
                tokio::time::sleep_until(until).await;
            }
            let _turn = self.turn.acquire().await.ok();
            // A model that was told to rest meanwhile is waited for outside of the turn.
            while self.rest(model).is_none() {
                // Made before it looks, so that nothing that is learnt between the two is missed.
                let learnt = self.learnt.notified();
                let Some(until) = self.take(tokens) else { return };
                tokio::select! {
                    () = tokio::time::sleep_until(until) => {}
                    () = learnt => {}
                }
            }
        }
    }

    /// How long a call of so many tokens to a model would have to wait now, as far as that can be told: others that wait
    /// before it are not counted.
    pub fn wait(&self, model: &str, tokens: u64) -> Duration {
        let now = Instant::now();
        let rests = self.rest(model);
        let mut state = self.state();
        let until = rests.max(state.requests.ready(1, now)).max(state.tokens.ready(tokens, now));
        until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now))
    }

    /// A call that was let out with `passed` tokens is not sent: its place is given back.
    pub fn give_back(&self, passed: u64) {
        let now = Instant::now();
        {
            let mut state = self.state();
            state.requests.correct(1, 0, now);
            state.tokens.correct(passed, 0, now);
        }
        self.learnt.notify_waiters();
    }

    /// A call that was let out with `passed` tokens has used `used`: the difference is given back, or charged.
    pub fn correct(&self, passed: u64, used: u64) {
        let now = Instant::now();
        self.state().tokens.correct(passed, used, now);
        self.learnt.notify_waiters();
    }

    /// The provider asks to wait so long: nobody asks the model before. Five minutes are the most that it can ask for.
    pub fn pause(&self, model: &str, wait: Duration) {
        let until = Instant::now() + wait.min(LONGEST_PAUSE);
        {
            let mut state = self.state();
            let new = || Model { rests_until: until, turn: Arc::new(Semaphore::new(1)) };
            let model = state.models.entry(model.to_owned()).or_insert_with(new);
            model.rests_until = model.rests_until.max(until);
        }
        self.learnt.notify_waiters();
    }

    /// A call to a model that was let out with `passed` tokens failed: where nothing of it was sent its place is given
    /// back, and where the provider asks to wait, nobody asks the model before.
    pub fn refused(&self, model: &str, passed: u64, error: &StepError) {
        if error.unsent {
            self.give_back(passed);
        }
        let asks = matches!(error.kind, ErrorKind::RateLimited | ErrorKind::Unavailable);
        if let Some(ms) = error.retry_after_ms.filter(|_| asks) {
            self.pause(model, Duration::from_millis(ms));
        }
    }

    /// Takes what a reply's headers, or those of a refusal, say of the account's limits: names in lower case, with their
    /// values, as `x-ratelimit-remaining-requests: 59`. Understood are those of OpenAI (`x-ratelimit-*`, which most
    /// compatible servers send), of Anthropic (`anthropic-ratelimit-*`), and `retry-after` and `retry-after-ms`; others are
    /// passed over. A time to wait is the model's that was asked, all else the account's.
    ///
    /// Whoever holds a connection calls it once for each reply.
    pub fn learn<'h>(&self, model: &str, headers: impl IntoIterator<Item = (&'h str, &'h str)>) {
        let told = headers::read(headers, jiff::Timestamp::now());
        let now = Instant::now();
        {
            let mut state = self.state();
            state.requests.learn(&told.requests, now);
            state.tokens.learn(&told.tokens, now);
        }
        if let Some(wait) = told.wait {
            self.pause(model, wait);
        }
        self.learnt.notify_waiters();
    }

    /// Takes one request and its tokens; else says when to look again.
    fn take(&self, tokens: u64) -> Option<Instant> {
        let now = Instant::now();
        let mut state = self.state();
        let waits = state.requests.ready(1, now).max(state.tokens.ready(tokens, now));
        if waits.is_none() {
            state.requests.take(1);
            state.tokens.take(tokens);
        }
        waits
    }

    /// Until when a model rests; none: it does not.
    fn rest(&self, model: &str) -> Option<Instant> {
        let state = self.state();
        let until = state.models.get(model)?.rests_until;
        (until > Instant::now()).then_some(until)
    }

    /// Where the calls to a model wait that was asked to rest; none: it never was.
    fn line(&self, model: &str) -> Option<Arc<Semaphore>> {
        self.state().models.get(model).map(|model| model.turn.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account").field("name", &self.name).finish_non_exhaustive()
    }
}
