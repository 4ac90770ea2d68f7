//! Who is told that a run is exhausted.

use std::sync::{Arc, Mutex};

use deepgraph_protocol::RunStatus;
use deepgraph_runtime::{Host, Observer, Outcome, Told};
use deepgraph_store::RunId;

use crate::support;

/// Keeps the ends that it is told.
#[derive(Clone, Default)]
struct Ends(Arc<Mutex<Vec<(RunId, Outcome)>>>);

impl Observer for Ends {
    fn told(&mut self, _: &Told) {}

    fn exhausted(&mut self, run: &RunId, outcome: &Outcome) {
        self.0.lock().expect("nobody panics with it").push((run.clone(), outcome.clone()));
    }
}

#[tokio::test]
async fn an_observer_is_told_of_a_run_that_is_exhausted_and_of_no_other() {
    let host = Host::builder().build().expect("it has no ops of its own");
    for (exit, is_told) in [("token_budget", true), ("completed", false)] {
        let bundle = support::graph(&format!(
            "deepgraph: 1\nname: ends\nstate: {{question: string}}\ninput: [question]\noutput: [question]\nstart: a\nnodes: \
             {{a: {{update: {{question: question}}, next: {{exit: {exit}}}}}}}\n"
        ));
        let ends = Ends::default();
        let running = host.run(&bundle).input("question", "?").observer(ends.clone()).start().await;
        let running = running.expect("it fits");
        let run = running.id().clone();
        let ended = running.ended().await.expect("it can be driven").outcome().expect("it is over");
        assert_eq!(ended.status == RunStatus::Exhausted, is_told, "{exit}");
        let told = ends.0.lock().expect("nobody panics with it").clone();
        let expected = is_told.then_some((run, ended));
        assert_eq!(told, Vec::from_iter(expected), "{exit}");
    }
}
