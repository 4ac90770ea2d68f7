//! Where the time of a run went, over all its instances.
//!
//! The clock of an instance holds a child that is out for work, since it does not see that the child waits. The journals
//! of all instances together tell: at each moment some call worked, or all that were out waited for a further attempt,
//! or only a person was waited for.

use std::collections::BTreeMap;

use deepgraph_engine::Machine;
use deepgraph_protocol::{Effect, Entry, EntryBody, Millis, Output, StepId};

/// From one moment to another.
type Span = (Millis, Millis);

/// What the calls and questions of instances were at, and when.
#[derive(Clone, Debug, Default)]
pub(super) struct Spans {
    worked: Vec<Span>,
    rested: Vec<Span>,
    asked: Vec<Span>,
}

/// The calls and questions of one instance while its journal is read.
#[derive(Debug, Default)]
pub(super) struct Lane {
    out: BTreeMap<StepId, Out>,
    last: Option<Millis>,
    spans: Spans,
}

/// A call or question that is out.
#[derive(Clone, Copy, Debug)]
enum Out {
    /// A call rests from the first moment and works from the second.
    Call { rests: Millis, works: Millis },
    /// A question.
    Question { since: Millis },
}

impl Lane {
    /// Takes in an entry, with what the Machine made of it.
    pub fn note(&mut self, entry: &Entry, outputs: &[Output], machine: &Machine) {
        let before = self.last.unwrap_or(entry.at);
        let now = before.max(entry.at);
        self.last = Some(now);
        if matches!(entry.body, EntryBody::StateEdited { .. }) {
            self.skip(before, now);
        }
        for output in outputs {
            let Output::Effect(effect) = output else { continue };
            let out = match effect {
                Effect::CallModel { delay_ms, .. } | Effect::RunOp { delay_ms, .. } => {
                    let delay = Millis::try_from(*delay_ms).unwrap_or(Millis::MAX);
                    Out::Call { rests: now, works: now.saturating_add(delay) }
                }
                Effect::Ask { .. } => Out::Question { since: now },
                Effect::Spawn { .. }
                | Effect::Reopen { .. }
                | Effect::WakeAt { .. }
                | Effect::Abandon { .. } => continue,
            };
            let Some(step) = effect.step() else { continue };
            if let Some(earlier) = self.out.insert(step.clone(), out) {
                self.spans.add(earlier, now);
            }
        }
        let is_over = machine.end().is_some();
        let spans = &mut self.spans;
        self.out.retain(|step, out| {
            let is_out = !is_over && machine.is_open(step);
            if !is_out {
                spans.add(*out, now);
            }
            is_out
        });
    }

    /// Time passes that is no time of the run: a fork begins when somebody makes it.
    fn skip(&mut self, from: Millis, to: Millis) {
        for out in self.out.values_mut() {
            self.spans.add(*out, from);
            *out = match *out {
                Out::Call { works, .. } => Out::Call { rests: to, works: works.max(to) },
                Out::Question { .. } => Out::Question { since: to },
            };
        }
    }

    /// All of it; what is still out ends with the last entry.
    pub fn close(mut self) -> Spans {
        let now = self.last.unwrap_or_default();
        std::mem::take(&mut self.out).into_values().for_each(|out| self.spans.add(out, now));
        self.spans
    }
}

impl Spans {
    fn add(&mut self, out: Out, until: Millis) {
        match out {
            Out::Call { rests, works } => {
                self.rested.push((rests, works.min(until)));
                self.worked.push((works, until));
            }
            Out::Question { since } => self.asked.push((since, until)),
        }
    }

    /// Takes in those of another instance.
    pub fn join(&mut self, other: Spans) {
        self.worked.extend(other.worked);
        self.rested.extend(other.rested);
        self.asked.extend(other.asked);
    }

    /// Milliseconds in which a call worked, in which all that were out rested, and in which only a person was waited for.
    pub fn sums(self) -> (u64, u64, u64) {
        let mut spans = self.worked;
        let active = covered(&mut spans);
        spans.extend(self.rested);
        let with_rest = covered(&mut spans);
        spans.extend(self.asked);
        let all = covered(&mut spans);
        (active, with_rest - active, all - with_rest)
    }
}

/// How many milliseconds at least one of the spans covers.
fn covered(spans: &mut [Span]) -> u64 {
    spans.sort_unstable();
    let (mut sum, mut until) = (0_u64, Millis::MIN);
    for (from, to) in spans.iter() {
        let from = until.max(*from);
        if from < *to {
            sum = sum.saturating_add(from.abs_diff(*to));
        }
        until = until.max(*to);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_counts_once_and_work_goes_first() {
        let call = |rests, works| Out::Call { rests, works };
        let mut spans = Spans::default();
        // One works to 3, waits to 7 and works to 8; another waits from 2 to 6 and is given up at 5.
        spans.add(call(0, 0), 3);
        spans.add(call(3, 7), 8);
        spans.add(call(2, 6), 5);
        spans.add(Out::Question { since: 6 }, 10);
        assert_eq!(spans.sums(), (4, 4, 2));
        assert_eq!(Spans::default().sums(), (0, 0, 0));
    }
}
