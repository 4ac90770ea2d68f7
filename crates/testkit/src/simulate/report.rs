//! What came of many simulated runs.

use std::collections::BTreeMap;
use std::fmt;

use deepgraph_protocol::{Event, Output};

use crate::invariants::Violation;
use crate::{RandomWorld, SimRun};

/// A seed of which a run broke something that must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The seed.
    pub seed: u64,
    /// What is broken in its run, or tells it from its twin.
    pub violations: Vec<Violation>,
    /// What is broken in its twin, the run in another order that it is compared with.
    pub of_twin: Vec<Violation>,
}

impl Broken {
    pub(crate) fn is_clean(&self) -> bool {
        self.violations.is_empty() && self.of_twin.is_empty()
    }

    /// In order, each once.
    pub(crate) fn sorted(mut self) -> Broken {
        for violations in [&mut self.violations, &mut self.of_twin] {
            violations.sort();
            violations.dedup();
        }
        self
    }
}

/// A violation a line; those of the twin say so.
impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = self.violations.iter().map(|violation| ("", violation));
        let of_twin = self.of_twin.iter().map(|violation| ("in the run of another order: ", violation));
        for (number, (whose, violation)) in own.chain(of_twin).enumerate() {
            let line = if number == 0 { "" } else { "\n" };
            write!(f, "{line}{whose}{violation}")?;
        }
        Ok(())
    }
}

/// What came of many simulated runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Seeds that were run.
    pub runs: usize,
    /// Entries that were committed, those of the runs for comparison included.
    pub entries: usize,
    /// Runs that came to their end; the others wait for a person or were left.
    pub ended: usize,
    /// Runs that went on for so long that they were left.
    pub left: usize,
    /// Runs whose trace was compared with that of another order.
    pub compared: usize,
    /// Further attempts of runs that were over.
    pub further: usize,
    /// Tool calls that were admitted.
    pub calls_admitted: usize,
    /// Tool calls that were refused or could not be read.
    pub calls_refused: usize,
    /// What went wrong, by kind.
    pub faults: BTreeMap<String, usize>,
    /// Exits of instances, by graph and reason.
    pub exits: BTreeMap<String, BTreeMap<String, usize>>,
    /// Seeds whose runs broke something.
    pub broken: Vec<Broken>,
}

impl Report {
    /// Takes the figures of one run in.
    pub(crate) fn note(&mut self, run: &SimRun, world: &RandomWorld) {
        self.ended += usize::from(run.end.is_some());
        let of_driver = run.faults.iter().map(|(fault, count)| (fault.name(), *count));
        let of_outside = world.failures.iter().map(|(kind, count)| (kind.name(), *count));
        for (name, count) in of_driver.chain(of_outside).chain([("misfit", world.misfits)]) {
            if count > 0 {
                *self.faults.entry(name.to_owned()).or_default() += count;
            }
        }
        for output in run.outputs.iter().flatten() {
            match output {
                Output::Event(Event::Exited { exit }) => {
                    let exits = self.exits.entry(exit.graph.to_string()).or_default();
                    *exits.entry(exit.reason.name().to_owned()).or_default() += 1;
                }
                Output::Event(Event::CallAdmitted { .. }) => self.calls_admitted += 1,
                Output::Event(Event::CallRefused { .. } | Event::CallMalformed { .. }) => {
                    self.calls_refused += 1;
                }
                _ => {}
            }
        }
    }

    /// Takes the figures of another report in.
    pub fn add(&mut self, other: Report) {
        self.runs += other.runs;
        self.entries += other.entries;
        self.ended += other.ended;
        self.left += other.left;
        self.compared += other.compared;
        self.further += other.further;
        self.calls_admitted += other.calls_admitted;
        self.calls_refused += other.calls_refused;
        for (fault, count) in other.faults {
            *self.faults.entry(fault).or_default() += count;
        }
        for (graph, reasons) in other.exits {
            let exits = self.exits.entry(graph).or_default();
            for (reason, count) in reasons {
                *exits.entry(reason).or_default() += count;
            }
        }
        self.broken.extend(other.broken);
        self.broken.sort_by_key(|broken| broken.seed);
    }

    /// Whether nothing was broken.
    pub fn is_clean(&self) -> bool {
        self.broken.is_empty()
    }
}

/// The counts, for people. What is broken is left to the caller.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "runs      {} ({} ended, {} left, {} compared with another order, {} further attempts)",
            number(self.runs),
            number(self.ended),
            number(self.left),
            number(self.compared),
            number(self.further)
        )?;
        writeln!(f, "entries   {}", number(self.entries))?;
        writeln!(
            f,
            "calls     {} admitted, {} refused",
            number(self.calls_admitted),
            number(self.calls_refused)
        )?;
        let listed = |counts: &BTreeMap<String, usize>| {
            let counts: Vec<String> =
                counts.iter().map(|(name, count)| format!("{name} {}", number(*count))).collect();
            if counts.is_empty() { "none".to_owned() } else { counts.join(", ") }
        };
        writeln!(f, "faults    {}", listed(&self.faults))?;
        for (graph, reasons) in &self.exits {
            writeln!(f, "exits of {graph}: {}", listed(reasons))?;
        }
        let runs = if self.broken.len() == 1 { "run" } else { "runs" };
        write!(f, "broken    {} {runs}", number(self.broken.len()))
    }
}

/// A number with its thousands apart: `1 000 000`.
fn number(n: usize) -> String {
    let digits = n.to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(' ');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        let shown = [0, 12, 999, 1000, 12_345, 1_234_567].map(number);
        assert_eq!(shown, ["0", "12", "999", "1 000", "12 345", "1 234 567"]);
    }

    #[test]
    fn what_is_broken_is_told_once_and_says_of_which_run() {
        let violation = |what: &str| Violation::of_panic(what);
        let broken = Broken {
            seed: 1,
            violations: vec![violation("b"), violation("a"), violation("b")],
            of_twin: vec![violation("a")],
        };
        assert_eq!(
            broken.sorted().to_string(),
            "panics: in the root: panicked: a\npanics: in the root: panicked: b\nin the run of another order: \
             panics: in the root: panicked: a"
        );
    }
}
