//! Journals that are kept fold to the same trace for ever.
//!
//! Each `tests/journals/NAME.jsonl` is the journal of a run, with its graph; `NAME.snap` beside it is its trace. A
//! change that breaks one of these changes what journals in people's stores mean: it needs a new `semantics` number,
//! and the old rules beside the new ones. Only where the printed form of a trace changes may a snapshot change.

#[path = "journals/make.rs"]
mod make;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deepgraph_graph::{Bundle, OpTable};
use deepgraph_protocol::{ScopePath, Value};
use deepgraph_trace::spending::{Asked, SpendingLine};
use deepgraph_trace::{Detail, Journal, JournalRow, Row, Trace};

use crate::support;

fn folder() -> PathBuf {
    support::repo().join("tests/journals")
}

/// The names of the journals.
fn names() -> BTreeSet<String> {
    let files = std::fs::read_dir(folder()).expect("the folder is there");
    let paths = files.map(|file| file.expect("it can be read").path());
    paths.filter(|path| path.extension().is_some_and(|e| e == "jsonl")).map(|path| stem(&path)).collect()
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("it has a name").to_string_lossy().into_owned()
}

fn read(name: &str) -> (Journal, Arc<Bundle>) {
    let path = folder().join(format!("{name}.jsonl"));
    let text = std::fs::read_to_string(path).expect("the journal can be read");
    let journal = Journal::read(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
    let bundle = journal.compile(&OpTable::stock()).unwrap_or_else(|e| panic!("{name}: {e}"));
    (journal, bundle)
}

fn trace(name: &str, journal: &Journal, bundle: &Arc<Bundle>) -> Trace {
    journal.trace(bundle).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn each_folds_to_the_trace_that_is_kept() {
    for name in names() {
        let (journal, bundle) = read(&name);
        let trace = trace(&name, &journal, &bundle);
        assert!(trace.status.is_some(), "{name} is of a run that is over");
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(folder());
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(&*name, trace.to_text(Detail::Full)));
    }
}

#[test]
fn what_the_stages_spent_is_what_the_run_is_charged() {
    let mut calls = 0;
    for name in names() {
        let (journal, bundle) = read(&name);
        let rows = || journal.rows.iter().map(|row| Row { scope: &row.scope, entry: &row.entry });
        let figures = deepgraph_trace::figures::of_run(&bundle, rows()).expect("it folds");
        let lines = deepgraph_trace::spending::spending(&bundle, rows()).expect("it folds");
        let sum = |of: fn(&SpendingLine) -> u64| lines.iter().map(of).sum::<u64>();
        assert_eq!(sum(|line| line.tokens), figures.tokens, "{name}");
        assert_eq!(sum(|line| line.known_micro_usd), figures.cost.known_micro_usd, "{name}");
        assert_eq!(sum(|line| line.unknown_calls), figures.cost.unknown_calls, "{name}");
        let models = lines.iter().filter(|line| matches!(line.asked, Asked::Model(_)));
        assert_eq!(models.map(|line| line.calls).sum::<u64>(), figures.model_calls, "{name}");
        assert!(
            lines.iter().all(|line| !line.stage.is_empty() && !line.asked.name().is_empty()),
            "{name}: {lines:?}"
        );
        calls += figures.model_calls;
    }
    assert!(calls > 50, "{calls}");
}

#[test]
fn the_order_of_rows_across_scopes_makes_no_difference() {
    for name in names() {
        let (journal, bundle) = read(&name);
        let (text, json) = forms(&trace(&name, &journal, &bundle));
        let scopes: BTreeSet<ScopePath> = journal.rows.iter().map(|row| row.scope.clone()).collect();
        let of = |scope: &ScopePath| journal.rows.iter().filter(|row| row.scope == *scope).cloned().collect();
        let by_scope: Vec<Vec<JournalRow>> = scopes.iter().map(of).collect();
        let one_after_the_other = by_scope.concat();
        let the_last_first: Vec<JournalRow> = by_scope.iter().rev().flatten().cloned().collect();
        let longest = by_scope.iter().map(Vec::len).max().unwrap_or_default();
        let in_turn = (0..longest).flat_map(|i| by_scope.iter().filter_map(move |rows| rows.get(i).cloned()));
        for rows in [one_after_the_other, the_last_first, in_turn.collect()] {
            let other = trace(&name, &Journal { rows, ..journal.clone() }, &bundle);
            let (other_text, other_json) = forms(&other);
            assert!(text == other_text, "{name}: {}", deepgraph_trace::diff::of_texts(&text, &other_text));
            assert!(json == other_json, "{name}: the JSON differs");
        }
    }
}

fn forms(trace: &Trace) -> (String, String) {
    (trace.to_text(Detail::Full), trace.to_json())
}

#[test]
fn what_is_kept_is_written_as_it_was_read() {
    for name in names() {
        let path = folder().join(format!("{name}.jsonl"));
        let text = std::fs::read_to_string(path).expect("the journal can be read");
        let written = Journal::read(&text).and_then(|journal| journal.write());
        assert!(written.as_ref() == Ok(&text), "{name} is written otherwise than it was read");
    }
}

#[test]
fn every_file_of_the_folder_is_used() {
    let names = names();
    assert!(names.len() >= 12, "{names:?}");
    for file in std::fs::read_dir(folder()).expect("the folder is there") {
        let path = file.expect("it can be read").path();
        let ending = path.extension().map(|e| e.to_string_lossy().into_owned()).unwrap_or_default();
        let is_used = match ending.as_str() {
            "jsonl" => true,
            "snap" => names.contains(&stem(&path)),
            "rs" => stem(&path) == "make",
            _ => path.to_string_lossy().ends_with(".snap.new"),
        };
        assert!(is_used, "{} belongs to no journal", path.display());
    }
}

#[test]
fn they_hold_what_their_names_say() {
    let entries = |name: &str| -> Vec<String> {
        let (journal, _) = read(name);
        journal.rows.iter().map(|row| Value::of(&row.entry.body).text("entry").to_owned()).collect()
    };
    let text = |name: &str| {
        let (journal, bundle) = read(name);
        trace(name, &journal, &bundle).to_text(Detail::Short)
    };
    assert_eq!(text("five_researchers").matches("graph deep_research/researcher").count(), 5);
    assert!(text("cancelled").contains("exit cancelled"));
    assert!(text("deadline").contains("exit deadline"));
    assert!(text("failed_researcher").contains("exit model_error"));
    assert!(text("answered_question").contains("exit research_complete"));
    assert!(entries("answered_question").iter().any(|entry| entry == "answered"));
    assert!(text("went_on").contains("attempt 2 goes on with the research"));
    assert!(text("went_on").contains("attempt 3 goes on with the report"));
    assert!(text("recursion").contains("graph levels/level"));
    assert!(text("mcp_tools").contains("op crm.find"));
    assert!(entries("late_answer").iter().any(|entry| entry == "attempt_failed"));
    let failed_over = text("failed_over");
    for told in ["; the next model is asked", "asked spare", "cut 1 part: "] {
        assert!(failed_over.contains(told), "{told}: {failed_over}");
    }
    for told in ["attempt 1 failed", "attempt 2 failed", "mended quotation marks", "guess {"] {
        assert!(text("repaired").contains(told), "{told}");
    }
    assert!(entries("failed_over").iter().any(|entry| entry == "held"));
    let (journal, _) = read("late_answer");
    let late: Vec<u32> = journal.rows.iter().filter_map(|row| make::completed_attempt(&row.entry)).collect();
    assert_eq!(late, [1, 2], "the first attempt answers after its timeout");
    let (journal, _) = read("crash_and_resume");
    assert!(make::sent_twice(&journal.rows), "what was out in the crash is sent again");
}
