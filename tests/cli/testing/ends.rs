//! Ends before all cases are played: Ctrl-C, and that nobody reads any more.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::project::accepted;
use crate::cli::world::World;

const INTERRUPTED: i32 = 130;

/// Orders of completion that no machine is through with while a test waits.
const ENDLESS: u64 = 100_000_000;

/// Orders that take so long that whatever a test does meanwhile comes before their end, and that do come to it.
const LONG: u64 = 400;

/// One long case, and many behind it.
fn with_long() -> (World, usize) {
    let mut seeds = vec![8; 51];
    seeds[0] = LONG;
    // One before them, three of the project.
    (with_copies(&seeds), 1 + seeds.len() + 3)
}

/// A case that is played at once, and further ones behind it with so many orders of completion each.
fn with_copies(seeds: &[u64]) -> World {
    let world = accepted();
    let text = std::fs::read_to_string(world.path("graphs/sea/cases/winds.yaml")).expect("it is there");
    let text = text.replace(", trace: snapshot", "");
    world.write("graphs/sea/cases/a.yaml", &text);
    for (n, seeds) in seeds.iter().enumerate() {
        world.write(&format!("graphs/sea/cases/b{n}.yaml"), &format!("{text}seeds: {seeds}\n"));
    }
    world
}

fn start(world: &World, args: &[&str]) -> Child {
    let mut command = world.command(&[&["test", "-v", "--jobs", "1"], args].concat());
    command.env_remove("CI").stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the command can be started")
}

fn interrupt(child: &Child) {
    let interrupt = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &interrupt]).status().is_ok_and(|status| status.success()));
}

fn cases_in(world: &World, file: &str) -> usize {
    let text = std::fs::read_to_string(world.path(file)).expect("it is written");
    let xml = roxmltree::Document::parse(&text).expect("it is XML");
    xml.descendants().filter(|n| n.has_tag_name("testcase")).count()
}

#[cfg(unix)]
#[test]
fn ctrl_c_begins_no_further_case_and_tells_what_was_played() {
    let (world, cases) = with_long();
    let mut child = start(&world, &["--junit", "cases.xml"]);
    let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut told = String::new();
    out.read_line(&mut told).expect("it is UTF-8");
    interrupt(&child);
    out.read_to_string(&mut told).expect("it is UTF-8");
    assert_eq!(child.wait().expect("it ends").code(), Some(INTERRUPTED));
    let sums = told.lines().last().expect("it is told");
    assert!(
        sums.starts_with(&format!("{cases} cases: ")) && sums.contains(" passed, interrupted, "),
        "{sums}"
    );
    assert!(sums.contains(" not played"), "{sums}");
    let played = cases_in(&world, "cases.xml");
    assert!(matches!(played, 1 | 2), "the one that was told, and one that was at play: {played}");
    assert_eq!(told.matches("PASS").count(), played, "{told}");
}

#[cfg(unix)]
#[test]
fn a_second_ctrl_c_ends_at_once() {
    let world = with_copies(&[ENDLESS]);
    let mut child = start(&world, &[]);
    let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut err = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut told = String::new();
    out.read_line(&mut told).expect("it is UTF-8");
    assert!(told.contains("sea/a"), "{told}");
    // Nothing tells that the endless one has begun: it is given far more time than it needs for that.
    std::thread::sleep(Duration::from_millis(500));
    interrupt(&child);
    let mut said = String::new();
    err.read_line(&mut said).expect("it is UTF-8");
    assert!(said.starts_with("Interrupted: ") && said.contains("Ctrl-C again"), "{said}");
    interrupt(&child);
    assert_eq!(child.wait().expect("it ends").code(), Some(INTERRUPTED));
    out.read_to_string(&mut told).expect("it is UTF-8");
    assert!(!told.contains("cases: "), "{told}");
}

#[test]
fn where_nobody_reads_any_more_no_further_case_is_begun() {
    let (world, cases) = with_long();
    let mut child = start(&world, &["--junit", "cases.xml"]);
    let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut told = String::new();
    out.read_line(&mut told).expect("it is UTF-8");
    drop(out);
    let mut err = String::new();
    child.stderr.take().expect("it is piped").read_to_string(&mut err).expect("messages are UTF-8");
    // What was not played has not passed.
    assert_eq!(child.wait().expect("it ends").code(), Some(1), "{err}");
    assert!(err.contains("nobody reads") && err.contains("not played"), "{err}");
    assert!(cases_in(&world, "cases.xml") < cases);
}

#[test]
fn that_nobody_reads_the_end_is_no_failure() {
    let world = accepted();
    let mut command = world.command(&["test", "winds"]);
    let command = command.env_remove("CI").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command can be started");
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().expect("it is piped").read_to_string(&mut err).expect("messages are UTF-8");
    assert_eq!((child.wait().expect("it ends").code(), err.as_str()), (Some(0), ""));
}
