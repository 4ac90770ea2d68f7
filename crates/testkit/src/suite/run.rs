//! One case file, played and compared with its snapshot.

use deepgraph_graph::Files;

use super::find::CaseFile;
use super::outcome::{Outcome, Verdict};
use super::snapshot::{Snapshot, SnapshotError};
use crate::case::{Case, Played};
use crate::suite::differs;

/// What playing a case may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// Nothing.
    Nothing,
    /// A trace that is not the accepted one, beside the snapshot, to be looked at. One that waits there and is out of
    /// date is removed.
    Pending,
    /// A trace that is not the accepted one, as the snapshot.
    Accepted,
}

impl Writes {
    /// What a run of tests may write here: what waits to be looked at, unless nobody looks ([`is_ci`]) or `INSTA_UPDATE`
    /// is `no`.
    pub fn of_environment() -> Writes {
        let is_no = std::env::var("INSTA_UPDATE").is_ok_and(|value| value == "no");
        if is_no || is_ci() { Writes::Nothing } else { Writes::Pending }
    }
}

/// Whether this is a build of a server that tests what others wrote: nobody reviews there. The variable `CI` is set to
/// anything but nothing, `0` and `false`.
pub fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| !["", "0", "false"].contains(&&*value.to_lowercase()))
}

impl CaseFile {
    /// Plays the case. The files of stock graphs are asked for as `stock:NAME/graph.yaml`; without `stock` they are
    /// looked for beside the graph's folder.
    ///
    /// Where something is not as the case says, its snapshot is only looked at to tell what changed: nothing is
    /// written then.
    pub fn play(&self, writes: Writes, stock: Option<&dyn Files>) -> Outcome {
        let outcome = |verdict, text| Outcome {
            name: self.name.clone(),
            file: self.path.clone(),
            sentence: None,
            verdict,
            text,
            keeps_snapshot: None,
        };
        let case = match Case::load_with(&self.path, stock) {
            Ok(case) => case,
            Err(mistakes) => return outcome(Verdict::Unreadable, mistakes.to_string()),
        };
        let played = case.play();
        let (verdict, text) = match played.passed() {
            true => self
                .settle(&played, writes)
                .unwrap_or_else(|e| (Verdict::Failed, e.seen_from(&self.name.root).to_string())),
            false => (Verdict::Failed, self.failure(&played)),
        };
        Outcome {
            sentence: Some(case.sentence.to_string()),
            keeps_snapshot: Some(played.snapshot.is_some()),
            ..outcome(verdict, text)
        }
    }

    /// What is not as the case says; then what differs from the snapshot, or, where nothing is known to compare with,
    /// the whole trace.
    fn failure(&self, played: &Played) -> String {
        let accepted = Snapshot::read(&self.name.snapshot()).ok().flatten();
        let changed = match (played.snapshot_text(), accepted) {
            (Some(text), Some(accepted)) if !accepted.is(&text) => accepted.text,
            _ => return played.to_string(),
        };
        let differences: String = played.differences.iter().map(|d| format!("{d}\n")).collect();
        format!("{differences}{}", self.change(&changed, played))
    }

    /// A case that is as it says, against its snapshot.
    fn settle(&self, played: &Played, writes: Writes) -> Result<(Verdict, String), SnapshotError> {
        let path = self.name.snapshot();
        let Some(text) = played.snapshot_text() else { return Ok(self.passed(writes)) };
        let accepted = Snapshot::read(&path)?;
        if accepted.as_ref().is_some_and(|accepted| accepted.is(&text)) {
            return Ok(self.passed(writes));
        }
        let (verdict, mut told) = match &accepted {
            None => {
                let told = format!("there is no snapshot {} yet", self.name.from_root(&path).display());
                (Verdict::SnapshotNew, told)
            }
            Some(accepted) => (Verdict::SnapshotChanged, self.change(&accepted.text, played)),
        };
        let snapshot = accepted
            .map_or_else(|| Snapshot::new(&self.name.source, &text), |accepted| accepted.with_text(&text));
        match self.keep(&snapshot, writes) {
            Ok(true) => return Ok((Verdict::Accepted, told)),
            Ok(false) if writes == Writes::Pending => {
                let pending = Snapshot::pending(&path);
                told += "\nthe trace as it is now waits in ";
                told += &self.name.from_root(&pending).display().to_string();
            }
            Ok(false) => {}
            // What came of the case is worth more than the file.
            Err(error) => {
                told += &format!("\n{}; with --check nothing is written", error.seen_from(&self.name.root));
            }
        }
        Ok((verdict, told))
    }

    /// A case whose trace is as it is to be: nothing waits any more.
    fn passed(&self, writes: Writes) -> (Verdict, String) {
        let Err(error) = self.tidy(writes) else { return (Verdict::Passed, String::new()) };
        let error = error.seen_from(&self.name.root);
        let told = "all is as the case says, but what waits from before can not be removed";
        (Verdict::Failed, format!("{told}: {error}; with --check nothing is written"))
    }

    /// Writes what may be written. Whether it is the accepted trace now.
    fn keep(&self, snapshot: &Snapshot, writes: Writes) -> Result<bool, SnapshotError> {
        let path = self.name.snapshot();
        match writes {
            Writes::Nothing => {}
            Writes::Pending => snapshot.write(&Snapshot::pending(&path))?,
            Writes::Accepted => {
                snapshot.write(&path)?;
                Snapshot::reject(&path)?;
            }
        }
        Ok(writes == Writes::Accepted)
    }

    /// What changed in the trace, in words.
    fn change(&self, accepted: &str, played: &Played) -> String {
        let path = self.name.snapshot();
        let shown = self.name.from_root(&path).display().to_string();
        format!("the trace is not that of {shown}:{}", differs::since(accepted, played))
    }

    /// Removes what waits to be accepted and is out of date. What a Rust test left there is its own.
    fn tidy(&self, writes: Writes) -> Result<(), SnapshotError> {
        let path = self.name.snapshot();
        let pending = Snapshot::pending(&path);
        if writes == Writes::Nothing || !pending.exists() {
            return Ok(());
        }
        let waits = Snapshot::read(&pending)?;
        let is_of_rust = waits.is_some_and(|s| s.source().is_some_and(|source| source.ends_with(".rs")));
        if is_of_rust { Ok(()) } else { Snapshot::reject(&path) }
    }
}
