//! Questions to the person, from a run that has no terminal.

use super::world::{AWAITING_INPUT, EXHAUSTED, SUCCEEDED, USAGE, World, harbour};

#[test]
fn a_run_waits_for_its_plan_to_be_approved_and_goes_on_with_the_answer() {
    let world = World::new();
    let docs = harbour();
    let question = "Compare the Norvane N60 and the Corrigan C70 on range";
    let waits = world.deepgraph(&["run", question, "--docs", &docs, "--set", "plan_review=required"]);
    assert_eq!(waits.code, AWAITING_INPUT, "{}", waits.err);
    assert_eq!(waits.out, "", "there is no report yet");
    assert!(waits.err.contains("Approve, edit or reject"), "{}", waits.err);
    assert!(waits.err.contains("resume"), "it says how to answer: {}", waits.err);
    let refused = world.deepgraph(&["resume", "last", "--answer", "perhaps"]);
    assert_eq!(refused.code, AWAITING_INPUT, "an answer that does not fit is not taken: {}", refused.err);
    assert!(refused.err.contains("approve"), "{}", refused.err);
    let approved = world.deepgraph(&["resume", "last", "--answer", "approve"]);
    assert_eq!(approved.code, SUCCEEDED, "{}", approved.err);
    assert!(approved.out.contains("54 km"), "{}", approved.out);
}

#[test]
fn where_nobody_can_be_asked_a_required_review_ends_the_run() {
    let world = World::new();
    let docs = harbour();
    let args = ["run", "What is the range?", "--docs", &docs, "--set", "plan_review=required", "--no-input"];
    let said = world.deepgraph(&args);
    assert_eq!(said.code, EXHAUSTED, "{}", said.err);
    assert!(said.err.contains("plan_rejected"), "{}", said.err);
}

#[test]
fn answers_to_no_question_and_empty_answers_are_refused() {
    let world = World::new();
    let docs = harbour();
    let args = ["run", "What is the range?", "--docs", &docs, "--set", "plan_review=required"];
    let waits = world.deepgraph(&args);
    assert_eq!(waits.code, AWAITING_INPUT, "{}", waits.err);
    let before = world.journal();
    for answer in ["ask_user.9=approve", "review_plan.77=approve", "", "  "] {
        let said = world.deepgraph(&["resume", "last", "--answer", answer]);
        assert_eq!(said.code, USAGE, "{answer:?}: {}", said.err);
        assert!(said.err.contains("review_plan.1"), "{answer:?}: the open question is named: {}", said.err);
    }
    assert_eq!(world.journal(), before, "nothing was answered");
    let approved = world.deepgraph(&["resume", "last", "--answer", "review_plan.1=approve"]);
    assert_eq!(approved.code, SUCCEEDED, "{}", approved.err);
}
