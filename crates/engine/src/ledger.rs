//! The ledger of an instance: what it and its children used, what is reserved, what a child is granted.

use std::collections::BTreeMap;

use deepgraph_protocol::{Grant, Spent, StepId};

/// A ledger as it stands: of an instance and all below it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LedgerView {
    /// Known to have been used.
    pub settled: Spent,
    /// Sent out, and never learnt what it used: charged with what it had reserved.
    pub unknown: Spent,
    /// Reserved by steps that are out, and granted to children that have not ended.
    pub reserved: Spent,
}

/// What has been used and reserved. Every figure is of this instance and all below it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    /// Settled: known to have been used.
    settled: Spent,
    /// Sent out before a crash, outcome not known: stays charged.
    unknown: Spent,
    /// Reserved by steps that are out, with the attempt that is.
    steps: BTreeMap<StepId, (u32, Spent)>,
    /// Reserved by children that have not ended.
    children: BTreeMap<StepId, Grant>,
    /// What steps and children have reserved together.
    reserved: Spent,
    /// What is charged as unknown and may still become known, by step, with its attempt; the oldest first.
    lost: BTreeMap<StepId, Vec<(u32, Spent)>>,
    /// What of the settled was settled by children.
    below: Spent,
    /// What children that were over and go on had settled, each.
    earlier: BTreeMap<StepId, Spent>,
}

/// What the calls of an instance are charged, those of its children apart: tokens, micro-dollars and model calls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Charged {
    /// Settled, calls whose outcome was never learnt included.
    pub used: Spent,
    /// Reserved by calls that are out.
    pub reserved: Spent,
}

impl Ledger {
    /// The sums.
    pub(crate) fn view(&self) -> LedgerView {
        LedgerView { settled: self.settled, unknown: self.unknown, reserved: self.reserved }
    }

    /// What counts as used: settled and unknown.
    pub(crate) fn used(&self) -> Spent {
        let mut used = self.settled;
        used += self.unknown;
        used
    }

    /// What its own calls are charged.
    pub(crate) fn charged(&self) -> Charged {
        let mut used = self.used();
        used -= self.below;
        used.tool_calls = 0;
        let mut reserved = Spent::default();
        self.steps.values().for_each(|(_, step)| reserved += *step);
        Charged { used, reserved }
    }

    /// Used and reserved together.
    pub(crate) fn committed(&self) -> Spent {
        let mut sum = self.used();
        sum += self.reserved;
        sum
    }

    /// Reserves for an attempt that is sent out. A reservation that the step already holds is of an attempt whose
    /// outcome was never learnt: it stays charged as unknown.
    pub(crate) fn reserve(&mut self, step: &StepId, attempt: u32, amount: Spent) {
        self.reserved += amount;
        if let Some(lost) = self.steps.insert(step.clone(), (attempt, amount)) {
            self.lost(step, lost);
        }
    }

    /// Whether a step has something reserved.
    pub(crate) fn is_reserved(&self, step: &StepId) -> bool {
        self.steps.contains_key(step)
    }

    /// Closes a step whose outcome is not known: what it reserved stays charged.
    pub(crate) fn lose(&mut self, step: &StepId) {
        if let Some(lost) = self.steps.remove(step) {
            self.lost(step, lost);
        }
    }

    /// Settles an attempt: its reservation is given back, what it used is charged. What is said of it again is a
    /// duplicate, so that what was lost of it before stays lost.
    pub(crate) fn settle(&mut self, step: &StepId, attempt: u32, used: Spent) {
        if let Some((_, back)) = self.steps.remove(step) {
            self.reserved -= back;
        }
        self.settled += used;
        if let Some(lost) = self.lost.get_mut(step) {
            lost.retain(|(of, _)| *of != attempt);
        }
    }

    /// The outcome of an attempt that was taken for lost came after all: what it really used is charged instead.
    pub(crate) fn late(&mut self, step: &StepId, attempt: u32, used: Spent) {
        let Some(lost) = self.lost.get_mut(step) else { return };
        let Some(at) = lost.iter().position(|(of, _)| *of == attempt) else { return };
        let (_, amount) = lost.remove(at);
        self.unknown -= amount;
        self.settled += used;
    }

    fn lost(&mut self, step: &StepId, (attempt, amount): (u32, Spent)) {
        self.reserved -= amount;
        self.unknown += amount;
        self.lost.entry(step.clone()).or_default().push((attempt, amount));
    }

    /// Reserves a child's grant.
    pub(crate) fn grant(&mut self, step: &StepId, grant: Grant) {
        self.reserved += of_grant(&grant);
        if let Some(before) = self.children.insert(step.clone(), grant) {
            self.reserved -= of_grant(&before);
        }
    }

    /// Reserves what a child that was over may use beyond what it has settled.
    pub(crate) fn grant_again(&mut self, step: &StepId, grant: Grant, settled: Spent) {
        self.grant(step, grant);
        self.earlier.insert(step.clone(), settled);
    }

    /// Settles a child. A child that ended before is not charged twice: of one that went on, what it used is the sum
    /// of all its attempts. One that was given up tells no sum.
    pub(crate) fn settle_child(&mut self, step: &StepId, used: Spent) {
        if let Some(grant) = self.children.remove(step) {
            self.reserved -= of_grant(&grant);
            let earlier = self.earlier.remove(step).filter(|_| used != Spent::default()).unwrap_or_default();
            for sum in [&mut self.settled, &mut self.below] {
                *sum -= earlier;
                *sum += used;
            }
        }
    }

    /// Charges one admitted tool call.
    pub(crate) fn count_tool_call(&mut self) {
        self.settled.tool_calls += 1;
    }
}

/// What a grant reserves.
fn of_grant(grant: &Grant) -> Spent {
    Spent {
        tokens: grant.tokens.unwrap_or(0),
        cost_micro_usd: grant.cost_micro_usd.unwrap_or(0),
        cost_unknown: 0,
        model_calls: grant.model_calls.unwrap_or(0),
        tool_calls: grant.tool_calls.unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(model_calls: u64) -> Spent {
        Spent { model_calls, ..Spent::default() }
    }

    fn granted(model_calls: u64) -> Grant {
        Grant { model_calls: Some(model_calls), ..Grant::default() }
    }

    /// What of a total nothing has used or reserved.
    fn unallocated(ledger: &Ledger, total: u64) -> u64 {
        total - ledger.committed().model_calls
    }

    #[test]
    fn a_raised_total_opens_no_second_budget() {
        let mut ledger = Ledger::default();
        for n in 1..=20 {
            let step = StepId::new(format!("ask.{n}"));
            ledger.reserve(&step, 1, calls(1));
            ledger.settle(&step, 1, calls(1));
        }
        ledger.grant(&StepId::new("look.1"), granted(6));
        assert_eq!((ledger.used(), ledger.view().reserved), (calls(20), calls(6)));
        assert_eq!(unallocated(&ledger, 57), 31);
        assert_eq!(unallocated(&ledger, 85), 59);
    }

    #[test]
    fn a_child_that_went_on_is_charged_once_for_all_its_attempts() {
        let (mut ledger, child) = (Ledger::default(), StepId::new("look.1"));
        ledger.grant(&child, granted(6));
        ledger.settle_child(&child, calls(6));
        ledger.grant_again(&child, granted(10), calls(6));
        assert_eq!(ledger.committed(), calls(16), "only what comes beyond is reserved");
        ledger.settle_child(&child, calls(9));
        ledger.settle_child(&child, calls(9));
        assert_eq!((ledger.used(), ledger.committed()), (calls(9), calls(9)));
        // Given up before it went on, it has used what it had.
        ledger.grant_again(&child, granted(4), calls(9));
        ledger.settle_child(&child, Spent::default());
        assert_eq!((ledger.used(), ledger.charged().used), (calls(9), calls(0)));
    }
}
