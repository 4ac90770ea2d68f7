//! Cases that are made of runs.

use std::time::Duration;

use super::super::server::{Play, Server};
use super::super::world::{AWAITING_INPUT, SUCCEEDED, Said, USAGE, World, harbour};
use super::echo;
use super::secrets::KEY;

/// A loop with a tool, retries and a failure at its end.
const GRAPH: &str = "\
deepgraph: 1
name: asked
config: {model: {type: string, default: scripted}, tone: {type: string, default: dry}}
state: {messages: messages, answer: {type: string, optional: true}}
input: [messages]
output: [answer]
tools: {search: {call: search}}
limits: {turns: {count: turns, max: 2, exit: step_limit}}
start: agent
nodes:
  agent:
    model: config.model
    messages: messages
    tools: [search]
    next:
      - {if: result.tool_calls, to: act}
      - {update: {answer: result.text}, exit: completed}
  act: {run_tools: agent, next: agent}
";

/// It never stops to search.
const SCRIPT: &str = "rules:\n  - {reply: {calls: [{name: search, arguments: {query: range}}]}}\n";

#[test]
fn a_run_that_went_wrong_becomes_a_case_beside_its_graph() {
    let (world, docs) = (World::new(), harbour());
    let graph = world.write("graphs/asked/graph.yaml", GRAPH);
    let script = world.write("script.yaml", SCRIPT);
    let options = ["--graph", &graph, "--script", &script, "--docs", &docs, "--set", "tone=warm"];
    let run = world.deepgraph(&[&["run", "How far?\nIn km."][..], &options].concat());
    assert_eq!(run.code, SUCCEEDED, "{}", run.err);
    std::fs::create_dir(world.path("graphs/asked/cases")).expect("it can be made");
    let said = world.deepgraph(&["case", "from-run", "last", "-o", "graphs/asked/cases/limit.yaml"]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    assert!(said.err.contains("It passes"), "{}", said.err);
    let case = std::fs::read_to_string(world.path("graphs/asked/cases/limit.yaml")).expect("it was written");
    for part in [
        "case: \"A run that ended by step_limit: How far? In km.\"\n",
        "graph: \"../graph.yaml\"\n",
        "  tone: warm\n",
        "  agent.1: {calls: [{search: {query: range}}], tokens: {",
        "  act.1/search.1:\n",
        "  exit: {reason: step_limit, limit: turns",
        "  trace: snapshot\n",
    ] {
        assert!(case.contains(part), "{part}: {case}");
    }
    let by_default = world.deepgraph(&["case", "from-run", "last"]);
    assert_eq!(by_default.code, SUCCEEDED, "{}", by_default.err);
    let cases = std::fs::read_dir(world.path("graphs/asked/cases")).expect("it is there").count();
    assert_eq!(cases, 2);
}

#[test]
fn a_run_whose_model_refused_becomes_a_case() {
    let (world, url) = (World::new(), echo::start(0));
    world.write("graph.yaml", &GRAPH.replace("default: scripted", "default: 'openai::m'"));
    let with_key = |args: &[&str]| Said::of(world.command(args).env("OPENAI_API_KEY", KEY));
    let run = with_key(&["run", "How far?", "--graph", "./graph.yaml", "--base-url", &url]);
    assert_eq!(run.code, 4, "{}", run.err);
    let said = with_key(&["case", "from-run", "last", "-o", "refused.yaml"]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    let case = std::fs::read_to_string(world.path("refused.yaml")).expect("it was written");
    assert!(case.contains("kind: unauthorized") && case.contains("HTTP 401"), "{case}");
    assert!(!case.contains(KEY), "{case}");
    assert!(case.contains("exit: model_error") && case.contains("status: failed"), "{case}");
}

#[test]
fn a_research_run_becomes_a_case_of_its_stock_graph() {
    let server = Server::start(Play { rounds: 1, parallel: 2, searches: 1, latency: Duration::ZERO });
    let (world, docs) = (World::new(), harbour());
    let options = ["--docs", &docs, "--model", "openai::played", "--base-url", &server.url];
    let run = world.deepgraph(&[&["run", "What is the range?"][..], &options].concat());
    assert_eq!(run.code, SUCCEEDED, "{}", run.err);
    let said = world.deepgraph(&["case", "from-run", "last", "-o", "range.yaml"]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    let case = std::fs::read_to_string(world.path("range.yaml")).expect("it was written");
    assert!(case.contains("stock:deep_research") && case.contains("cost: unknown"), "{case}");
}

/// A plan that a person is asked about.
const ASKS: &str = "\
deepgraph: 1
name: asks
types: {review: {action: {enum: [approve, reject]}}}
state: {question: string, plan: {type: string, optional: true}, action: {type: string, optional: true}}
input: [question]
output: [action]
start: plan
nodes:
  plan: {model: scripted, prompt: 'Plan {{ question }}', update: {plan: result.text}, next: review}
  review: {ask: 'Shall I? {{ plan }}', returns: review, update: {action: result.data.action}}
";

#[test]
fn a_run_that_waits_becomes_a_case_that_waits() {
    let world = World::new();
    world.write("graph.yaml", ASKS);
    world.write("script.yaml", "rules:\n  - {reply: {text: First this.}}\n");
    let run = world.deepgraph(&["run", "the tower", "--graph", "./graph.yaml", "--script", "script.yaml"]);
    assert_eq!(run.code, AWAITING_INPUT, "{}", run.err);
    let case = |name: &str| {
        let said = world.deepgraph(&["case", "from-run", "last", "-o", name]);
        assert_eq!(said.code, SUCCEEDED, "{}", said.err);
        std::fs::read_to_string(world.path(name)).expect("it was written")
    };
    let waits = case("waits.yaml");
    assert!(waits.contains("status: awaiting_input") && waits.contains("{later: true}"), "{waits}");
    let answered = world.deepgraph(&["resume", "last", "--answer", "approve"]);
    assert_eq!(answered.code, SUCCEEDED, "{}", answered.err);
    let approved = case("approved.yaml");
    assert!(approved.contains("answers:\n  review.1: {action: approve}"), "{approved}");
}

#[test]
fn there_is_no_case_of_a_run_that_is_not_there() {
    let world = World::new();
    world.write("graph.yaml", GRAPH);
    let said = world.deepgraph(&["case", "from-run", "last"]);
    assert_eq!(said.code, USAGE, "{}", said.err);
}
