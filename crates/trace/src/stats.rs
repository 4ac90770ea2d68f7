//! Figures of many runs, by class of question.
//!
//! One run is taken in at a time, and of each only a few numbers are kept.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use deepgraph_protocol::ExitReason;
use serde::Serialize;

use crate::figures::{ChurnCounts, Figures, GainFigures, Stop};

/// A final gain below this is next to nothing: half of the usual threshold of a gain limit.
pub const NEAR_ZERO_GAIN: f64 = 0.01;

/// Figures of runs of one class, while they are taken in.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    steps: Vec<u64>,
    tokens: Vec<u64>,
    cost: Vec<u64>,
    cost_unknown: u64,
    sources: u64,
    stops: BTreeMap<String, u64>,
    gains: Vec<f64>,
    churn: Option<ChurnCounts>,
    capped: u64,
    capped_gains: Vec<f64>,
}

/// The figures of the runs of one class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// How many runs.
    pub runs: u64,
    /// Committed steps of a run.
    pub steps: Percentiles,
    /// Tokens of a run.
    pub tokens: Percentiles,
    /// Money of a run in micro-dollars, of those whose price is known whole; none where there is no such run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micro_usd: Option<Percentiles>,
    /// Runs that had calls of unknown price.
    pub cost_unknown: u64,
    /// How research ended, the most frequent first.
    pub stops: Vec<Share>,
    /// The mean of the final gains of those runs that have one, and how many have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_gain: Option<Mean>,
    /// Distinct sources of a run, on average.
    pub sources: f64,
    /// What all runs together asked late and in vain; none where that was counted of no run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub churn: Option<ChurnCounts>,
    /// Runs that a cap on steps, iterations or tool calls ended: their research, or that of one of their instances.
    pub capped: Capped,
}

/// The middle and the upper end of some numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Percentiles {
    /// Half of the numbers are at most this.
    pub p50: u64,
    /// Nine of ten are at most this.
    pub p90: u64,
}

/// How many runs ended by a reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The reason.
    pub reason: String,
    /// How many runs.
    pub runs: u64,
    /// Their share of all.
    pub share: f64,
}

/// A mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Mean {
    /// Of how many runs.
    pub runs: u64,
    /// The mean.
    pub mean: f64,
}

/// Runs that a cap ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Capped {
    /// How many.
    pub runs: u64,
    /// The mean of the last gains of what the cap ended; none where no gain was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_gain: Option<f64>,
    /// Whether at least half of the runs are such, and brought next to nothing at their end: the cap ends them, and the
    /// gain should.
    pub flagged: bool,
}

impl Gathered {
    /// Takes a run in.
    pub fn add(&mut self, run: &Figures) {
        self.steps.push(run.steps);
        self.tokens.push(run.tokens);
        match run.cost.unknown_calls {
            0 => self.cost.push(run.cost.known_micro_usd),
            _ => self.cost_unknown += 1,
        }
        self.sources = self.sources.saturating_add(run.sources);
        let reason = run.stop.as_ref().map_or("none", |stop| stop.reason.name());
        *self.stops.entry(reason.to_owned()).or_default() += 1;
        self.gains.extend(run.final_gain);
        if let Some(one) = run.churn {
            let sum = self.churn.get_or_insert_default();
            sum.sub_questions = sum.sub_questions.saturating_add(one.sub_questions);
            sum.asked_late = sum.asked_late.saturating_add(one.asked_late);
            sum.rewrites = sum.rewrites.saturating_add(one.rewrites);
            sum.idle_rewrites = sum.idle_rewrites.saturating_add(one.idle_rewrites);
        }
        self.add_capped(run);
    }

    fn add_capped(&mut self, run: &Figures) {
        let by_cap = |stop: Option<&Stop>| stop.is_some_and(|stop| is_cap(&stop.reason));
        let whole = by_cap(run.stop.as_ref());
        let ended = run.instances.iter().filter(|one| whole || by_cap(one.stop.as_ref()));
        let gains: Vec<f64> = ended.flat_map(|one| &one.gains).filter_map(GainFigures::last).collect();
        if whole || !gains.is_empty() {
            self.capped += 1;
            self.capped_gains.extend(mean(&gains));
        }
    }

    /// The summary; none of no runs.
    pub fn summary(mut self) -> Option<Summary> {
        let runs = self.steps.len() as u64;
        if runs == 0 {
            return None;
        }
        let capped_gain = mean(&self.capped_gains);
        Some(Summary {
            runs,
            steps: percentiles(&mut self.steps)?,
            tokens: percentiles(&mut self.tokens)?,
            cost_micro_usd: percentiles(&mut self.cost),
            cost_unknown: self.cost_unknown,
            stops: shares(self.stops, runs),
            final_gain: mean(&self.gains).map(|mean| Mean { runs: self.gains.len() as u64, mean }),
            sources: rounded(self.sources as f64 / runs as f64),
            churn: self.churn,
            capped: Capped {
                runs: self.capped,
                final_gain: capped_gain,
                flagged: self.capped * 2 >= runs && capped_gain.is_some_and(|gain| gain < NEAR_ZERO_GAIN),
            },
        })
    }
}

/// Whether a reason is a cap on steps, iterations or calls.
fn is_cap(reason: &ExitReason) -> bool {
    matches!(reason, ExitReason::StepLimit | ExitReason::IterationLimit | ExitReason::ToolCallCap)
}

fn shares(stops: BTreeMap<String, u64>, runs: u64) -> Vec<Share> {
    let share = |(reason, count): (String, u64)| Share {
        reason,
        runs: count,
        share: rounded(count as f64 / runs.max(1) as f64),
    };
    let mut shares: Vec<Share> = stops.into_iter().map(share).collect();
    // Stable: of equals, by name.
    shares.sort_by_key(|share| std::cmp::Reverse(share.runs));
    shares
}

fn percentiles(values: &mut [u64]) -> Option<Percentiles> {
    values.sort_unstable();
    Some(Percentiles { p50: percentile(values, 50)?, p90: percentile(values, 90)? })
}

/// The nearest-rank percentile: the smallest value such that at least `percent` of a hundred values are at most it, the
/// inverse of the empirical distribution function (definition 1 of R. J. Hyndman and Y. Fan, "Sample Quantiles in
/// Statistical Packages", The American Statistician 50, 1996). It is always one of the values. `sorted` in rising order;
/// none of nothing.
pub fn percentile(sorted: &[u64], percent: u64) -> Option<u64> {
    let count = sorted.len() as u64;
    let rank = count.saturating_mul(percent.min(100)).div_ceil(100).max(1);
    sorted.get(usize::try_from(rank - 1).ok()?).copied()
}

fn mean(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().sum();
    (!values.is_empty()).then(|| rounded(sum / values.len() as f64))
}

/// To six digits behind the point.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
