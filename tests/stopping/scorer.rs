//! A scorer of one's own in place of the stock one.

use deepgraph_protocol::{ExitReason, Source};
use deepgraph_runtime::{HashedFacts, Known, Scored, Scorer};

use super::world::{document, exit, gains, reading, run_scored};

/// Counts only what is said of one ship, as one that compares meanings might.
struct OneShip(&'static str);

impl Scorer for OneShip {
    fn score(&self, read: &[Source], known: &Known<'_>) -> Scored {
        let mut scored = HashedFacts.score(read, known);
        scored.facts.retain(|fact| fact.text.contains(self.0));
        scored
    }
}

#[tokio::test]
async fn it_says_what_counts() {
    let documents: Vec<_> = (1..=8).map(|number| document(number, 12)).collect();
    let topic = [reading(&documents)];
    let one = run_scored(&documents, &[&topic], &[], OneShip("Alder")).await;
    assert_eq!(gains(one.researcher())[..3], [1.0, 0.5, 1.0 / 3.0]);
    let none = run_scored(&documents, &[&topic], &[], OneShip("Zephyr")).await;
    assert_eq!(gains(none.researcher()), [0.0; 5]);
    assert_eq!(exit(none.researcher()).reason, ExitReason::GainSaturated);
}
