//! `run --record`, `run --replay` and `case from-run`.

mod cases;
mod echo;
mod kept;
mod missing;
mod replays;
mod secrets;
mod stock;

use super::world::{Said, World};

/// The trace of the newest run, without what differs from run to run.
fn trace(world: &World) -> String {
    let said = world.deepgraph(&["trace", "last", "--redact", "--format", "json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    said.out
}

/// A recording without the moment at which its run started.
fn without_start(world: &World, name: &str) -> String {
    let text = std::fs::read_to_string(world.path(name)).expect("it was written");
    let (kept, start): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| !line.contains("\"started_ms\""));
    assert_eq!(start.len(), 1, "it says when the run started");
    kept.join("\n")
}

/// Replays a recording in a world of its own, with nothing but the recording.
fn replayed(recording: &std::path::Path) -> (World, Said) {
    let world = World::new();
    let said = world.deepgraph(&["run", "--replay", &recording.to_string_lossy()]);
    (world, said)
}
