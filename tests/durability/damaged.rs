//! One damaged record: it is named and left out, and the others are told as ever.

use rusqlite::Connection;
use serde_json::Value;

use super::desk::Desk;
use crate::cli::world::SUCCEEDED;
use crate::support::postgres::Postgres;

/// Carries out a statement in the store; `{}` stands for the table's place.
fn sql(desk: &Desk, statement: &str) {
    match &desk.url {
        None => {
            let file = Connection::open(desk.world.path("home/runs.sqlite")).expect("it is a file of SQLite");
            file.execute_batch(&statement.replace("{}", "")).expect("it is carried out");
        }
        Some(url) => drop(Postgres::shared().sql_in(url, &statement.replace("{}", "deepgraph."))),
    }
}

#[test]
fn a_damaged_record_is_left_out_and_can_be_removed() {
    for desk in [Desk::new(None), Desk::new(Some(Postgres::shared().database()))] {
        for _ in 0..4 {
            desk.whole();
        }
        let ids = desk.store().run_ids().expect("they can be read");
        let (whole, damaged) = ids.split_at(1);
        for (run, damage) in damaged.iter().zip([
            "UPDATE {}runs SET exits = '{{{'",
            "UPDATE {}runs SET status = 'lost'",
            "DELETE FROM {}setups",
        ]) {
            let key = if damage.starts_with("DELETE") { "run" } else { "key" };
            let which = format!("(SELECT key FROM {{}}runs WHERE run_id = '{run}')");
            sql(&desk, &format!("{damage} WHERE {key} = {which}"));
        }
        let runs = [
            &["runs"][..],
            &["tune"],
            &["history", whole[0].as_str()],
            &["gc", "--older-than", "2999-01-01", "--dry-run"],
        ];
        for args in runs {
            let said = desk.deepgraph(args);
            assert_eq!(said.code, SUCCEEDED, "{args:?}: {}", said.err);
            for run in damaged {
                assert!(said.err.contains(run.as_str()), "{args:?} tells {run}: {}", said.err);
                assert!(!said.out.contains(run.as_str()), "{args:?}: {}", said.out);
            }
            assert!(said.out.contains(whole[0].as_str()) || args[0] == "tune", "{args:?}: {}", said.out);
            assert!(said.err.contains("gc --status damaged"), "{args:?}: {}", said.err);
        }
        let named = desk.deepgraph(&["show", damaged[0].as_str()]);
        assert!(named.code != SUCCEEDED && named.err.contains("exits"), "{}", named.err);

        let would = desk.deepgraph(&["gc", "--status", "damaged", "--dry-run"]);
        assert!(would.out.contains("Would remove 3 runs") && would.out.contains("damaged"), "{}", would.out);
        let gone = desk.deepgraph(&["gc", "--status", "damaged", "--json"]);
        assert_eq!(gone.code, SUCCEEDED, "{}", gone.err);
        let gone: Value = serde_json::from_str(&gone.out).expect("it is JSON");
        assert_eq!(gone["removed"].as_array().map(Vec::len), Some(3), "{gone}");
        assert_eq!(desk.store().run_ids().expect("they can be read"), whole);
        let said = desk.deepgraph(&["runs"]);
        assert!(said.code == SUCCEEDED && said.err.is_empty(), "{}", said.err);
    }
}

#[test]
fn what_is_left_of_a_store_is_damaged_and_no_new_one_is_made() {
    let desk = Desk::new(None);
    let mut child = desk.begin(4);
    child.kill().expect("it can be killed");
    drop(child.wait());
    let [file, log] = ["home/runs.sqlite", "home/runs.sqlite-wal"].map(|name| desk.world.path(name));
    let logged = std::fs::read(&log).expect("there is a log");
    assert!(!logged.is_empty());
    std::fs::write(&file, "").expect("it can be written");
    for is_there in [true, false] {
        if !is_there {
            std::fs::remove_file(&file).expect("it is there");
        }
        for args in [&["runs"][..], &["show", "last"], &["gc"]] {
            let said = desk.deepgraph(args);
            super::desk::names(&said, "is damaged");
            assert!(said.out.is_empty(), "{args:?}: {}", said.out);
        }
        assert_eq!(file.exists(), is_there);
        assert_eq!(std::fs::read(&log).expect("it is kept"), logged);
    }
}
