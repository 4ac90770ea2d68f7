//! What only a server can do: go away, come back, be shared by machines.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use deepgraph_protocol::Value;

use super::*;
use crate::conformance::server::Postgres;
use crate::conformance::{append, claimed, entry, record};

fn open(url: &str) -> PostgresStore {
    PostgresStore::connect(url).unwrap()
}

/// A store that gives up at once.
fn impatient(url: &str) -> PostgresStore {
    PostgresStore::connect_with(url, &PostgresOptions::default().wait(Duration::from_millis(200))).unwrap()
}

#[test]
fn two_stores_see_and_fence_each_other() {
    let url = Postgres::shared().database();
    let (one, two) = (open(&url), open(&url));
    let (run, first) = claimed(&one, 1);
    one.append(&run, first, &[append("", 0, entry(1, Value::Null))], None).unwrap();
    assert_eq!(two.entries(&run, 0).unwrap().len(), 1);
    let second = two.claim(&run).unwrap();
    let next = [append("", 1, entry(2, Value::Null))];
    let fenced = one.append(&run, first, &next, None);
    assert!(matches!(fenced, Err(StoreError::Fenced { epoch: 1, current: 2, .. })), "{fenced:?}");
    two.append(&run, second, &next, None).unwrap();
    two.request_cancel(&run).unwrap();
    assert!(one.append(&run, second, &[], None).unwrap().cancel_requested);
}

#[test]
fn many_connect_to_a_new_database_at_once() {
    let url = Postgres::shared().database();
    thread::scope(|threads| {
        for id in 0..8 {
            let url = &url;
            threads.spawn(move || claimed(&open(url), id));
        }
    });
    assert_eq!(open(&url).runs(99).unwrap().len(), 8);
}

#[test]
fn writers_of_the_same_texts_do_not_keep_each_other_waiting() {
    let url = Postgres::shared().database();
    thread::scope(|threads| {
        for id in 0..4_u128 {
            let url = &url;
            threads.spawn(move || {
                let store = open(url);
                let (run, epoch) = claimed(&store, id);
                let (sender, answers) = channel();
                for n in 0..50 {
                    // In another order in every process.
                    let text = Value::from(format!("text {}", (n * (id as u64 * 2 + 1)) % 20).repeat(1000));
                    let sender = sender.clone();
                    let done = Box::new(move |result| sender.send(result).unwrap());
                    store.append_then(&run, epoch, &[append("", n, entry(1, text))], None, done);
                }
                drop(sender);
                assert_eq!(answers.iter().map(Result::unwrap).count(), 50);
            });
        }
    });
}

#[test]
fn a_lost_connection_is_told_and_made_again() {
    let server = Postgres::start();
    let url = server.database();
    let store = impatient(&url);
    let (run, epoch) = claimed(&store, 1);
    store.append(&run, epoch, &[append("", 0, entry(1, Value::Null))], None).unwrap();
    server.stop();
    let next = [append("", 1, entry(2, Value::Null))];
    for error in [
        store.append(&run, epoch, &next, None).unwrap_err(),
        store.entries(&run, 0).unwrap_err(),
        store.claim(&run).unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
        assert!(error.to_string().contains("postgres://deepgraph@"), "{error}");
    }
    let error = PostgresStore::connect(&url).unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    server.start_again();
    assert_eq!(store.append(&run, epoch, &next, None).unwrap().seq, 2);
    assert_eq!(store.entries(&run, 0).unwrap().len(), 2);
}

#[test]
fn a_call_waits_for_a_server_that_comes_back() {
    let server = Postgres::start();
    let store = PostgresStore::connect_with(
        &server.database(),
        &PostgresOptions::default().wait(Duration::from_secs(60)),
    )
    .unwrap();
    let (run, epoch) = claimed(&store, 1);
    server.stop();
    thread::scope(|threads| {
        let append =
            threads.spawn(|| store.append(&run, epoch, &[append("", 0, entry(1, Value::Null))], None));
        thread::sleep(Duration::from_millis(100));
        server.start_again();
        assert_eq!(append.join().unwrap().unwrap().seq, 1);
    });
}

/// Appends under way while the server goes away again and again: each is there once, or its caller was told that
/// it is not.
#[test]
fn no_append_is_lost_or_written_twice_while_the_server_goes_away() {
    let server = Postgres::start();
    let store = PostgresStore::connect_with(
        &server.database(),
        &PostgresOptions::default().wait(Duration::from_secs(60)),
    )
    .unwrap();
    let (run, epoch) = claimed(&store, 1);
    let (stop, stopped) = channel::<()>();
    thread::scope(|threads| {
        let (store, run) = (&store, &run);
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                threads.spawn(move || {
                    let scope = format!("a.{writer}");
                    let mut position = 0;
                    while position < 150 {
                        let value = Value::from(format!("{writer} {position}"));
                        match store.append(run, epoch, &[append(&scope, position, entry(1, value))], None) {
                            Ok(_) => position += 1,
                            // Broke before the commit: nothing was written, so it is written again.
                            Err(StoreError::Unreachable { .. }) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                })
            })
            .collect();
        let server = &server;
        let breaker = threads.spawn(move || {
            let mut times = 0;
            while stopped.recv_timeout(Duration::from_millis(30)).is_err() && times < 20 {
                server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'deepgraph'");
                times += 1;
            }
            server.stop();
            server.start_again();
        });
        for writer in writers {
            writer.join().unwrap();
        }
        drop(stop);
        breaker.join().unwrap();
    });
    let rows = store.entries(&run, 0).unwrap();
    assert_eq!(rows.len(), 600);
    for row in rows {
        let writer = row.scope.as_str().trim_start_matches("a.").to_owned();
        assert_eq!(row.entry, entry(1, Value::from(format!("{writer} {}", row.position))));
    }
}

#[test]
fn what_was_committed_unseen_is_found_again() {
    let place = place::read(&Postgres::shared().database(), &PostgresOptions::default()).unwrap();
    let mut session = Session::new(place, &PostgresOptions::default(), Access::Write);
    use crate::worker::Transactions;
    let session = session_with(&mut session);
    let run = record(1, 0).run_id;
    let batch = [append("", 0, entry(1, Value::from("x"))), append("a.1", 0, entry(2, Value::Null))];
    let packed = PackedAppend::of(&run, 1, &batch, None).unwrap();
    let new = PackedRecord::of(&record(1, 0)).unwrap();
    for again in [false, true] {
        session.begin().unwrap();
        session.insert_run(&new, again).unwrap();
        if !again {
            session.claim(&run).unwrap();
            session.batch("UPDATE runs SET epoch = 0").unwrap();
        }
        assert!(session.commit().is_ok());
    }
    session.begin().unwrap();
    session.claim(&run).unwrap();
    let mut transaction = None;
    let mut written = |session: &mut Session, packed: &PackedAppend, is_unsure| {
        session.append(packed, Earlier { is_unsure, transaction: &mut transaction })
    };
    assert_eq!(written(session, &packed, false).unwrap().seq, 2);
    // As if nobody had been told.
    assert_eq!(written(session, &packed, true).unwrap().seq, 2);
    assert_eq!(session.entries(&run, 0).unwrap().len(), 2);
    let other = PackedAppend::of(&run, 1, &[append("", 0, entry(1, Value::from("y")))], None).unwrap();
    let refused = written(session, &other, true);
    assert!(matches!(refused, Err(StoreError::Position { expected: 0, found: 1, .. })), "{refused:?}");
    session.rollback();
}

#[test]
fn a_change_of_the_record_that_was_committed_unseen_is_not_made_again() {
    use crate::worker::Transactions;
    let url = Postgres::shared().database();
    let store = open(&url);
    let (run, epoch) = claimed(&store, 1);
    let place = place::read(&url, &PostgresOptions::default()).unwrap();
    let mut session = Session::new(place, &PostgresOptions::default(), Access::Write);
    let update = RunUpdate { cancel_requested: Some(false), ..RunUpdate::default() };
    let mut takes = appends(PackedAppend::of(&run, epoch, &[], Some(&update)).unwrap());
    store.request_cancel(&run).unwrap();
    session.begin().unwrap();
    assert!(!takes(&mut session, false).unwrap().cancel_requested);
    assert!(session.commit().is_ok());
    // Nobody was told, and somebody asks once more.
    store.request_cancel(&run).unwrap();
    session.begin().unwrap();
    assert!(takes(&mut session, true).unwrap().cancel_requested, "the second request stays");
    assert!(session.commit().is_ok());
    assert!(store.append(&run, epoch, &[], None).unwrap().cancel_requested);
    // One that was not committed is made.
    let mut takes = appends(PackedAppend::of(&run, epoch, &[], Some(&update)).unwrap());
    session.begin().unwrap();
    takes(&mut session, false).unwrap();
    session.rollback();
    session.begin().unwrap();
    assert!(!takes(&mut session, true).unwrap().cancel_requested);
    assert!(session.commit().is_ok());
    assert!(!store.run(&run).unwrap().unwrap().cancel_requested);
}

#[test]
fn who_only_looks_writes_nothing() {
    let server = Postgres::shared();
    let url = server.database();
    let store = open(&url);
    let (run, epoch) = claimed(&store, 1);
    let place = || {
        let mut session = Session::new(
            place::read(&url, &PostgresOptions::default()).unwrap(),
            &PostgresOptions::default(),
            Access::Read,
        );
        use crate::worker::Transactions;
        session.begin().unwrap();
        let row = session.first("SELECT ctid::text, xmax::text FROM runs", &[]).unwrap().unwrap();
        (row.get::<_, String>(0), row.get::<_, String>(1))
    };
    let before = place();
    for _ in 0..3 {
        store.append(&run, epoch, &[], Some(&RunUpdate::default())).unwrap();
    }
    assert_eq!(place(), before, "the row is neither written anew nor locked");
    store.claim(&run).unwrap();
    let fenced = store.append(&run, epoch, &[], None);
    assert!(matches!(fenced, Err(StoreError::Fenced { .. })), "{fenced:?}");
}

#[test]
fn long_texts_of_a_journal_come_together() {
    let url = Postgres::shared().database();
    let store = open(&url);
    let (run, epoch) = claimed(&store, 1);
    let texts: Vec<Value> = (0..600).map(|n| Value::from(format!("text {} ", n % 400).repeat(600))).collect();
    let batch: Vec<_> =
        texts.iter().zip(0..).map(|(text, n)| append("", n, entry(1, text.clone()))).collect();
    store.append(&run, epoch, &batch, None).unwrap();
    let rows = store.entries(&run, 0).unwrap();
    assert!(rows.iter().zip(&batch).all(|(row, append)| row.entry == append.entry));
    Postgres::shared()
        .sql_in(&url, "DELETE FROM deepgraph.texts WHERE hash = (SELECT max(hash) FROM deepgraph.texts)");
    let error = store.entries(&run, 0).unwrap_err();
    assert!(error.to_string().contains("is missing"), "{error}");
}

fn session_with(session: &mut Session) -> &mut Session {
    use crate::worker::Transactions;
    session.begin().unwrap();
    schema::migrate(session, "deepgraph").unwrap();
    assert!(session.commit().is_ok());
    session
}

#[test]
fn a_lock_that_others_hold_is_told() {
    let server = Postgres::shared();
    let url = server.database();
    let store = impatient(&url);
    let (run, epoch) = claimed(&store, 1);
    thread::scope(|threads| {
        threads.spawn(|| {
            server.sql_in(&url, "BEGIN; UPDATE deepgraph.runs SET attempt = 1; SELECT pg_sleep(1); COMMIT")
        });
        thread::sleep(Duration::from_millis(400));
        let error = store.append(&run, epoch, &[append("", 0, entry(1, Value::Null))], None).unwrap_err();
        assert!(matches!(error, StoreError::Locked { .. }), "{error}");
        assert_eq!(store.entries(&run, 0).unwrap(), [], "readers do not wait");
    });
    store.append(&run, epoch, &[append("", 0, entry(1, Value::Null))], None).unwrap();
}

#[test]
fn schemas_of_others_and_of_later_versions_are_refused() {
    let server = Postgres::shared();
    let url = server.database();
    server.sql_in(&url, "CREATE SCHEMA songs; CREATE TABLE songs.runs (title TEXT)");
    let options = PostgresOptions::default().schema("songs");
    let error = PostgresStore::connect_with(&url, &options).unwrap_err();
    assert!(matches!(error, StoreError::NotAStore { .. }), "{error}");

    let odd = PostgresOptions::default().schema("it's \"odd\"; --");
    claimed(&PostgresStore::connect_with(&url, &odd).unwrap(), 1);
    drop(open(&url));
    server.sql_in(&url, "INSERT INTO deepgraph.migrations (step) VALUES (7)");
    let error = PostgresStore::connect(&url).unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 7, known: 1, .. }), "{error}");
}

#[test]
fn a_damaged_entry_is_named() {
    let server = Postgres::shared();
    let url = server.database();
    let store = open(&url);
    let (run, epoch) = claimed(&store, 1);
    let batch = [append("a.1", 0, entry(1, Value::Null)), append("a.1", 1, entry(1, Value::Null))];
    store.append(&run, epoch, &batch, None).unwrap();
    server.sql_in(&url, "UPDATE deepgraph.entries SET entry = left(entry, 20) WHERE seq = 2");
    let error = store.entries(&run, 0).unwrap_err();
    assert!(matches!(error, StoreError::CorruptEntry { position: 1, .. }), "{error}");
    server.sql_in(&url, "DELETE FROM deepgraph.entries WHERE seq = 2");
    let error = store.entries(&run, 0).unwrap_err();
    assert!(matches!(error, StoreError::MissingEntry { seq: 2, .. }), "{error}");
}

#[test]
fn who_drives_a_run_is_told_to_others() {
    let url = Postgres::shared().database();
    let (one, two) = (open(&url), open(&url));
    let (run, _) = claimed(&one, 1);
    assert_eq!(one.is_held(&run).unwrap(), Some(false));
    assert_eq!(one.try_hold(&run).unwrap(), Some(true));
    assert_eq!((two.try_hold(&run).unwrap(), two.is_held(&run).unwrap()), (Some(false), Some(true)));
    // Held twice is held once.
    assert_eq!(one.try_hold(&run).unwrap(), Some(true));
    one.let_go(&run).unwrap();
    assert_eq!(one.is_held(&run).unwrap(), Some(false));
    assert_eq!(two.try_hold(&run).unwrap(), Some(true));
    drop(two);
    // The server notices the end of the connection a moment later.
    while one.is_held(&run).unwrap() == Some(true) {
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_run_stays_held_when_the_connection_is_made_again() {
    let server = Postgres::start();
    let url = server.database();
    let (one, two) = (open(&url), open(&url));
    let (run, epoch) = claimed(&one, 1);
    assert_eq!(one.try_hold(&run).unwrap(), Some(true));
    server.stop();
    server.start_again();
    assert_eq!(two.is_held(&run).unwrap(), Some(false));
    one.append(&run, epoch, &[append("", 0, entry(1, Value::Null))], None).unwrap();
    assert_eq!(two.try_hold(&run).unwrap(), Some(false));
    one.let_go(&run).unwrap();
    assert_eq!(two.try_hold(&run).unwrap(), Some(true));
}
