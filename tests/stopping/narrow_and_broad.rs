//! The acceptance pair of S9: a narrow and a broad question, on the same graph, under the same settings.

use deepgraph_protocol::{ExitReason, Value};

use super::world::{document, exit, gains, reading, run};

/// The settings of both: stop after the first step that brings too little, two steps at least.
fn settings() -> [(&'static str, Value); 2] {
    [("gain_window", Value::Int(1)), ("min_steps", Value::Int(2))]
}

#[tokio::test]
async fn a_narrow_question_stops_after_the_second_step() {
    let documents = [
        (
            "census.md".to_owned(),
            "# Census\n\nUruguay had 3,444,263 inhabitants at the census of 2023.\n".to_owned(),
        ),
        ("almanac.md".to_owned(), "# Almanac\n\nThe population of Uruguay is 3 444 263.\n".to_owned()),
        ("third.md".to_owned(), "# Third\n\nParaguay has 6,109,644 inhabitants.\n".to_owned()),
    ];
    let stopped = run(&documents, &[&[reading(&documents)]], &settings()).await;
    let researcher = stopped.researcher();
    assert_eq!(gains(researcher), [1.0, 0.0]);
    let exit = exit(researcher);
    assert_eq!(exit.reason, ExitReason::GainSaturated);
    let limit = exit.limit.as_ref().expect("a limit ended it");
    assert_eq!((&*limit.name, limit.value, limit.bound), ("gain", 0, 20_000));
}

#[tokio::test]
async fn a_broad_question_stops_at_the_tenth() {
    // Twenty-two new facts a step; then 199 are known and 2 are new: 2 ÷ 200 is one percent.
    let mut documents: Vec<_> = (1..=12).map(|number| document(number, 22)).collect();
    documents[0] = document(1, 23);
    documents[9] = document(10, 2);
    let stopped = run(&documents, &[&[reading(&documents)]], &settings()).await;
    let researcher = stopped.researcher();
    let gains = gains(researcher);
    assert_eq!(gains.len(), 10, "{gains:?}");
    assert!(gains[..9].iter().all(|gain| *gain > 0.04), "{gains:?}");
    assert!((gains[9] - 0.01).abs() < 1e-9, "{gains:?}");
    assert_eq!(exit(researcher).reason, ExitReason::GainSaturated);
    let json = stopped.trace.to_json();
    assert!(json.to_string().contains("\"gains\""), "the gains stand in the trace");
}

#[tokio::test]
async fn the_settings_of_exhaustive_work_read_on() {
    let mut documents: Vec<_> = (1..=8).map(|number| document(number, 12)).collect();
    for number in 2..=5 {
        documents[number - 1].1 = documents[0].1.clone();
    }
    let never = [("gain_threshold", Value::from(0.0))];
    let stopped = run(&documents, &[&[reading(&documents)]], &never).await;
    assert_eq!(exit(stopped.researcher()).reason, ExitReason::NoToolCalls);
    assert_eq!(gains(stopped.researcher()).len(), 8);
}
