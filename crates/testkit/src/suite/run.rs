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
            true => self.settle(&played, writes).unwrap_or_else(|e| (Verdict::Failed, e.to_string())),
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
        let passed = (Verdict::Passed, String::new());
        let Some(text) = played.snapshot_text() else {
            self.tidy(writes)?;
            return Ok(passed);
        };
        let accepted = Snapshot::read(&path)?;
        if accepted.as_ref().is_some_and(|accepted| accepted.is(&text)) {
            self.tidy(writes)?;
            return Ok(passed);
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
        match writes {
            Writes::Nothing => {}
            Writes::Pending => {
                let pending = Snapshot::pending(&path);
                snapshot.write(&pending)?;
                let shown = self.name.from_root(&pending);
                told += &format!("\nthe trace as it is now waits in {}", shown.display());
            }
            Writes::Accepted => {
                snapshot.write(&path)?;
                Snapshot::reject(&path)?;
                return Ok((Verdict::Accepted, told));
            }
        }
        Ok((verdict, told))
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
