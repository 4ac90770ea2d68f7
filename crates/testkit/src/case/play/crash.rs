//! Killed behind an entry and taken up again: the run must come to the same end.

use deepgraph_protocol::{EntryBody, ErrorKind, Spent, StepId, Value};
use deepgraph_trace::{Detail, ScopeTrace, Trace};

use super::Player;
use crate::case::difference::{Difference, between};
use crate::{SimRun, depends};

/// The most entries behind which a run is killed: each kill is a run of its own.
const MOST: usize = 200;

impl Player<'_> {
    /// Killed and taken up again at each of the [`points`]. A call whose answer was lost stays charged, so what was used
    /// is left out; where such a charge or a clock fires a limit, the run only has to come to an end.
    pub(super) fn crash(&self, first: &SimRun, trace: &Trace) -> Vec<Difference> {
        let expected = without_used(trace.clone());
        let is_lawful = self.case.cancel.is_some() || depends::fired(self.bundle, first, depends::is_charged);
        for at in points(first.rows.len()) {
            let (resumed, _, _) = self.sim(at as u64, None, |sim| sim.resume(&first.rows[..at]));
            let mut found = Vec::new();
            if let Some(step) = again(first, at, &resumed) {
                found.push(Difference::Note(format!("`{step}` was over and was sent out again")));
            }
            if resumed.end.is_some() != first.end.is_some() {
                found.push(Difference::Note("the run does not come to the same end".to_owned()));
            }
            let is_lawful = is_lawful || has_unknown(&resumed);
            if !is_lawful && !depends::fired(self.bundle, &resumed, depends::is_charged) {
                found.extend(another(&expected, &without_used(resumed.trace(self.bundle))));
            }
            if !found.is_empty() {
                let (scope, entry) = &first.rows[at - 1];
                let body = Value::of(&entry.body);
                let note = format!("after a crash behind entry {at} ({} of `{scope}`):", body.text("entry"));
                found.insert(0, Difference::Note(note));
                return found;
            }
        }
        Vec::new()
    }
}

/// Behind which of so many entries the run is killed: behind all but the last where they are few, else behind [`MOST`]
/// of them, evenly spread, the first and the last but one among them.
fn points(entries: usize) -> Vec<usize> {
    let last = entries.saturating_sub(1);
    if last <= MOST {
        return (1..=last).collect();
    }
    (0..MOST).map(|i| 1 + i * (last - 1) / (MOST - 1)).collect()
}

/// What one trace tells that the other does not.
fn another(expected: &Trace, came: &Trace) -> Option<Difference> {
    // Most are the same: their texts need not be made. Not all that a trace holds is told in its text.
    if expected == came {
        return None;
    }
    let (expected, came) = (expected.to_text(Detail::Full), came.to_text(Detail::Full));
    (expected != came)
        .then(|| Difference::Note(format!("the trace is another one:{}", between(&expected, &came))))
}

/// Whether the crash left a call that writes of which nobody knows whether it was done.
fn has_unknown(run: &SimRun) -> bool {
    run.rows.iter().any(|(_, entry)| {
        matches!(&entry.body, EntryBody::AttemptFailed { error, .. } if error.kind == ErrorKind::Unknown)
    })
}

fn without_used(mut trace: Trace) -> Trace {
    fn clear(scope: &mut ScopeTrace) {
        scope.settled = Spent::default();
        for node in scope.super_steps.iter_mut().flat_map(|step| &mut step.nodes) {
            let of_calls = node.calls.iter_mut().filter_map(|call| call.child.as_deref_mut());
            of_calls.chain(node.child.as_deref_mut()).for_each(clear);
        }
    }
    clear(&mut trace.root);
    trace
}

/// A step that was over before the crash behind the entry `at` and was sent out again.
fn again(first: &SimRun, at: usize, resumed: &SimRun) -> Option<StepId> {
    let is_over = |step: &StepId| {
        first.flight.iter().any(|passage| !passage.out && passage.entries <= at && passage.step == *step)
    };
    let mut sent = resumed.flight.iter().filter(|passage| passage.out);
    sent.find(|passage| is_over(&passage.step)).map(|passage| passage.step.clone())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::case::Case;
    use crate::sim::Passage;

    const CASE: &str = "
case: One says one thing, then another.
graph:
  deepgraph: 1
  state: {text: string}
  output: [text]
  start: one
  nodes:
    one: {model: m, prompt: One., update: {text: result.text}, next: two}
    two: {model: m, prompt: Two., update: {text: result.text}}
models: {one.1: first, two.1: second}
expect: {status: succeeded}
";

    #[test]
    fn what_was_used_makes_no_difference_and_what_was_done_does() {
        let case = Case::parse("one.yaml", CASE, Path::new("")).unwrap();
        let trace = case.trace().unwrap();
        let expected = without_used(trace.clone());
        let mut charged = trace.clone();
        charged.root.settled.model_calls += 1;
        assert!(another(&expected, &charged).is_some());
        assert!(another(&expected, &without_used(charged)).is_none());
        let mut shorter = trace;
        shorter.root.super_steps.pop();
        let told = another(&expected, &without_used(shorter)).unwrap().to_string();
        assert!(told.contains("the trace is another one") && told.contains("two.1"), "{told}");
    }

    #[test]
    fn a_step_that_was_over_before_the_crash_is_not_sent_out_again() {
        let passage = |step: &str, out, entries| Passage { step: StepId::new(step), out, entries };
        let run = |flight| SimRun { flight, ..SimRun::new(0) };
        let first = run(vec![passage("a.1", true, 1), passage("a.1", false, 3), passage("b.1", true, 3)]);
        let resumed = run(vec![passage("a.1", true, 2), passage("b.1", true, 4)]);
        assert_eq!(again(&first, 2, &resumed), None, "it was out");
        assert_eq!(again(&first, 3, &resumed), Some(StepId::new("a.1")));
    }

    #[test]
    fn behind_every_entry_of_a_short_journal_and_behind_some_of_a_long_one() {
        assert!(points(0).is_empty());
        assert!(points(1).is_empty());
        assert_eq!(points(4), [1, 2, 3]);
        assert_eq!(points(MOST + 1), (1..=MOST).collect::<Vec<_>>());
        for entries in [MOST + 2, 2 * MOST, 12_345] {
            let at = points(entries);
            assert_eq!((at.len(), at[0], at[MOST - 1]), (MOST, 1, entries - 1), "{entries}");
            let gaps: Vec<usize> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let (least, most) = (gaps.iter().min().unwrap(), gaps.iter().max().unwrap());
            assert!(*least >= 1 && most - least <= 1, "{entries}: {at:?}");
        }
    }
}
