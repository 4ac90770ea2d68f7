//! Cases that are made of runs say what was reserved and when nothing came.

use deepgraph_protocol::{
    ErrorKind, Hidden, Map, Millis, ModelReply, ModelRequest, OutputShape, StepError, StepId, Value,
};
use deepgraph_testkit::case::{Case, from_run};
use deepgraph_testkit::{CancelAt, Outside, Said, Sim, fails, says};
use deepgraph_trace::Row;

use crate::support;

const GRAPH: &str = "
deepgraph: 1
name: bounded
state: {question: string, text: {type: string, optional: true}}
input: [question]
output: [text]
limits: {money: {count: cost_usd, max: 1, exit: cost_budget}, tokens: {count: tokens, max: 5000, exit: token_budget}}
start: first
nodes:
  first:  {model: m, prompt: First., update: {text: result.text}, next: second}
  second: {model: m, prompt: Second., on_error: third, next: third}
  third:  {model: m, prompt: Third.}
";

/// One answer, one failure, and one that takes for ever.
struct World;

impl Outside for World {
    fn model(&mut self, step: &StepId, _: u32, _: &ModelRequest) -> Result<ModelReply, StepError> {
        match step.as_str() {
            "second.1" => Err(fails(ErrorKind::Refusal, "no")),
            // The price is told by nobody.
            "first.1" => Ok(ModelReply { cost_micro_usd: None, ..says("Sixty metres.") }),
            _ => Ok(says("late")),
        }
    }

    fn op(&mut self, _: &StepId, _: u32, _: &str, _: &Map) -> Result<Value, StepError> {
        Err(fails(ErrorKind::Tool, "there is none"))
    }

    fn person(&mut self, _: &StepId, _: usize, _: &str, _: &OutputShape) -> Said {
        Said::Nothing
    }

    fn takes(&mut self, step: &StepId, _: Option<&str>, _: u32) -> Millis {
        if step.as_str() == "third.1" { 3_600_000 } else { 0 }
    }

    fn reserves(&mut self, step: &StepId, _: u32, _: &ModelRequest) -> (u64, Option<u64>) {
        (if step.as_str() == "first.1" { 110 } else { 500 }, Some(20_000))
    }
}

#[test]
fn what_failed_and_what_never_came_was_reserved_for() {
    let bundle = support::graph(GRAPH);
    let mut world = World;
    let run = Sim::in_world(&bundle, &mut world)
        .cancel(CancelAt::Time(1_000))
        .run(support::question("How high?"), support::config(&bundle, &[]));
    let rows = run.rows.iter().map(|(scope, entry)| Row { scope, entry });
    let text =
        from_run(&bundle, rows, "graph.yaml", "How high?", &Hidden::default()).expect("the journals fold");
    for part in [
        "  first.1: {text: Sixty metres., cost: {used: unknown, reserve: 0.02}",
        "tokens: {reserve: 500}, cost: {reserve: 0.02}",
        "text: never came",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(text.matches("reserve: 500").count(), 2, "{text}");
    assert_eq!(text.matches("reserve: 0.02").count(), 3, "{text}");
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let path = folder.path().join("it.yaml");
    std::fs::write(folder.path().join("graph.yaml"), GRAPH).expect("it can be written");
    std::fs::write(&path, &text).expect("it can be written");
    Case::load(&path).unwrap_or_else(|mistakes| panic!("{mistakes}\n{text}")).play().check();
}

const TIMED: &str = "
deepgraph: 1
name: timed
state: {question: string}
input: [question]
limits: {time: {count: active_time, max: 2s, exit: active_time}}
start: first
nodes:
  first:  {model: m, prompt: First., next: second}
  second: {model: m, prompt: Second., retry: {max: 2, backoff: 4s}, next: third}
  third:  {model: m, prompt: Third.}
";

/// Each call takes 800 ms; the second fails at once, is held for a minute when it is tried again, and for an hour more
/// by the limiter of its account.
struct Limited;

impl Outside for Limited {
    fn model(&mut self, step: &StepId, attempt: u32, _: &ModelRequest) -> Result<ModelReply, StepError> {
        match (step.as_str(), attempt) {
            ("second.1", 1) => Err(fails(ErrorKind::Unavailable, "not now")),
            _ => Ok(says("yes")),
        }
    }

    fn op(&mut self, _: &StepId, _: u32, _: &str, _: &Map) -> Result<Value, StepError> {
        Err(fails(ErrorKind::Tool, "there is none"))
    }

    fn person(&mut self, _: &StepId, _: usize, _: &str, _: &OutputShape) -> Said {
        Said::Nothing
    }

    fn takes(&mut self, step: &StepId, _: Option<&str>, attempt: u32) -> Millis {
        if (step.as_str(), attempt) == ("second.1", 1) { 0 } else { 800 }
    }

    fn held(&mut self, step: &StepId, attempt: u32) -> Millis {
        match (step.as_str(), attempt) {
            ("second.1", 2) => 60_000,
            ("third.1", 1) => 3_600_000,
            _ => 0,
        }
    }
}

#[test]
fn what_was_held_is_held_in_the_case_so_that_limits_on_time_act_at_the_same_moment() {
    let bundle = support::graph(TIMED);
    let mut world = Limited;
    let run =
        Sim::in_world(&bundle, &mut world).run(support::question("How high?"), support::config(&bundle, &[]));
    let exit = &run.end.as_ref().expect("it ends").exit;
    assert_eq!((exit.reason.name(), exit.clocks.active_ms), ("active_time", 2_000));
    let rows = run.rows.iter().map(|(scope, entry)| Row { scope, entry });
    let text =
        from_run(&bundle, rows, "graph.yaml", "How high?", &Hidden::default()).expect("the journals fold");
    for part in ["held: 60000ms, takes: 800ms", "held: 3600000ms, takes: "] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let path = folder.path().join("it.yaml");
    std::fs::write(folder.path().join("graph.yaml"), TIMED).expect("it can be written");
    std::fs::write(&path, &text).expect("it can be written");
    let case = Case::load(&path).unwrap_or_else(|mistakes| panic!("{mistakes}\n{text}"));
    case.play().check();
    let trace = case.trace().expect("it can be played");
    // Clocks of a case's trace are redacted: the limit on time acted at the same step.
    let played = trace.root.exit.as_ref().expect("it ends");
    assert_eq!((&played.reason, &played.last_step), (&exit.reason, &exit.last_step), "{text}");
}

#[test]
fn a_question_is_cut_without_leaving_a_part_of_a_secret() {
    let bundle = support::graph(GRAPH);
    let mut world = World;
    let run = Sim::in_world(&bundle, &mut world)
        .cancel(CancelAt::Time(1_000))
        .run(support::question("?"), support::config(&bundle, &[]));
    let rows = || run.rows.iter().map(|(scope, entry)| Row { scope, entry });
    let secret = "k3y-of-the-test-0123456789";
    let hidden = Hidden::new([secret.to_owned()]);
    for before in 60..90 {
        let question = format!("{}{secret}", "x".repeat(before));
        let text = from_run(&bundle, rows(), "graph.yaml", &question, &hidden).expect("the journals fold");
        assert!(!text.contains("k3y"), "{text}");
    }
}
