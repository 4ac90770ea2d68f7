//! Gain at the supervisor: what its researchers hand up that no other has handed up before.

use deepgraph_protocol::{ExitReason, Value};

use super::world::{document, exit, gains, reading, run};

#[tokio::test]
async fn researchers_that_bring_nothing_new_end_the_delegation() {
    let (first, second) = ([document(1, 20)], [document(2, 20)]);
    let documents = [first.clone(), second.clone()].concat();
    let both = [reading(&first), reading(&second)];
    let again = [reading(&first)];
    let turns: [&[String]; 6] = [&both, &again, &again, &again, &again, &again];
    let stopped = run(&documents, &turns, &[]).await;
    assert_eq!(gains(stopped.supervisor()), [40.0, 0.0, 0.0, 0.0]);
    assert_eq!(exit(stopped.supervisor()).reason, ExitReason::GainSaturated);
    assert_eq!(exit(&stopped.trace.root).reason, ExitReason::GainSaturated);

    let never = run(&documents, &turns, &[("gain_threshold", Value::from(0.0))]).await;
    assert_eq!(exit(never.supervisor()).reason, ExitReason::ResearchComplete);
}

#[tokio::test]
async fn a_researcher_that_adds_something_keeps_it_going() {
    let documents: Vec<_> = (1..=6).map(|number| document(number, 5)).collect();
    let topics: Vec<[String; 1]> = documents.iter().map(|one| [reading(std::slice::from_ref(one))]).collect();
    let turns: Vec<&[String]> = topics.iter().map(|topics| &topics[..]).collect();
    let stopped = run(&documents, &turns, &[]).await;
    assert_eq!(gains(stopped.supervisor()).len(), 6);
    assert_eq!(exit(stopped.supervisor()).reason, ExitReason::ResearchComplete);
}
