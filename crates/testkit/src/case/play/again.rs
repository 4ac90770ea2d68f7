//! The further attempts of a case: each goes on from the one before, and none does again what is done.

use std::collections::BTreeSet;

use deepgraph_protocol::{EntryBody, StepId};
use deepgraph_trace::Detail;

use super::{OneRun, Player};
use crate::case::attempt::Attempt;
use crate::case::difference::Difference;
use crate::{SimRun, depends};

impl Player<'_> {
    /// All further attempts, each as it says; and each again with a crash behind each of its entries.
    pub(super) fn attempts(&self, first: SimRun, used: &mut BTreeSet<usize>) -> Vec<Difference> {
        let mut before = first;
        for attempt in &self.case.attempts {
            match self.attempt(&before, attempt, used) {
                Ok(Some(run)) => before = run,
                Ok(None) => {}
                Err(mut found) => {
                    let line = attempt.place.line;
                    found.insert(0, Difference::Note(format!("in the attempt of line {line}:")));
                    return found;
                }
            }
        }
        Vec::new()
    }

    /// The run as the attempt leaves it; none where it is refused, as it should be.
    fn attempt(
        &self,
        before: &SimRun,
        attempt: &Attempt,
        used: &mut BTreeSet<usize>,
    ) -> Result<Option<SimRun>, Vec<Difference>> {
        let note = |note: String| Err(vec![Difference::Note(note)]);
        let config = self.bundle.config_of(attempt.over(&before.config()));
        let config = config.map_err(|wrong| {
            wrong.iter().map(|wrong| Difference::Note(wrong.to_string())).collect::<Vec<_>>()
        })?;
        let (run, of_attempt, complaints) =
            self.sim(0, Some(&attempt.scripts), |sim| sim.again(before, config, attempt.from));
        used.extend(&of_attempt);
        let (run, expect) = match (run, &attempt.refused, &attempt.expect) {
            (Err(why), Some(words), _) if why.to_string().contains(&**words) => return Ok(None),
            (Err(why), Some(words), _) => {
                return note(format!("it is refused in other words than \"{words}\": {why}"));
            }
            (Err(why), None, _) => return note(format!("the run can not go on: {why}")),
            (Ok(run), _, Some(expect)) => (run, expect),
            (Ok(_), _, None) => return note("it is not refused".to_owned()),
        };
        let one = OneRun { run, used: of_attempt, complaints };
        let (mut found, trace) = self.judge_by(expect, &one);
        let again = one.run.carried_out.keys().find(|step| is_done(before, step));
        found.extend(again.map(|step| Difference::Note(format!("`{step}` was done and ran again"))));
        if found.is_empty() && self.case.crash {
            found.extend(self.twice(&one.run, &trace));
            found.extend(self.crash_again(before, attempt, &one.run));
        }
        if found.is_empty() {
            return Ok(Some(one.run));
        }
        let indented: String = trace.to_text(Detail::Short).lines().map(|l| format!("\n  {l}")).collect();
        found.push(Difference::Note(format!("the trace with this attempt:{indented}")));
        Err(found)
    }

    /// Killed behind each entry of the attempt and taken up again: it comes to the same end.
    fn crash_again(&self, before: &SimRun, attempt: &Attempt, run: &SimRun) -> Option<Difference> {
        let expected =
            run.end.as_ref().map(|end| (&end.exit.reason, end.exit.attempt, &end.output, end.report));
        (before.rows.len() + 1..run.rows.len()).find_map(|at| {
            let scripts = Some(&attempt.scripts);
            let (resumed, _, _) = self.sim(at as u64, scripts, |sim| sim.resume(&run.rows[..at]));
            let end = resumed.end.as_ref();
            let came = end.map(|end| (&end.exit.reason, end.exit.attempt, &end.output, end.report));
            // A call whose answer was lost stays charged: then a limit may be reached sooner.
            let is_lawful =
                [run, &resumed].iter().any(|r| depends::fired(self.bundle, r, depends::is_charged));
            let is_same = came == expected || (is_lawful && came.is_some());
            (!is_same).then(|| {
                let note =
                    format!("after a crash behind entry {at} it does not come to the same end: {came:?}");
                Difference::Note(note)
            })
        })
    }
}

/// Whether a step was done: its result was committed.
fn is_done(run: &SimRun, step: &StepId) -> bool {
    run.rows.iter().any(|(_, entry)| match &entry.body {
        EntryBody::Completed { step: done, .. } | EntryBody::Answered { step: done, .. } => done == step,
        _ => false,
    })
}
