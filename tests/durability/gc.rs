//! Old runs are removed, and nothing else.

use serde_json::Value;

use super::desk::{Desk, end};
use crate::cli::world::SUCCEEDED;
use crate::support::postgres::Postgres;

fn gc(desk: &Desk, args: &[&str]) -> Value {
    let said = desk.deepgraph(&[&["gc", "--json", "--older-than", "2999-01-01"], args].concat());
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    serde_json::from_str(&said.out).expect("it is JSON")
}

fn removed(told: &Value) -> usize {
    told["removed"].as_array().expect("it is a list").len()
}

fn count(told: &Value, field: &str) -> u64 {
    told[field].as_u64().expect("it is a number")
}

#[test]
fn old_runs_go_and_those_that_are_driven_do_not_notice() {
    for desk in [Desk::new(None), Desk::new(Some(Postgres::shared().database()))] {
        let report = desk.whole();
        for _ in 0..2 {
            desk.whole();
        }
        // Young runs stay.
        assert_eq!(
            desk.deepgraph(&["gc"]).out.trim_end().lines().last(),
            Some("Removed 0 runs: 0 entries, 0 long texts, 0 bytes")
        );
        let file = desk.world.path("home/runs.sqlite");
        let size = || std::fs::metadata(&file).map_or(0, |file| file.len());
        let before = size();

        let child = desk.begin(4);
        let would = gc(&desk, &["--dry-run"]);
        assert_eq!((removed(&would), desk.store().run_ids().expect("it can be read").len()), (3, 4));
        let kept = gc(&desk, &["--keep", "1"]);
        assert_eq!(removed(&kept), 2, "the one that is driven does not count");
        assert!(count(&kept, "entries") > 0 && count(&kept, "bytes") > 0);
        // Named, but driven.
        let named = gc(&desk, &["--status", "running"]);
        assert_eq!((removed(&named), named["left"].as_array().map(Vec::len)), (0, Some(1)));
        let said = end(child);
        assert_eq!((said.code, said.out.as_str()), (SUCCEEDED, report.as_str()), "{}", said.err);

        let shown = desk.deepgraph(&["show", "last"]);
        assert!(
            shown.code == SUCCEEDED && desk.deepgraph(&["trace", "last"]).code == SUCCEEDED,
            "{}",
            shown.err
        );
        let rest = gc(&desk, &[]);
        assert_eq!((removed(&rest), desk.store().run_ids().expect("it can be read").len()), (2, 0));
        assert!(count(&rest, "texts") > 0, "the prompts go with the last run: {rest}");
        assert_eq!(gc(&desk, &["--dry-run"])["bytes"], 0);
        if desk.url.is_none() {
            assert!(size() < before / 2, "room was given back: {before} bytes, then {}", size());
        }
        assert_eq!(desk.whole(), report, "and it goes on from there");
    }
}

#[test]
fn a_run_that_broke_off_goes_only_when_it_is_named() {
    let desk = Desk::new(None);
    let mut child = desk.begin(4);
    child.kill().expect("it can be killed");
    drop(child.wait());
    assert_eq!(removed(&gc(&desk, &[])), 0);
    assert_eq!(removed(&gc(&desk, &["--status", "awaiting_input"])), 0);
    for command in [&["runs", "--json"][..], &["show", "last", "--json"]] {
        let said = desk.deepgraph(command);
        assert!(said.out.contains("\"interrupted\": true"), "{command:?}: {}{}", said.out, said.err);
    }
    assert_eq!(removed(&gc(&desk, &["--status", "running", "--dry-run"])), 1);
    assert_eq!(removed(&gc(&desk, &["--status", "interrupted"])), 1);
    let said = desk.deepgraph(&["gc", "--status", "asleep"]);
    assert!(said.code == 2 && said.err.contains("awaiting_input"), "{}", said.err);
    for age in ["soon", "30s", "1.5h"] {
        let said = desk.deepgraph(&["gc", "--older-than", age]);
        assert!(said.code == 2 && said.err.contains("--older-than"), "{}", said.err);
        assert!(said.err.contains("days (d) or weeks (w)"), "{}", said.err);
    }
}
