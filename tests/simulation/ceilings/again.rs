//! Ceilings over further attempts: raised ones hold for all attempts together, children that go on included.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_graph::{Bundle, OpTable, load};
use deepgraph_protocol::{EntryBody, Map, ResumeFrom, Spent, Value};
use deepgraph_testkit::{Faults, Sim, SimRun};

use super::graph::{self, Ceilings, Random};
use super::market::{Market, Promises};
use super::{GRAPHS, MOST_ENTRIES, providers_are_within, storm, the_ledger_is_within, there_is_a_report};

/// Attempts of a run, with the first.
const MOST_ATTEMPTS: u64 = 4;

/// How often what the test is about was met.
#[derive(Debug, Default)]
struct Met {
    attempts: usize,
    refused: usize,
    children_that_went_on: usize,
    beyond_the_first_ceiling: usize,
    compared: usize,
}

#[test]
fn raised_ceilings_hold_for_all_attempts_together() {
    let mut met = Met::default();
    for seed in 0..GRAPHS / 2 {
        let random = graph::that_goes_on(seed);
        let files = BTreeMap::from([("graph.yaml".to_owned(), random.text.clone())]);
        let bundle = match load("graph.yaml", &files, &OpTable::stock()) {
            Ok(loaded) => Arc::new(loaded.bundle),
            Err(mistakes) => panic!("graph {seed} does not load:\n{mistakes}\n{}", random.text),
        };
        for promises in [Promises::Kept, Promises::Broken] {
            for faults in [Faults::none(), storm()] {
                if let Err(why) = all_attempts(seed, &bundle, &random, promises, faults, &mut met) {
                    panic!("seed {seed}, promises {promises:?}, {faults:?}:\n{why}\n\n{}", random.text);
                }
            }
        }
    }
    println!("{met:#?}");
    let enough = [met.attempts, met.children_that_went_on, met.beyond_the_first_ceiling, met.compared];
    assert!(enough.iter().all(|n| *n >= 50), "{met:#?}");
}

/// A run and its further attempts, each held against the ceilings as they stand then. The providers count on.
fn all_attempts(
    seed: u64,
    bundle: &Arc<Bundle>,
    random: &Random,
    promises: Promises,
    faults: Faults,
    met: &mut Met,
) -> Result<(), String> {
    let mut market = Market::new(seed, promises);
    let input = Map::from([("question".into(), Value::from("what is known of the tides"))]);
    let mut config = bundle.config_of(BTreeMap::new()).map_err(|why| format!("{why:?}"))?;
    let sim = Sim::in_world(bundle, &mut market).seed(seed + 1).faults(seed, faults);
    let mut run = sim.stop_at(MOST_ENTRIES).run(input, config.clone());
    for attempt in 1..=MOST_ATTEMPTS {
        held(bundle, random, &config, faults, &run, &market)
            .map_err(|why| format!("attempt {attempt}: {why}"))?;
        met.compared += usize::from(attempt > 1 && faults == Faults::none());
        let first = random.ceilings.tokens.is_some_and(|most| market.sent.tokens > most + market.over.tokens);
        met.beyond_the_first_ceiling += usize::from(first);
        raise(&mut config, seed + attempt);
        let order = seed * 31 + attempt;
        let sim = Sim::in_world(bundle, &mut market).seed(order).faults(order, faults);
        match sim.stop_at(MOST_ENTRIES).again(&run, config.clone(), ResumeFrom::Research) {
            Ok(next) => run = next,
            Err(_) => {
                met.refused += 1;
                return Ok(());
            }
        }
        met.attempts += 1;
    }
    let went_on = |entry: &EntryBody| matches!(entry, EntryBody::Resumed { .. });
    let children = run.rows.iter().filter(|(scope, entry)| !scope.is_root() && went_on(&entry.body));
    met.children_that_went_on += children.count();
    Ok(())
}

fn held(
    bundle: &Arc<Bundle>,
    random: &Random,
    config: &Map,
    faults: Faults,
    run: &SimRun,
    market: &Market,
) -> Result<(), String> {
    let Some(end) = &run.end else { return Err("the run has not come to its end".to_owned()) };
    providers_are_within(&Ceilings::of(config), market)?;
    the_ledger_is_within(&random.ceilings, market, bundle, run)?;
    there_is_a_report(random, run, end)?;
    let settled = Spent { tool_calls: 0, ..end.settled };
    if faults == Faults::none() && settled != market.told {
        return Err(format!("it has settled {settled:?}, and the providers told {:?}", market.told));
    }
    Ok(())
}

/// Every key of the configuration is raised, now by a little and now by a lot.
fn raise(config: &mut Map, seed: u64) {
    let times = 2 + seed % 3;
    for (key, value) in config.iter_mut() {
        let raised = match (&**key, &*value) {
            ("turns", Value::Int(n)) => Value::Int(n + 1 + (seed % 2) as i64),
            ("cost_usd", value) => {
                let dollars = value.as_float().unwrap_or(0.0) * times as f64 + 0.001;
                Value::from((dollars * 1_000_000.0).round() / 1_000_000.0)
            }
            (_, Value::Int(n)) => Value::Int(n * times as i64 + 1),
            (_, value) => Value::from((value.as_float().unwrap_or(0.0) * times as f64).round() + 1.0),
        };
        *value = raised;
    }
}
