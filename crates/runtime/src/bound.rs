//! How long the reply to a model call may be: what is reserved for it, and what the model is told.
//!
//! What the node or an option asks for is taken, as far as the model can write as much and its window has room for it. Where
//! nothing is asked for and tokens or money are limited, the bound is what is known of the model, or its share of what the
//! limits leave, so that a provider that keeps to it can not exceed them. A run without such limits is not cut short.

use deepgraph_engine::CallRoom;
use deepgraph_model::{Price, asked_output};
use deepgraph_protocol::{ModelRequest, Usage};

/// Output tokens of a call of which nothing is known. No share of what limits leave is smaller: what does not have room for
/// it is not sent.
const UNBOUNDED_OUTPUT: u64 = 4096;

/// What is known before a call of the model that is asked, and of where its reply has to fit.
#[derive(Debug)]
pub(crate) struct Around<'a> {
    /// The longest reply that the model can write, in tokens.
    pub(crate) known: Option<u64>,
    /// Its context window, in tokens.
    pub(crate) window: Option<u64>,
    pub(crate) room: CallRoom,
    /// The prices of all that may be asked; none: one of them is not known.
    pub(crate) prices: Option<&'a [Price]>,
}

/// The longest reply to a call, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Longest {
    /// What the model is told; none: nothing.
    pub(crate) told: Option<u64>,
    /// What is reserved.
    pub(crate) reserved: u64,
}

impl Longest {
    /// Of the reply to this request.
    pub(crate) fn of(request: &ModelRequest, around: &Around<'_>) -> Longest {
        let estimate = request.estimate_tokens();
        let beside = around.window.map_or(u64::MAX, |window| beside(estimate, window));
        if let Some(asked) = asked_output(request) {
            let most = asked.min(around.known.unwrap_or(u64::MAX)).min(beside).max(1);
            return Longest { told: Some(most), reserved: most };
        }
        let most = around.known.or(around.window.map(|window| window / 2)).unwrap_or(UNBOUNDED_OUTPUT);
        let most = most.min(beside).max(1);
        if around.room.is_limited() {
            let most = most.min(share(estimate, around)).max(most.min(UNBOUNDED_OUTPUT));
            return Longest { told: Some(most), reserved: most };
        }
        // Its own longest reply would not fit the window: some providers refuse that.
        let told = around.known.filter(|known| *known > most).map(|_| most);
        Longest { told, reserved: most }
    }
}

/// What a window has beside a request, whose estimate may be an eighth too low.
fn beside(estimate: u64, window: u64) -> u64 {
    window.saturating_sub(estimate).saturating_sub(estimate / 8).max(window / 16)
}

/// The share of a call in what the limits leave beside the requests: half is kept for what is sent after it.
fn share(estimate: u64, around: &Around<'_>) -> u64 {
    let CallRoom { tokens, micro_usd, calls } = around.room;
    let part =
        |left: u64, request: u64| left.saturating_sub(request.saturating_mul(calls)) / calls.max(1) / 2;
    let by_tokens = tokens.map_or(u64::MAX, |left| part(left, estimate));
    let asking = Usage { input_tokens: estimate, ..Usage::default() };
    let by_money = micro_usd.zip(around.prices).map_or(u64::MAX, |(left, prices)| {
        let dearest = prices.iter().map(|price| price.most(&asking)).max().unwrap_or(0);
        prices.iter().map(|price| price.output_for(part(left, dearest))).min().unwrap_or(u64::MAX)
    });
    by_tokens.min(by_money)
}

#[cfg(test)]
mod tests;
