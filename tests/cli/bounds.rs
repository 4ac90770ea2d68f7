//! `deepgraph bounds`: text, JSON, and what the shell is told.

use serde_json::Value;

use super::world::{SUCCEEDED, USAGE, World};
use crate::support::{repo, snapshot};

#[test]
fn the_worst_case_of_a_graph_as_a_table() {
    let world = World::new();
    let said = world.deepgraph(&["bounds", "quick_answer"]);
    assert_eq!((said.code, said.err.as_str()), (SUCCEEDED, ""));
    snapshot("quick_answer", "bounds", &said.out);
    let fewer = world.deepgraph(&["bounds", "quick_answer", "--set", "max_turns=2"]);
    assert!(fewer.out.contains("3 = 2 (max_turns) + 1 (finally)"), "{}", fewer.out);
}

#[test]
fn every_attempt_may_be_asked_of_each_fallback() {
    let world = World::new();
    let with_retries = |fallbacks: &str| {
        let file = world.write("fallbacks.yaml", &format!("fallback_models: [{fallbacks}]\n"));
        let said = world.deepgraph(&["bounds", "quick_answer", "--config", &file, "--json"]);
        let bounds: Value = serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}", said.err));
        let in_all = |measure: &str| bounds["run"]["in_all"][measure]["value"].as_u64();
        (in_all("model_calls"), in_all("model_attempts"))
    };
    assert_eq!(with_retries(""), (Some(11), Some(55)));
    // Of five attempts two are for requests that are too long, which go to the same model.
    assert_eq!(with_retries("a::b, c::d"), (Some(11), Some(11 * (3 * 3 + 2))));
    let twenty: Vec<String> = (0..20).map(|n| format!("a::m{n}")).collect();
    assert_eq!(with_retries(&twenty.join(", ")).1, Some(11 * (3 * 17 + 2)), "no more than 17 in a row");
}

#[test]
fn the_document_shows_what_the_program_says() {
    let world = World::new();
    let said = world.deepgraph(&["bounds", "quick_answer"]);
    let document = std::fs::read_to_string(repo().join("docs/bounds.md")).expect("the document is there");
    assert!(document.contains(said.out.trim_end()), "{}", said.out);
}

#[test]
fn deep_research_starts_no_more_researchers_than_iterations() {
    let world = World::new();
    let said = world.deepgraph(&["bounds", "--set", "max_researcher_iterations=3", "--format", "json"]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    let bounds: Value = serde_json::from_str(&said.out).expect("it is JSON");
    assert_eq!((&bounds["version"], &bounds["graph"]), (&1.into(), &"deep_research".into()));
    let scopes = bounds["scopes"].as_array().expect("there are graphs");
    let researcher = scopes
        .iter()
        .find(|scope| scope["graph"] == "deep_research/researcher")
        .expect("there are researchers");
    assert_eq!(
        (&researcher["instances"]["bound"], &researcher["instances"]["value"]),
        (&"at_most".into(), &3.into())
    );
    assert_eq!(researcher["own"]["model_calls"]["why"], "20 (turns, max_researcher_turns) + 1 (finally)");
    let searches =
        researcher["tools"].as_array().expect("it has tools").iter().find(|tool| tool["name"] == "search");
    assert_eq!(searches.expect("one is search")["value"], 10);
    let limits = researcher["limits"].as_array().expect("it has limits");
    assert!(limits.iter().any(|limit| limit["counts"] == "search, read" && limit["max"] == 10), "{limits:?}");
    assert_eq!(bounds["run"]["in_all"]["tokens"]["value"], 1_000_000);
    assert_eq!(bounds["run"]["in_all"]["cost_micro_usd"]["bound"], "unknown");
}

/// A loop whose tool is bounded, or not.
fn looping(limit: &str) -> String {
    format!(
        "deepgraph: 1\nstate: {{question: string, m: messages}}\ninput: [question]\ntools: {{search: {{call: \
         search}}}}\nlimits:\n  turns: {{count: turns, max: 4, exit: step_limit}}\n{limit}start: open\nnodes:\n  open: \
         {{update: {{m: [{{user: question}}]}}, next: a}}\n  a: {{model: extractive, messages: m, tools: [search], \
         next: [{{if: not result.tool_calls, exit: no_tool_calls}}, r]}}\n  r: {{run_tools: a, next: a}}\n"
    )
}

#[test]
fn a_check_fails_where_what_costs_money_is_unbounded() {
    let world = World::new();
    let open = world.write("open.yaml", &looping(""));
    let said = world.deepgraph(&["bounds", &open, "--check"]);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.err.contains("unbounded: op runs"), "{}", said.err);
    assert!(said.out.contains("a turn of a may call search any number of times"), "{}", said.out);
    assert_eq!(world.deepgraph(&["bounds", &open]).code, SUCCEEDED, "without --check it is only told");
    let json = world.deepgraph(&["bounds", &open, "--check", "--format", "json"]);
    let bounds: Value = serde_json::from_str(&json.out).expect("it is JSON");
    assert_eq!((json.code, &bounds["unbounded"]), (1, &serde_json::json!(["op_runs"])));
    let bounded = world.write("bounded.yaml", &looping("  calls: {count: [search], max: 9, refuse: true}\n"));
    let said = world.deepgraph(&["bounds", &bounded, "--check"]);
    assert_eq!((said.code, said.err.as_str()), (SUCCEEDED, ""));
}

#[test]
fn what_does_not_fit_is_a_usage_error() {
    let world = World::new();
    for args in [
        &["bounds", "no_such_graph"][..],
        &["bounds", "quick_answer", "--set", "max_turns=0"],
        &["bounds", "quick_answer", "--set", "turns=3"],
        &["bounds", "--config", "missing.yaml"],
    ] {
        let said = world.deepgraph(args);
        assert_eq!((said.code, said.out.as_str()), (USAGE, ""), "{args:?}: {}", said.err);
    }
}
