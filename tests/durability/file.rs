//! The file of the store: locked, cut off, damaged.

use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;

use super::desk::{Desk, end, names};

fn file(desk: &Desk) -> PathBuf {
    desk.world.path("home/runs.sqlite")
}

/// A run that was killed in the middle, with its write-ahead log beside the file as the crash left it.
fn killed(desk: &Desk) -> PathBuf {
    let mut child = desk.begin(6);
    // Nobody else may have the file open when it dies: whoever closes it last tidies the log up.
    child.kill().expect("it can be killed");
    drop(child.wait());
    let log = desk.world.path("home/runs.sqlite-wal");
    assert!(fs::metadata(&log).is_ok_and(|log| log.len() > 0), "there is a log");
    log
}

#[test]
fn a_file_that_is_locked_for_too_long_is_named() {
    let desk = Desk::new(None);
    let report = desk.whole();
    let child = desk.begin(4);
    let other = Connection::open(file(&desk)).expect("it is a file of SQLite");
    other.busy_timeout(std::time::Duration::from_secs(10)).expect("it takes any time");
    other.execute_batch("BEGIN EXCLUSIVE").expect("nobody else has it for long");
    names(&end(child), "is locked by another process");
    let before = desk.journal();
    let resumed = desk.deepgraph(&["show", "last"]);
    assert_eq!(resumed.code, 0, "who reads does not wait: {}", resumed.err);
    other.execute_batch("COMMIT").expect("nothing was changed");
    drop(other);
    desk.goes_on(&before, &report);
}

/// A commit that was torn by the crash was never told to anybody: it is as if it had not been.
#[test]
fn a_log_whose_last_record_is_torn_loses_that_record_and_no_other() {
    let desk = Desk::new(None);
    let report = desk.whole();
    for damage in ["cut", "overwrite", "tail"] {
        let log = killed(&desk);
        let mut bytes = fs::read(&log).expect("it can be read");
        // What is committed, read from a copy: reading tidies up.
        let copy = tempfile::tempdir().expect("there is room");
        fs::copy(file(&desk), copy.path().join("runs.sqlite")).expect("it can be copied");
        let frames = bytes.len();
        match damage {
            "cut" => bytes.truncate(frames - 100),
            "overwrite" => bytes[frames - 2000..].fill(0x5a),
            // A record that was begun and not finished, behind the last one.
            _ => bytes.extend_from_slice(&[0x5a; 3000]),
        }
        fs::write(copy.path().join("runs.sqlite-wal"), &bytes).expect("it can be written");
        fs::write(&log, &bytes).expect("it can be written");
        let kept = deepgraph_store::SqliteStore::open(copy.path().join("runs.sqlite")).expect("it opens");
        let run = deepgraph_store::Store::find_run(&kept, "last").expect("the run is there");
        let before = deepgraph_store::Store::entries(&kept, &run.run_id, 0).expect("its journal is whole");
        assert!(before.len() > 10, "{damage}: {} entries are left", before.len());
        let resumed = desk.deepgraph(&["resume", "last"]);
        assert_eq!((resumed.code, resumed.out.as_str()), (0, report.as_str()), "{damage}: {}", resumed.err);
        let after = desk.journal();
        assert_eq!(after[..before.len()], before[..], "{damage}");
    }
}

#[test]
fn a_damaged_last_record_is_named_and_the_run_goes_on_from_a_good_one() {
    let desk = Desk::new(None);
    let report = desk.whole();
    killed(&desk);
    let before = desk.journal();
    let last = before.last().expect("there are entries");
    // The words of the entry in the file itself, overwritten.
    let connection = Connection::open(file(&desk)).expect("it is a file of SQLite");
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("nobody has it open");
    let sql = "SELECT entry FROM entries ORDER BY rowid DESC LIMIT 1";
    let text: String = connection.query_row(sql, [], |row| row.get(0)).expect("it is there");
    drop(connection);
    let good = fs::read(file(&desk)).expect("it can be read");
    // Its beginning: a long one goes on in another page.
    let words = &text.as_bytes()[..text.len().min(200)];
    let at = good.windows(words.len()).rposition(|bytes| bytes == words).expect("it is in the file");
    let mut bad = good.clone();
    bad[at + 1..at + 20].fill(0x5a);
    fs::write(file(&desk), &bad).expect("it can be written");

    let said = desk.deepgraph(&["resume", "last"]);
    names(&said, &format!("the entry at position {} of scope \"{}\"", last.position, last.scope));
    let others = desk.deepgraph(&["runs"]);
    assert!(others.code == 0 && others.out.contains("succeeded"), "other runs are well: {}", others.err);

    fs::write(file(&desk), &good).expect("it can be written");
    for rest in ["runs.sqlite-wal", "runs.sqlite-shm"] {
        drop(fs::remove_file(desk.world.path("home").join(rest)));
    }
    desk.goes_on(&before, &report);
}

#[test]
fn a_file_that_is_cut_off_is_named_and_the_run_goes_on_from_a_copy() {
    let desk = Desk::new(None);
    let report = desk.whole();
    killed(&desk);
    let before = desk.journal();
    let connection = Connection::open(file(&desk)).expect("it is a file of SQLite");
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("nobody has it open");
    drop(connection);
    let good = fs::read(file(&desk)).expect("it can be read");
    for (length, fault) in [(good.len() / 2, "is damaged"), (4096, "is damaged"), (1000, "is damaged")] {
        fs::write(file(&desk), &good[..length]).expect("it can be written");
        let said = desk.deepgraph(&["resume", "last"]);
        names(&said, "runs.sqlite");
        assert!(
            [fault, "is not a store", "can not be read", "is missing"]
                .iter()
                .any(|name| said.err.contains(name)),
            "{length}: {}",
            said.err
        );
    }
    fs::write(file(&desk), &good).expect("it can be written");
    for rest in ["runs.sqlite-wal", "runs.sqlite-shm"] {
        drop(fs::remove_file(desk.world.path("home").join(rest)));
    }
    desk.goes_on(&before, &report);
}
