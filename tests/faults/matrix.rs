//! The table, played.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use super::cell::{Cell, Place};
use super::held;
use super::server::{Fault, SLOW_DOWN_MS, Server, What};
use super::table::{self, End};
use super::world::{self, Manner, SPARE, Seen, at_once};
use crate::support;

/// What the runs of the table look into.
const TOPICS: [&str; 2] = ["Alder", "Birch"];

/// How a cell is played.
struct Way {
    cell: Cell,
    stream: bool,
    fallback: bool,
    fault: Fault,
    /// How it is to end.
    end: End,
}

/// A cell that was played.
struct Played {
    cell: Cell,
    /// What was seen.
    line: String,
    /// What is not as it should be.
    broken: Vec<String>,
    /// The steps of all its instances.
    steps: u64,
}

async fn play(way: Way) -> Played {
    let Way { cell, stream, fallback, fault, end } = way;
    let server = Server::start(&TOPICS, vec![fault]).await;
    let manner = Manner { stream, impatient: cell.what == What::Hang, fallback };
    match world::run(&server, &TOPICS, manner).await {
        Ok(seen) => {
            let mut broken = held::broken(&seen, &server);
            broken.extend(not_as(end, &seen));
            broken.extend(too_often(cell, &server));
            broken.extend(wrong_spare(cell, fallback, &seen, &server));
            Played { cell, line: line(&seen, &server), broken, steps: seen.steps() }
        }
        Err(why) => Played { cell, line: why.clone(), broken: vec![why], steps: 0 },
    }
}

/// What was seen of a run, on one line. How often another model was asked depends on which researcher was first.
fn line(seen: &Seen, server: &Server) -> String {
    let told = seen.reported(&TOPICS).len();
    let (all, faulty) = (server.log().count(|_| true), server.log().count(|asked| asked.fault.is_some()));
    let (status, exit, report) = (seen.outcome.status.name(), seen.exit(), seen.report_outcome());
    if server.log().count(|asked| asked.model == SPARE) > 0 {
        return format!("{status}, {exit}, {report}, {told} of {}, the fallback answered", TOPICS.len());
    }
    let ended = format!("{status:<9} | {exit:<17} | {report:<8} | {told} of {}", TOPICS.len());
    format!("{ended} | {all:>2} requests, {faulty:>2} faulty")
}

/// Whether the other model was asked where it should not be, was not asked where it should be, or is not told of. A model
/// that has just failed is passed over for a while, so the other one may be asked more often than the fault was met.
fn wrong_spare(cell: Cell, fallback: bool, seen: &Seen, server: &Server) -> Vec<String> {
    let asked = server.log().count(|asked| asked.model == SPARE);
    let faulty = server.log().count(|asked| asked.fault.is_some());
    let told = seen.replies_of(&format!("openai::{SPARE}"));
    let mut found = Vec::new();
    if !(fallback && table::fails_over(cell.what)) && asked > 0 {
        found.push(format!("the spare model was asked {asked} times, and never should be"));
    }
    if fallback && table::fails_over(cell.what) && (asked < faulty || asked == 0) {
        found.push(format!("the spare model was asked {asked} times after {faulty} failures"));
    }
    if told != asked {
        found.push(format!("the trace has {told} replies of the spare model, which was asked {asked} times"));
    }
    found
}

/// What of its end is not as it should be.
fn not_as(end: End, seen: &Seen) -> Option<String> {
    let findings = seen.reported(&TOPICS).len() == TOPICS.len();
    let came = (seen.outcome.status.name(), seen.exit(), seen.report_outcome(), findings);
    (came != end.seen()).then(|| format!("expected {:?}, came {came:?}", end.seen()))
}

/// Places that were asked more often than a fault is worth, or sooner than the server had said.
fn too_often(cell: Cell, server: &Server) -> Vec<String> {
    let mut found = Vec::new();
    let mut tries: BTreeMap<_, usize> = BTreeMap::new();
    for asked in server.log().all() {
        *tries.entry((asked.stage, asked.turn, asked.topic, asked.model)).or_default() += 1;
    }
    let most = table::tries(cell.what);
    found.extend(
        tries
            .iter()
            .filter(|(_, tries)| **tries > most)
            .map(|(place, tries)| format!("{place:?} was asked {tries} times")),
    );
    let wait = server.log().shortest_wait().unwrap_or(Duration::MAX);
    if cell.what == What::SlowDownFor && wait < Duration::from_millis(SLOW_DOWN_MS) {
        found.push(format!("the server had asked to wait, and was asked again after {wait:?}"));
    }
    found
}

/// Tells what is broken, all cells together.
fn expect_none(played: &[Played]) {
    let broken = played.iter().filter(|one| !one.broken.is_empty());
    let told: Vec<String> = broken
        .map(|one| {
            format!(
                "{} | {} | {}\n    {}",
                one.cell.place,
                one.cell.what,
                one.line,
                one.broken.join("\n    ")
            )
        })
        .collect();
    assert!(
        told.is_empty(),
        "{} of {} cells are not as they should be\n{}",
        told.len(),
        played.len(),
        told.join("\n")
    );
}

/// The steps of a run in which nothing goes wrong.
async fn steps_of_a_good_run() -> u64 {
    let cell = Cell { place: Place::All, what: What::Think };
    let fault = Fault::at(What::Think, |_| false);
    play(Way { cell, stream: true, fallback: false, fault, end: End::Good }).await.steps
}

/// Adds what is wrong about the number of steps of runs that are to take as many as a good one.
async fn expect_no_more_steps(played: &mut [Played], which: impl Fn(Cell) -> bool) {
    let good = steps_of_a_good_run().await;
    for one in played.iter_mut().filter(|one| which(one.cell) && one.steps != good) {
        one.broken.push(format!("it took {} steps, and a good run takes {good}", one.steps));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_stage_with_each_fault() {
    let always = |cell: Cell, fallback: bool| {
        let end = if fallback && table::fails_over(cell.what) { End::Good } else { table::end(cell) };
        play(Way { cell, stream: true, fallback, fault: cell.always(), end })
    };
    let alone = at_once(Cell::all(), |cell| always(cell, false)).await;
    let mut backed = at_once(Cell::all(), |cell| always(cell, true)).await;
    expect_no_more_steps(&mut backed, |cell| table::fails_over(cell.what)).await;
    let mut text =
        "place | fault | status | exit | report | findings | requests | with a fallback\n".to_owned();
    for (alone, backed) in alone.iter().zip(&backed) {
        let (Cell { place, what }, line) = (alone.cell, &alone.line);
        let other = if backed.line == *line { "the same" } else { &backed.line };
        let _ = writeln!(text, "{place:<23} | {what:<15} | {line} | {other}");
    }
    expect_none(&alone);
    expect_none(&backed);
    support::snapshot("faults", "matrix", &text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replies_that_come_whole_end_the_same() {
    let whole = |cell: Cell| Way {
        cell,
        stream: false,
        fallback: false,
        fault: cell.always(),
        end: table::end(cell),
    };
    expect_none(&at_once(Cell::all(), |cell| play(whole(cell))).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trouble_that_passes_costs_requests_and_nothing_else() {
    let places =
        [Place::Clarify, Place::Brief, Place::FirstTurn, Place::NextTurn, Place::Research, Place::HasRead];
    let places = places.into_iter().chain([Place::Compress, Place::Report]);
    let cells = places.flat_map(|place| What::ALL.map(|what| Cell { place, what }));
    let cells = cells.filter(|cell| table::is_transient(cell.what)).collect();
    let twice = |cell: Cell| {
        let fault = Fault::at(cell.what, move |asked| asked.attempt < 2 && cell.place.holds(asked));
        play(Way { cell, stream: true, fallback: false, fault, end: End::Good })
    };
    let mut played = at_once(cells, twice).await;
    expect_no_more_steps(&mut played, |_| true).await;
    expect_none(&played);
}
