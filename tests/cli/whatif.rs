//! `deepgraph whatif` and `tune`, over runs with real documents.

use deepgraph_store::Store as _;
use serde_json::Value;

use super::world::{SUCCEEDED, Said, USAGE, World, harbour};

const QUESTION: &str =
    "What did the winter trials of the N60 and the N90 show about range, charging and maintenance?";

fn with_run(set: &[&str]) -> (World, String) {
    let world = World::new();
    let docs = harbour();
    let mut args = vec!["run", QUESTION, "--docs", docs.as_str()];
    set.iter().for_each(|set| args.extend(["--set", set]));
    let said = world.deepgraph(&args);
    assert!(said.code == SUCCEEDED || said.code == super::world::EXHAUSTED, "{}", said.err);
    let run = world.store().find_run("last").unwrap().run_id.to_string();
    (world, run)
}

fn json(said: &Said) -> Value {
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e}: {}", said.out))
}

#[test]
fn fewer_iterations_are_told_with_what_they_save_and_miss() {
    let (world, run) = with_run(&[]);
    let said = world.deepgraph(&["whatif", &run, "--set", "max_react_tool_calls=1"]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    assert!(said.out.contains("under max_react_tool_calls=1 (it was 10)"), "{}", said.out);
    assert!(said.out.contains("tool_call_cap") && said.out.contains("saved"), "{}", said.out);
    let what_if =
        json(&world.deepgraph(&["whatif", &run, "--set", "max_react_tool_calls=1", "--format", "json"]));
    assert_eq!((&what_if["is_unchanged"], &what_if["run"]), (&false.into(), &run.as_str().into()));
    assert!(what_if["steps"].as_u64() < what_if["steps_recorded"].as_u64(), "{what_if}");
    assert!(what_if["missed_count"].as_u64() > Some(0), "{what_if}");
    // The record is as it was: the same question has the same answer.
    let again = world.deepgraph(&["whatif", &run, "--set", "max_react_tool_calls=1"]);
    assert_eq!(again.out, said.out);
}

#[test]
fn the_same_values_change_nothing_and_unknown_keys_are_told() {
    let (world, run) = with_run(&[]);
    let said = world.deepgraph(&["whatif", &run, "--set", "gain_threshold=0.02"]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    assert!(said.out.contains("nothing would have been otherwise"), "{}", said.out);
    let said = world.deepgraph(&["whatif", &run, "--set", "gain_treshold=0.02"]);
    assert_eq!(said.code, USAGE);
    assert!(said.err.contains("gain_treshold") && said.err.contains("gain_threshold"), "{}", said.err);
    assert_eq!(world.deepgraph(&["whatif", &run]).code, USAGE, "there has to be something to change");
}

#[test]
fn a_run_that_was_cut_short_would_have_gone_on() {
    let (world, run) = with_run(&["max_react_tool_calls=1"]);
    let said = world.deepgraph(&["whatif", &run, "--set", "max_react_tool_calls=8"]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    assert!(
        said.out.contains("would have gone on after step") && said.out.contains("nobody knows"),
        "{}",
        said.out
    );
    // A journal in a file answers as the stored run does.
    let file = world.path("run.jsonl").to_string_lossy().into_owned();
    let written = world.deepgraph(&["trace", &run, "--format", "journal", "-o", &file]);
    assert_eq!(written.code, SUCCEEDED, "{}", written.err);
    let of_file = world.deepgraph(&["whatif", &file, "--set", "max_react_tool_calls=8"]);
    assert_eq!(of_file.out, said.out, "{}", of_file.err);
}

#[test]
fn tune_compares_values_over_many_runs() {
    let (world, run) = with_run(&["gain_threshold=0"]);
    let docs = harbour();
    for question in ["How long does charging take?", "What does maintenance cost?"] {
        let args = ["run", question, "--docs", &docs, "--set", "gain_threshold=0"];
        assert!(world.deepgraph(&args).code <= super::world::EXHAUSTED);
    }
    let tuned = json(&world.deepgraph(&["tune", "--format", "json"]));
    assert_eq!((&tuned["key"], &tuned["runs"]), (&"gain_threshold".into(), &3.into()));
    let values = tuned["values"].as_array().unwrap();
    assert_eq!(values.len(), 7);
    assert_eq!((&values[0]["value"], &values[0]["same"]), (&"0".into(), &3.into()), "{tuned}");
    for value in values {
        let runs = ["earlier", "same", "gone_on"].map(|kind| value[kind].as_u64().unwrap());
        assert_eq!(runs.iter().sum::<u64>(), 3, "{value}");
        assert_eq!(value["gone_on"], 0, "they were recorded without a threshold: {value}");
        assert!(value["shares"]["findings"].as_f64().is_none_or(|share| share <= 1.0), "{value}");
    }
    let steps: Vec<u64> = values.iter().map(|value| value["steps"].as_u64().unwrap()).collect();
    assert!(
        steps.windows(2).all(|pair| pair[0] >= pair[1]),
        "a higher threshold never takes more: {steps:?}"
    );

    let one = world.deepgraph(&["tune", "max_react_tool_calls=1,10", &run]);
    assert_eq!(one.code, SUCCEEDED, "{}", one.err);
    assert!(one.out.contains("FINDINGS KEPT") && one.out.contains("over 1 run"), "{}", one.out);
    let none = world.deepgraph(&["tune", "no_such_key=1"]);
    assert!(none.out.contains("There are no runs to look at"), "{}{}", none.out, none.err);
    let bad = world.deepgraph(&["tune", "token_budget=many"]);
    assert_eq!(bad.code, USAGE, "{}{}", bad.out, bad.err);
    assert_eq!(world.deepgraph(&["tune", "--since", "yesterday"]).code, USAGE);
}
