//! The JSON Schema of the graph file, against the graphs that there are.

use std::collections::BTreeMap;
use std::fs;

use deepgraph_graph::{CODES, OpTable, graph_schema, help_page, load, read_data};
use deepgraph_protocol::Value;
use jsonschema::Validator;

use super::{document, documents, graphs_of, section};
use crate::support::repo;

fn validator() -> Validator {
    let schema = graph_schema().to_json();
    jsonschema::draft202012::meta::validate(&schema).unwrap_or_else(|e| panic!("the schema is none: {e}"));
    jsonschema::draft202012::new(&schema).unwrap_or_else(|e| panic!("the schema can not be used: {e}"))
}

/// What a schema says against a graph.
fn misfits(validator: &Validator, graph: &str) -> Vec<String> {
    against(validator, &data("graph.yaml", graph))
}

fn against(validator: &Validator, graph: &Value) -> Vec<String> {
    validator.iter_errors(&graph.to_json()).map(|e| format!("{}: {e}", e.instance_path())).collect()
}

fn data(name: &str, text: &str) -> Value {
    read_data(name, text).unwrap_or_else(|mistakes| panic!("{mistakes}\n{text}"))
}

/// The graphs of the cases that load, by path.
fn cases() -> Vec<(String, Value)> {
    let mut open = vec![repo().join("tests/conformance")];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("there is a folder of cases").flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "yaml") {
                let name = path.display().to_string();
                let case = data(&name, &fs::read_to_string(&path).expect("a case is text"));
                let refused = case.get("expect").is_some_and(|wanted| wanted.get("load_error").is_some());
                let graph = case.get("graph").filter(|graph| graph.as_map().is_some() && !refused);
                found.extend(graph.map(|graph| (name, graph.clone())));
            }
        }
    }
    found
}

/// The graphs that are brought along, by path.
fn stock() -> Vec<(String, String)> {
    let folders = fs::read_dir(repo().join("graphs")).expect("there is a folder of graphs");
    let paths = folders.map(|folder| folder.expect("it can be listed").path().join("graph.yaml"));
    let read = |path: std::path::PathBuf| Some((path.display().to_string(), fs::read_to_string(path).ok()?));
    paths.filter_map(read).collect()
}

/// The graph under a heading of a help page.
fn example(code: &str, heading: &str) -> String {
    let part = section(help_page(code).expect("every code has a page"), heading);
    let rest = part.split("```yaml\n").nth(1).expect("there is a graph");
    rest.split("```").next().unwrap_or_default().to_owned()
}

#[test]
fn the_schema_in_the_documents_is_that_of_the_program() {
    let wanted = serde_json::to_string_pretty(&graph_schema()).expect("it is JSON") + "\n";
    let written = document("docs/graph.schema.json");
    assert!(
        written == wanted,
        "docs/graph.schema.json is out of date; make it anew: cargo run -p deepgraph -- schema > docs/graph.schema.json"
    );
}

#[test]
fn every_graph_that_there_is_fits() {
    let mut graphs = stock();
    for (name, text) in documents() {
        graphs.extend(graphs_of(&text).into_iter().map(|(line, graph)| (format!("{name}:{line}"), graph)));
    }
    graphs.extend(CODES.iter().map(|(code, _)| ((*code).to_owned(), example(code, "Mended"))));
    assert!(graphs.len() >= CODES.len() + 8, "only {} graphs were found", graphs.len());
    let validator = validator();
    for (name, graph) in graphs {
        let misfits = misfits(&validator, &graph);
        assert!(misfits.is_empty(), "{name}\n{}\n{graph}", misfits.join("\n"));
    }
    let cases = cases();
    assert!(cases.len() > 50, "only {} cases were found", cases.len());
    for (name, graph) in cases {
        let misfits = against(&validator, &graph);
        assert!(misfits.is_empty(), "{name}\n{}", misfits.join("\n"));
    }
}

#[test]
fn what_the_check_takes_the_schema_takes() {
    let validator = validator();
    let mut taken = 0;
    for (name, graph) in stock() {
        let folder = std::path::Path::new(&name).parent().expect("it is in a folder").to_owned();
        let prompts = fs::read_dir(folder.join("prompts")).expect("there are prompts").flatten();
        let mut files: BTreeMap<String, String> = prompts
            .map(|file| (format!("prompts/{}", file.file_name().to_string_lossy()), file.path()))
            .map(|(name, path)| (name, fs::read_to_string(path).expect("a prompt is text")))
            .collect();
        let lines: Vec<&str> = graph.lines().collect();
        for left_out in 0..lines.len() {
            let kept = lines.iter().enumerate().filter(|(index, _)| *index != left_out);
            let changed: String = kept.map(|(_, line)| format!("{line}\n")).collect();
            files.insert("graph.yaml".to_owned(), changed.clone());
            if load("graph.yaml", &files, &OpTable::stock()).is_ok() {
                taken += 1;
                let misfits = misfits(&validator, &changed);
                assert!(misfits.is_empty(), "{name} without line {}\n{}", left_out + 1, misfits.join("\n"));
            }
        }
    }
    assert!(taken > 50, "only {taken} graphs were taken");
}

#[test]
fn mistakes_that_a_schema_can_see_are_seen() {
    let codes = [
        "DG0101", "DG0102", "DG0103", "DG0105", "DG0106", "DG0107", "DG0108", "DG0110", "DG0207", "DG0308",
        "DG0513",
    ];
    let validator = validator();
    for code in codes {
        assert!(!misfits(&validator, &example(code, "Wrong")).is_empty(), "{code}");
    }
}

#[test]
fn unknown_keys_and_words_are_seen_in_every_place() {
    const GRAPH: &str = "\
deepgraph: 1
config: {k: {type: integer, default: 3, minimum: 1}}
types: {pair: {a: string, b: {type: string, optional: true}}}
state:
  q: string
  list: {type: [pair], reduce: append}
  m: messages
input: [q]
exits: {own: cap}
concurrency: {graphs: 2}
intents: {fact: {when: [how many], kind: narrow, set: {k: 2}}}
tools:
  t: {call: think, parallel: 2, overflow: queue}
  end: {next: {exit: own}}
limits:
  turns: {count: turns, max: config.k, exit: step_limit}
  time: {count: wall_time, max: 5m, exit: deadline, reserve: 10s}
  gain: {gain: list, below: 0.1, mode: sum, exit: gain_saturated}
start: a
nodes:
  a:
    model: extractive
    messages: m
    tools: [t, end]
    retry: {max: 2, backoff: 1s}
    truncate: {cut: [oldest], to: 0.8}
    next: [{if: not result.tool_calls, exit: completed}, r]
  r: {run_tools: a, next: a}
";
    let validator = validator();
    assert_eq!(misfits(&validator, GRAPH), Vec::<String>::new());
    let changes = [
        ("deepgraph: 1", "deepgraph: 2"),
        ("types:", "typs:"),
        ("minimum: 1", "minimun: 1"),
        ("optional: true", "optional: yes"),
        ("reduce: append", "reduce: add"),
        ("input: [q]", "input: q"),
        ("own: cap", "own: capped"),
        ("graphs: 2", "graph: 2"),
        ("graphs: 2", "graphs: 0"),
        ("parallel: 2, ", ""),
        ("overflow: queue", "overflow: drop"),
        ("call: think", "cal: think"),
        ("call: think", "call: think, ask: why"),
        ("count: turns", "count: turn"),
        ("max: config.k", "max: 0"),
        ("max: config.k", "max: '{{ 3 }}'"),
        ("max: config.k, exit: step_limit", "max: config.k"),
        ("max: config.k, exit", "max: config.k, to: r, exit"),
        ("max: 5m", "max: soon"),
        ("reserve: 10s", "reserve: some"),
        ("mode: sum", "mode: all"),
        ("gain: list, ", ""),
        ("start: a\n", ""),
        ("start: a\n", "start: []\n"),
        ("model: extractive", "model: extractive\n    call: think"),
        ("    model: extractive\n", ""),
        ("tools: [t, end]", "tools: t"),
        ("retry: {max: 2", "retry: {max: 0"),
        ("backoff: 1s", "backof: 1s"),
        ("to: 0.8", "to: 8"),
        ("cut: [oldest]", "cuts: [oldest]"),
        ("{if: not result.tool_calls, exit: completed}", "{if: not result.tool_calls}"),
        ("{if: not result.tool_calls, exit", "{when: not result.tool_calls, exit"),
        ("exit: completed}", "exit: completed, to: r}"),
        ("r: {run_tools: a, next: a}", "r: {}"),
        ("r: {run_tools: a, next: a}", "r: {run_tools: a, nxt: a}"),
    ];
    for (from, to) in changes {
        assert_eq!(GRAPH.matches(from).count(), 1, "{from}");
        let broken = GRAPH.replace(from, to);
        assert!(!misfits(&validator, &broken).is_empty(), "{to} in place of {from}");
    }
}
