//! Limits.

use std::sync::Arc;

use deepgraph_protocol::{ExitClass, ExitReason, Meter};

use super::{ChannelIx, NodeIx, Setting, ToolIx};
use crate::ValueExpr;

/// A limit.
#[derive(Debug)]
pub struct Limit {
    /// Its name.
    pub name: Arc<str>,
    /// What is counted.
    pub counted: Counted,
    /// The bound; none: the grant. A setting that reads as null switches the limit off.
    pub max: Option<Setting>,
    /// What then.
    pub on_reach: OnReach,
    /// What is kept for `finally`.
    pub reserve: Reserve,
    /// The share of the bound, 0 to 1, at which it warns once; none, or a setting that reads as null: it does not.
    pub warn: Option<Setting>,
    /// Whether children's use is left out (`scope: own`).
    pub own: bool,
    /// Only calls whose arguments hold this are counted (limits on named tools).
    pub condition: Option<ValueExpr>,
    /// One count per value of this over the arguments, instead of one for all (limits on named tools).
    pub per: Option<ValueExpr>,
}

/// What a limit counts.
#[derive(Debug)]
pub enum Counted {
    /// Calls of tools and visits of nodes.
    Names {
        /// The tools.
        tools: Vec<ToolIx>,
        /// The nodes.
        nodes: Vec<NodeIx>,
    },
    /// A meter.
    Meter(Meter),
    /// New items per step: new ÷ (known + 1), each time a step writes the channel.
    Gain {
        /// The channel.
        channel: ChannelIx,
        /// The threshold; 0 switches the limit off.
        below: Setting,
        /// How many of the last steps are looked at.
        window: Setting,
        /// Steps before which it does not fire.
        min_steps: Setting,
        /// `each`: each of the window must be below; `sum`: their sum.
        mode: Setting,
    },
}

/// What happens when a limit is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnReach {
    /// The instance ends.
    Exit(ExitReason, ExitClass),
    /// A node runs instead.
    To(NodeIx),
    /// The start is refused.
    Refuse,
}

/// What of a limit is kept for `finally`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reserve {
    /// A share of the bound, 0 to below 1.
    Share(f64),
    /// Units of what is counted (tokens, dollars, seconds, calls).
    Units(f64),
}

impl Reserve {
    /// What is kept where a limit does not say: a tenth of a quantity (tokens, money, time), if there is a stage of
    /// `finally` to keep it for; nothing of what counts starts.
    pub(crate) fn unsaid(meter: Option<Meter>, has_stage: bool) -> Reserve {
        let keeps = has_stage && meter.is_some_and(Meter::is_quantity);
        Reserve::Share(if keeps { 0.1 } else { 0.0 })
    }

    /// What is kept of a bound in base units, of which a unit has `unit`. No more than the bound.
    pub fn of(self, max: u64, unit: f64) -> u64 {
        let kept = match self {
            Reserve::Share(share) => (max as f64 * share) as u64,
            Reserve::Units(units) => (units * unit).round() as u64,
        };
        kept.min(max)
    }
}
