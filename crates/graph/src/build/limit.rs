//! Limits.

use deepgraph_protocol::Meter;

use super::tree::{Mapping, Tree};
use super::values::{Expression, Literal, Setting};

/// A limit: what is counted, up to what, and what then. It is whole once its action is said, which comes last.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit(Mapping);

/// A limit on a count that has no action yet: [`Counting::exit`], [`Counting::to`] or [`Counting::refuse`] ends it.
#[derive(Clone, Debug)]
pub struct Counting(Mapping);

/// A limit on what is new that has no action yet: [`Gain::exit`] or [`Gain::to`] ends it.
#[derive(Clone, Debug)]
pub struct Gain(Mapping);

impl Limit {
    /// Counts calls of these tools and visits of these nodes.
    pub fn count<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Counting {
        Counting(Mapping::default().with("count", Tree::names(names)))
    }

    /// Counts what a meter counts.
    pub fn meter(meter: Meter) -> Counting {
        Counting(Mapping::default().with("count", Tree::Text(meter.name().to_owned())))
    }

    /// Looks at how much is new in a channel each time a step writes it.
    pub fn gain(channel: impl Into<String>) -> Gain {
        Gain(Mapping::default().with("gain", Tree::Text(channel.into())))
    }

    pub(super) fn tree(self) -> Tree {
        Tree::Map(self.0)
    }
}

impl Counting {
    /// The bound. A limit of a child graph on what can be granted may do without: its bound is the grant.
    pub fn max(self, bound: impl Into<Setting>) -> Counting {
        Counting(self.0.with("max", bound.into().0))
    }

    /// Counts only the calls for which this holds: a condition over `args`.
    pub fn only_if(self, condition: impl Into<Expression>) -> Counting {
        Counting(self.0.with("if", condition.into().0))
    }

    /// One count for each value of this expression over `args`.
    pub fn per(self, value: impl Into<Expression>) -> Counting {
        Counting(self.0.with("per", value.into().0))
    }

    /// What is kept for `finally`: a share below 1, a number of units, or a length of time.
    pub fn reserve(self, kept: impl Into<Literal>) -> Counting {
        Counting(self.0.with("reserve", kept.into().0))
    }

    /// The share of the bound, 0 to 1, at which it warns once.
    pub fn warn(self, share: impl Into<Setting>) -> Counting {
        Counting(self.0.with("warn", share.into().0))
    }

    /// Leaves the use of child graphs out.
    pub fn own(self) -> Counting {
        Counting(self.0.with("scope", Tree::Text("own".to_owned())))
    }

    /// At the bound the graph ends by this exit.
    pub fn exit(self, name: impl Into<String>) -> Limit {
        Limit(self.0.with("exit", Tree::Text(name.into())))
    }

    /// At the bound it goes on with this node.
    pub fn to(self, node: impl Into<String>) -> Limit {
        Limit(self.0.with("to", Tree::Text(node.into())))
    }

    /// At the bound the start or call is refused.
    pub fn refuse(self) -> Limit {
        Limit(self.0.with("refuse", Tree::Bool(true)))
    }
}

impl Gain {
    /// The gain below which a step brought too little; 0: never.
    pub fn below(self, share: impl Into<Setting>) -> Gain {
        Gain(self.0.with("below", share.into().0))
    }

    /// How many of the last steps are looked at.
    pub fn window(self, steps: impl Into<Setting>) -> Gain {
        Gain(self.0.with("window", steps.into().0))
    }

    /// Steps before which it does not act.
    pub fn min_steps(self, steps: impl Into<Setting>) -> Gain {
        Gain(self.0.with("min_steps", steps.into().0))
    }

    /// The sum over the window must be below, not each of it.
    pub fn sum(self) -> Gain {
        Gain(self.0.with("mode", Tree::Text("sum".to_owned())))
    }

    /// `each` or `sum`, as a configuration key says.
    pub fn mode(self, mode: impl Into<Setting>) -> Gain {
        Gain(self.0.with("mode", mode.into().0))
    }

    /// Then the graph ends by this exit.
    pub fn exit(self, name: impl Into<String>) -> Limit {
        Limit(self.0.with("exit", Tree::Text(name.into())))
    }

    /// Then it goes on with this node.
    pub fn to(self, node: impl Into<String>) -> Limit {
        Limit(self.0.with("to", Tree::Text(node.into())))
    }
}
