//! What the journals of a run say of each attempt.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_protocol::{EntryBody, Hidden, Meter, Millis, StepId};
use deepgraph_trace::recording::{Came, Exchange, Reserved, hidden_in};
use deepgraph_trace::{FoldError, Recording, Row, Trace, fold};

use super::begun::{Begun, begun};

/// A run, as far as a case tells it.
pub(super) struct Gathered {
    pub(super) trace: Trace,
    /// Every attempt, ops that reach nothing outside included.
    pub(super) recording: Recording,
    /// The secrets of the run, and what looks like a key in the message of a failure. The recording is without them.
    pub(super) hidden: Hidden,
    /// What was reserved for each attempt of a model call. Empty where no limit bounds tokens or money.
    pub(super) reserved: BTreeMap<(StepId, u32), Reserved>,
    /// When each attempt began; empty where time made no difference.
    begun: BTreeMap<(StepId, u32), Begun>,
    /// What came in the very moment of the cancellation, but behind it.
    behind_cancel: BTreeSet<(StepId, u32)>,
    /// When the last entry was committed.
    last: Millis,
}

impl Gathered {
    pub(super) fn of(
        bundle: &Arc<Bundle>,
        rows: &[Row<'_>],
        question: &str,
        hidden: &Hidden,
    ) -> Result<Gathered, FoldError> {
        let trace = fold(bundle, rows.iter().copied())?;
        let hidden = hidden_in(rows, hidden);
        let recording = Recording::of_trace(bundle, rows, &trace, "", question, &|_| false, &hidden)?;
        let bounded = |meter: Option<Meter>| matches!(meter, Some(Meter::Tokens | Meter::CostUsd));
        let is_bounded = trace
            .root
            .instances()
            .iter()
            .flat_map(|scope| &scope.limits)
            .any(|limit| limit.max.is_some() && bounded(limit.meter));
        let reserved = rows.iter().filter(|_| is_bounded).filter_map(|row| match &row.entry.body {
            EntryBody::Dispatched { step, attempt, reserve_tokens, reserve_micro_usd, .. } => {
                let reserved = Reserved { tokens: *reserve_tokens, micro_usd: *reserve_micro_usd };
                Some(((step.clone(), *attempt), reserved))
            }
            _ => None,
        });
        let is_timed = recording.cancelled_ms.is_some()
            || recording.exchanges.iter().any(|exchange| exchange.after_ms.is_some());
        let begun = if is_timed { begun(bundle, rows) } else { BTreeMap::new() };
        Ok(Gathered {
            hidden,
            reserved: reserved.collect(),
            begun,
            behind_cancel: behind_cancel(rows),
            last: rows.iter().map(|row| row.entry.at).max().unwrap_or_default(),
            trace,
            recording,
        })
    }

    /// How long an attempt took; none where time made no difference. What never came takes longer than the run in any
    /// case: else it would come while other steps take no time.
    pub(super) fn took(&self, exchange: &Exchange) -> Option<Took> {
        let key = (exchange.step.clone(), exchange.attempt);
        let moment = |after: u64| self.recording.started_ms.saturating_add_unsigned(after);
        let endless = self.last.saturating_add_unsigned(HOUR);
        let (sent, held) = match self.begun.get(&key) {
            Some(begun) => (begun.sent(), begun.held(endless)),
            None if exchange.came == Came::Nothing => (self.recording.started_ms, 0),
            None => return None,
        };
        let takes = match exchange.after_ms {
            // A case is cancelled when all of that moment has come. What was sent later than it came, since a driver waits
            // a little less than it is told, took no time.
            Some(after) => {
                u64::try_from(moment(after).saturating_sub(sent)).unwrap_or(0)
                    + u64::from(self.behind_cancel.contains(&key))
            }
            None => endless.abs_diff(sent),
        };
        Some(Took { held, takes })
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

/// How long an attempt took, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Took {
    /// Until it was sent, where it was held.
    pub(super) held: u64,
    /// From then on.
    pub(super) takes: u64,
}

/// In milliseconds.
const HOUR: u64 = 3_600_000;
