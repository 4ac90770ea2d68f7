//! What the records of runs tell: their steps, and which runs are meant.

use deepgraph_store::Store;
use serde_json::Value;

use super::world::{AWAITING_INPUT, Said, USAGE, World};

/// Some steps, and then a person is asked.
const ASKS: &str = "\
deepgraph: 1
name: asks
state: {question: string, answer: string}
input: [question]
output: [answer]
start: one
nodes:
  one: {call: think, input: {reflection: question}, next: two}
  two: {call: think, input: {reflection: question}, next: three}
  three: {call: think, input: {reflection: question}, next: ask}
  ask: {ask: Which?, update: {answer: result.text}}
";

fn json(said: &Said) -> Value {
    serde_json::from_str(&said.out).unwrap_or_else(|why| panic!("{why}: {}{}", said.out, said.err))
}

#[test]
fn a_run_that_waits_has_the_steps_that_its_progress_told() {
    let world = World::new();
    let graph = world.write("graph.yaml", ASKS);
    let waits = world.deepgraph(&["run", "Why?", "--graph", &graph]);
    assert_eq!(waits.code, AWAITING_INPUT, "{}", waits.err);
    assert!(waits.err.contains("three done (3 steps)"), "{}", waits.err);
    let runs = json(&world.deepgraph(&["runs", "--json"]));
    assert_eq!((&runs[0]["completedSteps"], &runs[0]["interrupted"]), (&3.into(), &false.into()));
    assert_eq!(json(&world.deepgraph(&["show", "last", "--json"]))["completedSteps"], 3);

    // Those that a fork took over are steps of it.
    let forked = world.deepgraph(&["fork", "last", "--at", "two.1"]);
    assert_eq!(forked.code, AWAITING_INPUT, "{}", forked.err);
    let fork = json(&world.deepgraph(&["show", "last", "--json"]));
    assert_eq!((&fork["completedSteps"], &fork["interrupted"]), (&3.into(), &false.into()), "{}", forked.err);
    let history = json(&world.deepgraph(&["history", "last", "--json"]));
    assert_eq!(history["steps"], 3);
}

#[test]
fn a_cancel_wants_more_of_an_id_than_a_letter() {
    let world = World::new();
    let graph = world.write("graph.yaml", ASKS);
    assert_eq!(world.deepgraph(&["run", "Why?", "--graph", &graph]).code, AWAITING_INPUT);
    let id = world.store().find_run("last").unwrap().run_id.to_string();
    for few in ["", " ", "0", &id[..3]] {
        let said = world.deepgraph(&["cancel", few]);
        assert_eq!(said.code, USAGE, "{few:?}: {}", said.err);
        assert!(said.err.contains("four characters"), "{few:?}: {}", said.err);
    }
    assert_eq!(world.deepgraph(&["show", &id[..1]]).code, 0, "who only looks may be short");
    let said = world.deepgraph(&["cancel", &id[..4]]);
    assert!(said.out.contains("is cancelled"), "{}", said.err);
}

#[test]
fn a_store_that_is_named_by_nothing_is_a_mistake() {
    let world = World::new();
    let said = world.deepgraph(&["runs", "--store", ""]);
    assert_eq!(said.code, USAGE, "{}", said.err);
    assert!(said.err.contains("--store is empty"), "{}", said.err);
    let unset = Said::of(world.command(&["runs"]).env("DEEPGRAPH_STORE", ""));
    assert_eq!(unset.code, 0, "{}", unset.err);
}
