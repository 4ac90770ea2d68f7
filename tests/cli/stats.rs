//! Figures of runs, classes of questions, and what is said of exits.

use deepgraph_store::Store;
use serde_json::Value;

use super::world::{SUCCEEDED, USAGE, World, harbour};

/// Two classes, of which one may do less.
const CLASSES: &str = "
deepgraph: 1
name: look_up
config:
  model:     {type: string, default: extractive}
  max_calls: {type: integer, default: 6, minimum: 1}
  most_turns: {type: integer, default: 9, minimum: 1}
  below:     {type: number, default: 0.02, minimum: 0}
intents:
  fact:   {kind: narrow, when: [wie viele], set: {max_calls: 1}}
  survey: {kind: broad, set: {below: 0, max_calls: 3}}
state:
  question: string
  messages: messages
  facts:    {type: [fact], reduce: union}
  sources:  {type: {string: source}, reduce: merge}
  answer:   string
input: [question]
output: [answer]
tools:
  search: {call: search, update: {sources: result.sources}}
  read:   {call: read, update: {sources: result.sources, facts: result.facts}}
limits:
  turns: {count: turns, max: config.most_turns, exit: step_limit}
  calls: {count: [search, read], max: config.max_calls, exit: tool_call_cap}
  gain:  {gain: facts, below: config.below, exit: gain_saturated}
start: open
nodes:
  open: {update: {messages: [{user: question}]}, next: agent}
  agent:
    model: config.model
    messages: messages
    tools: [search, read]
    next:
      - {if: not result.tool_calls, update: {answer: result.text}, exit: no_tool_calls}
      - act
  act: {run_tools: agent, next: agent}
";

const NARROW: &str = "How many passengers does the Norvane N60 carry?";
const BROAD: &str = "Compare the Norvane N60 and the Corrigan C70 on range and price";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn run(world: &World, graph: &str, question: &str, more: &[&str]) -> String {
    let docs = harbour();
    let mut args = vec!["run", question, "--graph", graph, "--docs", &docs];
    args.extend(more);
    let said = world.deepgraph(&args);
    assert!(said.code != USAGE && said.code != 1, "{}", said.err);
    said.err
}

#[test]
fn a_question_finds_its_class_and_its_configuration() {
    let world = World::new();
    let graph = world.write("graph.yaml", CLASSES);
    let told = run(&world, &graph, NARROW, &[]);
    assert!(told.contains("intent fact: the question is narrow: it says \"how many\""), "{told}");
    let shown = world.deepgraph(&["show", "last"]).out;
    assert!(shown.contains("fact: the question is narrow"), "{shown}");
    let row = |key: &str, shown: &str| {
        let found = shown.lines().find(|line| line.starts_with(key)).unwrap_or_default();
        found.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row("max_calls", &shown), "max_calls 1 intent fact");
    // By hand, by nobody, and behind all that a user says.
    for (more, wanted) in [
        (&["--intent", "survey"][..], "max_calls 3 intent survey"),
        (&["--intent", "none"], "max_calls 6 default"),
        (&["--set", "max_calls=2"], "max_calls 2 --set"),
    ] {
        run(&world, &graph, NARROW, more);
        assert_eq!(row("max_calls", &world.deepgraph(&["show", "last"]).out), wanted, "{more:?}");
    }
    let printed = world.deepgraph(&["config", &graph, "--intent", "survey"]);
    assert_eq!(row("below", &printed.out), "below 0 intent survey", "{}", printed.err);
    let by_question = world.deepgraph(&["run", "Wie viele Fähren?", "--graph", &graph, "--print-config"]);
    assert_eq!(row("max_calls", &by_question.out), "max_calls 1 intent fact");
    let document = world.deepgraph(&["config", &graph, "--intent", "fact", "--format", "json"]).out;
    let rows = json(&document)["config"].as_array().cloned().unwrap_or_default();
    let row = rows.iter().find(|row| row["key"] == "max_calls").expect("the key is listed");
    assert_eq!((&row["origin"], &row["source"]), (&"intent".into(), &"fact".into()));
}

#[test]
fn a_class_that_is_not_there_is_told() {
    let world = World::new();
    let graph = world.write("graph.yaml", CLASSES);
    for args in [
        &["config", &graph, "--intent", "facts"][..],
        &["run", NARROW, "--graph", &graph, "--intent", "facts"],
    ] {
        let said = world.deepgraph(args);
        assert_eq!(said.code, USAGE, "{}", said.err);
        assert!(said.err.contains("no intent \"facts\"; it has: fact, survey"), "{}", said.err);
    }
    let said = world.deepgraph(&["config", "quick_answer", "--intent", "fact"]);
    assert!(said.err.contains("it has none"), "{}", said.err);
}

#[test]
fn keys_have_the_names_that_people_know() {
    let world = World::new();
    let graph = world.write("graph.yaml", CLASSES);
    let file = world.write("settings.yaml", "most_turns: 4\nmax_steps: 3\n");
    let has = |line: &str, value: &str| line.split_whitespace().take(2).eq(["most_turns", value]);
    let said = world.deepgraph(&["config", &graph, "--set", "primary_model=openai::x", "--config", &file]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    assert!(
        said.out.contains("\"openai::x\"") && said.out.lines().any(|line| has(line, "4")),
        "{}",
        said.out
    );
    let said = world.deepgraph(&["config", &graph, "--set", "max_steps=2"]);
    assert!(said.out.lines().any(|line| has(line, "2")), "{}{}", said.out, said.err);
    let said = world.deepgraph(&["config", "router", "--set", "max_stepz=2"]);
    assert_eq!(said.code, USAGE, "{}", said.out);
}

#[test]
fn every_run_tells_its_figures() {
    let world = World::new();
    let graph = world.write("graph.yaml", CLASSES);
    let docs = harbour();
    let said = world.deepgraph(&["run", BROAD, "--graph", &graph, "--docs", &docs, "--json"]);
    let last = json(said.out.lines().last().unwrap_or_default());
    let figures = &last["figures"];
    assert_eq!((&figures["query"], &figures["class"]), (&BROAD.into(), &"survey".into()), "{last}");
    assert_eq!(figures["stop"]["reason"], last["exit"]["reason"]);
    assert_eq!(figures["tokens"], last["used"]["tokens"]);
    assert_eq!(figures["model_calls"], last["used"]["model_calls"]);
    assert_eq!(figures["tool_calls"], last["used"]["tool_calls"]);
    assert!(figures["sources"].as_u64().is_some_and(|n| n > 0), "{figures}");
    let shown = json(&world.deepgraph(&["show", "last", "--json"]).out);
    assert_eq!(&shown["figures"], figures);
    assert_eq!(shown["completedSteps"], figures["steps"]);
    let text = world.deepgraph(&["show", "last"]).out;
    assert!(text.contains("Figures\n-------\nsteps"), "{text}");
}

#[test]
fn figures_of_a_graph_with_children_are_sums() {
    let world = World::new();
    let docs = harbour();
    let said = world.deepgraph(&["run", BROAD, "--docs", &docs, "--json"]);
    let last = json(said.out.lines().last().unwrap_or_default());
    let figures = &last["figures"];
    for part in ["tokens", "model_calls", "tool_calls"] {
        assert_eq!(figures[part], last["used"][part], "{part}: {figures}");
    }
    let shown = json(&world.deepgraph(&["show", "last", "--json"]).out);
    assert_eq!(shown["completedSteps"], figures["steps"]);
    let instances = figures["instances"].as_array().cloned().unwrap_or_default();
    assert_eq!(instances.len(), 1 + last["exits"].as_array().map_or(0, Vec::len));
    assert!(instances.iter().any(|one| one["gains"][0]["per_step"][0].as_f64().is_some()), "{figures}");
}

#[test]
fn runs_are_summed_up_by_class() {
    let world = World::new();
    let empty = world.deepgraph(&["stats"]);
    assert_eq!((empty.code, empty.out.trim()), (SUCCEEDED, "There are no runs to sum up."));
    let graph = world.write("graph.yaml", CLASSES);
    for question in [NARROW, NARROW, BROAD] {
        run(&world, &graph, question, &[]);
    }
    run(&world, "quick_answer", NARROW, &[]);
    let all = json(&world.deepgraph(&["stats", "--format", "json"]).out);
    let classes = all["classes"].as_array().cloned().unwrap_or_default();
    let named: Vec<(&str, Option<&str>, u64)> = classes
        .iter()
        .map(|c| {
            (c["graph"].as_str().unwrap_or_default(), c["class"].as_str(), c["runs"].as_u64().unwrap_or(0))
        })
        .collect();
    assert_eq!(
        named,
        [("look_up", Some("fact"), 2), ("look_up", Some("survey"), 1), ("quick_answer", None, 1)]
    );
    let fact = &classes[0];
    assert_eq!(fact["stops"][0]["reason"], "tool_call_cap", "one call is all that such a question has");
    assert_eq!(
        (&fact["stops"][0]["share"], &all["runs"], &all["unreadable"]),
        (&1.0.into(), &4.into(), &0.into())
    );
    let text = world.deepgraph(&["stats", "--since", "1h", "--class", "fact"]).out;
    assert!(text.starts_with("look_up · fact: 2 runs\n") && !text.contains("survey"), "{text}");
    for args in
        [&["stats", "--until", "1h"][..], &["stats", "--graph", "storm"], &["stats", "--since", "2200-01-01"]]
    {
        assert!(world.deepgraph(args).out.contains("no runs to sum up"), "{args:?}");
    }
    assert!(
        world.deepgraph(&["stats", "--class", "none"]).out.starts_with("quick_answer · (no class): 1 run\n")
    );
    assert_eq!(world.deepgraph(&["stats", "--since", "soon"]).code, USAGE);
}

#[test]
fn a_run_that_can_not_be_read_hides_no_other() {
    let world = World::new();
    let graph = world.write("graph.yaml", CLASSES);
    run(&world, &graph, BROAD, &[]);
    let store = world.store();
    let record = store.find_run("last").expect("there is a run");
    let broken = deepgraph_store::RunRecord {
        run_id: deepgraph_store::RunId::new(),
        bundle: serde_json::json!({"entry": "gone.yaml", "files": {}}),
        ..record
    };
    store.create_run(&broken).expect("it can be recorded");
    let said = world.deepgraph(&["stats"]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    assert!(said.err.contains(&format!("run {} is left out", broken.run_id)), "{}", said.err);
    assert!(
        said.out.contains("look_up · survey: 1 run") && said.out.contains("1 run can not be read"),
        "{}",
        said.out
    );
}

#[test]
fn the_end_says_what_to_do() {
    let world = World::new();
    let graph = world.write("graph.yaml", CLASSES);
    let told = run(&world, &graph, NARROW, &[]);
    let run = json(&world.deepgraph(&["show", "last", "--json"]).out)["runId"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let wanted = format!(
        "ended by tool_call_cap: 1 of 1 counted calls (search, read) were used; to go on with more: \
         deepgraph resume {run} --set max_calls=2"
    );
    assert!(told.contains(&wanted), "{told}");
    assert!(world.deepgraph(&["show", "last"]).out.contains(&wanted));
    let page = world.deepgraph(&["explain", "tool_call_cap"]).out;
    assert!(
        page.starts_with("# tool_call_cap: all tool calls were used") && page.contains("What to do"),
        "{page}"
    );
    let list = world.deepgraph(&["explain"]).out;
    assert!(list.contains("DG0001") && list.contains("gain_saturated"), "{list}");
    let said = world.deepgraph(&["explain", "tool_cal_cap"]);
    assert!(said.code == USAGE && said.err.contains("tool_call_cap"), "{}", said.err);
}

#[test]
fn figures_are_over_all_attempts() {
    let world = World::new();
    let graph = world.write("graph.yaml", CLASSES);
    run(&world, &graph, NARROW, &[]);
    let before = json(&world.deepgraph(&["show", "last", "--json"]).out)["figures"].clone();
    // The command that the end of the first attempt names.
    let said = world.deepgraph(&["resume", "last", "--set", "max_calls=2", "--json"]);
    let last = json(said.out.lines().last().unwrap_or_default());
    let figures = &last["figures"];
    assert_eq!(
        (&before["attempts"], &figures["attempts"], &figures["class"]),
        (&1.into(), &2.into(), &"fact".into()),
        "{}{}",
        said.out,
        said.err
    );
    for part in ["tokens", "model_calls", "tool_calls"] {
        assert_eq!(figures[part], last["used"][part], "{part}: {figures}");
    }
    assert!(figures["steps"].as_u64() > before["steps"].as_u64(), "{before} {figures}");
    let shown = json(&world.deepgraph(&["show", "last", "--json"]).out);
    assert_eq!(shown["completedSteps"], figures["steps"]);
}

#[test]
fn a_step_whose_child_goes_on_is_counted_once() {
    let world = World::new();
    let docs = harbour();
    let args = ["run", BROAD, "--docs", &docs, "--set", "max_researcher_iterations=1"];
    assert!(world.deepgraph(&args).code != USAGE);
    let said = world.deepgraph(&["resume", "last", "--set", "max_researcher_iterations=2"]);
    assert!(said.code != USAGE && said.code != 1, "{}", said.err);
    let rows = world.journal();
    let ends = rows.iter().filter_map(|row| match &row.entry.body {
        deepgraph_protocol::EntryBody::ChildEnded { step, .. } => Some(step),
        _ => None,
    });
    let (mut seen, mut twice) = (std::collections::BTreeSet::new(), 0);
    ends.for_each(|step| twice += usize::from(!seen.insert(step)));
    assert!(twice > 0, "the supervisor ended in both attempts");
    let shown = json(&world.deepgraph(&["show", "last", "--json"]).out);
    let stats = json(&world.deepgraph(&["stats", "--format", "json"]).out);
    let history = json(&world.deepgraph(&["history", "last", "--format", "json"]).out);
    let what_if =
        json(&world.deepgraph(&["whatif", "last", "--set", "gain_window=3", "--format", "json"]).out);
    let steps = &shown["figures"]["steps"];
    assert_eq!(steps, &shown["completedSteps"]);
    assert_eq!(steps, &stats["classes"][0]["steps"]["p50"]);
    assert_eq!(steps, &history["steps"]);
    assert_eq!(steps, &what_if["steps_recorded"]);
}
