//! What is told of cases: a line each, what differs, how many of each kind.

use std::time::Duration;

use deepgraph_testkit::suite::{Outcome, Verdict};

use super::Timed;
use crate::screen;
use crate::when::{counted, number};

/// Cases up to which each that passed has its line.
const FEW: usize = 20;

/// What is told of each case.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// Whether those that passed are told.
    passes: bool,
    /// Whether only failures are told, and no sums where there is none.
    quiet: bool,
    /// Whether what waits to be accepted is told with its differences; not where it is reviewed.
    waiting: bool,
}

impl Told {
    /// Of so many cases.
    pub fn new(cases: usize, verbose: bool, quiet: bool, is_reviewed: bool) -> Told {
        Told { passes: !quiet && (verbose || cases < FEW), quiet, waiting: !is_reviewed }
    }

    /// The lines of a case; none where nothing is told of it.
    pub fn case(&self, timed: &Timed) -> Option<String> {
        let Timed { outcome, took } = timed;
        let is_of_interest = match outcome.verdict {
            Verdict::Passed => self.passes,
            Verdict::Accepted => !self.quiet,
            _ => true,
        };
        if !is_of_interest {
            return None;
        }
        let mut text = format!("{:10}[{:>9}] {}", word(outcome.verdict), seconds(*took), outcome.name);
        let is_told = !outcome.verdict.passed() && (self.waiting || !outcome.verdict.waits());
        if is_told {
            text += &differences(outcome);
        }
        Some(text)
    }

    /// How many there were of each kind, `not_played` with them, and whether somebody asked for an end; none where nobody
    /// wants to know.
    pub fn sums(
        &self,
        played: &[Timed],
        not_played: usize,
        is_interrupted: bool,
        took: Duration,
    ) -> Option<String> {
        let all_passed = not_played == 0 && played.iter().all(|timed| timed.outcome.verdict.passed());
        if self.quiet && all_passed {
            return None;
        }
        let count = |verdict| played.iter().filter(|timed| timed.outcome.verdict == verdict).count() as u64;
        let snapshots = |n, what| (n > 0).then(|| format!("{} {what}", counted(n, "snapshot", "snapshots")));
        let some = |n: u64, what: &str| (n > 0).then(|| format!("{} {what}", number(n)));
        let parts = [
            Some(format!("{} passed", number(count(Verdict::Passed) + count(Verdict::Accepted)))),
            some(count(Verdict::Failed), "failed"),
            some(count(Verdict::Unreadable), "with mistakes"),
            snapshots(count(Verdict::SnapshotNew), "new"),
            snapshots(count(Verdict::SnapshotChanged), "changed"),
            snapshots(count(Verdict::Accepted), "accepted"),
            is_interrupted.then(|| "interrupted".to_owned()),
            some(not_played as u64, "not played"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let all = counted((played.len() + not_played) as u64, "case", "cases");
        Some(format!("{all}: {} ({})", parts.join(", "), seconds(took)))
    }
}

/// What a case differs in, below its line.
pub fn differences(outcome: &Outcome) -> String {
    let mut text = format!("\n  {}", outcome.file.display());
    if let Some(sentence) = &outcome.sentence {
        text += &format!(": {}", screen::one_line(sentence, 200));
    }
    for line in outcome.text.trim_end().lines() {
        match line {
            "" => text.push('\n'),
            line => text += &format!("\n  {line}"),
        }
    }
    text.push('\n');
    text
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "PASS",
        Verdict::Accepted => "ACCEPTED",
        Verdict::Failed => "FAIL",
        Verdict::SnapshotNew => "NEW",
        Verdict::SnapshotChanged => "CHANGED",
        Verdict::Unreadable => "MISTAKE",
    }
}

fn seconds(took: Duration) -> String {
    format!("{:.3} s", took.as_secs_f64())
}
