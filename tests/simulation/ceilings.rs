//! The ceiling test: random graphs with random price tables, parallel researchers, retries and crashes. What the
//! providers really did, counted by themselves, never passes a ceiling on tokens, money or calls by more than they went
//! past what they had promised; and there is always a report, or a failed one with what was found.

mod again;
mod graph;
mod market;

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_engine::Machine;
use deepgraph_graph::{Bundle, GraphIx, OpTable, load};
use deepgraph_protocol::{Entry, EntryBody, Map, ReportOutcome, ScopeEnd, ScopePath, Spent, Value};
use deepgraph_testkit::{Fault, Faults, Sim, SimRun};

use self::graph::{Ceilings, Random};
use self::market::{Market, Promises};

/// Graphs that are looked at.
const GRAPHS: u64 = 200;

/// Entries after which a run is left.
const MOST_ENTRIES: usize = 20_000;

/// What the driver meets: crashes with calls whose outcome is never learnt, others that come late or twice.
fn storm() -> Faults {
    Faults { failures: 0, misfits: 0, unanswered: 0, cancels: 0, crashes: 4, ..Faults::storm() }
}

/// How often what the test is about was met.
#[derive(Debug, Default)]
struct Met {
    ended_by: BTreeMap<String, usize>,
    overshoots: usize,
    passed_by_overshoot: usize,
    crashes: usize,
    charged_as_unknown: usize,
    unpriced: usize,
    failed_reports: usize,
    partial_reports: usize,
    compared: usize,
}

#[test]
fn ceilings_hold_in_random_graphs_with_random_prices() {
    let mut met = Met::default();
    for seed in 0..GRAPHS {
        let random = graph::graph(seed);
        let files = BTreeMap::from([("graph.yaml".to_owned(), random.text.clone())]);
        let bundle = match load("graph.yaml", &files, &OpTable::stock()) {
            Ok(loaded) => Arc::new(loaded.bundle),
            Err(mistakes) => panic!("graph {seed} does not load:\n{mistakes}\n{}", random.text),
        };
        for promises in [Promises::Kept, Promises::Broken] {
            for faults in [Faults::none(), storm()] {
                if let Err(why) = one(seed, &bundle, &random, promises, faults, &mut met) {
                    panic!("seed {seed}, promises {promises:?}, {faults:?}:\n{why}\n\n{}", random.text);
                }
            }
        }
    }
    println!("{met:#?}");
    for limit in ["token_budget", "cost_budget", "step_limit", "tool_call_cap"] {
        let ended = met.ended_by.get(limit).copied().unwrap_or(0);
        assert!(ended >= 20, "only {ended} runs ended by {limit}: {met:#?}");
    }
    let enough = [met.overshoots, met.passed_by_overshoot, met.crashes, met.charged_as_unknown, met.unpriced];
    assert!(enough.iter().all(|n| *n >= 10), "{met:#?}");
    assert!(met.failed_reports >= 5 && met.partial_reports >= 20, "{met:#?}");
}

/// One run of a graph, held against its ceilings.
fn one(
    seed: u64,
    bundle: &Arc<Bundle>,
    random: &Random,
    promises: Promises,
    faults: Faults,
    met: &mut Met,
) -> Result<(), String> {
    let mut market = Market::new(seed, promises);
    let input = Map::from([("question".into(), Value::from("what is known of the tides"))]);
    let config = bundle.config_of(BTreeMap::new()).map_err(|why| format!("{why:?}"))?;
    let sim = Sim::in_world(bundle, &mut market).seed(seed + 1).faults(seed, faults);
    let run = sim.stop_at(MOST_ENTRIES).run(input, config);
    let Some(end) = &run.end else { return Err("the run has not come to its end".to_owned()) };
    providers_are_within(&random.ceilings, &market)?;
    the_ledger_is_within(&random.ceilings, &market, bundle, &run)?;
    there_is_a_report(random, &run, end)?;
    let without_faults = faults == Faults::none();
    let settled = Spent { tool_calls: 0, ..end.settled };
    if without_faults && settled != market.told {
        return Err(format!("it has settled {settled:?}, and the providers told {:?}", market.told));
    }
    *met.ended_by.entry(end.exit.reason.name().to_owned()).or_default() += 1;
    met.overshoots += usize::from(market.over.tokens > 0);
    let is_past = random.ceilings.tokens.is_some_and(|most| market.sent.tokens > most);
    met.passed_by_overshoot += usize::from(is_past);
    met.crashes += run.faults.get(&Fault::Crash).copied().unwrap_or(0);
    met.charged_as_unknown += usize::from(run.machine(bundle, "").ledger().unknown.tokens > 0);
    met.unpriced += usize::from(market.unpriced_refused > 0);
    met.failed_reports += usize::from(end.report == Some(ReportOutcome::Failed));
    met.partial_reports += usize::from(end.report == Some(ReportOutcome::Partial));
    met.compared += usize::from(without_faults);
    Ok(())
}

/// What the providers did by their own count is within each ceiling, but for what they did past their promises.
fn providers_are_within(ceilings: &Ceilings, market: &Market) -> Result<(), String> {
    let (sent, over) = (&market.sent, &market.over);
    let figures = [
        ("tokens", ceilings.tokens, sent.tokens, over.tokens),
        ("micro-dollars", ceilings.micro_usd, sent.cost_micro_usd, over.cost_micro_usd),
        ("model calls", ceilings.model_calls, sent.model_calls, 0),
    ];
    for (what, most, used, over) in figures {
        if let Some(most) = most.filter(|most| used > most + over) {
            return Err(format!(
                "the providers did {used} {what}, {over} past their promises, and the ceiling is {most}"
            ));
        }
    }
    if ceilings.micro_usd.is_some() && sent.cost_unknown > 0 {
        return Err("a call without a price was sent under a ceiling of money".to_owned());
    }
    Ok(())
}

/// What the ledger of the run has used and reserved is within each ceiling after every entry.
fn the_ledger_is_within(
    ceilings: &Ceilings,
    market: &Market,
    bundle: &Arc<Bundle>,
    run: &SimRun,
) -> Result<(), String> {
    let mut machine = Machine::new(bundle.clone(), GraphIx(0), ScopePath::root());
    let mut raised: Option<Ceilings> = None;
    for (number, entry) in of_root(run).enumerate() {
        // From here on the raised ceilings are those of the whole.
        if let EntryBody::Resumed { config, .. } = &entry.body {
            raised = Some(Ceilings::of(config));
        }
        let ceilings = raised.as_ref().unwrap_or(ceilings);
        machine.apply(entry);
        let ledger = machine.ledger();
        let mut all = ledger.settled;
        all += ledger.unknown;
        all += ledger.reserved;
        let figures = [
            ("tokens", ceilings.tokens, all.tokens, market.over.tokens),
            ("micro-dollars", ceilings.micro_usd, all.cost_micro_usd, market.over.cost_micro_usd),
            ("model calls", ceilings.model_calls, all.model_calls, 0),
            ("tool calls", ceilings.tool_calls, all.tool_calls, 0),
        ];
        for (what, most, used, over) in figures {
            if let Some(most) = most.filter(|most| used > most + over) {
                let number = number + 1;
                return Err(format!(
                    "after entry {number} of the root {used} {what} are used and reserved of {most}"
                ));
            }
        }
    }
    Ok(())
}

fn of_root(run: &SimRun) -> impl Iterator<Item = &Entry> {
    run.rows.iter().filter(|(scope, _)| scope.is_root()).map(|(_, entry)| entry)
}

/// There is a report, or a failed one; what was found is there either way.
fn there_is_a_report(random: &Random, run: &SimRun, end: &ScopeEnd) -> Result<(), String> {
    let notes: Vec<&str> = texts(end.output.get("notes"));
    let handed_up = of_root(run).filter_map(|entry| match &entry.body {
        EntryBody::ChildEnded { end, .. } => Some(texts(end.output.get("notes"))),
        _ => None,
    });
    if let Some(lost) = handed_up.flatten().find(|note| !notes.contains(note)) {
        return Err(format!(
            "a researcher handed `{lost}` up, and it is not in what the run found: {notes:?}"
        ));
    }
    let report = end.output.get("report").and_then(Value::as_str).unwrap_or_default();
    match end.report {
        Some(ReportOutcome::Complete | ReportOutcome::Partial) if !report.is_empty() => Ok(()),
        Some(ReportOutcome::Failed) if !random.assembles => Ok(()),
        other => Err(format!(
            "there is no report (`{report}`), and the stage is {other:?}: {:?}",
            end.report_error
        )),
    }
}

fn texts(list: Option<&Value>) -> Vec<&str> {
    list.and_then(Value::as_list).unwrap_or_default().iter().filter_map(Value::as_str).collect()
}

/// The same graphs in worlds of all kinds of faults: no invariant is broken.
#[test]
fn nothing_else_breaks_in_these_graphs() {
    for seed in 0..GRAPHS / 4 {
        let random = graph::graph(seed);
        let files = BTreeMap::from([("graph.yaml".to_owned(), random.text.clone())]);
        let loaded = load("graph.yaml", &files, &OpTable::stock()).expect("it loads");
        super::simulate(&format!("graph {seed}\n{}", random.text), &Arc::new(loaded.bundle), 0..4);
    }
}

/// What a call used beyond what was reserved for it.
fn beyond(used: Spent, reserved: Spent) -> Spent {
    Spent {
        tokens: used.tokens.saturating_sub(reserved.tokens),
        cost_micro_usd: used.cost_micro_usd.saturating_sub(reserved.cost_micro_usd),
        ..Spent::default()
    }
}
