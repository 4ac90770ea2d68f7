//! Random worlds under faults: a run folds to itself, and what holds under other limits is a journal of its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_engine::Machine;
use deepgraph_graph::Bundle;
use deepgraph_protocol::{Entry, EntryBody, Map, ScopeEnd, ScopePath};
use deepgraph_testkit::{Faults, Manner, RandomWorld, Sim, SimRun};
use deepgraph_trace::refold::{Matching, MissedKind, Refold, what_if};

use super::fold;
use crate::support::stock;

const GRAPHS: [&str; 5] = ["deep_research", "map_reduce", "recursive_research", "plan_execute", "teams"];

/// A run of a seed, left after so many entries.
fn play(bundle: &Arc<Bundle>, seed: u64, faults: Faults, most: usize) -> (SimRun, Map) {
    let config = bundle.config_of(RandomWorld::config(bundle, seed));
    let config = config.unwrap_or_else(|_| bundle.config_of(BTreeMap::new()).expect("the defaults fit"));
    let input = RandomWorld::input(bundle, seed);
    let mut world = RandomWorld::new(bundle, seed, Manner::Wild, faults).latencies(seed);
    let sim = Sim::in_world(bundle, &mut world).seed(seed).faults(seed, faults).stop_at(most);
    (sim.run(input, config.clone()), config)
}

fn ends(machines: &BTreeMap<ScopePath, Machine>) -> BTreeMap<&ScopePath, (Option<&ScopeEnd>, Map)> {
    machines.iter().map(|(scope, machine)| (scope, (machine.end(), machine.state()))).collect()
}

fn folds_to_itself(name: &str, bundle: &Arc<Bundle>, run: &SimRun, config: &Map) {
    for matching in [Matching::ById, Matching::Exact] {
        let folded = fold(bundle, &run.rows, bundle, config.clone(), matching);
        assert_eq!(folded.mismatches, [], "{name}");
        assert_eq!(ends(&folded.machines), ends(&folded.recorded), "{name}");
        assert_eq!(folded.first_unanswered(), None, "{name}");
        assert!(folded.not_taken.is_empty() && folded.otherwise.is_empty(), "{name}");
    }
}

#[test]
fn a_run_under_faults_folds_to_itself() {
    for graph in GRAPHS {
        let bundle = stock(graph);
        for seed in 0..12 {
            for (kind, faults) in [("calm", Faults::none()), ("storm", Faults::storm())] {
                let (run, config) = play(&bundle, seed, faults, 20_000);
                folds_to_itself(&format!("{graph}, {kind}, seed {seed}"), &bundle, &run, &config);
                let (left, config) = play(&bundle, seed, faults, run.rows.len() / 2);
                folds_to_itself(&format!("{graph}, {kind}, seed {seed}, left"), &bundle, &left, &config);
            }
        }
    }
}

/// The Machines of entries alone.
fn anew(bundle: &Arc<Bundle>, folded: &Refold) -> BTreeMap<ScopePath, Machine> {
    let mut machines: BTreeMap<ScopePath, Machine> = BTreeMap::new();
    let mut last = 0;
    let rows: Vec<(&ScopePath, &Entry)> = folded.rows.iter().map(|held| (&held.scope, &held.entry)).collect();
    for (scope, entry) in rows {
        assert!(entry.at >= last, "time never goes back");
        last = entry.at;
        if let EntryBody::Started(started) = &entry.body {
            let graph = bundle.find(&started.graph).expect("the graph is there");
            let machine = Machine::new(bundle.clone(), graph, scope.clone());
            assert!(machines.insert(scope.clone(), machine).is_none(), "{scope} is started once");
        }
        machines.get_mut(scope).expect("it was started").apply(entry);
    }
    machines
}

#[test]
fn what_holds_under_other_limits_is_a_journal_of_its_own() {
    let mut changed = 0;
    for graph in GRAPHS {
        let bundle = stock(graph);
        for seed in 0..12 {
            let (run, _) = play(&bundle, seed, Faults::storm(), 20_000);
            for other in [seed + 100, seed + 200] {
                let Ok(config) = bundle.config_of(RandomWorld::config(&bundle, other)) else { continue };
                let folded = fold(&bundle, &run.rows, &bundle, config, Matching::ById);
                let name = format!("{graph}, seed {seed} under {other}");
                assert_eq!(ends(&anew(&bundle, &folded)), ends(&folded.machines), "{name}");
                let what_if = what_if(&folded);
                assert!(what_if.steps.is_none_or(|steps| steps <= what_if.steps_recorded), "{name}");
                if let Some(found) = what_if.found {
                    let before = what_if.found_recorded;
                    assert!(found.findings <= before.findings && found.facts <= before.facts, "{name}");
                    let missed = (before.facts - found.facts) as usize;
                    let listed = what_if.missed.iter().filter(|one| one.kind == MissedKind::Fact).count();
                    assert_eq!(missed, listed, "{name}");
                }
                let is_said = what_if.steps.is_some() && what_if.used.is_some() && what_if.found.is_some();
                assert_eq!(is_said, !what_if.is_open_ended, "{name}");
                let root = folded.machines.get(&ScopePath::root()).and_then(|root| root.end());
                let was_over =
                    folded.recorded.get(&ScopePath::root()).is_some_and(|root| root.end().is_some());
                let is_open = folded.first_unanswered().is_some();
                assert!(
                    root.is_some() || is_open || !was_over,
                    "{name}: it is over, or it asks for something"
                );
                changed += usize::from(!what_if.is_unchanged());
            }
        }
    }
    assert!(changed > 20, "other limits make a difference: {changed}");
}
