//! Questions to a person: clarification, plan review, answers that do not fit.

use deepgraph_protocol::{EntryBody, RunStatus, StepId, Value};
use deepgraph_testkit::{Sim, SimRun, data};

use super::supervised::{self, Turns, complete, node};
use crate::support::{self, stock};

fn plan() -> Value {
    Value::record([
        ("objective", Value::from("find out")),
        ("sub_questions", Value::from(vec![Value::from("one"), Value::from("two")])),
    ])
}

/// The stock graph, whose clarify stage asks back as often as it may if `unclear`.
fn run(
    config: &[(&str, Value)],
    unclear: bool,
    person: impl FnMut(&StepId, &str) -> Option<Value>,
    nobody: bool,
) -> SimRun {
    let bundle = stock("deep_research");
    let turns: Turns = vec![vec![complete()]];
    let mut sim = Sim::new(&bundle, |step, request| match node(step) {
        "clarify" if unclear => Ok(data(Value::record([
            ("need_clarification", Value::from(true)),
            ("question", Value::from("Which year?")),
        ]))),
        "plan" => Ok(data(plan())),
        _ => supervised::answer(&turns, step, request),
    })
    .ops(supervised::ops)
    .person(person);
    if nobody {
        sim = sim.nobody();
    }
    sim.run(support::question("a question"), support::config(&bundle, config))
}

fn status(run: &SimRun) -> RunStatus {
    let end = run.ended();
    RunStatus::of_ended(&end.exit.reason, end.exit.class, end.exit.findings, end.report, false)
}

#[test]
fn it_asks_back_at_most_twice_and_the_answers_reach_the_brief() {
    let mut asked = Vec::new();
    let run = run(
        &[],
        true,
        |id, text| {
            asked.push(format!("{id}: {text}"));
            Some(Value::from("2024"))
        },
        false,
    );
    assert_eq!(asked, ["ask_user.1: Which year?", "ask_user.2: Which year?"]);
    let brief = run.requests.iter().find(|(s, _)| node(s) == "brief").expect("there is a brief");
    assert_eq!(brief.1.messages[0].content.matches("Which year? 2024").count(), 2);
}

#[test]
fn an_open_question_is_waited_for_and_the_answer_may_come_after_a_crash() {
    let waits = run(&[], true, |_, _| None, false);
    assert!(waits.end.is_none());
    let bundle = stock("deep_research");
    let turns: Turns = vec![vec![complete()]];
    let resumed = Sim::new(&bundle, |step, request| supervised::answer(&turns, step, request))
        .ops(supervised::ops)
        .person(|_, _| Some(Value::from("2024")))
        .resume(&waits.rows);
    assert_eq!(resumed.ended().exit.reason.name(), "research_complete");
    let answers = resumed.rows.iter().filter(|(_, e)| matches!(e.body, EntryBody::Answered { .. })).count();
    assert_eq!(answers, 1, "the question was asked once");
}

#[test]
fn where_nobody_can_be_asked_the_run_ends_as_unclear() {
    let run = run(&[], true, |_, _| None, true);
    assert_eq!(run.ended().exit.reason.name(), "clarification_needed");
    assert_eq!(run.ended().report.map(|r| r.name()), Some("skipped"));
    assert_eq!(status(&run), RunStatus::Exhausted);
}

fn review(action: &str, plan: Option<Value>) -> Option<Value> {
    Some(Value::record([("action", Value::from(action)), ("plan", plan.unwrap_or_default())]))
}

#[test]
fn the_plan_that_was_approved_or_edited_is_what_runs() {
    let required = [("plan_review", Value::from("required"))];
    let system = |run: &SimRun| {
        let supervisor = run.requests.iter().find(|(s, _)| node(s) == "supervisor").expect("it ran");
        supervisor.1.messages[0].content.to_string()
    };
    let approved = run(&required, false, |_, _| review("approve", None), false);
    assert!(system(&approved).contains("\"sub_questions\""));
    let mut edited_plan = plan().as_map().cloned().expect("a record");
    edited_plan.insert("objective".into(), Value::from("find out something else"));
    let edited = run(&required, false, |_, _| review("edit", Some(Value::from(edited_plan.clone()))), false);
    assert!(system(&edited).contains("find out something else"));
    let rejected = run(&required, false, |_, _| review("reject", None), false);
    assert_eq!(rejected.ended().exit.reason.name(), "plan_rejected");
    assert_eq!(status(&rejected), RunStatus::Exhausted);
}

#[test]
fn an_unanswered_review_goes_on_where_it_is_optional() {
    let optional = run(&[("plan_review", Value::from("optional"))], false, |_, _| None, true);
    assert_eq!(optional.ended().exit.reason.name(), "research_complete");
    let required = run(&[("plan_review", Value::from("required"))], false, |_, _| None, true);
    assert_eq!(required.ended().exit.reason.name(), "plan_rejected");
}

#[test]
fn an_answer_that_does_not_fit_leaves_the_question_open() {
    let waits = run(
        &[("plan_review", Value::from("required"))],
        false,
        |_, _| Some(Value::from("yes please")),
        false,
    );
    assert!(waits.end.is_none(), "no answer fitted");
    let bundle = stock("deep_research");
    let machine = waits.machine(&bundle, "");
    let step = StepId::new("review_plan.1");
    assert!(machine.is_open(&step));
    let why = machine.check_answer(&step, &Value::from("yes please")).expect_err("it does not fit");
    assert!(why.contains("record"), "{why}");
    let why = machine
        .check_answer(&step, &Value::record([("action", Value::from("aprove"))]))
        .expect_err("it does not fit");
    assert!(why.contains("approve"), "{why}");
}
