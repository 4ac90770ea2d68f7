//! No run exceeds its bounds: random graphs in random worlds, under random orders of completion.

pub mod choices;
mod count;
pub mod graphs;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_graph::{Bound, Bounds, Bundle, Measure, OpTable, bounds_with_fallbacks, load};
use deepgraph_protocol::{Map, Value};
use deepgraph_testkit::{Faults, Manner, Outside, RandomWorld, Sim};
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use choices::Choices;
use count::Counted;

/// Graphs that are looked at.
const CASES: u32 = 96;

/// Runs of each graph, by seed and by how the world behaves.
const RUNS: [(u64, Manner); 5] =
    [(0, Manner::Greedy), (1, Manner::Wild), (2, Manner::Wild), (3, Manner::Greedy), (4, Manner::Wild)];

/// Entries after which a run is stopped: what it did until then is within its bounds all the same.
const MOST_ENTRIES: usize = 3000;

/// What was seen of all graphs.
#[derive(Debug, Default)]
struct Seen {
    graphs: usize,
    refused: usize,
    /// Graphs whose model calls are bounded and not 0.
    bounded: usize,
    /// Those of them of which a run reached half of the bound.
    half: usize,
    /// Runs that were stopped.
    stopped: usize,
}

/// What may go wrong: a quarter of all attempts fails.
const WILD: Faults = Faults {
    failures: 250,
    misfits: 160,
    unanswered: 200,
    timeouts: 0,
    lost: 0,
    duplicates: 0,
    late: 0,
    cancels: 0,
    crashes: 0,
    takeovers: 0,
};

#[test]
fn no_run_exceeds_its_bounds() {
    // More with PROPTEST_CASES: the first are the same.
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(CASES);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 400, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let seen = RefCell::new(Seen::default());
    let result = runner.run(&vec(any::<u32>(), 20..160), |numbers| {
        let text = graphs::graph(&mut Choices::of(&numbers));
        try_graph(&text, &mut seen.borrow_mut()).map_err(TestCaseError::fail)
    });
    if let Err(TestError::Fail(reason, numbers)) = &result {
        panic!("{reason}\n\n{}", graphs::graph(&mut Choices::of(numbers)));
    }
    result.expect("the runner runs");
    let seen = seen.into_inner();
    println!("{seen:?}");
    assert!(seen.graphs * 2 > cases as usize, "most graphs can be loaded: {seen:?}");
    assert!(seen.half * 2 >= seen.bounded, "the bounds say something: {seen:?}");
    assert!(seen.bounded * 3 >= seen.graphs, "{seen:?}");
}

/// Runs a graph and holds what happened against its bounds.
fn try_graph(text: &str, seen: &mut Seen) -> Result<(), String> {
    let files = BTreeMap::from([("graph.yaml".to_owned(), text.to_owned())]);
    let Ok(loaded) = load("graph.yaml", &files, &OpTable::stock()) else {
        seen.refused += 1;
        return Ok(());
    };
    seen.graphs += 1;
    let bundle = Arc::new(loaded.bundle);
    let config = bundle.config_of(BTreeMap::new()).expect("all keys have defaults");
    // By the number of fallbacks, which is the world's.
    let bounds = [0, 1, 2].map(|fallbacks| bounds_with_fallbacks(&bundle, &config, fallbacks));
    let mut most = 0;
    for (seed, manner) in RUNS {
        let (counted, fallbacks) = play(&bundle, &config, seed, manner, seen);
        let exceeded = counted.exceed(&bounds[fallbacks]);
        if !exceeded.is_empty() {
            return Err(format!("seed {seed}, {manner:?}:\n{}", exceeded.join("\n")));
        }
        most = most.max(counted.in_all(Measure::ModelCalls));
    }
    note_reached(&bounds[0], most, seen);
    Ok(())
}

/// What a run did, and how many fallbacks a model had.
fn play(bundle: &Arc<Bundle>, config: &Map, seed: u64, manner: Manner, seen: &mut Seen) -> (Counted, usize) {
    let mut world = RandomWorld::new(bundle, seed, manner, WILD);
    let input = Map::from([("q".into(), Value::from("a"))]);
    let run = Sim::in_world(bundle, &mut world).seed(seed).stop_at(MOST_ENTRIES).run(input, config.clone());
    seen.stopped += usize::from(run.end.is_none());
    (Counted::of(bundle, &run, &world), world.route("x").len() - 1)
}

fn note_reached(bounds: &Bounds, most: u64, seen: &mut Seen) {
    let bound = bounds.run.in_all[&Measure::ModelCalls].bound;
    if let Bound::AtMost(bound) = bound
        && bound > 0
    {
        seen.bounded += 1;
        seen.half += usize::from(most * 2 >= bound);
    }
}
