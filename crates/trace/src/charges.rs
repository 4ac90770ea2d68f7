//! What the calls of an instance reserve and are charged, moment by moment, as its Machine has it.

use std::collections::BTreeMap;

use deepgraph_engine::Charged;
use deepgraph_protocol::{Millis, ScopePath, Spent};

use crate::tree::LedgerPoint;

/// The charges of one instance: the sums after each entry that changed them.
#[derive(Debug, Default)]
pub(crate) struct Charges(Vec<LedgerPoint>);

impl Charges {
    /// Notes what was charged before an entry and is charged after it.
    pub(crate) fn note(&mut self, at: Millis, before: Charged, after: Charged) {
        if before != after {
            self.0.push(LedgerPoint { at, used: after.used, reserved: after.reserved });
        }
    }

    /// The instance is over: what is still out stays as it is, but nothing is reserved any more.
    pub(crate) fn end(&mut self, at: Millis) {
        if let Some(last) = self.0.last().copied().filter(|last| last.reserved != Spent::default()) {
            self.0.push(LedgerPoint { at, reserved: Spent::default(), ..last });
        }
    }
}

/// The sums of a run from those of its instances, by moment. Entries of one moment are one point.
pub(crate) fn of_run<'a>(scopes: impl Iterator<Item = (&'a ScopePath, &'a Charges)>) -> Vec<LedgerPoint> {
    let mut changes: Vec<(usize, LedgerPoint)> = Vec::new();
    for (scope, (_, charges)) in scopes.enumerate() {
        changes.extend(charges.0.iter().map(|point| (scope, *point)));
    }
    // Stable: entries of one moment and one instance keep their order.
    changes.sort_by_key(|(_, point)| point.at);
    let mut latest: BTreeMap<usize, LedgerPoint> = BTreeMap::new();
    let mut sum = LedgerPoint::default();
    let mut points: Vec<LedgerPoint> = Vec::new();
    for (scope, point) in changes {
        let before = latest.insert(scope, point).unwrap_or_default();
        exchange(&mut sum.used, before.used, point.used);
        exchange(&mut sum.reserved, before.reserved, point.reserved);
        sum.at = point.at;
        match points.last_mut().filter(|last| last.at == sum.at) {
            Some(last) => *last = sum,
            None => points.push(sum),
        }
    }
    points
}

/// Takes one part of a sum out and another one in.
pub(crate) fn exchange(sum: &mut Spent, out: Spent, into: Spent) {
    // What comes in first: what goes out may be more than what one part of the sum has.
    let change = |sum: &mut u64, out: u64, into: u64| *sum = sum.saturating_add(into).saturating_sub(out);
    change(&mut sum.tokens, out.tokens, into.tokens);
    change(&mut sum.cost_micro_usd, out.cost_micro_usd, into.cost_micro_usd);
    change(&mut sum.cost_unknown, out.cost_unknown, into.cost_unknown);
    change(&mut sum.model_calls, out.model_calls, into.model_calls);
    change(&mut sum.tool_calls, out.tool_calls, into.tool_calls);
}
