//! Calls that write: claimed before they are made, under a key, and never made again blindly.

use deepgraph_protocol::{EntryBody, ErrorKind, Map, RunStatus, StepId, Value};
use deepgraph_runtime::{RunError, idempotency_key};
use deepgraph_store::{Store, StoreError};

use super::shop::{self, Shop, graph, killed_in, over, process, resumed};

#[test]
fn a_call_is_made_when_its_claim_is_durable_and_under_its_key() {
    let folder = tempfile::tempdir().unwrap();
    let shop = Shop::default().hang("book");
    process().block_on(async {
        let host = shop.host(folder.path());
        let running = host.run(&graph(&host)).start().await.unwrap();
        shop.until("book", 1).await;
        // Another process sees the claim while the call is under way.
        let other = shop.host(folder.path());
        let rows = other.store().entries(running.id(), 0).unwrap();
        let claims: Vec<_> = rows
            .iter()
            .filter_map(|row| match &row.entry.body {
                EntryBody::Dispatched { step, attempt, key: Some(key), takes_key, .. } => {
                    Some((step.to_string(), *attempt, key.to_string(), *takes_key))
                }
                _ => None,
            })
            .collect();
        let input: Map = [("what".into(), Value::from("book"))].into();
        let key = idempotency_key(running.id(), &StepId::new("book.1"), &input);
        assert_eq!(claims, [("book.1".to_owned(), 1, key.clone(), false)]);
        assert_eq!(shop.made("book")[0].key, key);
        shop.answer("book");
        assert_eq!(over(running.ended().await.unwrap()).status, RunStatus::Succeeded);
        let rows = host.store().entries(&host.store().find_run("last").unwrap().run_id, 0).unwrap();
        let reads = rows.iter().filter(
            |row| matches!(&row.entry.body, EntryBody::Dispatched { step, .. } if step.as_str() == "look.1"),
        );
        assert_eq!(reads.count(), 0, "reads have no claims");
    });
}

#[test]
fn after_a_crash_a_call_without_an_outcome_is_not_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let shop = Shop::default().hang("book");
    let run = killed_in(&shop, folder.path(), "book");
    shop.answer("book");
    let outcome = resumed(&shop, folder.path(), &run);
    assert_eq!(shop.made("book").len(), 1, "it may have been done");
    assert_eq!(outcome.end.exit.reason.name(), "tool_error");
    assert_eq!(*outcome.end.exit.unknown_writes, [StepId::new("book.1")]);
    let detail = outcome.end.exit.detail.unwrap();
    assert!(detail.starts_with("unknown: it is not known whether `book` was done"), "{detail}");
    // Nor is it made by a further look at the run.
    resumed(&shop, folder.path(), &run);
    assert_eq!(shop.made("book").len(), 1);
}

#[test]
fn an_op_that_takes_keys_is_called_again_under_the_same_one() {
    let folder = tempfile::tempdir().unwrap();
    let shop = Shop::keyed(true).hang("book");
    let run = killed_in(&shop, folder.path(), "book");
    shop.answer("book");
    let outcome = resumed(&shop, folder.path(), &run);
    let made = shop.made("book");
    assert_eq!(made.len(), 2);
    assert_eq!(made[0], made[1], "the same step, input and key");
    assert_eq!(outcome.status, RunStatus::Succeeded);
    assert!(outcome.end.exit.unknown_writes.is_empty());
}

#[test]
fn reads_are_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let shop = Shop::default().hang("look");
    let run = killed_in(&shop, folder.path(), "look");
    shop.answer("look");
    assert_eq!(resumed(&shop, folder.path(), &run).status, RunStatus::Succeeded);
    assert_eq!(shop.ops(), ["book", "pay", "look", "look"]);
}

#[test]
fn an_owner_that_was_taken_over_from_makes_its_call_once_and_can_not_record_it() {
    let folder = tempfile::tempdir().unwrap();
    let shop = Shop::default().hang("book");
    process().block_on(async {
        let host = shop.host(folder.path());
        let running = host.run(&graph(&host)).start().await.unwrap();
        let run = running.id().clone();
        shop.until("book", 1).await;
        // The first owner sleeps in its call, and another process takes the run over.
        let other = shop.host(folder.path());
        let outcome = over(other.resume(&run).await.unwrap().start().await.unwrap().ended().await.unwrap());
        assert_eq!(*outcome.end.exit.unknown_writes, [StepId::new("book.1")]);
        shop.answer("book");
        let error = running.ended().await.unwrap_err();
        assert!(matches!(error, RunError::Store(StoreError::Fenced { .. })), "{error}");
        assert_eq!(shop.made("book").len(), 1);
        let rows = other.store().entries(&run, 0).unwrap();
        let completed = |row: &&deepgraph_store::Stored| {
            matches!(&row.entry.body, EntryBody::Completed { step, .. } if step.as_str() == "book.1")
        };
        assert_eq!(rows.iter().filter(completed).count(), 0);
    });
}

#[test]
fn of_two_owners_one_writes_the_claim() {
    let folder = tempfile::tempdir().unwrap();
    let shop = Shop::default().hang("look");
    let run = killed_in(&shop, folder.path(), "look");
    process().block_on(async {
        let store = |_| deepgraph_store::SqliteStore::open(folder.path().join("runs.db")).unwrap();
        let (one, two) = (store(1), store(2));
        let position = one.entries(&run, 0).unwrap().len() as u64;
        let claim = deepgraph_store::Append {
            scope: deepgraph_protocol::ScopePath::root(),
            expected_position: position,
            entry: deepgraph_protocol::Entry {
                at: i64::MAX / 2,
                body: EntryBody::Dispatched {
                    step: StepId::new("book.1"),
                    attempt: 1,
                    request: None,
                    reserve_tokens: 0,
                    reserve_micro_usd: None,
                    key: Some("key".into()),
                    takes_key: false,
                    model: None,
                    window: None,
                    cut: None,
                },
            },
        };
        let (first, second) = (one.claim(&run).unwrap(), two.claim(&run).unwrap());
        let refused = one.append(&run, first, std::slice::from_ref(&claim), None).unwrap_err();
        assert!(matches!(refused, StoreError::Fenced { .. }), "{refused}");
        two.append(&run, second, std::slice::from_ref(&claim), None).unwrap();
        let taken = two.append(&run, second, &[claim], None).unwrap_err();
        assert!(matches!(taken, StoreError::Position { .. }), "{taken}");
    });
}

#[test]
fn a_call_that_says_that_it_failed_is_no_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let shop = Shop::default().fail("pay");
    process().block_on(async {
        let host = shop.host(folder.path());
        let outcome = over(host.run(&graph(&host)).start().await.unwrap().ended().await.unwrap());
        assert!(outcome.end.exit.unknown_writes.is_empty());
        assert!(outcome.end.exit.detail.as_ref().is_some_and(|d| d.starts_with(ErrorKind::Tool.name())));
        assert_eq!(shop::not_undone(&outcome.end.exit).len(), 0, "only a cancelled run is undone");
    });
    assert_eq!(shop.made("pay").len(), 1);
}
