//! `deepgraph simulate`: its counts, its seeds, what the shell is told.

use super::world::{SUCCEEDED, USAGE, World};

#[test]
fn a_graph_is_simulated_and_what_happened_is_counted() {
    let world = World::new();
    let said = world.deepgraph(&["simulate", "quick_answer", "--runs", "40"]);
    assert_eq!((said.code, said.err.as_str()), (SUCCEEDED, ""), "{}", said.out);
    for part in [
        "runs      40 (",
        "entries   ",
        "faults    ",
        "crash ",
        "exits of quick_answer: ",
        "broken    0 runs",
    ] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    let one_job = world.deepgraph(&["simulate", "quick_answer", "--runs", "40", "--jobs", "1"]);
    assert_eq!(one_job.out, said.out, "the counts do not depend on the number of jobs");
    let calm = world.deepgraph(&["simulate", "quick_answer", "--runs", "5", "--faults", "none"]);
    assert!(calm.out.contains("faults    none"), "{}", calm.out);
}

#[test]
fn a_seed_is_the_same_run_every_time_and_keys_that_are_set_stay_so() {
    let world = World::new();
    let options =
        ["simulate", "quick_answer", "--seed", "7", "--runs", "1", "--trace", "--set", "max_turns=1"];
    let said = world.deepgraph(&options);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    assert!(said.out.contains("seed 7\n") && said.out.contains("config max_turns = 1"), "{}", said.out);
    assert_eq!(world.deepgraph(&options).out, said.out);
    let wrong = world.deepgraph(&["simulate", "quick_answer", "--set", "max_turns=0"]);
    assert_eq!(wrong.code, USAGE);
    assert!(wrong.err.contains("max_turns"), "{}", wrong.err);
}

#[test]
fn seeds_go_on_behind_the_greatest_and_none_is_repeated() {
    let world = World::new();
    let greatest = u64::MAX.to_string();
    let options = ["simulate", "quick_answer", "--seed", &greatest, "--runs", "3", "--trace"];
    let said = world.deepgraph(&options);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    let seeds: Vec<&str> = said.out.lines().filter_map(|line| line.strip_prefix("seed ")).collect();
    assert_eq!(seeds, [&greatest, "0", "1"]);
    assert!(said.out.contains("runs      3 ("), "{}", said.out);
}

#[test]
fn there_are_no_more_jobs_than_runs_and_at_least_one() {
    let world = World::new();
    let said = world.deepgraph(&["simulate", "quick_answer", "--runs", "3", "--jobs", "200000"]);
    assert_eq!((said.code, said.err.as_str()), (SUCCEEDED, ""), "{}", said.out);
    let said = world.deepgraph(&["simulate", "quick_answer", "--runs", "3", "--jobs", "0"]);
    assert_eq!((said.code, said.out.as_str()), (USAGE, ""));
    assert!(said.err.contains("at least 1"), "{}", said.err);
}

#[test]
fn the_help_tells_the_exit_statuses() {
    let said = World::new().deepgraph(&["simulate", "--help"]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    assert!(said.out.contains("Exit status:\n  0  nothing is broken\n  1  "), "{}", said.out);
}

#[test]
fn counts_have_their_thousands_apart() {
    let said = World::new().deepgraph(&["simulate", "quick_answer", "--runs", "1000"]);
    assert_eq!((said.code, said.err.as_str()), (SUCCEEDED, ""), "{}", said.out);
    assert!(said.out.contains("runs      1 000 ("), "{}", said.out);
}

#[test]
fn no_run_at_all_is_wrong_usage() {
    let said = World::new().deepgraph(&["simulate", "quick_answer", "--runs", "0"]);
    assert_eq!((said.code, said.out.as_str()), (USAGE, ""));
    assert!(said.err.contains("--runs"), "{}", said.err);
}
