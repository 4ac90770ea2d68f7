//! Traces that wait to be accepted, looked at one after the other.

use std::io::{self, BufRead};

use deepgraph_testkit::suite::{Snapshot, Verdict};

use super::error::TestError;
use super::{Timed, tell};
use crate::error::CliError;

/// What somebody decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Accept,
    Reject,
    Skip,
    Quit,
}

/// Shows each trace that waits with what changed, and asks what to do about it. The cases whose traces are accepted
/// have passed then. The end of the input is as "quit".
///
/// # Errors
///
/// A snapshot can not be read or written, or the input can not be read.
pub fn review(
    played: &mut [Timed],
    input: &mut impl BufRead,
    mut say: impl FnMut(&str),
) -> Result<(), CliError> {
    // A trace that could not be written does not wait.
    let waits = |timed: &Timed| {
        let outcome = &timed.outcome;
        outcome.verdict.waits() && Snapshot::pending(&outcome.name.snapshot()).exists()
    };
    let all = played.iter().filter(|timed| waits(timed)).count();
    let waiting = played.iter_mut().filter(|timed| waits(timed));
    for (number, timed) in (1..).zip(waiting) {
        let outcome = &mut timed.outcome;
        let path = outcome.name.snapshot();
        say(&format!("\n{number} of {all}: {}{}", outcome.name, tell::differences(outcome)));
        if outcome.verdict == Verdict::SnapshotNew
            && let Some(new) = Snapshot::read(&Snapshot::pending(&path)).map_err(TestError::from)?
        {
            say(&new.text.lines().map(|line| format!("  {line}\n")).collect::<String>());
        }
        match ask(input, &mut say).map_err(CliError::Stdin)? {
            Answer::Accept => {
                Snapshot::accept(&path).map_err(TestError::from)?;
                outcome.verdict = Verdict::Accepted;
            }
            Answer::Reject => Snapshot::reject(&path).map_err(TestError::from)?,
            Answer::Skip => {}
            Answer::Quit => break,
        }
    }
    Ok(())
}

fn ask(input: &mut impl BufRead, say: &mut impl FnMut(&str)) -> io::Result<Answer> {
    loop {
        say("a: accept, r: reject (the file that waits is removed), s: skip (it goes on waiting), q: quit");
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(Answer::Quit);
        }
        match line.trim().to_lowercase().as_str() {
            "a" | "accept" => return Ok(Answer::Accept),
            "r" | "reject" => return Ok(Answer::Reject),
            "s" | "skip" => return Ok(Answer::Skip),
            "q" | "quit" => return Ok(Answer::Quit),
            other => say(&format!("\"{other}\" is none of them")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use deepgraph_testkit::suite::{CaseName, Outcome};

    use super::*;

    fn waiting(folder: &Path, case: &str, verdict: Verdict) -> Timed {
        let file = folder.join(format!("graphs/g/cases/{case}.yaml"));
        let name = CaseName::of(&file);
        if verdict.waits() {
            Snapshot::new(&name.source, &format!("trace of {case}"))
                .write(&Snapshot::pending(&name.snapshot()))
                .unwrap();
        }
        let text = format!("changes of {case}");
        let outcome = Outcome { name, file, sentence: None, verdict, text, keeps_snapshot: Some(true) };
        Timed { outcome, took: Duration::ZERO }
    }

    #[test]
    fn each_that_waits_is_accepted_rejected_or_left() {
        let folder = tempfile::tempdir().unwrap();
        let mut played: Vec<Timed> = [
            ("one", Verdict::SnapshotNew),
            ("passed", Verdict::Passed),
            ("two", Verdict::SnapshotChanged),
            ("three", Verdict::SnapshotChanged),
            ("four", Verdict::SnapshotChanged),
            ("five", Verdict::SnapshotChanged),
        ]
        .map(|(case, verdict)| waiting(folder.path(), case, verdict))
        .into();
        let mut said = String::new();
        let mut input = "what?\nA\nr\nskip\nq\na\n".as_bytes();
        review(&mut played, &mut input, |text| said += &format!("{text}\n")).unwrap();
        let verdicts: Vec<Verdict> = played.iter().map(|timed| timed.outcome.verdict).collect();
        let changed = Verdict::SnapshotChanged;
        assert_eq!(verdicts, [Verdict::Accepted, Verdict::Passed, changed, changed, changed, changed]);
        let there = |case: &str| {
            let path = folder.path().canonicalize().unwrap().join(format!("snapshots/g/{case}.snap"));
            (path.exists(), Snapshot::pending(&path).exists())
        };
        assert_eq!(
            ["one", "two", "three", "four", "five"].map(there),
            [(true, false), (false, false), (false, true), (false, true), (false, true)]
        );
        for part in [
            "1 of 5: g/one",
            "trace of one",
            "\"what?\" is none",
            "2 of 5: g/two",
            "changes of two",
            "4 of 5",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(!said.contains("5 of 5") && !said.contains("trace of two"), "{said}");
    }

    #[test]
    fn the_end_of_the_input_leaves_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let mut played = [waiting(folder.path(), "one", Verdict::SnapshotNew)];
        review(&mut played, &mut "".as_bytes(), |_| {}).unwrap();
        assert_eq!(played[0].outcome.verdict, Verdict::SnapshotNew);
    }
}
