//! Mistakes and their help, the JSON Schema and the configuration, as their users ask for them.

use serde_json::{Value, json};

use super::world::{SUCCEEDED, Said, USAGE, World};

/// A graph with two mistakes and a warning.
const WRONG: &str = "\
deepgraph: 1
state: {question: string, wörter: [string], answer: string}
input: [question]
output: [answer]
start: look
nodes:
  look: {call: search, input: {query: question}, udpate: {answer: result.text}}
  lost: {update: {question: '\"ü\" ~ qu'}}
";

fn json_of(said: &Said) -> Value {
    serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e}: {}{}", said.out, said.err))
}

#[test]
fn mistakes_are_one_json_document_for_editors() {
    let world = World::new();
    let graph = world.write("bad.yaml", &WRONG.replace("wörter: [string], ", ""));
    let said = world.deepgraph(&["check", &graph, "--format", "json"]);
    assert_eq!((said.code, said.err.as_str()), (USAGE, ""));
    let mut document = json_of(&said);
    let list = document["diagnostics"].take();
    assert_eq!(document, json!({"version": 1, "diagnostics": null, "ok": false}));
    let places: Vec<_> =
        list.as_array().expect("a list").iter().map(|d| json!([d["code"], d["line"]])).collect();
    assert_eq!(json!(places), json!([["DG0511", 1], ["DG0103", 7], ["DG0501", 8], ["DG0301", 8]]));
    let wanted = json!({
        "code": "DG0301", "severity": "error", "message": "unknown name \"qu\"",
        "help": "a fixed text is written \"'qu'\"",
        "file": graph, "line": 8, "column": 36, "end_line": 8, "end_column": 38,
        "snippet": "  lost: {update: {question: '\"ü\" ~ qu'}}", "explain": "deepgraph explain DG0301",
    });
    assert_eq!(list[3], wanted);
    assert_eq!((&list[0]["severity"], list[0].get("help")), (&json!("warning"), None));
    let short = world.deepgraph(&["check", &graph, "--json"]);
    assert_eq!((short.code, short.out), (said.code, said.out));
}

#[test]
fn warnings_alone_and_files_that_are_fine_are_ok() {
    let world = World::new();
    let graph = world.write(
        "warned.yaml",
        "deepgraph: 1\nstate: {q: string}\noutput: [q]\nstart: {exit: completed}\nnodes: {}\n",
    );
    let said = world.deepgraph(&["check", &graph, "quick_answer", "--format", "json"]);
    let document = json_of(&said);
    assert_eq!((said.code, &document["ok"]), (SUCCEEDED, &json!(true)));
    assert_eq!(document["diagnostics"].as_array().map(Vec::len), Some(1), "{document}");
}

#[test]
fn a_file_that_is_not_there_is_a_mistake_like_others() {
    let world = World::new();
    let graph = world.write("bad.yaml", WRONG);
    let said = world.deepgraph(&["check", "nowhere.yaml", &graph, "--format", "json"]);
    let document = json_of(&said);
    let codes: Vec<_> =
        document["diagnostics"].as_array().expect("a list").iter().map(|d| &d["code"]).collect();
    assert_eq!((said.code, codes[0], codes.len()), (USAGE, &json!("DG0010"), 6), "{document}");
    assert_eq!(document["diagnostics"][0]["file"], "nowhere.yaml");
}

#[test]
fn text_ends_with_how_to_read_more() {
    let world = World::new();
    let graph = world.write("bad.yaml", WRONG);
    let said = world.deepgraph(&["check", &graph, "quick_answer"]);
    assert!(
        said.err.contains("error[DG0103]: unknown key \"udpate\"") && said.err.contains("bad.yaml:7:50"),
        "{}",
        said.err
    );
    assert!(said.err.ends_with("\nTo read more about a mistake: deepgraph explain DG0511\n"), "{}", said.err);
    assert_eq!(said.err.matches("deepgraph explain").count(), 1, "once: {}", said.err);
    let fine = world.deepgraph(&["check", "quick_answer"]);
    assert_eq!((fine.code, fine.err.as_str()), (SUCCEEDED, ""));
}

#[test]
fn codes_are_explained_and_listed() {
    let world = World::new();
    let page = world.deepgraph(&["explain", "DG0103"]);
    assert_eq!((page.code, page.err.as_str()), (SUCCEEDED, ""));
    for part in ["# DG0103: An unknown key\n", "## Why it matters", "## Wrong", "timeuot", "## Mended"] {
        assert!(page.out.contains(part), "{part}: {}", page.out);
    }
    for other in ["dg0103", "103"] {
        assert_eq!(world.deepgraph(&["explain", other]).out, page.out, "{other}");
    }
    let list = world.deepgraph(&["explain"]);
    let lines: Vec<&str> = list.out.lines().collect();
    assert_eq!((list.code, lines[0]), (SUCCEEDED, "DG0001  The text is not valid YAML or JSON"));
    let codes = lines.iter().filter(|line| line.starts_with("DG")).count();
    assert_eq!(codes, deepgraph_graph::CODES.len());
    let unknown = world.deepgraph(&["explain", "DG0104x"]);
    assert_eq!((unknown.code, unknown.out.as_str()), (USAGE, ""));
    assert!(
        unknown.err.contains("\"DG0104x\"") && unknown.err.contains("did you mean DG0104?"),
        "{}",
        unknown.err
    );
    assert!(unknown.err.contains("`deepgraph explain` lists them all"), "{}", unknown.err);
}

#[test]
fn the_schema_is_printed() {
    let world = World::new();
    let said = world.deepgraph(&["schema"]);
    let schema = json_of(&said);
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert!(schema["properties"]["nodes"]["description"].is_string());
}

#[test]
fn the_configuration_is_listed_with_its_origins() {
    let world = World::new();
    let file = world.write("settings.yaml", "max_turns: 4\n");
    let args = ["config", "quick_answer", "--config", &file, "--set", "max_tool_calls=3"];
    let mut command = world.command(&args);
    let output = command.env("DEEPGRAPH_DEADLINE", "2m").output().expect("the command can be started");
    let text = String::from_utf8(output.stdout).expect("it is UTF-8");
    let rows: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split("  ").filter(|c| !c.is_empty()).map(str::trim).collect())
        .collect();
    let of_file = format!("file {file}");
    let wanted = [
        vec!["deadline", "120", "environment DEEPGRAPH_DEADLINE"],
        vec!["fallback_models", "[]", "default"],
        vec!["max_tool_calls", "3", "--set"],
        vec!["max_turns", "4", &of_file],
        vec!["model", "\"extractive\"", "default"],
        vec!["token_budget", "200000", "default"],
    ];
    assert_eq!(rows, wanted, "{text}");
    let json = world.deepgraph(&[&args[..], &["--model", "openai::x", "--format", "json"]].concat());
    let list = json!([
        {"key": "deadline", "value": 300, "origin": "default"},
        {"key": "fallback_models", "value": [], "origin": "default"},
        {"key": "max_tool_calls", "value": 3, "origin": "run", "source": "--set"},
        {"key": "max_turns", "value": 4, "origin": "file", "source": file},
        {"key": "model", "value": "openai::x", "origin": "command_line", "source": "--model"},
        {"key": "token_budget", "value": 200000, "origin": "default"},
    ]);
    assert_eq!(json_of(&json), json!({"version": 1, "graph": "quick_answer", "config": list}));
}

#[test]
fn a_run_lists_the_same_configuration() {
    let world = World::new();
    let listed = world.deepgraph(&["config", "--set", "max_supervisor_turns=3"]);
    let run = world.deepgraph(&["run", "--print-config", "--set", "max_supervisor_turns=3"]);
    assert_eq!((run.code, &run.out), (SUCCEEDED, &listed.out));
    assert!(run.out.contains("max_supervisor_turns") && run.out.contains("--set"), "{}", run.out);
    assert!(
        run.out.lines().any(|line| line.starts_with("cost_budget_usd") && line.contains("null")),
        "{}",
        run.out
    );
}

#[test]
fn what_does_not_fit_is_listed_and_told() {
    let world = World::new();
    let text = "deepgraph: 1\nconfig: {key: string, n: {type: integer, default: 2, minimum: 1}}\nstate: {q: string}\nstart: a\n\
                nodes: {a: {update: {q: config.key}}}\n";
    let graph = world.write("graph.yaml", text);
    let said = world.deepgraph(&["config", &graph, "--set", "n=0"]);
    assert_eq!(said.code, USAGE, "{}", said.err);
    assert!(
        said.out.lines().any(|line| line.starts_with("key ") && line.contains(" null "))
            && said.out.contains("--set"),
        "{}",
        said.out
    );
    assert!(
        said.err.contains("key (default): needs a value") && said.err.contains("n (--set): must be"),
        "{}",
        said.err
    );
    let unknown = world.deepgraph(&["config", &graph, "--set", "key=x", "--set", "m=1"]);
    assert_eq!(unknown.code, USAGE);
    assert!(unknown.err.contains("is no key of the configuration"), "{}", unknown.err);
}
