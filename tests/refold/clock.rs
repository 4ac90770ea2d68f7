//! Clocks: of a fork, where the time since the run that it comes from counts in no limit; of a run, over all instances.

use std::collections::BTreeSet;

use deepgraph_engine::{Machine, Phase};
use deepgraph_graph::GraphIx;
use deepgraph_protocol::{
    Clocks, Effect, Entry, EntryBody, ErrorKind, Map, Output, ScopePath, StepError, Value,
};
use deepgraph_testkit::{Sim, SimRun, says};
use deepgraph_trace::{Row, figures};

use crate::support::{self, graph};

const GRAPH: &str = "
deepgraph: 1
name: timed
state: {question: string, text: string}
input: [question]
output: [text]
limits:
  deadline: {count: wall_time, max: 10, exit: deadline}
start: one
nodes:
  one: {model: m, prompt: one, update: {text: result.text}, next: two}
  two: {model: m, prompt: two, update: {text: result.text}}
";

const DAY: i64 = 86_400_000;

#[test]
fn a_fork_of_an_old_run_has_the_time_that_was_left() {
    let bundle = graph(GRAPH);
    let run = Sim::new(&bundle, |_, _| Ok(says("x"))).step_ms(1_000).stop_at(3);
    let run = run.run(support::question("?"), support::config(&bundle, &[]));
    let mut machine = Machine::new(bundle, GraphIx(0), ScopePath::root());
    let mut timer = None;
    for (_, entry) in &run.rows {
        for output in machine.apply(entry) {
            if let Output::Effect(Effect::WakeAt { timer: name, at }) = output {
                timer = Some((name, at));
            }
        }
    }
    let (timer, due) = timer.expect("it wants to be woken at its deadline");
    let last = run.rows.last().expect("there are entries").1.at;
    let now = last + DAY;
    machine.apply(&Entry { at: now, body: EntryBody::StateEdited { state: Map::new() } });
    assert!(machine.open_effects().iter().any(|effect| matches!(effect, Effect::CallModel { .. })));
    // The driver fires what is long due: the Machine asks for what is left.
    let outputs = machine.apply(&Entry { at: now, body: EntryBody::TimerFired { timer } });
    assert_eq!(machine.phase(), Phase::Main, "its time is not up: {outputs:?}");
    let again = outputs.iter().find_map(|output| match output {
        Output::Effect(Effect::WakeAt { at, .. }) => Some(*at),
        _ => None,
    });
    assert_eq!(again, Some(due + DAY));
}

const PARTS: &str = "
deepgraph: 1
name: parts
state: {question: string, first: string, second: string}
input: [question]
output: [first, second]
start: {to: [one, two]}
nodes:
  one: {call: part, input: {topic: question}, update: {first: result.note}}
  two: {call: part, input: {topic: question}, update: {second: result.note}}
graphs:
  part:
    state: {topic: string, note: string}
    input: [topic]
    output: [note]
    start: write
    nodes:
      write: {model: m, prompt: \"{{ topic }}\", retry: {max: 2, backoff: 4s}, update: {note: result.text}}
";

fn time_of(bundle: &std::sync::Arc<deepgraph_graph::Bundle>, run: &SimRun) -> Clocks {
    let rows = run.rows.iter().map(|(scope, entry)| Row { scope, entry });
    figures::of_run(bundle, rows).expect("it folds").time.expect("it was measured")
}

#[test]
fn where_all_children_wait_the_run_is_in_back_off() {
    let bundle = graph(PARTS);
    for seed in 0..4 {
        let mut failed = BTreeSet::new();
        let run = Sim::new(&bundle, |step, _| match failed.insert(step.clone()) {
            true => Err(StepError::new(ErrorKind::RateLimited, "slow down")),
            false => Ok(says("x")),
        });
        let run = run.seed(seed).step_ms(100).run(support::question("?"), support::config(&bundle, &[]));
        let of_root = run.ended().exit.clocks;
        let time = time_of(&bundle, &run);
        assert_eq!(of_root.backoff_ms, 0, "its own clock does not see that its children wait");
        assert!(time.backoff_ms > 3_000 && time.backoff_ms <= 4_000, "seed {seed}: {time:?}");
        assert!(time.active_ms < of_root.active_ms, "{time:?} {of_root:?}");
        assert_eq!((time.wall_ms, time.human_ms), (of_root.wall_ms, 0));
        let mut rows = run.rows.clone();
        // Rows in any order that keeps each scope's own order.
        rows.sort_by(|a, b| b.0.cmp(&a.0));
        let turned = figures::of_run(&bundle, rows.iter().map(|(scope, entry)| Row { scope, entry }));
        assert_eq!(turned.expect("it folds").time, Some(time));
    }
}

#[test]
fn an_instance_alone_has_the_time_of_its_own_clock() {
    let text = GRAPH.replace("prompt: two,", "prompt: two, retry: {max: 3, backoff: 1s},");
    let text = text
        .replace("next: two}", "next: ask}\n  ask: {ask: Which?, update: {text: result.text}, next: two}");
    let bundle = graph(&text);
    let mut tries = 0;
    let run = Sim::new(&bundle, |step, _| {
        tries += usize::from(step.as_str() == "two.1");
        match step.as_str() == "two.1" && tries < 3 {
            true => Err(StepError::new(ErrorKind::RateLimited, "slow down")),
            false => Ok(says("x")),
        }
    });
    let run = run.step_ms(250).person(|_, _| Some(Value::from("this")));
    let run = run.run(support::question("?"), support::config(&bundle, &[]));
    let of_root = run.ended().exit.clocks;
    assert!(of_root.backoff_ms > 0 && of_root.human_ms > 0 && of_root.active_ms > 0, "{of_root:?}");
    assert_eq!(time_of(&bundle, &run), of_root);
}
