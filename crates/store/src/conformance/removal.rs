//! Removing runs and what only they used.

use deepgraph_protocol::{RunStatus, Value};

use super::{append, claimed, entry, on_every_store};
use crate::{Freed, RunUpdate, Store, StoreError};

on_every_store! {
    a_removed_run_is_gone_and_the_others_are_not
    a_run_that_was_claimed_since_is_left
    texts_go_with_their_last_user
    kept_values_outlive_their_run
    runs_are_driven_while_others_are_removed
}

fn long(text: &str) -> Value {
    Value::from(text.repeat(6000))
}

fn a_removed_run_is_gone_and_the_others_are_not(store: &dyn Store) {
    let (run, epoch) = claimed(store, 1);
    let (other, other_epoch) = claimed(store, 2);
    for (run, epoch) in [(&run, epoch), (&other, other_epoch)] {
        store
            .append(
                run,
                epoch,
                &[append("", 0, entry(1, long("x"))), append("a.1", 0, entry(2, Value::Null))],
                None,
            )
            .unwrap();
    }
    let before = store.entries(&other, 0).unwrap();
    let weight = store.weigh(std::slice::from_ref(&run)).unwrap();
    assert_eq!(weight.entries, 2);
    let removed = store.remove_run(&run, epoch).unwrap();
    assert_eq!(removed.entries, 2);
    assert!(removed.bytes > 0 && removed.bytes <= weight.bytes, "{removed:?} {weight:?}");
    store.sweep_texts().unwrap();

    assert_eq!(store.run(&run).unwrap(), None);
    assert!(matches!(store.entries(&run, 0), Err(StoreError::UnknownRun { .. })));
    let late = store.append(&run, epoch, &[append("", 1, entry(3, Value::Null))], None);
    assert!(matches!(late, Err(StoreError::UnknownRun { .. })), "{late:?}");
    assert!(matches!(store.remove_run(&run, epoch), Err(StoreError::UnknownRun { .. })));
    assert_eq!(store.weigh(&[run]).unwrap(), Freed::default());
    assert_eq!(store.entries(&other, 0).unwrap(), before);
    // The id is free again: the record could be copied back.
    let (again, epoch) = claimed(store, 1);
    assert_eq!((epoch, store.entries(&again, 0).unwrap().len()), (1, 0));
}

fn a_run_that_was_claimed_since_is_left(store: &dyn Store) {
    let (run, epoch) = claimed(store, 1);
    let newer = store.claim(&run).unwrap();
    assert!(matches!(store.remove_run(&run, epoch), Err(StoreError::Fenced { current: 2, .. })));
    assert!(store.run(&run).unwrap().is_some());
    store.remove_run(&run, newer).unwrap();
}

fn texts_go_with_their_last_user(store: &dyn Store) {
    let (one, first) = claimed(store, 1);
    let (two, second) = claimed(store, 2);
    store
        .append(
            &one,
            first,
            &[append("", 0, entry(1, long("shared"))), append("", 1, entry(2, long("own")))],
            None,
        )
        .unwrap();
    let output = RunUpdate {
        status: Some(RunStatus::Succeeded),
        output: Some([("report".into(), long("report"))].into()),
        ..RunUpdate::default()
    };
    store.append(&two, second, &[append("", 0, entry(1, long("shared")))], Some(&output)).unwrap();
    store.remove_run(&one, first).unwrap();
    store.sweep_texts().unwrap();
    assert_eq!(store.entries(&two, 0).unwrap()[0].entry, entry(1, long("shared")));
    assert_eq!(store.run(&two).unwrap().unwrap().output["report"], long("report"));
    assert_eq!(store.sweep_texts().unwrap(), Freed::default(), "nothing is swept twice");

    // Whoever brings a swept text again finds it kept again.
    let (three, third) = claimed(store, 3);
    store.append(&three, third, &[append("", 0, entry(1, long("own")))], None).unwrap();
    store.sweep_texts().unwrap();
    assert_eq!(store.entries(&three, 0).unwrap()[0].entry, entry(1, long("own")));
}

fn kept_values_outlive_their_run(store: &dyn Store) {
    let (run, epoch) = claimed(store, 1);
    let keep = |text: &str| RunUpdate { keep: vec![("notes".into(), long(text))], ..RunUpdate::default() };
    store.update_run(&run, epoch, &keep("old")).unwrap();
    store.update_run(&run, epoch, &keep("new")).unwrap();
    store.remove_run(&run, epoch).unwrap();
    store.sweep_texts().unwrap();
    assert_eq!(store.kept("notes").unwrap(), Some(long("new")));
    assert_eq!(store.sweep_texts().unwrap(), Freed::default());
}

fn runs_are_driven_while_others_are_removed(store: &dyn Store) {
    let (driven, epoch) = claimed(store, 1);
    let over: Vec<_> = (10..40).map(|id| claimed(store, id)).collect();
    for (run, epoch) in &over {
        // The same texts as those of the run that goes on, and as each other.
        for n in 0..4 {
            store.append(run, *epoch, &[append("", n, entry(1, long(&format!("text {n}"))))], None).unwrap();
        }
    }
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for n in 0..60 {
                let text = long(&format!("text {}", n % 6));
                store.append(&driven, epoch, &[append("", n, entry(1, text))], None).unwrap();
            }
        });
        threads.spawn(|| {
            for (run, epoch) in &over {
                store.remove_run(run, *epoch).unwrap();
                store.sweep_texts().unwrap();
            }
        });
    });
    let rows = store.entries(&driven, 0).unwrap();
    assert_eq!(rows.len(), 60);
    for (n, row) in rows.iter().enumerate() {
        assert_eq!(row.entry, entry(1, long(&format!("text {}", n % 6))));
    }
    assert_eq!(store.runs(99).unwrap().len(), 1);
}
