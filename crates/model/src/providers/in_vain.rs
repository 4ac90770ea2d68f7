//! What a call used of which no reply came: a refusal, words that can not be read, a stream that told a failure midway.
//! Providers bill it all the same.

use deepgraph_protocol::{ErrorKind, ModelRequest, StepError, Usage, UsedInVain};

use super::counts::Counts;
use super::failure::Failure;
use super::reply::Draft;
use crate::Price;
use crate::estimate::estimated_usage;

/// What had come of a reply when its call failed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Came {
    counts: Counts,
    /// What the provider says that the call cost, in micro-dollars.
    cost: Option<u64>,
    bytes: usize,
    /// Whether the model had stopped by itself, so that what is counted is all.
    is_finished: bool,
}

impl Came {
    /// What has come of a draft; none where nothing has.
    pub(super) fn of(draft: &Draft) -> Option<Box<Came>> {
        let counts = draft.counts;
        let is_counted = counts.input.is_some() || counts.output.is_some() || draft.cost.is_some();
        (draft.begun || draft.bytes() > 0 || is_counted).then(|| {
            Box::new(Came {
                counts,
                cost: draft.cost,
                bytes: draft.bytes(),
                is_finished: draft.is_finished(),
            })
        })
    }

    /// What was used for a request. What nobody has counted is estimated.
    fn used(self, request: &ModelRequest, price: Option<Price>) -> UsedInVain {
        let estimate = estimated_usage(request, self.bytes);
        let usage = self.counts.usage().filter(|_| self.is_finished).unwrap_or(Usage {
            input_tokens: self.counts.input.unwrap_or(estimate.input_tokens),
            output_tokens: self.counts.output.unwrap_or(0).max(estimate.output_tokens),
            ..estimate
        });
        let written = self.counts.written.filter(|written| *written > 0 && !usage.estimated);
        let with_writes = written.zip(price).map(|(written, price)| price.cost_with_writes(&usage, written));
        UsedInVain { usage, cost_micro_usd: self.cost.or(with_writes) }
    }
}

impl Failure {
    /// The same failure, of a call of which so much had come. Of one that broke off it is not known what it would have
    /// come to.
    pub(super) fn after(self, draft: &Draft) -> Failure {
        let is_lost = matches!(self.error.kind, ErrorKind::Network | ErrorKind::StepTimeout);
        Failure { came: Came::of(draft).filter(|_| !is_lost), ..self }
    }

    /// The failure as a step has it, with what it used for a request. `costs` says whether what the provider says of the cost
    /// is believed.
    pub(super) fn into_error(self, request: &ModelRequest, price: Option<Price>, costs: bool) -> StepError {
        match self.came {
            Some(came) => {
                let came = Came { cost: came.cost.filter(|_| costs), ..*came };
                self.error.having_used(came.used(request, price))
            }
            None => self.error,
        }
    }
}
