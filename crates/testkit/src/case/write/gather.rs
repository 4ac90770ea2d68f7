//! What the journals of a run say of each attempt.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_protocol::{EntryBody, Hidden, Meter, Millis, StepId};
use deepgraph_trace::recording::Exchange;
use deepgraph_trace::{FoldError, Recording, Row, Trace, fold};

use super::begun::begun;

/// A run, as far as a case tells it.
pub(super) struct Gathered {
    pub(super) trace: Trace,
    /// Every attempt, ops that reach nothing outside included.
    pub(super) recording: Recording,
    /// What was reserved for each attempt of a model call: tokens, and micro-dollars where the price was known. Empty
    /// where no limit bounds them.
    pub(super) reserved: BTreeMap<(StepId, u32), (u64, Option<u64>)>,
    /// When each step began; empty where time made no difference.
    begun: BTreeMap<StepId, Millis>,
    /// What came in the very moment of the cancellation, but behind it.
    behind_cancel: BTreeSet<(StepId, u32)>,
    /// When the last entry was committed.
    last: Millis,
}

impl Gathered {
    pub(super) fn of(bundle: &Arc<Bundle>, rows: &[Row<'_>]) -> Result<Gathered, FoldError> {
        let trace = fold(bundle, rows.iter().copied())?;
        let recording = Recording::of(bundle, rows.iter().copied(), "", "", &|_| false, &Hidden::default())?;
        let bounded = |meter: Option<Meter>| matches!(meter, Some(Meter::Tokens | Meter::CostUsd));
        let is_bounded = trace
            .root
            .instances()
            .iter()
            .flat_map(|scope| &scope.limits)
            .any(|limit| limit.max.is_some() && bounded(limit.meter));
        let reserved = rows.iter().filter(|_| is_bounded).filter_map(|row| match &row.entry.body {
            EntryBody::Dispatched { step, attempt, reserve_tokens, reserve_micro_usd, .. } => {
                Some(((step.clone(), *attempt), (*reserve_tokens, *reserve_micro_usd)))
            }
            _ => None,
        });
        let is_timed = recording.cancelled_ms.is_some()
            || recording.exchanges.iter().any(|exchange| exchange.after_ms.is_some());
        let begun = if is_timed { begun(bundle, rows) } else { BTreeMap::new() };
        Ok(Gathered {
            reserved: reserved.collect(),
            begun,
            behind_cancel: behind_cancel(rows),
            last: rows.iter().map(|row| row.entry.at).max().unwrap_or_default(),
            trace,
            recording,
        })
    }

    /// How many milliseconds an attempt took; none where time made no difference. What never came takes longer than
    /// the run.
    pub(super) fn takes(&self, exchange: &Exchange, earlier: Option<&Exchange>) -> Option<u64> {
        let begun = *self.begun.get(&exchange.step)?;
        let moment = |after: u64| self.recording.started_ms.saturating_add_unsigned(after);
        let begun = earlier.and_then(|earlier| earlier.after_ms).map_or(begun, moment);
        match exchange.after_ms {
            Some(after) => {
                // A case is cancelled when all of that moment has come.
                let is_behind = self.behind_cancel.contains(&(exchange.step.clone(), exchange.attempt));
                Some(moment(after).abs_diff(begun) + u64::from(is_behind))
            }
            None => Some(self.last.abs_diff(begun) + HOUR),
        }
    }
}

/// The attempts that ended in the moment in which the run was cancelled, after that.
fn behind_cancel(rows: &[Row<'_>]) -> BTreeSet<(StepId, u32)> {
    let asked =
        |row: &&Row<'_>| row.scope.is_root() && matches!(row.entry.body, EntryBody::CancelRequested { .. });
    let mut behind = rows.iter().skip_while(|row| !asked(row));
    let Some(cancelled) = behind.next() else { return BTreeSet::new() };
    let ended = |row: &Row<'_>| match &row.entry.body {
        EntryBody::Completed { step, attempt, .. } | EntryBody::AttemptFailed { step, attempt, .. } => {
            Some((step.clone(), *attempt))
        }
        _ => None,
    };
    behind.take_while(|row| row.entry.at == cancelled.entry.at).filter_map(ended).collect()
}

/// In milliseconds.
const HOUR: u64 = 3_600_000;
