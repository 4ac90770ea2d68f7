//! The number of model calls of the stock graph, against a server, streaming and not.

use std::time::Duration;

use super::server::{Play, Server};
use super::world::{World, harbour};

fn calls(max: &str, more: &[&str]) -> usize {
    let server =
        Server::start(Play { rounds: 3, parallel: 5, searches: 3, latency: Duration::from_millis(1) });
    let world = World::new();
    let docs = harbour();
    let set = format!("max_researcher_iterations={max}");
    let mut args = vec![
        "run",
        "What is the range?",
        "--docs",
        &docs,
        "--model",
        "openai::played",
        "--base-url",
        &server.url,
    ];
    args.extend(["--set", "gain_threshold=0", "--set", &set]);
    args.extend(more);
    let said = world.deepgraph(&args);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("The range was measured."), "{}", said.out);
    server.all_calls()
}

#[test]
fn three_rounds_of_five_make_82_calls_81_at_the_limit_and_35_by_default() {
    for more in [&[][..], &["--no-stream"]] {
        assert_eq!(calls("16", more), 82, "clarify, brief, 4 supervisor turns, 15 × (4 + 1), report");
        assert_eq!(calls("15", more), 81, "the fifteenth counted call is the last: no fourth turn");
        assert_eq!(calls("6", more), 35, "the sixth counted call is the last; four of its turn are refused");
    }
}
