//! Ends before all cases are played: Ctrl-C, and that nobody reads any more.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use super::project::accepted;
use crate::cli::world::World;

const INTERRUPTED: i32 = 130;

/// Many cases, or one at which much is tried, behind the first.
fn with_copies(copies: usize, seeds: u64) -> World {
    let world = accepted();
    let text = std::fs::read_to_string(world.path("graphs/sea/cases/winds.yaml")).expect("it is there");
    let text = text.replace(", trace: snapshot", "");
    world.write("graphs/sea/cases/a.yaml", &text);
    let text = format!("{text}seeds: {seeds}\n");
    (0..copies).for_each(|n| drop(world.write(&format!("graphs/sea/cases/b{n}.yaml"), &text)));
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
    let world = with_copies(200, 8);
    let mut child = start(&world, &["--junit", "cases.xml"]);
    let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut told = String::new();
    out.read_line(&mut told).expect("it is UTF-8");
    interrupt(&child);
    out.read_to_string(&mut told).expect("it is UTF-8");
    assert_eq!(child.wait().expect("it ends").code(), Some(INTERRUPTED));
    let sums = told.lines().last().expect("it is told");
    assert!(sums.starts_with("204 cases: ") && sums.contains(" passed, interrupted, "), "{sums}");
    assert!(sums.contains(" not played"), "{sums}");
    let played = cases_in(&world, "cases.xml");
    assert!((1..204).contains(&played), "{played}");
    assert_eq!(told.matches("PASS").count(), played, "{told}");
}

#[cfg(unix)]
#[test]
fn a_second_ctrl_c_ends_at_once() {
    let world = with_copies(1, 100_000_000);
    let mut child = start(&world, &[]);
    let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut err = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut told = String::new();
    out.read_line(&mut told).expect("it is UTF-8");
    assert!(told.contains("sea/a"), "{told}");
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
    let world = with_copies(200, 8);
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
    assert!(cases_in(&world, "cases.xml") < 204);
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
