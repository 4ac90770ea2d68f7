//! Calls of ops that cost something outside, such as searches: what they may cost at most is reserved before they are
//! made, so that a ceiling on money is hard, and what they did cost is settled when they are back.

use deepgraph_protocol::{EntryBody, ErrorKind, Fee, Meter, Spent, StepError, StepId};

use crate::machine::Machine;
use crate::place::Place;

/// What is committed before a call that costs something and writes nothing is sent: it reserves what the call may cost
/// at most. Once that is durable the call is sent, if the step is still open.
pub fn fee_reservation(step: &StepId, attempt: u32, fee: Fee) -> EntryBody {
    EntryBody::Dispatched {
        step: step.clone(),
        attempt,
        request: None,
        reserve_tokens: 0,
        reserve_micro_usd: known(fee),
        key: None,
        takes_key: false,
        model: None,
        window: None,
        cut: None,
    }
}

/// Micro-dollars; none where a part of the fee is not known.
pub(crate) fn known(fee: Fee) -> Option<u64> {
    (fee.unknown == 0).then_some(fee.micro_usd)
}

/// A fee as the ledger has it.
pub(crate) fn paid(fee: Fee) -> Spent {
    Spent { cost_micro_usd: fee.micro_usd, cost_unknown: fee.unknown, ..Spent::default() }
}

impl Machine {
    /// A call that costs something is about to be sent: its fee is reserved, or the limit that has no room for it acts.
    pub(crate) fn reserve_fee(&mut self, step: &StepId, attempt: u32, place: Place, price: Option<u64>) {
        if let Some(full) = self.no_room_for_fee(price) {
            // Sent out before a crash, it does not fit a second time: what it cost then was never learnt.
            self.ledger.lose(step);
            return self.stop_at_limit(step, place, full);
        }
        let fee = Fee { micro_usd: price.unwrap_or(0), unknown: u64::from(price.is_none()) };
        self.ledger.reserve(step, attempt, paid(fee));
    }

    /// The limit on money that a fee does not fit, by its index, or why it can not be judged.
    pub(crate) fn no_room_for_fee(&self, price: Option<u64>) -> Option<Result<usize, String>> {
        let in_finally = self.in_finally();
        let at = self.reading();
        self.limits.iter().enumerate().find_map(|(i, limit)| {
            let bound = limit.bound(in_finally).filter(|_| limit.measures(Meter::CostUsd))?;
            let Some(price) = price else {
                return Some(Err(format!(
                    "the limit `{}` needs to know what the call costs, and its fee is not known; set the fee or take the \
                     limit off",
                    limit.name
                )));
            };
            (limit.taken(&at).saturating_add(price) > bound).then_some(Ok(i))
        })
    }

    /// Why a call that writes is not claimed: what it costs is not known, and money is bounded.
    pub(crate) fn refused_for_fee(&self, fee: Fee) -> Option<StepError> {
        let why = self.no_room_for_fee(known(fee)).filter(|_| fee.unknown > 0)?;
        why.err().map(|why| StepError::new(ErrorKind::Refused, why))
    }

    /// The attempt of an op failed: its reservation is given back for what it did cost. Where no answer came, the service
    /// may have done its work, so that what was reserved stays charged.
    pub(crate) fn settle_failed_fee(&mut self, step: &StepId, attempt: u32, error: &StepError, fee: Fee) {
        let is_lost = matches!(error.kind, ErrorKind::StepTimeout | ErrorKind::Network) && !error.unsent;
        if is_lost && (fee.is_none() || self.ledger.is_reserved(step)) {
            self.ledger.lose(step);
        } else {
            self.ledger.settle(step, attempt, paid(fee));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fee_of_which_a_part_is_not_known_reserves_no_sum() {
        let reserved = |fee| match fee_reservation(&StepId::new("find.1"), 1, fee) {
            EntryBody::Dispatched { reserve_micro_usd, reserve_tokens, key, .. } => {
                assert_eq!((reserve_tokens, key), (0, None));
                reserve_micro_usd
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(reserved(Fee { micro_usd: 8000, unknown: 0 }), Some(8000));
        assert_eq!(reserved(Fee { micro_usd: 8000, unknown: 1 }), None);
    }
}
