//! Under the conditions that it had, a run is what it was.

use std::sync::Arc;

use deepgraph_graph::OpTable;
use deepgraph_protocol::{Entry, EntryBody, Map, ScopePath};
use deepgraph_testkit::{Sim, call};
use deepgraph_trace::Journal;
use deepgraph_trace::refold::{Matching, what_if};

use super::fold;
use crate::engine::supervised::{self, conduct, think};
use crate::support::{self, repo, stock};

const ALL: [Matching; 3] = [Matching::ById, Matching::ByIdUnseen, Matching::Exact];

fn config(rows: &[(ScopePath, Entry)]) -> Map {
    let started = rows.iter().find_map(|(scope, entry)| match &entry.body {
        EntryBody::Started(started) if scope.is_root() => Some((*started.config).clone()),
        _ => None,
    });
    started.expect("the run was started")
}

#[test]
fn every_journal_that_is_kept_folds_to_itself() {
    let folder = repo().join("tests/journals");
    let mut seen = 0;
    for file in std::fs::read_dir(folder).expect("the folder is there") {
        let path = file.expect("it can be read").path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        seen += 1;
        let name = path.display();
        let text = std::fs::read_to_string(&path).expect("the journal can be read");
        let journal = Journal::read(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let bundle = journal.compile(&OpTable::stock()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let rows: Vec<(ScopePath, Entry)> =
            journal.rows.iter().map(|row| (row.scope.clone(), row.entry.clone())).collect();
        for matching in ALL {
            let folded = fold(&bundle, &rows, &bundle, config(&rows), matching);
            assert_eq!(folded.mismatches, [], "{name}");
            assert!(folded.not_taken.is_empty() && folded.otherwise.is_empty(), "{name}");
            assert_eq!(folded.first_unanswered(), None, "{name}");
            assert!(what_if(&folded).is_unchanged(), "{name}");
            for (scope, machine) in &folded.recorded {
                let now = folded.machines.get(scope).unwrap_or_else(|| panic!("{name}: no {scope}"));
                assert_eq!(now.end(), machine.end(), "{name}: {scope}");
                assert_eq!(now.state(), machine.state(), "{name}: {scope}");
            }
            // Entries that came late and of instances that were over are not applied, and so may be left out.
            let held: Vec<(ScopePath, Entry)> =
                folded.rows.iter().map(|held| (held.scope.clone(), held.entry.clone())).collect();
            let left_out = rows.iter().filter(|row| !held.contains(row)).count();
            assert_eq!(left_out, 0, "{name}");
        }
    }
    assert!(seen > 0);
}

#[test]
fn a_run_in_any_order_and_cut_off_anywhere_folds_to_itself() {
    let bundle = stock("deep_research");
    let turns = vec![vec![conduct("a"), conduct("b"), think()], vec![conduct("c"), call("nothing", "{}")]];
    for seed in 0..3 {
        let run = supervised::run(&bundle, &turns, &[], seed);
        for entries in (1..=run.rows.len()).step_by(3) {
            let rows = &run.rows[..entries];
            for matching in ALL {
                let folded = fold(&bundle, rows, &bundle, config(rows), matching);
                let held: Vec<(ScopePath, Entry)> =
                    folded.rows.iter().map(|held| (held.scope.clone(), held.entry.clone())).collect();
                assert_eq!(held, rows, "seed {seed}, {entries} entries");
                assert_eq!(folded.first_unanswered(), None, "seed {seed}, {entries} entries");
            }
        }
    }
}

#[test]
fn a_cancelled_run_folds_to_itself() {
    let bundle = stock("deep_research");
    let turns = vec![vec![conduct("a"), conduct("b")]];
    for entries in [3, 9, 14, 20] {
        let run = Sim::new(&bundle, |step, request| supervised::answer(&turns, step, request))
            .ops(supervised::ops)
            .cancel_at(entries)
            .run(support::question("a question"), support::config(&bundle, &[]));
        let folded = fold(&bundle, &run.rows, &Arc::clone(&bundle), config(&run.rows), Matching::Exact);
        let root = folded.machines.get(&ScopePath::root()).and_then(|root| root.end().cloned());
        assert_eq!(root, run.end, "cancelled at {entries}");
    }
}
