//! The server of the store: gone, locked, with a damaged record.

use std::thread::sleep;
use std::time::Duration;

use super::desk::{Desk, end, names};
use crate::cli::world::SUCCEEDED;
use crate::support::postgres::Postgres;

#[test]
fn a_run_waits_for_a_server_that_comes_back() {
    let server = Postgres::start();
    let desk = Desk::new(Some(server.database()));
    let report = desk.whole();
    let child = desk.begin(4);
    let before = desk.journal();
    server.stop();
    sleep(Duration::from_millis(300));
    server.start_again();
    let said = end(child);
    if said.code == SUCCEEDED {
        assert_eq!(said.out, report);
        desk.has_all(&before);
    } else {
        // It broke in the middle of a change, which was not written: that is told, and the run goes on by hand.
        names(&said, "can not be reached");
        desk.goes_on(&before, &report);
    }
}

#[test]
fn a_server_that_is_gone_is_named_and_the_run_goes_on_when_it_is_back() {
    let server = Postgres::start();
    let desk = Desk::new(Some(server.database()));
    let report = desk.whole();
    let child = desk.begin(4);
    let before = desk.journal();
    server.stop();
    let said = end(child);
    assert_eq!(said.code, 1, "{}", said.err);
    let named = ["can not be reached", "could not be reached again"];
    assert!(named.iter().any(|name| said.err.contains(name)), "{}", said.err);
    assert!(said.err.contains("postgres://deepgraph@"), "{}", said.err);
    names(&desk.deepgraph(&["runs"]), "can not be reached");
    server.start_again();
    desk.goes_on(&before, &report);
}

#[test]
fn a_table_that_is_locked_for_too_long_is_named() {
    let server = Postgres::shared();
    let desk = Desk::new(Some(server.database()));
    let url = desk.url.clone().expect("it has a server");
    let report = desk.whole();
    let child = desk.begin(4);
    let before = desk.journal();
    let said = std::thread::scope(|threads| {
        threads.spawn(|| {
            server.sql_in(&url, "BEGIN; LOCK TABLE deepgraph.runs IN EXCLUSIVE MODE; SELECT pg_sleep(15)")
        });
        end(child)
    });
    names(&said, "is locked by another process");
    desk.goes_on(&before, &report);
}

#[test]
fn a_damaged_record_of_the_server_is_named() {
    let server = Postgres::shared();
    let desk = Desk::new(Some(server.database()));
    let url = desk.url.clone().expect("it has a server");
    let report = desk.whole();
    let mut child = desk.begin(4);
    child.kill().expect("it can be killed");
    drop(child.wait());
    let before = desk.journal();
    let last = before.last().expect("there are entries");
    let of_last = "WHERE (run, seq) = (SELECT key, last_seq FROM deepgraph.runs ORDER BY key DESC LIMIT 1)";
    let swap = |from: &str, to: &str| {
        server.sql_in(&url, &format!("UPDATE deepgraph.entries SET entry = overlay(entry PLACING '{to}' FROM 1 FOR length('{from}')) {of_last}"));
    };
    swap("{", "#");
    let said = desk.deepgraph(&["resume", "last"]);
    names(&said, &format!("the entry at position {} of scope \"{}\"", last.position, last.scope));
    swap("#", "{");
    desk.goes_on(&before, &report);
}

#[test]
fn a_server_that_can_not_be_reached_is_told_without_its_password() {
    let desk = Desk::new(Some("postgres://ann:s3cret@127.0.0.1:1/runs".into()));
    let said = desk.deepgraph(&["runs"]);
    names(&said, "postgres://ann@127.0.0.1:1/runs can not be reached");
    assert!(!said.err.contains("s3cret"), "{}", said.err);
    let desk = Desk::new(Some("mysql://db/runs".into()));
    let said = desk.deepgraph(&["runs"]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("postgres://USER") && said.err.contains("mysql://"), "{}", said.err);
}
