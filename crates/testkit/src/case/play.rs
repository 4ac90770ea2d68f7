//! Playing a case: once for what it expects, then in other orders, with every entry twice, with crashes; the trace must
//! stay the same.

mod again;
mod crash;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use deepgraph_graph::{Bundle, Severity};
use deepgraph_protocol::{Entry, EntryBody, Map, StepId};
use deepgraph_trace::{Detail, Trace};

use super::difference::{Difference, between};
use super::expect::Expect;
use super::file::Case;
use super::fork::{Fork, entries_until};
use super::scripts::Scripts;
use super::seen::Seen;
use super::world::Scripted;
use super::{check, input};
use crate::{Sim, SimRun, depends};

/// What came of a case.
#[derive(Clone, Debug)]
pub struct Played {
    /// What is not as it should be; empty where all is.
    pub differences: Vec<Difference>,
    /// The trace of the first run; "" where the graph did not load.
    pub trace: String,
    /// The same as data: every instance with its exit; none where the graph did not load.
    pub run: Option<Trace>,
    /// How much of the trace the case wants kept as a snapshot; none: no snapshot.
    pub snapshot: Option<Detail>,
}

impl Played {
    /// A case that could not be read.
    pub(crate) fn unread(differences: Vec<Difference>) -> Played {
        Played { differences, trace: String::new(), run: None, snapshot: None }
    }

    /// Fails the test where something is not as the case says; hands the result on.
    ///
    /// # Panics
    ///
    /// Something differs: the message is what [`Played`] prints.
    #[track_caller]
    pub fn check(self) -> Played {
        assert!(self.passed(), "the case does not pass:\n{self}");
        self
    }

    /// What is to be kept as the case's snapshot; none where it wants none, and where its graph did not load.
    pub fn snapshot_text(&self) -> Option<String> {
        Some(self.run.as_ref()?.to_text(self.snapshot?))
    }

    /// Whether all was as the case says.
    pub fn passed(&self) -> bool {
        self.differences.is_empty()
    }
}

/// The differences, then the trace.
impl fmt::Display for Played {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for difference in &self.differences {
            writeln!(f, "{difference}")?;
        }
        if !self.differences.is_empty() && !self.trace.is_empty() {
            writeln!(f, "the trace:")?;
            self.trace.lines().try_for_each(|line| writeln!(f, "  {line}"))?;
        }
        Ok(())
    }
}

impl Case {
    /// The trace of one run of the case as it stands, whatever it expects; none where the graph does not load or the
    /// input does not fit.
    pub fn trace(&self) -> Option<Trace> {
        let bundle = self.graph.as_ref().ok()?;
        let (input, config) = input::settle(self, bundle).ok()?;
        Some(Player { case: self, bundle, input, config }.run(0).run.trace(bundle))
    }

    /// Plays the case.
    pub fn play(&self) -> Played {
        let mut played = Played {
            differences: Vec::new(),
            trace: String::new(),
            run: None,
            snapshot: self.expect.snapshot,
        };
        match (&self.graph, &self.expect.load_error) {
            (Err(mistakes), None) => {
                played.differences.push(Difference::Note(format!("the graph does not load:\n{mistakes}")));
            }
            (Err(mistakes), Some(codes)) => {
                played.differences = check::codes("load_error", codes, mistakes, Severity::Error);
            }
            (Ok(_), Some(codes)) => {
                let codes: Vec<&str> = codes.iter().map(|code| &*code.code).collect();
                let note = format!("the graph loads; a mistake was expected: {}", codes.join(", "));
                played.differences.push(Difference::Note(note));
            }
            (Ok(bundle), None) => {
                if let Some(codes) = &self.expect.warnings {
                    played.differences = check::codes("warnings", codes, &self.warnings, Severity::Warning);
                }
                match input::settle(self, bundle) {
                    Ok((input, config)) => Player { case: self, bundle, input, config }.play(&mut played),
                    Err(mistakes) => played.differences.extend(mistakes.into_iter().map(Difference::Note)),
                }
            }
        }
        played
    }
}

struct Player<'c> {
    case: &'c Case,
    bundle: &'c Arc<Bundle>,
    input: Map,
    config: Map,
}

/// One run of a case.
struct OneRun {
    run: SimRun,
    used: BTreeSet<usize>,
    complaints: Vec<String>,
}

impl Player<'_> {
    fn play(&self, played: &mut Played) {
        let first = self.run(0);
        let mut used = first.used.clone();
        let (found, trace) = self.judge(&first);
        played.trace = trace.to_text(Detail::Short);
        played.differences.extend(found);
        let free = self.case.order.is_none();
        if played.passed() && free {
            for seed in 1..self.case.seeds {
                let other = self.run(seed);
                used.extend(&other.used);
                let found = self.compare_order(&first.run, &trace, &other);
                if !found.is_empty() {
                    played
                        .differences
                        .push(Difference::Note(format!("in the completion order of seed {seed}:")));
                    played.differences.extend(found);
                    break;
                }
            }
        }
        if played.passed() {
            for fork in &self.case.forks {
                played.differences.extend(self.fork(&first.run, fork, &mut used));
            }
        }
        let mut further = Vec::new();
        if played.passed() && !self.case.attempts.is_empty() {
            further = self.attempts(self.run(0).run, &mut used);
        }
        played.differences.extend(further);
        let unused = (0..self.case.scripted.len()).filter(|number| !used.contains(number));
        let unused: Vec<Difference> = unused
            .map(|number| {
                let (label, place) = &self.case.scripted[number];
                Difference::Note(format!("{label} (line {}) was never used", place.line))
            })
            .collect();
        played.differences.extend(unused);
        if played.passed() {
            played.differences.extend(self.twice(&first.run, &trace));
        }
        if played.passed() && self.case.crash {
            played.differences.extend(self.crash(&first.run, &trace));
        }
        played.run = Some(trace);
    }

    fn sim<R>(
        &self,
        seed: u64,
        fork: Option<&Scripts>,
        drive: impl FnOnce(Sim<'_>) -> R,
    ) -> (R, BTreeSet<usize>, Vec<String>) {
        let mut world = Scripted::new(self.case, fork, self.bundle);
        let order = self.case.order.as_deref().unwrap_or_default();
        let rank = |step: &StepId| order.iter().position(|(pattern, _)| pattern.fits(step));
        let mut sim = Sim::in_world(self.bundle, &mut world)
            .seed(seed)
            .begin(self.case.begin)
            .kept(self.case.kept.clone());
        if !order.is_empty() {
            sim = sim.order(&rank);
        }
        if let Some(at) = &self.case.cancel {
            sim = sim.cancel(at.clone());
        }
        let result = drive(sim);
        (result, world.used, world.complaints)
    }

    fn run(&self, seed: u64) -> OneRun {
        let (run, mut used, complaints) =
            self.sim(seed, None, |sim| sim.run(self.input.clone(), self.config.clone()));
        for (pattern, number) in self.case.order.iter().flatten() {
            if run.flight.iter().any(|passage| pattern.fits(&passage.step)) {
                used.insert(*number);
            }
        }
        OneRun { run, used, complaints }
    }

    /// A run against what is expected, with its trace.
    fn judge(&self, one: &OneRun) -> (Vec<Difference>, Trace) {
        let (mut found, trace) = self.judge_by(&self.case.expect, one);
        let is_cancelled = |entry: &Entry| matches!(entry.body, EntryBody::CancelRequested { .. });
        if self.case.cancel.is_some() && !one.run.rows.iter().any(|(_, entry)| is_cancelled(entry)) {
            found.push(Difference::Note("`cancel` never came to pass: the run was over before".to_owned()));
        }
        (found, trace)
    }

    fn judge_by(&self, expect: &Expect, one: &OneRun) -> (Vec<Difference>, Trace) {
        let mut found: Vec<Difference> = one.complaints.iter().cloned().map(Difference::Note).collect();
        let seen = Seen::of(&one.run, self.bundle);
        found.extend(check::run(expect, &seen));
        if one.run.end.is_none() && seen.of_run("status").as_str() == Some("running") {
            let last = one.run.events.last();
            found.push(Difference::Note(format!("the run does not end; the last that it told: {last:?}")));
        }
        (found, seen.trace)
    }

    /// A fork of a run: its journals up to a step, and then another way. Nothing that was over before is carried out
    /// again.
    fn fork(&self, first: &SimRun, fork: &Fork, used: &mut BTreeSet<usize>) -> Vec<Difference> {
        let line = fork.place.line;
        let Some(entries) = entries_until(first, &fork.after) else {
            let note = format!("forks (line {line}): no step `{}` came to its end", fork.after);
            return vec![Difference::Note(note)];
        };
        let rows = &first.rows[..entries];
        let (run, of_fork, complaints) =
            self.sim(0, Some(&fork.scripts), |sim| sim.fork(rows, &fork.of, fork.state.clone()));
        used.extend(&of_fork);
        let before = first.flight.iter().filter(|passage| passage.entries <= entries && !passage.out);
        let repeated =
            before.map(|passage| &passage.step).find(|step| run.carried_out.contains_key(*step)).cloned();
        let one = OneRun { run, used: of_fork, complaints };
        let (mut found, trace) = self.judge_by(&fork.expect, &one);
        found.extend(repeated.map(|step| Difference::Note(format!("`{step}` was over and ran again"))));
        if !found.is_empty() {
            let trace = trace.to_text(Detail::Short);
            found
                .insert(0, Difference::Note(format!("in the fork of line {line}, behind `{}`:", fork.after)));
            let indented: String = trace.lines().map(|line| format!("\n  {line}")).collect();
            found.push(Difference::Note(format!("the fork's trace:{indented}")));
        }
        found
    }

    /// A run in another order of completion. Only a clock and a cancellation may tell it from the first.
    fn compare_order(&self, first: &SimRun, trace: &Trace, other: &OneRun) -> Vec<Difference> {
        let (mut found, came) = self.judge(other);
        if self.case.cancel.is_some()
            || depends::fired(self.bundle, first, depends::is_clock)
            || depends::fired(self.bundle, &other.run, depends::is_clock)
        {
            return found;
        }
        // Most are the same: their texts need not be made.
        if came == *trace {
            return found;
        }
        let (json, other_json) = (trace.to_json(), came.to_json());
        if json != other_json {
            let (one, two) = (trace.to_text(Detail::Full), came.to_text(Detail::Full));
            let between = if one == two { between(&json, &other_json) } else { between(&one, &two) };
            found.push(Difference::Note(format!("the trace is another one:{between}")));
        }
        found
    }

    /// Every entry twice: what comes a second time changes nothing.
    fn twice(&self, first: &SimRun, trace: &Trace) -> Vec<Difference> {
        let is_sent = |entry: &Entry| matches!(entry.body, EntryBody::Dispatched { .. });
        let rows = first.rows.iter().flat_map(|row| {
            let times = if is_sent(&row.1) { 1 } else { 2 };
            std::iter::repeat_n(row.clone(), times)
        });
        let doubled = SimRun { rows: rows.collect(), ..SimRun::new(first.began) }.trace(self.bundle);
        if doubled == *trace {
            return Vec::new();
        }
        let (one, two) = (trace.to_text(Detail::Full), doubled.to_text(Detail::Full));
        if one == two {
            return Vec::new();
        }
        let between = between(&one, &two);
        vec![Difference::Note(format!("with every entry twice the trace is another one:{between}"))]
    }
}
