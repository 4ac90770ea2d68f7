//! The ledger is what was settled, what is not known and what is reserved, each recomputed from the journals; together
//! they never pass what was admitted.

use std::collections::{BTreeMap, BTreeSet};

use deepgraph_engine::LedgerView;
use deepgraph_graph::Counts;
use deepgraph_protocol::{
    Effect, EntryBody, ErrorKind, Event, Fee, Grant, Meter, Output, Spent, StepId, StepOutput,
};

use super::Violation;
use super::seen::{Row, Scope, Seen, bound_of};
use super::waiting::Waiting;

const NAME: &str = "ledger";

pub(super) fn check(seen: &Seen<'_>) -> Vec<Violation> {
    seen.scopes.values().flat_map(of_scope).collect()
}

/// The books of one instance, kept from its journal alone.
#[derive(Default)]
struct Books<'r> {
    settled: Spent,
    unknown: Spent,
    /// The attempt of each step that is out, from when it is put out until the step is over.
    open: BTreeMap<&'r StepId, u32>,
    /// Steps whose attempt that is out is the call of an op.
    ops: BTreeSet<&'r StepId>,
    /// Reservations of model calls and of ops that cost something, which are out.
    reserved: BTreeMap<&'r StepId, Spent>,
    /// Charges whose outcome may still come, by step and attempt.
    lost: BTreeMap<(&'r StepId, u32), Vec<Spent>>,
    grants: BTreeMap<&'r StepId, Grant>,
    calls: BTreeSet<&'r StepId>,
    /// What children handed up as used.
    handed: BTreeMap<&'r StepId, Spent>,
}

fn of_scope(scope: &Scope<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut books = Books::default();
    // The grants of children that wait for a place are reserved before anything is told of them.
    let mut waiting = Waiting::of(scope);
    let mut in_finally = false;
    for row in &scope.rows {
        books.enter(row);
        waiting.enter(row);
        in_finally &= !matches!(row.entry.body, EntryBody::Resumed { .. });
        in_finally |= row.outputs.iter().any(|o| matches!(o, Output::Event(Event::Finishing { .. })));
        let expected = books.view();
        let (ledger, number) = (row.ledger, row.number + 1);
        let reserved_fits = match waiting.is_any() {
            true => at_least(ledger.reserved, expected.reserved),
            false => ledger.reserved == expected.reserved,
        };
        let is_right = ledger.settled == expected.settled && ledger.unknown == expected.unknown;
        if !is_right || !reserved_fits {
            let what = format!(
                "after entry {number} the ledger has {}; by the journal it is {}",
                shown(&ledger),
                shown(&expected)
            );
            found.push(Violation::of_scope(NAME, scope.path, what));
            return found;
        }
        if let Some(what) = above(scope, &ledger, in_finally) {
            found.push(Violation::of_scope(NAME, scope.path, format!("after entry {number} {what}")));
            return found;
        }
    }
    if let Some(end) = scope.folded.end()
        && let Some(row) = scope.rows.iter().rfind(|row| ends(row))
    {
        let mut used = row.ledger.settled;
        used += row.ledger.unknown;
        if end.settled != used {
            let what = format!("it handed up {:?}, and its ledger has {used:?}", end.settled);
            found.push(Violation::of_scope(NAME, scope.path, what));
        }
    }
    found
}

fn ends(row: &Row<'_>) -> bool {
    row.outputs.iter().any(|output| matches!(output, Output::Event(Event::Exited { .. })))
}

impl<'r> Books<'r> {
    fn view(&self) -> LedgerView {
        let mut reserved = Spent::default();
        self.reserved.values().for_each(|spent| reserved += *spent);
        for grant in self.grants.values() {
            reserved += Spent {
                tokens: grant.tokens.unwrap_or(0),
                cost_micro_usd: grant.cost_micro_usd.unwrap_or(0),
                cost_unknown: 0,
                model_calls: grant.model_calls.unwrap_or(0),
                tool_calls: grant.tool_calls.unwrap_or(0),
            };
        }
        LedgerView { settled: self.settled, unknown: self.unknown, reserved }
    }

    fn lose(&mut self, step: &'r StepId, attempt: u32) {
        if let Some(spent) = self.reserved.remove(step) {
            self.unknown += spent;
            self.lost.entry((step, attempt)).or_default().push(spent);
        }
    }

    fn settle(&mut self, step: &'r StepId, attempt: u32, used: Spent) {
        self.reserved.remove(step);
        self.settled += used;
        // It is known what came of this attempt: what comes of it again is a duplicate.
        self.lost.remove(&(step, attempt));
    }

    /// The outcome of an attempt that was taken for lost.
    fn late(&mut self, step: &'r StepId, attempt: u32, used: Spent) {
        let charged = self.lost.get_mut(&(step, attempt)).filter(|lost| !lost.is_empty());
        if let Some(lost) = charged {
            self.unknown -= lost.remove(0);
            self.settled += used;
        }
    }

    fn enter(&mut self, row: &Row<'r>) {
        let attempt_of = |books: &Books<'r>, step: &StepId| books.open.get(step).copied();
        match &row.entry.body {
            // The claim of a call that writes and costs nothing.
            EntryBody::Dispatched { key: Some(_), reserve_micro_usd: None, .. } => {}
            EntryBody::Dispatched { step, attempt, reserve_tokens, reserve_micro_usd, .. } => {
                let is_current = attempt_of(self, step) == Some(*attempt);
                let is_stopped = row.outputs.iter().any(
                    |o| matches!(o, Output::Event(Event::StepFailed { step: failed, .. }) if failed == step),
                );
                if is_current && !is_stopped {
                    self.lose(step, *attempt);
                    let reserved = match self.ops.contains(step) {
                        true => Spent { model_calls: 0, ..one_call(0, *reserve_micro_usd) },
                        false => one_call(*reserve_tokens, *reserve_micro_usd),
                    };
                    self.reserved.insert(step, reserved);
                } else if is_current {
                    // It was out before a crash and does not fit now: what that cost is not known.
                    self.lose(step, *attempt);
                }
            }
            EntryBody::Completed { step, attempt, output: StepOutput::Model(reply), .. } => {
                let used = one_call(reply.usage.tokens(), reply.cost_micro_usd);
                match attempt_of(self, step) == Some(*attempt) {
                    true => self.settle(step, *attempt, used),
                    false => self.late(step, *attempt, used),
                }
            }
            EntryBody::Completed { step, attempt, output: StepOutput::Op(_), fee } => {
                match attempt_of(self, step) == Some(*attempt) {
                    true => self.settle(step, *attempt, paid(*fee)),
                    false => self.late(step, *attempt, paid(*fee)),
                }
            }
            EntryBody::AttemptFailed { step, attempt, error, fee, .. } if self.ops.contains(step) => {
                let is_lost =
                    matches!(error.kind, ErrorKind::StepTimeout | ErrorKind::Network) && !error.unsent;
                if attempt_of(self, step) != Some(*attempt) {
                    if !fee.is_none() {
                        self.late(step, *attempt, paid(*fee));
                    }
                } else if is_lost && self.reserved.contains_key(step) {
                    self.lose(step, *attempt);
                } else {
                    self.settle(step, *attempt, paid(*fee));
                }
            }
            EntryBody::AttemptFailed { step, attempt, error, usage, fee, .. } => {
                let is_model = self.reserved.contains_key(step);
                let is_lost =
                    matches!(error.kind, ErrorKind::StepTimeout | ErrorKind::Network) && !error.unsent;
                if attempt_of(self, step) != Some(*attempt) {
                    if usage.tokens() > 0 {
                        let used = Spent { tokens: usage.tokens(), model_calls: 1, ..paid(*fee) };
                        self.late(step, *attempt, used);
                    }
                } else if is_model && is_lost && usage.tokens() == 0 {
                    self.lose(step, *attempt);
                } else if is_model {
                    let used = Spent { tokens: usage.tokens(), model_calls: 1, ..paid(*fee) };
                    self.settle(step, *attempt, used);
                }
            }
            EntryBody::Failed { step, error } => {
                match attempt_of(self, step) {
                    Some(attempt) if error.unsent => self.settle(step, attempt, Spent::default()),
                    Some(attempt) => self.lose(step, attempt),
                    None => {}
                }
                self.grants.remove(step);
            }
            EntryBody::ChildEnded { step, end } if self.grants.remove(step).is_some() => {
                // What a child that went on used before is part of what it hands up now.
                self.settled -= self.handed.insert(step, end.settled).unwrap_or_default();
                self.settled += end.settled;
            }
            _ => {}
        }
        for output in row.outputs {
            self.note(output);
        }
    }

    fn note(&mut self, output: &'r Output) {
        match output {
            Output::Effect(Effect::CallModel { step, attempt, .. }) => {
                self.open.insert(step, *attempt);
            }
            Output::Effect(Effect::RunOp { step, attempt, .. }) => {
                self.open.insert(step, *attempt);
                self.ops.insert(step);
            }
            Output::Effect(Effect::Spawn { step, grant, .. } | Effect::Reopen { step, grant, .. }) => {
                self.grants.insert(step, *grant);
            }
            Output::Event(Event::StepCompleted { step } | Event::StepFailed { step, .. }) => {
                self.open.remove(step);
            }
            Output::Event(Event::CallAdmitted { step, .. } | Event::CallQueued { step, .. }) => {
                self.settled.tool_calls += u64::from(self.calls.insert(step));
            }
            _ => {}
        }
    }
}

fn one_call(tokens: u64, price: Option<u64>) -> Spent {
    Spent {
        tokens,
        cost_micro_usd: price.unwrap_or(0),
        cost_unknown: u64::from(price.is_none()),
        model_calls: 1,
        tool_calls: 0,
    }
}

fn paid(fee: Fee) -> Spent {
    Spent { cost_micro_usd: fee.micro_usd, cost_unknown: fee.unknown, ..Spent::default() }
}

fn at_least(more: Spent, less: Spent) -> bool {
    more.tokens >= less.tokens
        && more.cost_micro_usd >= less.cost_micro_usd
        && more.model_calls >= less.model_calls
        && more.tool_calls >= less.tool_calls
}

/// What is used and reserved is within what was admitted. Calls of tools are looked at elsewhere, by starts.
fn above(scope: &Scope<'_>, ledger: &LedgerView, in_finally: bool) -> Option<String> {
    let mut all = ledger.settled;
    all += ledger.unknown;
    all += ledger.reserved;
    let taken = [
        (Meter::Tokens, all.tokens),
        (Meter::CostUsd, all.cost_micro_usd),
        (Meter::ModelCalls, all.model_calls),
    ];
    for (meter, taken) in taken {
        for limit in scope.limits.iter().filter(|limit| limit.counts == Counts::Meter(meter) && !limit.own) {
            if let Some(bound) = bound_of(limit, in_finally).filter(|bound| taken > *bound) {
                let (meter, name) = (meter.name(), &limit.name);
                return Some(format!(
                    "{taken} {meter} are used and reserved, and the limit `{name}` is {bound}"
                ));
            }
        }
    }
    None
}

fn shown(ledger: &LedgerView) -> String {
    let of = |spent: &Spent| {
        format!(
            "{} tokens, {} micro-dollars, {} model calls, {} tool calls",
            spent.tokens, spent.cost_micro_usd, spent.model_calls, spent.tool_calls
        )
    };
    format!(
        "settled {}; unknown {}; reserved {}",
        of(&ledger.settled),
        of(&ledger.unknown),
        of(&ledger.reserved)
    )
}
