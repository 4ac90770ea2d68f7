//! The process that aborts.

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;

use deepgraph_store::Store;

use super::abort::{Aborts, Side};
use super::attempts;
use super::place::Place;
use super::routed::Routed;
use super::shop::Shop;
use super::world::World;

/// What it drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenario {
    /// Five researchers.
    Research,
    /// The second attempt of a run that ended at a limit.
    Raised,
    /// Calls that are held, fail over and cost something.
    Routed,
    /// Calls that write.
    Writes,
    /// Calls that write, cancelled and undone.
    Undone,
}

const SCENARIO: &str = "CRASH_SCENARIO";
const PLACE: &str = "CRASH_PLACE";
const SIDE: &str = "CRASH_SIDE";
const AT: &str = "CRASH_AT";
const LOG: &str = "CRASH_LOG";

/// Runs such a process to its end, however it ends.
pub fn run(scenario: Scenario, place: &Place, side: Side, at: u64, log: &Path) -> ExitStatus {
    let binary = std::env::current_exe().expect("this test is a program");
    Command::new(binary)
        .args(["--ignored", "--exact", "crashes::child::breaks_off"])
        .env(SCENARIO, format!("{scenario:?}"))
        .env(PLACE, place.name())
        .env(SIDE, format!("{side:?}"))
        .env(AT, at.to_string())
        .env(LOG, log)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("it can be started")
}

#[test]
#[ignore = "a process that other tests start"]
fn breaks_off() {
    let of = |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("{name} says what to do"));
    let side = if of(SIDE) == "Before" { Side::Before } else { Side::After };
    let at = of(AT).parse().expect("a number");
    let store = Aborts::new(Place::open_named(&of(PLACE)), side, at);
    let (store, log) = (Arc::new(store), of(LOG));
    match of(SCENARIO).as_str() {
        "Research" => World::new(store, Path::new(&log)).begin(),
        "Raised" => {
            let record = store.find_run("last").expect("it has a first attempt");
            World::new(store, Path::new(&log)).raise(&record, attempts::HIGH)
        }
        "Routed" => Routed::new(store, Path::new(&log)).begin(),
        scenario => Shop::new(store, Path::new(&log), scenario == "Undone").begin(),
    };
}
