//! The process that aborts.

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;

use super::abort::{Aborts, Side};
use super::place::Place;
use super::world::World;

const PLACE: &str = "CRASH_PLACE";
const SIDE: &str = "CRASH_SIDE";
const AT: &str = "CRASH_AT";
const LOG: &str = "CRASH_LOG";

/// Runs such a process to its end, however it ends.
pub fn run(place: &Place, side: Side, at: u64, log: &Path) -> ExitStatus {
    let binary = std::env::current_exe().expect("this test is a program");
    Command::new(binary)
        .args(["--ignored", "--exact", "crashes::child::breaks_off"])
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
    World::new(Arc::new(store), Path::new(&of(LOG))).begin();
}
