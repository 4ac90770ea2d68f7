//! Values: what goes in comes out.

use deepgraph_protocol::{Map, Value};
use serde_json::json;

use super::{append, claimed, entry, on_every_store, record};
use crate::{RunUpdate, Store, StoreError};

on_every_store! {
    odd_texts_come_back
    huge_entries_come_back
    numbers_come_back_exactly
    what_is_nested_too_deeply_is_refused
    what_runs_leave_is_kept
}

fn what_runs_leave_is_kept(store: &dyn Store) {
    assert_eq!(store.kept("thread/a/notes").unwrap(), None);
    let (run, epoch) = claimed(store, 1);
    let long = Value::from("ß".repeat(5000));
    let keep = vec![("thread/a/notes".to_owned(), long.clone()), ("b".to_owned(), Value::Null)];
    store.update_run(&run, epoch, &RunUpdate { keep, ..RunUpdate::default() }).unwrap();
    assert_eq!(store.kept("thread/a/notes").unwrap(), Some(long));
    assert_eq!(store.kept("b").unwrap(), Some(Value::Null));
    // The last one written counts, whichever run it was; who lost the run writes nothing.
    let (other, newer) = claimed(store, 2);
    let one = vec![("b".to_owned(), Value::Int(1))];
    store.update_run(&other, newer, &RunUpdate { keep: one, ..RunUpdate::default() }).unwrap();
    let late = vec![("b".to_owned(), Value::Int(2))];
    store.claim(&run).unwrap();
    store.update_run(&run, epoch, &RunUpdate { keep: late, ..RunUpdate::default() }).unwrap_err();
    assert_eq!(store.kept("b").unwrap(), Some(Value::Int(1)));
}

fn odd_texts_come_back(store: &dyn Store) {
    let mut written = record(1, 0);
    written.question = "'; DROP TABLE runs; -- \0 \u{feff} 🦀 e\u{301} \u{202e}".into();
    written.bundle = json!({"": null, "$text": "x", "ü\n": [1.5, -3, u64::MAX]});
    store.create_run(&written).unwrap();
    let epoch = store.claim(&written.run_id).unwrap();
    let output = Value::record([
        ("$text", Value::from("not a reference")),
        ("$$text", Value::record([("$text", Value::Int(1))])),
        ("\0", Value::from(written.question.as_str())),
        ("long", Value::from("ß".repeat(5000))),
    ]);
    let scope = "räum'e.1/\"x\".2";
    store.append(&written.run_id, epoch, &[append(scope, 0, entry(1, output.clone()))], None).unwrap();

    let read = store.run(&written.run_id).unwrap().unwrap();
    assert_eq!((read.question, read.bundle), (written.question, written.bundle));
    let row = store.entries(&written.run_id, 0).unwrap().remove(0);
    assert_eq!((row.scope.as_str(), row.entry), (scope, entry(1, output)));
}

fn huge_entries_come_back(store: &dyn Store) {
    let (run, epoch) = claimed(store, 1);
    let one_text = Value::from("0123456789\n\"ä".repeat(800_000));
    let many_texts: Value =
        (0..200_000).map(|n| Value::from(format!("item {n} of a long list of items"))).collect();
    let batch = [append("", 0, entry(1, one_text.clone())), append("", 1, entry(2, many_texts.clone()))];
    store.append(&run, epoch, &batch, None).unwrap();
    let rows = store.entries(&run, 0).unwrap();
    assert!(rows[0].entry == entry(1, one_text));
    assert!(rows[1].entry == entry(2, many_texts));
}

fn numbers_come_back_exactly(store: &dyn Store) {
    let (run, epoch) = claimed(store, 1);
    let mut floats = vec![0.1, 1.0, -0.0, 1e300, 5e-324, f64::MAX, 122.416_294_033_786_58, 0.1 + 0.2];
    // Numbers whose shortest decimal form a careless reader rounds to a neighbour.
    floats.extend((1..2000).map(|n| f64::from_bits(0x3ff0_0000_0000_0000 + n * 0x0000_0012_3456_789b)));
    let mut numbers: Vec<_> = floats.into_iter().map(Value::Float).collect();
    numbers.extend([i64::MIN, -1, 0, 6, i64::MAX].map(Value::Int));
    let written = entry(1, Value::from(numbers));
    store.append(&run, epoch, &[append("", 0, written.clone())], None).unwrap();
    assert_eq!(store.entries(&run, 0).unwrap()[0].entry, written);
}

fn what_is_nested_too_deeply_is_refused(store: &dyn Store) {
    let nested = |depth| (0..depth).fold(Value::Int(1), |inner, _| Value::from(vec![inner]));
    let (run, epoch) = claimed(store, 1);
    let fits = append("", 0, entry(1, nested(110)));
    store.append(&run, epoch, std::slice::from_ref(&fits), None).unwrap();
    assert_eq!(store.entries(&run, 0).unwrap()[0].entry, fits.entry);

    let deep = append("", 1, entry(1, nested(5000)));
    let error = store.append(&run, epoch, &[deep], None).unwrap_err();
    assert!(matches!(error, StoreError::TooDeep { .. }), "{error}");
    let update = RunUpdate { output: Some(Map::from([("x".into(), nested(200))])), ..RunUpdate::default() };
    assert!(matches!(store.update_run(&run, epoch, &update), Err(StoreError::TooDeep { .. })));
    // Brackets in texts are no depth.
    store.append(&run, epoch, &[append("", 1, entry(1, Value::from("[{\"\\".repeat(500))))], None).unwrap();
}
