use deepgraph_graph::{OpTable, load};
use deepgraph_protocol::{Fact, Map, Source, Started, StepOutput, Value};

use super::*;
use crate::fold::{FoldError, Row};
use deepgraph_graph::Bundle;
use deepgraph_protocol::{Entry, EntryBody, StepId};

/// Reads until a limit ends it.
const GRAPH: &str = "
deepgraph: 1
name: reads
state:
  facts:   {type: [fact], reduce: union}
  sources: {type: {string: source}, reduce: merge}
output: [facts]
limits:
  gain:  {gain: facts, below: 0.4, window: 1, min_steps: 2, exit: gain_saturated}
  reads: {count: [look], max: 5, exit: step_limit}
start: look
nodes:
  look: {call: read, input: {source: \"'a'\"}, update: {facts: result.facts, sources: result.sources}, next: look}
";

fn bundle() -> Arc<Bundle> {
    let files = std::collections::BTreeMap::from([("t.yaml".to_owned(), GRAPH.to_owned())]);
    let loaded = load("t.yaml", &files, &OpTable::stock()).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    Arc::new(loaded.bundle)
}

fn read(visit: u64, facts: &[&str]) -> Entry {
    let fact = |key: &&str| {
        Value::of(&Fact { key: (*key).into(), text: (*key).into(), source: "s1".into(), ..Fact::default() })
    };
    let source = |id: &str, document: &str| {
        Value::of(&Source { id: id.into(), document: document.into(), ..Source::default() })
    };
    let sources = Value::record([
        ("s1", source("s1", "a.md")),
        ("s2", source("s2", "a.md")),
        ("s3", source("s3", "b.md")),
    ]);
    let record = Value::record([
        ("text", Value::from("")),
        ("facts", facts.iter().map(fact).collect()),
        ("sources", sources),
    ]);
    let step = StepId::new(format!("look.{visit}"));
    Entry {
        at: i64::try_from(visit).unwrap() * 1000,
        body: EntryBody::Completed {
            step,
            attempt: 1,
            output: StepOutput::Op(record),
            fee: deepgraph_protocol::Fee::NONE,
        },
    }
}

fn figures(entries: &[Entry]) -> Result<Figures, FoldError> {
    let bundle = bundle();
    let (graph, hash) = (bundle.root().path.clone(), bundle.hash.clone());
    let config = bundle.config_of(Default::default()).unwrap();
    let started = Started::first(graph, Arc::new(Map::new()), Arc::new(config), hash);
    let first = Entry { at: 0, body: EntryBody::Started(started) };
    let root = ScopePath::root();
    let rows = std::iter::once(&first).chain(entries).map(|entry| Row { scope: &root, entry });
    of_run(&bundle, rows)
}

#[test]
fn gains_sources_and_the_stop_are_told() {
    let found = figures(&[read(1, &["a", "b"]), read(2, &["a", "b"])]).unwrap();
    let gains: Vec<f64> =
        found.instances.iter().flat_map(|i| &i.gains).flat_map(|g| g.per_step.clone()).collect();
    assert_eq!(gains, [2.0, 0.0]);
    assert_eq!((found.final_gain, found.steps, found.attempts), (Some(0.0), 2, 1));
    assert_eq!((found.sources, found.passages, found.findings), (2, 3, Some(2)));
    let stop = found.stop.unwrap();
    assert_eq!(
        (stop.reason, stop.limit.map(|hit| hit.name)),
        (ExitReason::GainSaturated, Some("gain".into()))
    );
    assert_eq!(found.status, Some(RunStatus::Succeeded));
}

#[test]
fn a_run_that_is_going_on_has_figures_too() {
    let found = figures(&[read(1, &["a"])]).unwrap();
    assert_eq!((found.stop, found.status, found.steps), (None, None, 1));
    assert_eq!(figures(&[]).unwrap().final_gain, None);
}

#[test]
fn without_a_journal_there_are_none() {
    assert_eq!(of_run(&bundle(), Vec::new()), Err(FoldError::Empty));
}
