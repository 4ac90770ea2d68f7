//! kill -9 at thirty random moments of a run of the command, over each store.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::place::Place;
use super::rows::sent_since;
use crate::cli::server::{Play, Server};
use crate::cli::world::{SUCCEEDED, World, harbour};

const KILLS: usize = 30;

/// Five researchers in each of two rounds.
const PLAY: Play = Play { rounds: 2, parallel: 5, searches: 2, latency: Duration::from_millis(20) };

/// Arguments of the command with its store.
fn with_store<'a>(args: &[&'a str], place: &'a str) -> Vec<&'a str> {
    let mut all = args.to_vec();
    if place.starts_with("postgres") {
        all.extend(["--store", place]);
    }
    all
}

fn killed_and_resumed(new_place: &dyn Fn(&World) -> Place) {
    let server = Server::start(PLAY);
    let docs = harbour();
    let run = [
        "run",
        "What is the range?",
        "--docs",
        &docs,
        "--model",
        "openai::played",
        "--base-url",
        &server.url,
    ];
    let undisturbed = World::new();
    let begun = Instant::now();
    let whole = undisturbed.deepgraph(&run);
    let length = begun.elapsed();
    assert_eq!(whole.code, SUCCEEDED, "{}", whole.err);

    let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64);
    let (mut random, mut killed) = (seed, 0);
    for _ in 0..10 * KILLS {
        if killed == KILLS {
            break;
        }
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let moment = length.mul_f64((random >> 33) as f64 / (1u64 << 31) as f64);
        let what = format!("seed {seed}, killed after {moment:?}");
        let world = World::new();
        let place = new_place(&world);
        let name = place.name();
        let mut child = world.spawn(&with_store(&run, &name));
        std::thread::sleep(moment);
        child.kill().expect("it can be killed");
        let _ = child.wait();
        let store = place.open();
        let Ok(record) = store.find_run("last") else { continue };
        let rows = || store.entries(&record.run_id, 0).expect("the journal can be read");
        let before = rows();
        if before.is_empty() {
            // It was killed before it had begun: nothing was there to be lost.
            continue;
        }
        killed += 1;
        let calls = server.all_calls();
        let resumed = world.deepgraph(&with_store(&["resume", "last"], &name));
        assert_eq!(resumed.code, SUCCEEDED, "{what}: {}", resumed.err);
        assert_eq!(resumed.out, whole.out, "{what}");
        let after = rows();
        let sent = sent_since(&before, &after, &what);
        assert_eq!(server.all_calls() - calls, sent, "{what}: calls are those of the journal, and no more");
    }
    assert_eq!(killed, KILLS, "seed {seed}");
}

#[test]
fn thirty_kills_over_sqlite() {
    // The command keeps its runs in the home folder of the world.
    killed_and_resumed(&|world| Place::Home(world.path("home").join("runs.sqlite")));
}

#[test]
fn thirty_kills_over_postgresql() {
    killed_and_resumed(&|_| Place::postgres());
}
