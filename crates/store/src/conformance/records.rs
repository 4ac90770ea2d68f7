//! Records: written, changed, found.

use deepgraph_protocol::{
    Exit, ExitClass, ExitReason, Map, ReportOutcome, RunStatus, ScopePath, StepId, Value,
};
use serde_json::json;
use std::sync::Arc;

use super::{append, claimed, entry, on_every_store, record};
use crate::{RunRecord, RunUpdate, Store, StoreError};

on_every_store! {
    a_record_comes_back_as_it_was_written
    an_update_changes_only_what_it_names
    a_run_is_created_once
    unknown_runs_are_errors
    nobody_owns_a_run_that_was_never_claimed
    cancelling_needs_no_ownership
    a_run_that_is_over_is_not_cancelled
    runs_come_newest_first
    a_run_is_found_by_its_beginning
    a_missing_run_is_told_from_an_ambiguous_one
}

fn exit() -> Exit {
    Exit {
        scope: ScopePath::root(),
        graph: "deep_research".into(),
        attempt: 2,
        reason: ExitReason::Declared("ferry_sunk".into()),
        class: ExitClass::Error,
        limit: None,
        counters: [(Arc::from("turns"), 7)].into(),
        last_step: Some(StepId::new("research.1")),
        detail: Some("Ünïcode".into()),
        also: vec![ExitReason::Deadline],
        findings: Some(3),
        unknown_writes: Box::default(),
        not_undone: Box::default(),
        clocks: Default::default(),
    }
}

/// A change of every field.
pub(super) fn full_update() -> RunUpdate {
    RunUpdate {
        status: Some(RunStatus::Exhausted),
        updated_at: Some(2000),
        current_step: Some(Some(StepId::new("report.1"))),
        completed_steps: Some(12),
        attempt: Some(2),
        deadline: Some(Some(9000)),
        cost_cents: Some(Some(41)),
        cancel_requested: Some(true),
        exits: Some(vec![exit()]),
        report: Some(Some(ReportOutcome::Partial)),
        output: Some(Map::from([("report".into(), Value::from("# Ferries\n"))])),
        settings: Some(json!({"docs": []})),
        keep: Vec::new(),
    }
}

fn a_record_comes_back_as_it_was_written(store: &dyn Store) {
    let mut written = record(1, 1000);
    full_update().apply(&mut written);
    store.create_run(&written).unwrap();
    assert_eq!(store.run(&written.run_id).unwrap(), Some(written.clone()));
    assert_eq!(store.run(&record(2, 0).run_id).unwrap(), None);

    let text = serde_json::to_string(&written).unwrap();
    assert_eq!(serde_json::from_str::<RunRecord>(&text).unwrap(), written);
}

fn an_update_changes_only_what_it_names(store: &dyn Store) {
    let (run, epoch) = claimed(store, 1);
    let before = store.run(&run).unwrap().unwrap();
    store.update_run(&run, epoch, &RunUpdate::default()).unwrap();
    assert_eq!(store.run(&run).unwrap().unwrap(), before);

    store.update_run(&run, epoch, &full_update()).unwrap();
    let mut full = before.clone();
    full_update().apply(&mut full);
    assert_eq!(store.run(&run).unwrap().unwrap(), full);

    let emptied = RunUpdate {
        current_step: Some(None),
        deadline: Some(None),
        cost_cents: Some(None),
        report: Some(None),
        cancel_requested: Some(false),
        ..RunUpdate::default()
    };
    store.update_run(&run, epoch, &emptied).unwrap();
    emptied.apply(&mut full);
    assert_eq!(store.run(&run).unwrap().unwrap(), full);
    assert_eq!((full.current_step, full.cost_cents, full.report), (None, None, None));
    assert_eq!(full.completed_steps, 12);
}

fn a_run_is_created_once(store: &dyn Store) {
    let first = record(1, 1000);
    store.create_run(&first).unwrap();
    let again = RunRecord { question: "Another?".into(), ..first.clone() };
    assert!(matches!(store.create_run(&again), Err(StoreError::RunExists { run }) if run == first.run_id));
    assert_eq!(store.run(&first.run_id).unwrap().unwrap().question, "Which ferry?");
}

fn unknown_runs_are_errors(store: &dyn Store) {
    let run = record(1, 0).run_id;
    let unknown = |result: Result<(), StoreError>| {
        assert!(matches!(&result, Err(StoreError::UnknownRun { run: named }) if *named == run), "{result:?}");
    };
    unknown(store.claim(&run).map(drop));
    unknown(store.append(&run, 1, &[append("", 0, entry(1, Value::Null))], None).map(drop));
    unknown(store.update_run(&run, 1, &RunUpdate::default()));
    unknown(store.request_cancel(&run).map(drop));
    unknown(store.entries(&run, 0).map(drop));
}

fn nobody_owns_a_run_that_was_never_claimed(store: &dyn Store) {
    let mut given = record(1, 0);
    (given.epoch, given.last_event_seq) = (5, 5);
    store.create_run(&given).unwrap();
    let kept = store.run(&given.run_id).unwrap().unwrap();
    assert_eq!((kept.epoch, kept.last_event_seq), (0, 0));
    assert_eq!(store.claim(&given.run_id).unwrap(), 1);
}

fn cancelling_needs_no_ownership(store: &dyn Store) {
    let (run, epoch) = claimed(store, 1);
    assert_eq!(store.request_cancel(&run).unwrap(), RunStatus::Queued);
    assert_eq!(store.request_cancel(&run).unwrap(), RunStatus::Queued);
    let record = store.run(&run).unwrap().unwrap();
    assert!(record.cancel_requested);
    assert_eq!(record.epoch, epoch);
}

fn a_run_that_is_over_is_not_cancelled(store: &dyn Store) {
    let (run, epoch) = claimed(store, 1);
    let over = RunUpdate { status: Some(RunStatus::Succeeded), ..RunUpdate::default() };
    store.update_run(&run, epoch, &over).unwrap();
    assert_eq!(store.request_cancel(&run).unwrap(), RunStatus::Succeeded);
    assert!(!store.run(&run).unwrap().unwrap().cancel_requested);
}

fn runs_come_newest_first(store: &dyn Store) {
    for (id, created_at) in [(1, 50), (2, 70), (3, 60), (4, 60)] {
        store.create_run(&record(id, created_at)).unwrap();
    }
    let ids = |limit| store.runs(limit).unwrap().into_iter().map(|r| r.run_id).collect::<Vec<_>>();
    let expected: Vec<_> = [2, 4, 3, 1].map(|id| record(id, 0).run_id).into();
    assert_eq!(ids(10), expected);
    assert_eq!(ids(2), expected[..2]);
    assert_eq!(ids(0), []);
    assert_eq!(ids(usize::MAX), expected);
    assert_eq!(store.find_run("last").unwrap().run_id, expected[0]);
}

fn a_run_is_found_by_its_beginning(store: &dyn Store) {
    let first = 0x0198_1c2e_7a40_7c11_9d5e_1f0a_8c2b_4d6e_u128;
    store.create_run(&record(first, 1)).unwrap();
    store.create_run(&record(first + (1 << 112), 2)).unwrap();
    let wanted = record(first, 0).run_id;
    for text in ["01981", "01981C2E-7a40", " 01981c2e ", wanted.as_str()] {
        assert_eq!(store.find_run(text).unwrap().run_id, wanted, "{text}");
    }
}

fn a_missing_run_is_told_from_an_ambiguous_one(store: &dyn Store) {
    let error = store.find_run("last").unwrap_err();
    assert!(error.to_string().contains("there are no runs yet"), "{error}");
    for id in 0..12 {
        store.create_run(&record((0xabc << 116) + id, id as i64)).unwrap();
    }
    let newest = record((0xabc << 116) + 11, 0).run_id;
    let error = store.find_run("ab").unwrap_err();
    assert!(
        matches!(&error, StoreError::AmbiguousRun { candidates, .. } if candidates.len() == 8),
        "{error}"
    );
    assert!(error.to_string().contains(newest.as_str()), "{error}");
    let long = "x".repeat(100_000);
    for text in ["", "   ", "abd", "ab%", "ab_", "a\0", "LAST.", "ü", &long] {
        let error = store.find_run(text).unwrap_err();
        assert!(matches!(&error, StoreError::NoSuchRun { newest: n, .. } if n[0] == newest), "{error}");
        assert!(error.to_string().len() < 1000);
    }
}
