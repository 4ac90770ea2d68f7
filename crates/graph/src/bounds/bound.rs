//! What is said of one figure: how much at most, and why.

use std::fmt;

use serde::Serialize;

/// The largest number that a bound names. A bound beyond it says nothing that a person could use.
pub(super) const MOST: u64 = 1_000_000_000_000_000_000;

/// How much of something there can be at most. In order: each is looser than those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "bound", content = "value", rename_all = "snake_case")]
pub enum Bound {
    /// So much. Whatever a model, a tool or a person does, there is never more.
    AtMost(u64),
    /// There is a bound, and it is more than this.
    MoreThan(u64),
    /// There is a bound in every run, and it can not be told from the graph and its configuration.
    Unknown,
    /// Nothing bounds it.
    Unbounded,
}

impl Bound {
    /// Nothing at all.
    pub const NONE: Bound = Bound::AtMost(0);

    /// The bound of a number; beyond what can be named, only that.
    pub(super) fn of(number: u128) -> Bound {
        match u64::try_from(number) {
            Ok(number) if number <= MOST => Bound::AtMost(number),
            _ => Bound::MoreThan(MOST),
        }
    }

    /// The number, where there is one.
    pub fn number(self) -> Option<u64> {
        if let Bound::AtMost(number) = self { Some(number) } else { None }
    }

    /// Both together.
    #[must_use]
    pub(super) fn plus(self, other: Bound) -> Bound {
        match (self, other) {
            (Bound::AtMost(a), Bound::AtMost(b)) => Bound::of(u128::from(a) + u128::from(b)),
            (a, b) => a.max(b),
        }
    }

    /// So many of these. Of nothing there is nothing, whatever the other is.
    #[must_use]
    pub(super) fn times(self, other: Bound) -> Bound {
        match (self, other) {
            (Bound::NONE, _) | (_, Bound::NONE) => Bound::NONE,
            (Bound::AtMost(a), Bound::AtMost(b)) => Bound::of(u128::from(a) * u128::from(b)),
            (a, b) => a.max(b),
        }
    }
}

/// `6`, `more than 1000`, `unknown`, `unbounded`.
impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::AtMost(number) => write!(f, "{number}"),
            Bound::MoreThan(number) => write!(f, "more than {number}"),
            Bound::Unknown => f.write_str("unknown"),
            Bound::Unbounded => f.write_str("unbounded"),
        }
    }
}

/// A bound with the reason for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// How much at most.
    #[serde(flatten)]
    pub bound: Bound,
    /// Why: the limits that it follows from, or what is missing. `6 (max_researcher_iterations) + 1 (finally)`.
    pub why: String,
}

impl Figure {
    pub(super) fn new(bound: Bound, why: impl Into<String>) -> Figure {
        Figure { bound, why: why.into() }
    }

    /// Nothing of it can happen.
    pub(super) fn none() -> Figure {
        Figure::new(Bound::NONE, "nothing leads to one")
    }

    /// The tighter of two; of equals this one.
    #[must_use]
    pub(super) fn or_tighter(self, other: Figure) -> Figure {
        if other.bound < self.bound { other } else { self }
    }
}
