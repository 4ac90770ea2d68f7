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
    assert!(
        one.out.contains("FINDINGS KEPT") && one.out.contains("FACTS KEPT") && one.out.contains("over 1 run"),
        "{}",
        one.out
    );
    let none = world.deepgraph(&["tune", "no_such_key=1"]);
    assert!(none.out.contains("There are no runs to look at"), "{}{}", none.out, none.err);
    let bad = world.deepgraph(&["tune", "token_budget=many"]);
    assert_eq!(bad.code, USAGE, "{}{}", bad.out, bad.err);
    assert_eq!(world.deepgraph(&["tune", "--since", "yesterday"]).code, USAGE);
}

#[test]
fn of_several_attempts_each_is_compared_with_what_it_had() {
    let (world, run) = with_run(&["max_researcher_iterations=1"]);
    let again = world.deepgraph(&["resume", &run, "--set", "max_researcher_iterations=3"]);
    assert!(again.code <= super::world::EXHAUSTED && again.code != USAGE, "{}", again.err);
    let whatif = |limit: &str| {
        let said = world.deepgraph(&["whatif", &run, "--set", &format!("max_researcher_iterations={limit}")]);
        assert_eq!(said.code, SUCCEEDED, "{}", said.err);
        said.out
    };
    let lower = whatif("1");
    assert!(lower.contains("(it was 1 in attempt 1, 3 in attempt 2)"), "{lower}");
    assert!(lower.contains("attempt 2 would have been refused: ") && lower.contains("saved)"), "{lower}");
    let same = whatif("3");
    assert!(same.contains("nothing would have been otherwise"), "{same}");
    let tuned =
        json(&world.deepgraph(&["tune", "max_researcher_iterations=1,2,3", &run, "--format", "json"]));
    let values = tuned["values"].as_array().cloned().unwrap_or_default();
    let of = |field: &str| values.iter().map(|value| value[field].clone()).collect::<Vec<_>>();
    assert_eq!(
        (of("earlier"), of("same")),
        (vec![1.into(), 1.into(), 0.into()], vec![0.into(), 0.into(), 1.into()])
    );
    let tokens = values.iter().map(|value| value["used"]["tokens"].as_u64()).collect::<Vec<_>>();
    assert!(tokens.is_sorted(), "{tokens:?}");
    assert_eq!(values[2]["steps"], values[2]["steps_recorded"], "{tuned}");
}

#[test]
fn where_it_goes_on_nothing_is_said_to_be_saved_or_missed() {
    let (world, run) = with_run(&["max_react_tool_calls=1"]);
    let args = ["whatif", &run, "--set", "max_react_tool_calls=8"];
    let said = world.deepgraph(&args);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    assert!(said.out.contains("nobody knows"), "{}", said.out);
    for claim in ["saved)", "missed)", "would have been missed:", "would not have been started"] {
        assert!(!said.out.contains(claim), "{claim}: {}", said.out);
    }
    let open = json(&world.deepgraph(&[&args[..], &["--format", "json"]].concat()));
    assert_eq!(open["is_open_ended"], true);
    for unknown in ["steps", "used", "found"] {
        assert_eq!(open[unknown], Value::Null, "{unknown}");
    }
    assert_eq!((&open["missed"], &open["missed_count"]), (&serde_json::json!([]), &0.into()));
}

#[test]
fn keys_that_no_limit_reads_are_refused() {
    let (world, run) = with_run(&[]);
    for args in [
        &["whatif", &run, "--set", "research_model=openai::other"][..],
        &["tune", "research_model=a,b", &run],
    ] {
        let said = world.deepgraph(args);
        assert_eq!(said.code, USAGE, "{}", said.out);
        for named in ["research_model", "no limit and no condition", "gain_threshold", "deepgraph run"] {
            assert!(said.err.contains(named), "{named}: {}", said.err);
        }
    }
}

#[test]
fn counts_and_lists_agree_and_are_named_as_show_names_them() {
    let (world, run) = with_run(&[]);
    let figures = json(&world.deepgraph(&["show", &run, "--json"]))["figures"].clone();
    let what_if = json(&world.deepgraph(&[
        "whatif",
        &run,
        "--set",
        "max_react_tool_calls=1",
        "--format",
        "json",
        "--all",
    ]));
    let history = json(&world.deepgraph(&["history", &run, "--format", "json"]));
    assert_eq!((&figures["steps"], &figures["steps"]), (&what_if["steps_recorded"], &history["steps"]));
    assert_eq!(figures["tokens"], what_if["used_recorded"]["tokens"]);
    assert_eq!(figures["findings"], what_if["found_recorded"]["findings"]);
    assert_eq!(figures["passages"], what_if["found_recorded"]["passages"]);
    let missed = what_if["missed"].as_array().cloned().unwrap_or_default();
    assert_eq!(what_if["missed_count"], missed.len());
    let mut sum = 0;
    for (kind, count) in [("finding", "findings"), ("fact", "facts"), ("passage", "passages")] {
        let of = |found: &str| what_if[found][count].as_u64().unwrap_or(0);
        let listed = missed.iter().filter(|one| one["kind"] == kind).count() as u64;
        assert_eq!(of("found_recorded") - of("found"), listed, "{kind}");
        sum += listed;
    }
    assert!(sum > 0);
    let text = world.deepgraph(&["whatif", &run, "--set", "max_react_tool_calls=1"]).out;
    for name in ["findings ", "facts ", "passages "] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{name}: {text}");
    }
}

#[test]
fn tune_finds_runs_by_the_name_of_their_graph() {
    let world = World::new();
    let graph = world.write(
        "file.yaml",
        "deepgraph: 1\nname: named\nconfig: {most: {type: integer, default: 2, minimum: 1}}\n\
         state: {question: string, text: string}\ninput: [question]\noutput: [text]\n\
         limits: {visits: {count: [look], max: config.most, exit: step_limit}}\nstart: look\n\
         nodes: {look: {call: think, input: {reflection: question}, update: {text: result.text}, next: look}}\n",
    );
    let ran = world.deepgraph(&["run", "?", "--graph", &graph]);
    assert!(ran.code != USAGE && ran.code != 1, "{}", ran.err);
    for name in ["named", &graph] {
        let said = world.deepgraph(&["tune", "most=1,2", "--graph", name]);
        assert!(said.out.contains("over 1 run"), "{name}: {}{}", said.out, said.err);
    }
    let said = world.deepgraph(&["tune", "most=1,2", "--graph", "another"]);
    assert!(said.out.contains("no runs to look at"), "{}", said.out);
}
