//! What only a file can do: outlive its process, be shared, be full, be something else.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use deepgraph_protocol::Value;
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::conformance::{append, claimed, entry, record};

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("runs.db");
    (folder, file)
}

fn raw(file: &Path) -> Connection {
    Connection::open(file).unwrap()
}

fn open(file: &Path) -> SqliteStore {
    SqliteStore::open(file).unwrap()
}

/// A store that gives up on a locked file at once.
fn impatient(file: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open_with(file, &SqliteOptions::default().wait(Duration::from_millis(20)))
}

#[test]
fn runs_outlive_the_store() {
    let (_folder, file) = folder();
    let store = open(&file);
    let (run, epoch) = claimed(&store, 1);
    store.append(&run, epoch, &[append("", 0, entry(1, Value::from("kept")))], None).unwrap();
    let before = store.run(&run).unwrap();
    drop(store);

    let store = open(&file);
    assert_eq!(store.run(&run).unwrap(), before);
    assert_eq!(store.entries(&run, 0).unwrap()[0].entry, entry(1, Value::from("kept")));
    let next = [append("", 1, entry(2, Value::Null))];
    assert_eq!(store.append(&run, epoch, &next, None).unwrap().seq, 2);
}

#[test]
fn the_file_is_set_up_for_durability() {
    let (_folder, file) = folder();
    let store = open(&file);
    let pragmas = |store: &SqliteStore| {
        let get = |session: &Session, name: &str| -> rusqlite::types::Value {
            session.connection.pragma_query_value(None, name, |row| row.get(0)).unwrap()
        };
        let all = ["synchronous", "foreign_keys", "journal_mode"];
        store.write(move |session| Ok(all.map(|name| get(session, name)))).unwrap()
    };
    let wal = "wal".to_owned();
    assert_eq!(pragmas(&store), [2.into(), 1.into(), wal.clone().into()], "2 is FULL");
    let normal = SqliteOptions::default().synchronous(Synchronous::Normal);
    let store = SqliteStore::open_with(&file, &normal).unwrap();
    assert_eq!(pragmas(&store), [1.into(), 1.into(), wal.into()], "1 is NORMAL");
}

#[test]
fn folders_are_made_and_odd_names_are_just_names() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a/b/runs.db", "file:x?mode=memory", ":memory:", "ünï 🦀.db", "it's \"so\"%20"] {
        let file = folder.path().join(name);
        claimed(&open(&file), 1);
        assert!(file.is_file(), "{name}");
        assert_eq!(open(&file).runs(9).unwrap().len(), 1, "{name}");
    }
}

#[test]
fn two_connections_see_and_fence_each_other() {
    let (_folder, file) = folder();
    let (one, two) = (open(&file), open(&file));
    let (run, first) = claimed(&one, 1);
    one.append(&run, first, &[append("", 0, entry(1, Value::Null))], None).unwrap();
    assert_eq!(two.entries(&run, 0).unwrap().len(), 1);
    let second = two.claim(&run).unwrap();
    let next = [append("", 1, entry(2, Value::Null))];
    assert!(matches!(
        one.append(&run, first, &next, None),
        Err(StoreError::Fenced { epoch: 1, current: 2, .. })
    ));
    two.append(&run, second, &next, None).unwrap();
    two.request_cancel(&run).unwrap();
    assert!(one.run(&run).unwrap().unwrap().cancel_requested);
}

#[test]
fn many_open_a_new_file_at_once() {
    let (_folder, file) = folder();
    std::thread::scope(|threads| {
        for id in 0..8 {
            let file = &file;
            threads.spawn(move || claimed(&open(file), id));
        }
    });
    assert_eq!(open(&file).runs(99).unwrap().len(), 8);
}

/// Runs in a process of its own, for [`what_another_process_wrote_outlives_its_death`]: appends until it is
/// killed, and says so after each append.
#[test]
#[ignore = "is started by another test"]
fn writer_process() {
    let Ok(file) = std::env::var("DEEPGRAPH_TEST_FILE") else { return };
    let store = open(Path::new(&file));
    let run = record(1, 0).run_id;
    let epoch = store.claim(&run).unwrap();
    for n in 0.. {
        let batch =
            [append("", 2 * n, entry(1, Value::Int(1))), append("", 2 * n + 1, entry(1, Value::Int(2)))];
        let update = RunUpdate { completed_steps: Some(n + 1), ..RunUpdate::default() };
        store.append(&run, epoch, &batch, Some(&update)).unwrap();
        println!("appended {}", n + 1);
    }
}

#[test]
fn what_another_process_wrote_outlives_its_death() {
    let (_folder, file) = folder();
    let store = open(&file);
    store.create_run(&record(1, 0)).unwrap();
    let run = record(1, 0).run_id;
    for _ in 0..3 {
        let before = store.run(&run).unwrap().unwrap();
        // Each process starts its journal anew, so that it needs no knowledge of the last one's.
        raw(&file).execute_batch("DELETE FROM entries; UPDATE runs SET last_seq = 0").unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "sqlite::tests::writer_process", "--ignored", "--nocapture"])
            .env("DEEPGRAPH_TEST_FILE", &file)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        // Beside the first line the test harness may have written.
        let told =
            lines.filter_map(|line| line.split("appended ").nth(1)?.parse::<u64>().ok()).nth(4).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();

        let record = store.run(&run).unwrap().unwrap();
        let rows = store.entries(&run, 0).unwrap();
        assert!(record.completed_steps >= told, "{} steps of {told} that were told", record.completed_steps);
        assert_eq!(rows.len() as u64, 2 * record.completed_steps, "a batch was torn");
        assert_eq!(record.last_event_seq, rows.len() as u64);
        assert_eq!(record.epoch, before.epoch + 1);
    }
}

/// Makes the file full at this many pages.
fn limit_pages(store: &SqliteStore, pages: i64) {
    let set = move |session: &Session| {
        let set = session
            .connection
            .pragma_update_and_check(None, "max_page_count", pages, |row| row.get::<_, i64>(0));
        set.unwrap();
        Ok(())
    };
    store.write(set).unwrap();
}

#[test]
fn a_full_disk_is_told_and_nothing_is_half_written() {
    let (_folder, file) = folder();
    let store = open(&file);
    let (run, epoch) = claimed(&store, 1);
    let limit = |pages: i64| limit_pages(&store, pages);
    let batch = [
        append("", 0, entry(1, Value::from("small"))),
        append("", 1, entry(2, Value::from("big".repeat(100_000)))),
    ];
    limit(1);
    let error = store.append(&run, epoch, &batch, None).unwrap_err();
    assert!(matches!(error, StoreError::DiskFull { .. }), "{error}");
    assert_eq!(store.entries(&run, 0).unwrap(), []);
    limit(1_000_000);
    assert_eq!(store.append(&run, epoch, &batch, None).unwrap().seq, 2);
}

#[test]
fn a_locked_file_is_told() {
    let (_folder, file) = folder();
    let (run, epoch) = claimed(&open(&file), 1);
    let store = impatient(&file).unwrap();
    let other = raw(&file);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let next = [append("", 0, entry(1, Value::Null))];
    assert!(matches!(store.append(&run, epoch, &next, None), Err(StoreError::Locked { .. })));
    assert_eq!(store.entries(&run, 0).unwrap(), [], "readers do not wait");
    other.execute_batch("COMMIT").unwrap();
    store.append(&run, epoch, &next, None).unwrap();
}

#[test]
fn a_file_that_may_not_be_written_is_told() {
    let (_folder, file) = folder();
    let store = open(&file);
    let (run, _) = claimed(&store, 1);
    let set = |session: &Session| {
        session.connection.pragma_update(None, "query_only", true).unwrap();
        Ok(())
    };
    store.write(set).unwrap();
    assert!(matches!(store.claim(&run), Err(StoreError::ReadOnly { .. })));
    assert!(store.run(&run).unwrap().is_some());
}

#[test]
fn places_that_can_not_hold_a_file_are_told() {
    let (folder, file) = folder();
    std::fs::write(&file, "").unwrap();
    for place in [folder.path().to_path_buf(), file.join("below/a.db"), PathBuf::new()] {
        let error = SqliteStore::open(&place).unwrap_err();
        assert!(matches!(error, StoreError::CannotOpen { .. }), "{place:?}: {error}");
    }
}

#[test]
fn files_of_others_are_refused_and_left_alone() {
    let (_folder, file) = folder();
    for bytes in
        [&b"# Ferries\n\nA document that is long enough to be looked at.\n".repeat(50)[..], &[0; 5000]]
    {
        std::fs::write(&file, bytes).unwrap();
        let error = SqliteStore::open(&file).unwrap_err();
        assert!(matches!(error, StoreError::NotAStore { .. }), "{error}");
        assert_eq!(std::fs::read(&file).unwrap(), bytes);
    }
    std::fs::remove_file(&file).unwrap();
    raw(&file).execute_batch("CREATE TABLE songs (title TEXT)").unwrap();
    let before = std::fs::read(&file).unwrap();
    let error = SqliteStore::open(&file).unwrap_err();
    assert!(error.to_string().contains("another program"), "{error}");
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn an_empty_file_becomes_a_store() {
    let (_folder, file) = folder();
    std::fs::write(&file, "").unwrap();
    claimed(&open(&file), 1);
}

#[test]
fn a_later_schema_is_refused_and_left_alone() {
    let (_folder, file) = folder();
    drop(open(&file));
    raw(&file).execute_batch("PRAGMA user_version = 7; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let error = SqliteStore::open(&file).unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 7, known: 3, .. }), "{error}");
}

#[test]
fn a_file_of_before_the_uses_of_texts_is_brought_up_to_date() {
    let (_folder, file) = folder();
    let store = open(&file);
    let (run, epoch) = claimed(&store, 1);
    let long = |text: &str| Value::from(text.repeat(6000));
    let two = Value::from(vec![long("a"), long("b"), Value::from("{\"$text\":\"no reference\"}")]);
    let update = RunUpdate {
        output: Some([("report".into(), long("c"))].into()),
        keep: vec![("k".into(), long("d"))],
        ..RunUpdate::default()
    };
    store.append(&run, epoch, &[append("", 0, entry(1, two.clone()))], Some(&update)).unwrap();
    drop(store);
    let uses = || {
        let file = raw(&file);
        let mut rows = file.prepare("SELECT hash, run FROM text_uses ORDER BY 1, 2").unwrap();
        let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect::<Vec<(String, i64)>>()
    };
    let before = uses();
    assert_eq!(before.len(), 4);
    raw(&file).execute_batch("DROP TABLE text_uses; PRAGMA user_version = 2").unwrap();
    let store = open(&file);
    assert_eq!(uses(), before);
    store.sweep_texts().unwrap();
    assert_eq!(store.entries(&run, 0).unwrap()[0].entry, entry(1, two));
}

#[test]
fn a_damaged_entry_is_named() {
    let (_folder, file) = folder();
    let store = open(&file);
    let (run, epoch) = claimed(&store, 1);
    let good = entry(1, Value::from("x".repeat(9000)));
    let batch = [append("a.1", 0, good.clone()), append("a.1", 1, good.clone())];
    store.append(&run, epoch, &batch, None).unwrap();
    let text: String =
        raw(&file).query_row("SELECT entry FROM entries WHERE seq = 2", [], |row| row.get(0)).unwrap();
    assert!(text.len() < 300, "long texts are kept apart");
    let texts: i64 = raw(&file).query_row("SELECT count(*) FROM texts", [], |row| row.get(0)).unwrap();
    assert_eq!(texts, 1, "and only once");

    let bad = ["", "{", "null", "{\"at\":1,\"entry\":\"no such kind\"}", &text[..50], "\u{feff}{}"];
    for bad in bad {
        raw(&file).execute("UPDATE entries SET entry = ?1 WHERE seq = 2", [bad]).unwrap();
        expect_corrupt(&store, &run);
    }
    raw(&file).execute("UPDATE entries SET entry = CAST(x'ff7b' AS TEXT) WHERE seq = 2", []).unwrap();
    expect_corrupt(&store, &run);

    let swapped = text.replace(&text[text.find("$text\":\"").unwrap() + 8..][..64], &"0".repeat(64));
    for odd in [swapped, text.replace("{\"$text\":", "{\"$text\":1,\"x\":")] {
        raw(&file).execute("UPDATE entries SET entry = ?1 WHERE seq = 2", [odd]).unwrap();
        expect_corrupt(&store, &run);
    }
    raw(&file).execute("UPDATE entries SET entry = ?1 WHERE seq = 2", [&text]).unwrap();
    assert_eq!(store.entries(&run, 1).unwrap()[0].entry, good);
    for damage in ["UPDATE texts SET text = 'y'", "UPDATE texts SET text = CAST(x'ff' AS TEXT)"] {
        raw(&file).execute(damage, []).unwrap();
        assert!(matches!(store.entries(&run, 0), Err(StoreError::CorruptEntry { position: 0, .. })));
    }
}

fn expect_corrupt(store: &SqliteStore, run: &RunId) {
    let error = store.entries(run, 0).unwrap_err();
    assert!(matches!(&error, StoreError::CorruptEntry { position: 1, .. }), "{error}");
    for part in [run.as_str(), "\"a.1\"", "position 1"] {
        assert!(error.to_string().contains(part), "{error}");
    }
    assert_eq!(store.entries(run, 2).unwrap(), []);
}

#[test]
fn a_lost_entry_is_noticed() {
    for (lost, named) in [(1, 1), (2, 2), (3, 3)] {
        let (_folder, file) = folder();
        let store = open(&file);
        let (run, epoch) = claimed(&store, 1);
        let batch: Vec<_> = (0..3).map(|n| append("", n, entry(1, Value::Null))).collect();
        store.append(&run, epoch, &batch, None).unwrap();
        raw(&file).execute("DELETE FROM entries WHERE seq = ?1", [lost]).unwrap();
        let error = store.entries(&run, 0).unwrap_err();
        assert!(matches!(error, StoreError::MissingEntry { seq, .. } if seq == named), "{error}");
    }
}

#[test]
fn a_damaged_record_is_named() {
    let (_folder, file) = folder();
    let store = open(&file);
    let (run, epoch) = claimed(&store, 1);
    store
        .update_run(&run, epoch, &RunUpdate { settings: Some(json!({"k": 5})), ..RunUpdate::default() })
        .unwrap();
    for (damage, repair, field) in [
        ("runs SET status = 'lost'", "runs SET status = 'queued'", "status"),
        ("runs SET attempt = -1", "runs SET attempt = 1", "attempt"),
        ("runs SET exits = '[{}]'", "runs SET exits = '[]'", "exits"),
        ("runs SET report = 'fine'", "runs SET report = NULL", "report"),
        ("runs SET question = CAST(x'ff' AS TEXT)", "runs SET question = 'q'", "question"),
        ("setups SET settings = '{'", "setups SET settings = '{}'", "settings"),
    ] {
        raw(&file).execute_batch(&format!("UPDATE {damage}")).unwrap();
        let error = store.run(&run).unwrap_err();
        assert!(matches!(&error, StoreError::CorruptRecord { field: f, .. } if *f == field), "{error}");
        assert!(error.to_string().contains(run.as_str()), "{error}");
        raw(&file).execute_batch(&format!("UPDATE {repair}")).unwrap();
    }
    raw(&file).execute_batch("DELETE FROM setups").unwrap();
    assert!(matches!(store.run(&run), Err(StoreError::CorruptRecord { field: "bundle", .. })));
}

#[test]
fn damaged_pages_are_told() {
    let (_folder, file) = folder();
    let store = open(&file);
    let (run, epoch) = claimed(&store, 1);
    let batch: Vec<_> = (0..200).map(|n| append("", n, entry(1, Value::from("x".repeat(3000))))).collect();
    store.append(&run, epoch, &batch, None).unwrap();
    drop(store);
    let mut bytes = std::fs::read(&file).unwrap();
    let half = bytes.len() / 2;
    bytes[half..].fill(0x5a);
    std::fs::write(&file, bytes).unwrap();
    let read = SqliteStore::open(&file).and_then(|store| store.entries(&run, 0));
    // Pages that hold nothing but text are found out by the entry.
    assert!(matches!(read, Err(StoreError::Damaged { .. } | StoreError::CorruptEntry { .. })), "{read:?}");
}
