//! Drawings: every form of a graph that has one of each, and runs laid over it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::world::{AWAITING_INPUT, SUCCEEDED, USAGE, World, harbour};
use crate::support;

/// A graph with one of each that a drawing shows.
const GRAPH: &str = r#"deepgraph: 1
name: everything
description: One of each, with <odd> & "quoted" words
config:
  model: {type: string, default: scripted}
  most:  {type: integer, default: 3, minimum: 1}
state:
  question: string
  messages: messages
  topics:   {type: [string], reduce: append}
  notes:    {type: [string], reduce: append}
  answer:   string
input:  [question]
output: [answer, notes]
exits: {well_enough: completion}
tools:
  look_up: {description: Look one thing up., call: helper, parameters: {topic: string}, update: {notes: result.answer}, parallel: 2, overflow: queue}
  jot:     {description: Keep a note., parameters: {text: string}, update: {notes: args.text}, approve: "'secret' in args.text"}
  done:    {description: Say that it is done., next: [{if: "'b' in notes", exit: research_complete}]}
limits:
  asked:  {count: [ask], max: 1, to: open}
  turns:  {count: turns, max: 6, exit: step_limit}
  jots:   {count: [jot], max: 2, refuse: true}
  news:   {gain: notes, below: 0.0001, exit: gain_saturated}
  tokens: {count: tokens, max: 90000, exit: token_budget, reserve: 0.2}
finally: [{if: notes, to: [tell, look_back]}]
start:
  - {if: 'question == "a|b" or question < "ü漢"', to: [ask, aside]}
  - {if: "question | length > 400 and 'a condition that is much too long for a drawing' not in question and not 'it goes on and on' in question", exit: refusal}
  - open
nodes:
  ask:       {ask: "Which {{ question }}?", update: {topics: result.text}, next: ask, on_error: {exit: clarification_needed}}
  aside:     {update: {topics: "'aside'"}}
  open:      {update: {messages: [{user: question}], topics: "['one', 'bad', 'two']"}, next: work}
  work:
    model: config.model
    messages: messages
    tools: [look_up, jot, done]
    on_error: [{if: "error.kind == 'refusal'", to: gather}]
    next: [{if: "result.text == 'short'", to: gather}, {if: not result.tool_calls, to: gather}, act]
  act:       {run_tools: work, next: work}
  gather:    {each: topics, max_items: config.most, model: config.model, prompt: "Say {{ item }}", update: {notes: result.text}, on_error: next, next: check}
  check:     {model: config.model, prompt: "Is that all?", returns: verdict, on_error: next, next: {if: result.data.fine, exit: well_enough}}
  tell:      {update: {answer: "notes | join('; ')"}, next: join}
  look_back: {call: helper, input: {topic: "'back'"}, update: {notes: result.answer}, next: join}
  join:      {after: [tell, look_back], update: {topics: "'joined'"}}
types: {verdict: {fine: boolean}}
graphs:
  helper:
    state: {topic: string, answer: string}
    input: [topic]
    output: [answer]
    start: say
    nodes:
      say: {model: scripted, prompt: "Tell me of {{ topic }}", update: {answer: result.text}, on_error: [{if: "error.kind == 'refusal'", exit: refusal}], next: {exit: completed}}
"#;

const SCRIPT: &str = r#"rules:
  - {when: {user: Tell me of moons}, error: {kind: invalid_request, message: no moons}}
  - {when: {user: Tell me of}, reply: {text: told}}
  - {when: {user: Say bad}, error: {kind: invalid_request, message: bad}}
  - {when: {user: Say}, reply: {text: said}}
  - {when: {user: Is that all}, reply: {data: {fine: true}}}
  - when: {tools: [look_up], turn: 0}
    reply:
      calls:
        - {name: look_up, arguments: {topic: tides}}
        - {name: look_up, arguments: {topic: moons}}
        - {name: look_up, arguments: {topic: winds}}
        - {name: jot, arguments: {text: a}}
        - {name: done}
  - when: {tools: [look_up], turn: 1}
    reply: {calls: [{name: jot, arguments: {text: b}}, {name: jot, arguments: {text: c}}]}
  - when: {tools: [look_up]}
    reply: {text: long}
"#;

struct Drawn {
    world: World,
    graph: String,
    script: String,
}

impl Drawn {
    fn new(script: &str) -> Drawn {
        let world = World::new();
        let graph = world.write("everything.yaml", GRAPH);
        let script = world.write("script.yaml", script);
        Drawn { world, graph, script }
    }

    fn run(&self, question: &str) -> i32 {
        let said = self.world.deepgraph(&[
            "run",
            question,
            "--graph",
            &self.graph,
            "--script",
            &self.script,
            "--quiet",
        ]);
        assert!(!said.err.lines().any(|line| line.starts_with("error:")), "{}", said.err);
        said.code
    }

    fn draw(&self, args: &[&str]) -> String {
        let said = self.world.deepgraph(&[&["draw"], args].concat());
        assert_eq!(said.code, SUCCEEDED, "{}", said.err);
        said.out
    }

    /// What a drawing of the last run tells.
    fn last_run(&self) -> Told {
        Told::of(&self.draw(&["--run", "last", "--format", "dot"]))
    }
}

/// The boxes and lines of a DOT file, by name.
#[derive(Debug)]
struct Told {
    /// The first row of each box's label; graphs too. Those of child graphs have `helper.` before them.
    boxes: Vec<String>,
    /// `FROM -> TO LABEL`.
    lines: Vec<String>,
}

impl Told {
    fn of(dot: &str) -> Told {
        let label = |line: &str| {
            let text = line.split("label=\"").nth(1).unwrap_or_default();
            let text: String = text.replace("\\\"", "'").split('"').next().unwrap_or_default().to_owned();
            text.split("\\n").next().unwrap_or_default().to_owned()
        };
        let bare = |name: &str| name.split(" ×").next().unwrap_or_default().to_owned();
        let graph = |id: &str| if id.starts_with("g1_") { "helper." } else { "" };
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        let (mut boxes, mut joins) = (Vec::new(), Vec::new());
        for line in dot.lines().map(str::trim) {
            let id: String = line.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            if let Some((from, rest)) = line.split_once(" -> ") {
                let to = rest.trim_end_matches(';').split(' ').next().unwrap_or_default().to_owned();
                joins.push((from.to_owned(), to, label(line)));
            } else if line.contains(" [label=") {
                boxes.push(format!("{}{}", graph(&id), label(line)));
                names.insert(id.clone(), format!("{}{}", graph(&id), bare(&label(line))));
            }
        }
        let name = |id: &String| names.get(id).cloned().unwrap_or_else(|| panic!("{id} is no box"));
        let line = |(from, to, label): &(String, String, String)| {
            format!("{} -> {} {label}", name(from), name(to)).trim_end().to_owned()
        };
        Told { lines: joins.iter().map(line).collect(), boxes }
    }

    /// The lines that the run went along.
    fn taken(&self) -> Vec<&str> {
        self.lines.iter().filter(|line| line.contains('×')).map(String::as_str).collect()
    }

    fn has(&self, name: &str) -> bool {
        self.boxes.iter().any(|b| b == name)
    }
}

#[test]
fn every_form_of_a_drawing_is_kept() {
    let drawn = Drawn::new("rules: []");
    for form in ["mermaid", "dot", "svg"] {
        let text = drawn.draw(&[&drawn.graph, "--format", form]);
        support::snapshot("draw", form, &text);
        assert_eq!(text, drawn.draw(&[&drawn.graph, "--format", form]), "the same each time");
    }
    assert_eq!(drawn.draw(&[&drawn.graph]), drawn.draw(&[&drawn.graph, "--format", "mermaid"]));
}

#[test]
fn the_form_follows_from_the_name_of_the_file() {
    let drawn = Drawn::new("rules: []");
    for (name, form) in [
        ("a.svg", "svg"),
        ("a.SVG", "svg"),
        ("a.dot", "dot"),
        ("a.gv", "dot"),
        ("a.mmd", "mermaid"),
        ("a.mermaid", "mermaid"),
    ] {
        assert_eq!(drawn.draw(&[&drawn.graph, "-o", name]), "");
        let written = std::fs::read_to_string(drawn.world.path(name)).expect("the file is there");
        assert_eq!(written, drawn.draw(&[&drawn.graph, "--format", form, "-o", "-"]), "{name}");
    }
    drawn.draw(&[&drawn.graph, "--format", "dot", "-o", "picture.svg"]);
    let written = std::fs::read_to_string(drawn.world.path("picture.svg")).expect("the file is there");
    assert!(written.starts_with("digraph"), "what is asked for comes first");
}

#[test]
fn what_can_not_be_drawn_is_told() {
    let world = World::new();
    let cases: &[(&[&str], &str)] = &[
        (&["draw", "quick_answer", "-o", "picture.png"], ".svg, .dot or .mmd"),
        (&["draw", "quick_answer", "-o", "picture"], "--format"),
        (
            &["draw", "quick_answer", "-o", "no/such/folder/a.svg"],
            "the drawing can not be written to no/such/folder/a.svg",
        ),
        (&["draw", "quick_anser"], "did you mean quick_answer?"),
        (&["draw", "quick_answer", "--run", "last"], "cannot be used with"),
        (&["draw"], "required"),
        (&["draw", "--run", "last"], "no run"),
        (&["draw", "quick_answer", "--format", "png"], "mermaid, dot, svg"),
    ];
    for (args, told) in cases {
        let said = world.deepgraph(args);
        assert_eq!((said.code, said.out.as_str()), (USAGE, ""), "{args:?}: {}", said.err);
        assert!(said.err.contains(told), "{args:?}: {}", said.err);
    }
}

#[test]
fn a_run_shows_what_it_took_and_how_often() {
    let drawn = Drawn::new(SCRIPT);
    drawn.run("東京");
    let told = drawn.last_run();
    let wanted = [
        "start -> open ×1",
        "open -> work ×1",
        "work -> gather not result.tool_calls ×1",
        "work -> act ×2",
        "act -> work ×2",
        "gather -> check ×1",
        "gather -> check on_error ×1",
        "check -> well_enough result.data.fine ×1",
        "finally -> tell notes ×1",
        "finally -> look_back notes ×1",
        "tell -> join ×1",
        "look_back -> join ×1",
        "act -> look_up ×3",
        "act -> jot ×2",
        "act -> done ×1",
        "helper.start -> helper.say ×4",
        "helper.say -> helper.completed ×3",
        "helper.a step fails -> helper.model_error ×1",
        "look_back -> helper.start starts ×1",
        "look_up -> helper.start starts ×3",
    ];
    let mut taken = told.taken();
    let mut wanted = wanted.to_vec();
    taken.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(taken, wanted);
    for name in ["work ×3", "gather ×1", "jots ×1", "well_enough ×1", "helper.say ×4", "helper.completed ×3"]
    {
        assert!(told.has(name), "{name}: {:?}", told.boxes);
    }
    for name in ["ask", "aside", "refusal", "research_complete", "turns", "helper.refusal"] {
        assert!(told.has(name), "{name} was not taken: {:?}", told.boxes);
    }
    let id = drawn.world.store();
    let id = deepgraph_store::Store::find_run(&id, "last").expect("there is a run").run_id.to_string();
    let text = drawn.draw(&["--run", "last"]).replace(&id, "[run]");
    support::snapshot("draw", "run", &text);
}

#[test]
fn a_run_that_waits_is_drawn_as_far_as_it_is_and_a_limit_leads_where_it_led() {
    let drawn = Drawn::new(SCRIPT);
    assert_eq!(drawn.run("a|b"), AWAITING_INPUT);
    let told = drawn.last_run();
    let condition = "question == 'a|b' or question < 'ü漢'";
    assert_eq!(
        told.taken(),
        [format!("start -> ask {condition} ×1"), format!("start -> aside {condition} ×1")]
    );
    assert!(drawn.draw(&["--run", "last"]).contains("ask ×1<br/>ask<br/>not over yet"));
    let said = drawn.world.deepgraph(&["resume", "last", "--answer", "that one", "--quiet"]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    let told = drawn.last_run();
    let taken = told.taken();
    assert!(taken.contains(&"asked -> open ×1"), "{taken:?}");
    assert!(!taken.iter().any(|line| line.starts_with("ask -> ask")), "the limit came in between: {taken:?}");
    assert!(taken.contains(&"aside -> completed ×1"), "{taken:?}");
    assert!(told.has("completed") && told.has("well_enough ×1"), "{:?}", told.boxes);
}

#[test]
fn a_tools_way_out_and_a_limits_exit_are_told_apart() {
    let finish = SCRIPT.replace("arguments: {text: c}}]}", "arguments: {text: c}}, {name: done}]}");
    let drawn = Drawn::new(&finish);
    assert_eq!(drawn.run("東京"), SUCCEEDED);
    let told = drawn.last_run();
    let out = "done -> research_complete 'b' in notes ×1";
    assert!(told.taken().contains(&out), "{:?}", told.taken());
    assert!(told.has("research_complete ×1") && told.has("step_limit"), "{:?}", told.boxes);

    let circling = SCRIPT.replace("{when: {tools: [look_up], turn: 1}", "{when: {tools: [look_up]}");
    let circling = circling.replace("  - when: {tools: [look_up], turn: 1}", "  - when: {tools: [look_up]}");
    let drawn = Drawn::new(&circling);
    drawn.run("東京");
    let told = drawn.last_run();
    assert!(told.taken().contains(&"turns -> step_limit ×1"), "{:?}", told.taken());
    assert!(told.has("step_limit ×1") && told.has("turns ×1"), "{:?}", told.boxes);
    assert!(told.taken().contains(&"act -> work ×5"), "the sixth was not started: {:?}", told.taken());
}

#[test]
fn the_run_of_a_stock_graph_is_drawn_too() {
    let world = World::new();
    let question = "Compare the Norvane N60 and the Corrigan C70 on range";
    let said = world.deepgraph(&["run", question, "--docs", &harbour(), "--quiet"]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    let drawn = world.deepgraph(&["draw", "--run", "last", "--format", "dot"]);
    assert!(drawn.out.contains("inherit ×1\\nresearch_complete"), "{}", drawn.out);
    let trace = world.deepgraph(&["trace", "last", "--format", "json"]);
    let trace: Value = serde_json::from_str(&trace.out).expect("a trace is JSON");
    let mut visits = BTreeMap::new();
    count_visits(&trace["root"], &mut visits);
    assert!(visits.len() > 10, "{visits:?}");
    for ((graph, node), n) in &visits {
        let label = format!("\"{node} ×{n}");
        assert!(drawn.out.contains(&label), "{node} of {graph} ran {n} times: {}", drawn.out);
    }
    let picture = world.deepgraph(&["draw", "--run", "last", "--format", "svg"]);
    assert!(picture.out.starts_with("<svg") && picture.out.contains("×1"), "{}", picture.err);
}

/// How often each node ran, by graph and name, from a trace.
fn count_visits(scope: &Value, visits: &mut BTreeMap<(String, String), u64>) {
    let graph = scope["graph"].as_str().unwrap_or_default();
    let steps = scope["super_steps"].as_array().into_iter().flatten();
    for node in steps.flat_map(|s| s["nodes"].as_array().into_iter().flatten()) {
        let step = node["step"].as_str().unwrap_or_default();
        let name = step.rsplit('/').next().and_then(|last| last.split('.').next()).unwrap_or_default();
        *visits.entry((graph.to_owned(), name.to_owned())).or_default() += 1;
        for inner in std::iter::once(node).chain(node["calls"].as_array().into_iter().flatten()) {
            if inner["child"].is_object() {
                count_visits(&inner["child"], visits);
            }
        }
    }
}
