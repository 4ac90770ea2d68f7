//! What the steps of an instance reserve and are charged, step by step, as its ledger has it.
//!
//! The Machine keeps sums; here each figure keeps its step and its moment. At the end of an instance the sums are the
//! same, which tests hold against each other.

use std::collections::BTreeMap;

use deepgraph_protocol::{
    EntryBody, ErrorKind, Millis, ModelReply, ScopePath, Spent, StepError, StepId, StepOutput, Usage,
};

use crate::tree::LedgerPoint;

/// The charges of one instance.
#[derive(Debug, Default)]
pub(crate) struct Charges {
    /// What calls that are out have reserved.
    out: BTreeMap<StepId, Spent>,
    /// What was charged so far.
    used: Spent,
    /// The sums after each entry that changed them.
    points: Vec<LedgerPoint>,
}

impl Charges {
    /// Notes an entry about a step that was open before it. Gives the step and what it is charged by this entry.
    ///
    /// `is_sent`: whether the step is still open after it, so that a dispatch was not stopped at a limit.
    pub(crate) fn note(
        &mut self,
        at: Millis,
        body: &EntryBody,
        is_model: bool,
        is_sent: bool,
    ) -> Option<(StepId, Spent)> {
        let (step, charge) = match body {
            EntryBody::Dispatched { step, reserve_tokens, reserve_micro_usd, .. } => {
                if !is_model || !is_sent {
                    return None;
                }
                let reserved = model_call(*reserve_tokens, *reserve_micro_usd);
                // Sent a second time: what came of the first was never learnt, and it stays charged.
                (step, self.out.insert(step.clone(), reserved).unwrap_or_default())
            }
            EntryBody::AttemptFailed { step, error, usage, .. } => {
                let reserved = self.out.remove(step)?;
                (step, of_failure(reserved, error, *usage))
            }
            EntryBody::Completed { step, output: StepOutput::Model(reply), .. } => {
                self.out.remove(step);
                (step, of_reply(reply))
            }
            EntryBody::Failed { step, .. } => (step, self.out.remove(step)?),
            EntryBody::Completed { output: StepOutput::Op(_), .. }
            | EntryBody::Started(_)
            | EntryBody::ChildEnded { .. }
            | EntryBody::Answered { .. }
            | EntryBody::TimerFired { .. }
            | EntryBody::StateEdited { .. }
            | EntryBody::CancelRequested { .. } => return None,
        };
        self.used += charge;
        let mut reserved = Spent::default();
        self.out.values().for_each(|r| reserved += *r);
        self.points.push(LedgerPoint { at, used: self.used, reserved });
        Some((step.clone(), charge))
    }

    /// The instance is over: what is still out stays as it is, but nothing is reserved any more.
    pub(crate) fn end(&mut self, at: Millis) {
        if !self.out.is_empty() {
            self.out.clear();
            self.points.push(LedgerPoint { at, used: self.used, reserved: Spent::default() });
        }
    }
}

/// What a failed attempt is charged: what it is known to have used, or all that it reserved where the provider may
/// have worked for an answer that never came.
fn of_failure(reserved: Spent, error: &StepError, usage: Usage) -> Spent {
    let is_lost = matches!(error.kind, ErrorKind::StepTimeout | ErrorKind::Network) && !error.unsent;
    if is_lost && usage.tokens() == 0 { reserved } else { model_call(usage.tokens(), Some(0)) }
}

fn of_reply(reply: &ModelReply) -> Spent {
    model_call(reply.usage.tokens(), reply.cost_micro_usd)
}

fn model_call(tokens: u64, price: Option<u64>) -> Spent {
    Spent {
        tokens,
        cost_micro_usd: price.unwrap_or(0),
        cost_unknown: u64::from(price.is_none()),
        model_calls: 1,
        tool_calls: 0,
    }
}

/// The sums of a run from those of its instances, by moment. Entries of one moment are one point.
pub(crate) fn of_run<'a>(scopes: impl Iterator<Item = (&'a ScopePath, &'a Charges)>) -> Vec<LedgerPoint> {
    let mut changes: Vec<(usize, LedgerPoint)> = Vec::new();
    for (scope, (_, charges)) in scopes.enumerate() {
        changes.extend(charges.points.iter().map(|point| (scope, *point)));
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
fn exchange(sum: &mut Spent, out: Spent, into: Spent) {
    let change = |sum: &mut u64, out: u64, into: u64| *sum = sum.saturating_sub(out).saturating_add(into);
    change(&mut sum.tokens, out.tokens, into.tokens);
    change(&mut sum.cost_micro_usd, out.cost_micro_usd, into.cost_micro_usd);
    change(&mut sum.cost_unknown, out.cost_unknown, into.cost_unknown);
    change(&mut sum.model_calls, out.model_calls, into.model_calls);
    change(&mut sum.tool_calls, out.tool_calls, into.tool_calls);
}
