//! A second process that wants the run, or has it.

use super::desk::{Desk, end, names};
use crate::cli::world::{Said, World};
use crate::support::postgres::Postgres;

fn desks() -> [Desk; 2] {
    [Desk::new(None), Desk::new(Some(Postgres::shared().database()))]
}

#[test]
fn a_run_that_another_process_drives_is_not_taken_from_it() {
    for desk in desks() {
        let report = desk.whole();
        let child = desk.begin(4);
        names(&desk.deepgraph(&["resume", "last"]), "is being driven by another process");
        if desk.url.is_some() {
            // Also from another machine, which has a home folder of its own.
            let elsewhere = World::new();
            let mut resume = desk.command(&["resume", "last"]);
            resume.env("DEEPGRAPH_HOME", elsewhere.path("home"));
            names(&Said::of(&mut resume), "is being driven by another process");
        }
        let said = end(child);
        assert_eq!((said.code, said.out), (0, report), "{}", said.err);
    }
}

#[test]
fn a_process_whose_run_was_taken_over_stops_and_writes_nothing_more() {
    for desk in desks() {
        let report = desk.whole();
        let child = desk.begin(4);
        let store = desk.store();
        let run = store.find_run("last").expect("it is there").run_id;
        store.claim(&run).expect("anybody may");
        let before = desk.journal();
        names(&end(child), "has been taken over");
        assert_eq!(desk.journal(), before, "nothing was written after that");
        drop(store);
        desk.goes_on(&before, &report);
    }
}
