//! What the limits on tokens and money leave for a model call that is about to be sent: where nothing else bounds its
//! reply, the driver bounds it by that, so that the ceilings are hard.

use deepgraph_protocol::Meter;

use crate::limits::Counts;
use crate::machine::Machine;

/// What is left for the model calls of an instance that are about to be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallRoom {
    /// Tokens; none: no limit is in force.
    pub tokens: Option<u64>,
    /// Micro-dollars; none: no limit is in force.
    pub micro_usd: Option<u64>,
    /// Model calls that share it, at least 1.
    pub calls: u64,
}

impl CallRoom {
    /// Whether tokens or money are limited.
    pub fn is_limited(&self) -> bool {
        self.tokens.is_some() || self.micro_usd.is_some()
    }
}

impl Machine {
    /// What is left for the model calls that are about to be sent.
    pub fn call_room(&self) -> CallRoom {
        let (in_finally, at) = (self.in_finally(), self.reading());
        let left = |meter: Meter| {
            let of = self.limits.iter().filter(|limit| limit.counts == Counts::Meter(meter));
            of.filter_map(|limit| Some(limit.bound(in_finally)?.saturating_sub(limit.taken(&at)))).min()
        };
        CallRoom { tokens: left(Meter::Tokens), micro_usd: left(Meter::CostUsd), calls: self.coming.max(1) }
    }
}
