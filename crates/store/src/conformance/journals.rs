//! Journals: order, positions, ownership.

use deepgraph_protocol::{RunStatus, ScopePath, Value};

use super::records::full_update;
use super::{append, claimed, entry, on_every_store};
use crate::{RunUpdate, Store, StoreError};

on_every_store! {
    rows_are_numbered_in_the_run_and_in_the_scope
    a_wrong_position_writes_nothing
    a_batch_counts_its_own_entries
    a_later_owner_fences_off_the_earlier
    an_empty_batch_changes_the_record_only
    the_cursor_skips_what_was_read
    many_threads_append_side_by_side
    appends_under_way_are_answered_each_for_itself
    an_append_tells_whether_somebody_asked_to_stop
}

fn rows_are_numbered_in_the_run_and_in_the_scope(store: &dyn Store) {
    let (run, epoch) = claimed(store, 1);
    let (other, other_epoch) = claimed(store, 2);
    let given = [("", 0), ("a.1", 0), ("", 1), ("a.1/b.1", 0), ("a.1", 1)];
    for (n, (scope, position)) in given.into_iter().enumerate() {
        let at = 5000 + n as i64;
        let seq = store.append(&run, epoch, &[append(scope, position, entry(at, Value::from(at)))], None);
        assert_eq!(seq.unwrap().seq, n as u64 + 1);
    }
    assert_eq!(
        store.append(&other, other_epoch, &[append("", 0, entry(1, Value::Null))], None).unwrap().seq,
        1
    );

    let rows = store.entries(&run, 0).unwrap();
    let got: Vec<_> = rows.iter().map(|row| (row.seq, row.scope.as_str(), row.position)).collect();
    assert_eq!(got, [(1, "", 0), (2, "a.1", 0), (3, "", 1), (4, "a.1/b.1", 0), (5, "a.1", 1)]);
    assert_eq!(rows[3].entry, entry(5003, Value::from(5003_i64)));
    let record = store.run(&run).unwrap().unwrap();
    assert_eq!((record.last_event_seq, record.updated_at), (5, 5004));
}

fn a_wrong_position_writes_nothing(store: &dyn Store) {
    let (run, epoch) = claimed(store, 1);
    store.append(&run, epoch, &[append("", 0, entry(1, Value::Null))], None).unwrap();
    let before = store.run(&run).unwrap();
    let good = append("", 1, entry(2, Value::from("good")));
    for bad in [0, 1, 3] {
        let batch = [good.clone(), append("", bad, entry(3, Value::from("bad")))];
        let failed = store.append(&run, epoch, &batch, Some(&full_update()));
        let Err(StoreError::Position { expected, found, .. }) = failed else { panic!("{failed:?}") };
        assert_eq!((expected, found), (bad, 2));
    }
    assert_eq!(store.entries(&run, 0).unwrap().len(), 1);
    assert_eq!(store.run(&run).unwrap(), before);
}

fn a_batch_counts_its_own_entries(store: &dyn Store) {
    let (run, epoch) = claimed(store, 1);
    let batch: Vec<_> = (0..4).map(|n| append("", n, entry(n as i64, Value::Null))).collect();
    let update = RunUpdate { completed_steps: Some(4), ..RunUpdate::default() };
    assert_eq!(store.append(&run, epoch, &batch, Some(&update)).unwrap().seq, 4);
    assert_eq!(store.run(&run).unwrap().unwrap().completed_steps, 4);
    let batch = [append("a.1", 0, entry(9, Value::Null)), append("", 4, entry(8, Value::Null))];
    assert_eq!(store.append(&run, epoch, &batch, None).unwrap().seq, 6);
}

fn a_later_owner_fences_off_the_earlier(store: &dyn Store) {
    let (run, first) = claimed(store, 1);
    store.append(&run, first, &[append("", 0, entry(1, Value::Null))], None).unwrap();
    let second = store.claim(&run).unwrap();
    assert_eq!((first, second), (1, 2));
    let next = [append("", 1, entry(2, Value::Null))];
    for failed in [
        store.append(&run, first, &next, None).map(drop),
        store.append(&run, first, &[], None).map(drop),
        store.update_run(&run, first, &full_update()),
        store.update_run(&run, 3, &full_update()),
    ] {
        assert!(matches!(failed, Err(StoreError::Fenced { current: 2, .. })), "{failed:?}");
    }
    assert_eq!(store.entries(&run, 0).unwrap().len(), 1);
    assert_eq!(store.append(&run, second, &next, None).unwrap().seq, 2);
    assert_eq!(store.run(&run).unwrap().unwrap().epoch, 2);
}

fn an_empty_batch_changes_the_record_only(store: &dyn Store) {
    let (run, epoch) = claimed(store, 1);
    assert_eq!(store.append(&run, epoch, &[], None).unwrap().seq, 0);
    store.append(&run, epoch, &[append("", 0, entry(1, Value::Null))], None).unwrap();
    let update = RunUpdate { status: Some(RunStatus::Running), ..RunUpdate::default() };
    assert_eq!(store.append(&run, epoch, &[], Some(&update)).unwrap().seq, 1);
    assert_eq!(store.run(&run).unwrap().unwrap().status, RunStatus::Running);
}

fn the_cursor_skips_what_was_read(store: &dyn Store) {
    let (run, epoch) = claimed(store, 1);
    assert_eq!(store.entries(&run, 0).unwrap(), []);
    let batch: Vec<_> = (0..5).map(|n| append("", n, entry(n as i64, Value::Null))).collect();
    store.append(&run, epoch, &batch, None).unwrap();
    let seqs = |after| store.entries(&run, after).unwrap().iter().map(|row| row.seq).collect::<Vec<_>>();
    assert_eq!(seqs(0), [1, 2, 3, 4, 5]);
    assert_eq!(seqs(3), [4, 5]);
    assert_eq!(seqs(5), [0; 0]);
    assert_eq!(seqs(u64::MAX), [0; 0]);
}

fn many_threads_append_side_by_side(store: &dyn Store) {
    let (run, epoch) = claimed(store, 1);
    std::thread::scope(|threads| {
        for thread in 0..4 {
            let (store, run) = (&store, &run);
            threads.spawn(move || {
                for n in 0..20 {
                    let one = append(&format!("research.{thread}"), n, entry(n as i64, Value::Int(thread)));
                    store.append(run, epoch, &[one], None).unwrap();
                }
            });
        }
    });
    let rows = store.entries(&run, 0).unwrap();
    assert_eq!(rows.iter().map(|row| row.seq).collect::<Vec<_>>(), (1..=80).collect::<Vec<_>>());
    for thread in 0..4 {
        let scope = ScopePath::new(format!("research.{thread}"));
        let positions: Vec<_> =
            rows.iter().filter(|row| row.scope == scope).map(|row| row.position).collect();
        assert_eq!(positions, (0..20).collect::<Vec<_>>());
    }
}

fn appends_under_way_are_answered_each_for_itself(store: &dyn Store) {
    let runs: Vec<_> = (0..20).map(|id| claimed(store, id)).collect();
    // Of every fourth run the owner is a stale one.
    for (run, _) in runs.iter().step_by(4) {
        store.claim(run).unwrap();
    }
    let (sender, answers) = std::sync::mpsc::channel();
    for position in 0..10 {
        for (number, (run, epoch)) in runs.iter().enumerate() {
            // Of every fourth other run one position is wrong, and so are those after it.
            let expected = if number % 4 == 1 && position >= 5 { position + 1 } else { position };
            let batch = [append("", expected, entry(1, Value::from(format!("{number} {position}"))))];
            let told = sender.clone();
            let done = Box::new(move |result| told.send((number, position, result)).unwrap());
            store.append_then(run, *epoch, &batch, None, done);
        }
    }
    drop(sender);
    let answers: Vec<_> = answers.iter().collect();
    assert_eq!(answers.len(), 200);
    for (number, position, result) in answers {
        match (number % 4, position) {
            (0, _) => assert!(matches!(result, Err(StoreError::Fenced { .. })), "{result:?}"),
            (1, 5..) => {
                assert!(matches!(result, Err(StoreError::Position { found: 5, .. })), "{result:?}");
            }
            _ => assert_eq!(result.unwrap().seq, position + 1),
        }
    }
    for (number, (run, _)) in runs.iter().enumerate() {
        let rows = store.entries(run, 0).unwrap();
        assert_eq!(rows.len(), [0, 5, 10, 10][number % 4]);
        for (position, row) in rows.iter().enumerate() {
            assert_eq!(row.entry, entry(1, Value::from(format!("{number} {position}"))));
        }
    }
}

fn an_append_tells_whether_somebody_asked_to_stop(store: &dyn Store) {
    let (run, epoch) = claimed(store, 1);
    let asked = |update: Option<&RunUpdate>| store.append(&run, epoch, &[], update).unwrap().cancel_requested;
    assert!(!asked(None));
    store.request_cancel(&run).unwrap();
    assert!(asked(None));
    let taken = RunUpdate { cancel_requested: Some(false), ..RunUpdate::default() };
    assert!(!asked(Some(&taken)) && !asked(None));
}
