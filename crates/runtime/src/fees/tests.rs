use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use deepgraph_graph::build::*;
use deepgraph_protocol::{
    EntryBody, ErrorKind, Fee, Hidden, Map, Meter, Millis, RunStatus, StepError, StepId, Value,
};
use deepgraph_store::{RunId, Stored};

use crate::{CallContext, Clock, CustomOp, Host, Outcome, recording};

/// Another one at each call.
const COUNTED: &str = "found | length";
const CENT: Fee = Fee { micro_usd: 10_000, unknown: 0 };

/// Asks `find` until the limit on money stops it, or it was asked four times. `n` is what it is asked.
fn graph(n: &str) -> Graph {
    Graph::new("finder")
        .config("budget", Type::number().optional())
        .channel("found", Type::list(Type::string()).reduce(Reducer::Append))
        .output(["found"])
        .limit("cost_budget", Limit::meter(Meter::CostUsd).max(config("budget")).exit("cost_budget"))
        .limit("rounds", Limit::count(["find"]).max(4).exit("step_limit"))
        .start("find")
        .node(
            "find",
            Node::call("find").cache("1h").input("n", n).update("found", "[result.text]").next("find"),
        )
}

/// A clock that stands still: how long a run really takes makes no difference between it and its replay.
struct Still;

impl Clock for Still {
    fn now(&self) -> Millis {
        0
    }
}

/// An op that costs a cent at most, and half of it; of equal calls the first one.
fn host(calls: &Arc<AtomicUsize>, most: Fee) -> Host {
    let calls = calls.clone();
    let find = CustomOp::new("find").reads().costs(most).input("n", Type::integer()).run_with(
        move |_: Map, context: CallContext| {
            let number = calls.fetch_add(1, Ordering::SeqCst);
            async move {
                context.charge(Fee { micro_usd: 2_000, unknown: 0 });
                context.charge(Fee { micro_usd: 3_000, unknown: 0 });
                match number {
                    1 => Err(StepError::new(ErrorKind::Unavailable, "down for a moment")),
                    _ => Ok(Value::from("x")),
                }
            }
        },
    );
    Host::builder().clock(Still).op(find).build().unwrap()
}

async fn run(host: &Host, budget: Option<f64>) -> (RunId, Outcome) {
    run_of(host, COUNTED, budget).await
}

async fn run_of(host: &Host, n: &str, budget: Option<f64>) -> (RunId, Outcome) {
    let bundle = host.load(&graph(n)).unwrap();
    let launch = host.run(&bundle);
    let launch = match budget {
        Some(budget) => launch.config("budget", budget),
        None => launch,
    };
    let running = launch.start().await.unwrap();
    let run = running.id().clone();
    (run, running.ended().await.unwrap().outcome().unwrap())
}

fn rows(host: &Host, run: &RunId) -> Vec<Stored> {
    host.store().entries(run, 0).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_call_is_reserved_for_before_it_is_made_and_a_ceiling_is_hard() {
    let calls: Arc<AtomicUsize> = Arc::default();
    let host = host(&calls, CENT);
    let (run, outcome) = run(&host, Some(0.02)).await;
    // Of two cents three half ones are paid, one of them by a call that failed; a whole one does not fit any more.
    assert_eq!(outcome.end.exit.reason.name(), "cost_budget");
    assert_eq!((outcome.end.settled.cost_micro_usd, calls.load(Ordering::SeqCst)), (15_000, 3));
    let rows = rows(&host, &run);
    let told = rows.iter().filter_map(|row| match &row.entry.body {
        EntryBody::Dispatched { attempt, reserve_micro_usd, key: None, .. } => {
            Some(format!("reserve {} {attempt}", reserve_micro_usd.unwrap_or(0)))
        }
        EntryBody::Completed { fee, attempt, .. } => Some(format!("paid {} {attempt}", fee.micro_usd)),
        EntryBody::AttemptFailed { fee, attempt, .. } => Some(format!("failed {} {attempt}", fee.micro_usd)),
        _ => None,
    });
    let told: Vec<String> = told.collect();
    assert_eq!(
        told,
        [
            "reserve 10000 1",
            "paid 5000 1",
            "reserve 10000 1",
            "failed 5000 1",
            "reserve 10000 2",
            "paid 5000 2",
            "reserve 10000 1",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn an_unknown_fee_is_refused_under_a_limit_on_money_alone() {
    let calls: Arc<AtomicUsize> = Arc::default();
    let host = host(&calls, Fee { micro_usd: 0, unknown: 1 });
    let (_, outcome) = run(&host, Some(1.0)).await;
    let detail = outcome.end.exit.detail.clone().unwrap_or_default();
    assert!(detail.contains("refused") && detail.contains("its fee is not known"), "{detail}");
    assert_eq!((calls.load(Ordering::SeqCst), outcome.end.settled.cost_micro_usd), (0, 0));
    let (_, outcome) = run(&host, None).await;
    assert_eq!(outcome.end.exit.reason.name(), "step_limit");
}

#[tokio::test(start_paused = true)]
async fn a_replay_reserves_and_pays_what_was_recorded_and_asks_nobody() {
    let calls: Arc<AtomicUsize> = Arc::default();
    let recorded = host(&calls, CENT);
    let (first, outcome) = run(&recorded, Some(0.02)).await;
    let bundle = recorded.load(&graph(COUNTED)).unwrap();
    let record = recorded.store().run(&first).unwrap().unwrap();
    let rows = rows(&recorded, &first);
    let recording = recording(&bundle, &record, &rows, &Hidden::default()).unwrap();
    let before = calls.load(Ordering::SeqCst);
    let free = CustomOp::new("find").reads().input("n", Type::integer()).run(|_: Map| async { Ok("never") });
    let again = Host::builder().op(free).replay(recording).build().unwrap();
    let (_, replayed) = run(&again, Some(0.02)).await;
    assert_eq!((replayed.status, &replayed.end), (RunStatus::clone(&outcome.status), &outcome.end));
    assert_eq!(calls.load(Ordering::SeqCst), before);
}

#[tokio::test(start_paused = true)]
async fn what_is_used_again_costs_nothing() {
    let calls: Arc<AtomicUsize> = Arc::default();
    let host = host(&calls, CENT);
    let (run, outcome) = run_of(&host, "7", Some(0.01)).await;
    assert_eq!(outcome.end.exit.reason.name(), "step_limit", "all four fit");
    assert_eq!((outcome.end.settled.cost_micro_usd, calls.load(Ordering::SeqCst)), (5_000, 1));
    let rows = rows(&host, &run);
    let reserved = rows.iter().filter(|row| matches!(row.entry.body, EntryBody::Dispatched { .. }));
    assert_eq!(reserved.count(), 1);
}

#[test]
fn what_is_charged_is_summed_over_all_that_hold_the_call() {
    let context = CallContext::new(RunId::new(), StepId::new("find.1"), 1, Arc::default());
    assert!(context.charged().is_none());
    let other = context.clone();
    other.charge(CENT);
    context.charge(Fee { micro_usd: 1, unknown: 1 });
    assert_eq!(other.charged(), Fee { micro_usd: 10_001, unknown: 1 });
}
