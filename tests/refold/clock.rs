//! The clock of a fork: the time since the run that it comes from counts in no limit.

use deepgraph_engine::{Machine, Phase};
use deepgraph_graph::GraphIx;
use deepgraph_protocol::{Effect, Entry, EntryBody, Map, Output, ScopePath};
use deepgraph_testkit::{Sim, says};

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
