//! The ledger of an instance: what it and its children used, what is reserved, what a child is granted.

use std::collections::BTreeMap;

use deepgraph_protocol::{Grant, Spent, StepId};

/// What has been used and reserved. Every figure is of this instance and all below it.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// Settled: known to have been used.
    settled: Spent,
    /// Sent out before a crash, outcome not known: stays charged.
    unknown: Spent,
    /// Reserved by steps that are out.
    steps: BTreeMap<StepId, Spent>,
    /// Reserved by children that have not ended.
    children: BTreeMap<StepId, Grant>,
    /// What steps and children have reserved together.
    reserved: Spent,
    /// What is charged as unknown, by step, oldest attempt first.
    lost: BTreeMap<StepId, Vec<Spent>>,
}

impl Ledger {
    /// What counts as used: settled and unknown.
    pub(crate) fn used(&self) -> Spent {
        let mut used = self.settled;
        used += self.unknown;
        used
    }

    /// Used and reserved together.
    pub(crate) fn committed(&self) -> Spent {
        let mut sum = self.used();
        sum += self.reserved;
        sum
    }

    /// Reserves for a step that is sent out. A reservation that the step already holds is of an attempt whose
    /// outcome was never learnt: it stays charged as unknown.
    pub(crate) fn reserve(&mut self, step: &StepId, amount: Spent) {
        self.reserved += amount;
        if let Some(lost) = self.steps.insert(step.clone(), amount) {
            self.lost(step, lost);
        }
    }

    /// Closes a step whose outcome is not known: what it reserved stays charged.
    pub(crate) fn lose(&mut self, step: &StepId) {
        if let Some(lost) = self.steps.remove(step) {
            self.lost(step, lost);
        }
    }

    /// Settles a step: its reservation is given back, what it used is charged.
    pub(crate) fn settle(&mut self, step: &StepId, used: Spent) {
        if let Some(back) = self.steps.remove(step) {
            self.reserved -= back;
        }
        self.settled += used;
    }

    /// The outcome of an attempt that was taken for lost came after all: what it really used is charged instead.
    pub(crate) fn late(&mut self, step: &StepId, used: Spent) {
        let Some(amounts) = self.lost.get_mut(step).filter(|a| !a.is_empty()) else { return };
        self.unknown -= amounts.remove(0);
        self.settled += used;
    }

    fn lost(&mut self, step: &StepId, amount: Spent) {
        self.reserved -= amount;
        self.unknown += amount;
        self.lost.entry(step.clone()).or_default().push(amount);
    }

    /// Reserves a child's grant.
    pub(crate) fn grant(&mut self, step: &StepId, grant: Grant) {
        self.reserved += of_grant(&grant);
        if let Some(before) = self.children.insert(step.clone(), grant) {
            self.reserved -= of_grant(&before);
        }
    }

    /// Settles a child. A child that ended before is not charged twice.
    pub(crate) fn settle_child(&mut self, step: &StepId, used: Spent) {
        if let Some(grant) = self.children.remove(step) {
            self.reserved -= of_grant(&grant);
            self.settled += used;
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
