//! What came of many simulated runs.

use std::collections::BTreeMap;
use std::fmt;

use crate::invariants::Violation;

/// A seed whose run broke something that must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The seed.
    pub seed: u64,
    /// What is broken.
    pub violations: Vec<Violation>,
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
    /// Takes the figures of another report in.
    pub fn add(&mut self, other: Report) {
        self.runs += other.runs;
        self.entries += other.entries;
        self.ended += other.ended;
        self.left += other.left;
        self.compared += other.compared;
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
            "runs      {} ({} ended, {} left, {} compared with another order)",
            self.runs, self.ended, self.left, self.compared
        )?;
        writeln!(f, "entries   {}", self.entries)?;
        writeln!(f, "calls     {} admitted, {} refused", self.calls_admitted, self.calls_refused)?;
        let listed = |counts: &BTreeMap<String, usize>| {
            let counts: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
            if counts.is_empty() { "none".to_owned() } else { counts.join(", ") }
        };
        writeln!(f, "faults    {}", listed(&self.faults))?;
        for (graph, reasons) in &self.exits {
            writeln!(f, "exits of {graph}: {}", listed(reasons))?;
        }
        write!(f, "broken    {} runs", self.broken.len())
    }
}
