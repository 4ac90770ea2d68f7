//! Inputs that a fuzz target found, and those that it starts from: none may panic.

#[path = "../fuzz/src/expression.rs"]
mod expression;
#[path = "../fuzz/src/graph_file.rs"]
mod graph_file;
#[path = "../fuzz/src/journal.rs"]
mod journal;
#[path = "../fuzz/src/mutate.rs"]
mod mutate;

use deepgraph_graph::OpTable;
use deepgraph_trace::Journal;

use crate::support;

fn kept(name: &str) -> String {
    let path = support::repo().join("tests/journals").join(name);
    std::fs::read_to_string(path).expect("the journal is there")
}

#[test]
fn the_targets_take_what_is_sound() {
    let text =
        std::fs::read_to_string(support::repo().join("graphs/map_reduce/graph.yaml")).expect("it is there");
    graph_file::check(&text);
    for place in 0..5u8 {
        let texts =
            ["s", "{{ s }}", "n + 1", "b and l[0] > 2", "t | join(', ')", "limits.turns.left", "{{ 1"];
        for text in texts {
            expression::check(&[&[place], text.as_bytes()].concat());
        }
    }
    journal::check(&kept("late_answer.jsonl"));
    journal::check("");
}

#[test]
fn journals_that_no_driver_writes_fold_without_a_panic() {
    for name in ["late_answer.jsonl", "recursion.jsonl", "mcp_tools.jsonl"] {
        let journal = Journal::read(&kept(name)).expect("it can be read");
        let bundle = journal.compile(&OpTable::stock()).expect("it compiles");
        // Each kind of change at each row.
        for kind in 0..12u8 {
            for at in 0..journal.rows.len().min(40) as u8 {
                for choice in 0..6 {
                    let mut rows = journal.rows.clone();
                    mutate::mutate(&mut rows, &[kind, 0, at, choice]);
                    journal::folded(&bundle, &rows);
                }
            }
        }
    }
}

/// Found with the changes that `journal_rows` makes: a step that ended, by the stamps of its entries, at another end of time than it began.
#[test]
fn stamps_that_go_back_and_stamps_out_of_any_calendar_fold() {
    let journal = Journal::read(&kept("late_answer.jsonl")).expect("it can be read");
    let bundle = journal.compile(&OpTable::stock()).expect("it compiles");
    for (first, others) in [(i64::MAX, i64::MIN), (i64::MIN, i64::MAX), (0, -1), (1_000, 999)] {
        let mut rows = journal.rows.clone();
        rows.iter_mut().enumerate().for_each(|(i, row)| row.entry.at = if i == 0 { first } else { others });
        journal::folded(&bundle, &rows);
    }
}

/// Numbers as large as a journal can hold them, in what a child used and in what a person asks of a limit.
#[test]
fn sums_that_are_too_large_stay_at_the_largest_number() {
    let text = kept("recursion.jsonl");
    let largest = u64::MAX.to_string();
    for field in ["model_calls", "tool_calls", "tokens", "cost_micro_usd", "cost_unknown"] {
        let changed = text.replace(&format!("\"{field}\":0"), &format!("\"{field}\":{largest}"));
        assert_ne!(changed, text, "{field}");
        journal::check(&changed);
    }
}

#[test]
fn many_changes_at_once_fold_too() {
    for (name, times) in [
        ("late_answer.jsonl", 200),
        ("recursion.jsonl", 150),
        ("mcp_tools.jsonl", 150),
        ("cancelled.jsonl", 20),
    ] {
        let journal = Journal::read(&kept(name)).expect("it can be read");
        let bundle = journal.compile(&OpTable::stock()).expect("it compiles");
        let mut state = 1u64;
        for round in 0..times {
            let changes: Vec<u8> = (0..4 * (round % 12 + 2))
                .map(|_| {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (state >> 56) as u8
                })
                .collect();
            let mut rows = journal.rows.clone();
            mutate::mutate(&mut rows, &changes);
            journal::folded(&bundle, &rows);
        }
    }
}
