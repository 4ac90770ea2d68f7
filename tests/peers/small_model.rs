//! A real language model of 135 million parameters behind llama.cpp's server. It obeys JSON schemas, makes no tool calls of
//! its own, and what it writes is seldom of use: whatever it does, a run ends by itself, with an exit that has a name.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use deepgraph_protocol::ExitReason;
use serde_json::Value;

use super::{Part, peers};
use crate::cli::world::{Said, World};
use crate::support;

const QUESTION: &str = "How far does the Norvane N60 go on one charge?";

/// The server, until it is dropped.
struct Model {
    process: Child,
    base_url: String,
}

impl Model {
    fn start(folder: &Path, context: u32) -> Model {
        let mut process = Command::new(folder.join("bin/python"))
            .arg(support::repo().join("tests/peers/small_model.py"))
            .args(["0", &context.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Python can be started");
        let mut address = String::new();
        let stdout = process.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut address).expect("it can be read");
        assert!(address.starts_with("http://127.0.0.1:"), "the server says where it listens: {address:?}");
        Model { process, base_url: format!("{}/v1", address.trim()) }
    }

    /// A run of a stock graph against it, bounded by what it may use.
    fn run(&self, world: &World, more: &[&str]) -> Ended {
        let docs = support::repo().join("examples/harbour").to_string_lossy().into_owned();
        let config = world.write(
            "config.yaml",
            &format!(
                "services:\n  providers:\n    small: {{base_url: '{}'}}\n  models:\n    \
                 small::schema: {{context_window: 8192, max_output: 400, tools: schema}}\n    \
                 small::native: {{max_output: 400}}\n",
                self.base_url
            ),
        );
        let given = ["run", QUESTION, "--docs", &docs, "--config", &config, "--no-input", "--json"];
        Ended::of(world.deepgraph(&[&given[..], &["--set", "deadline=75s"], more].concat()))
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// How a run ended, from its last line.
#[derive(Debug)]
struct Ended {
    exit: String,
    status: String,
    text: String,
}

impl Ended {
    fn of(said: Said) -> Ended {
        let last = said.out.lines().last().unwrap_or_default();
        let last: Value = serde_json::from_str(last).unwrap_or_else(|e| panic!("{e}: {last}\n{}", said.err));
        assert_eq!(last["type"], "run_ended", "{last}\n{}", said.err);
        let text =
            |pointer: &str| last.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        Ended { exit: text("/exit/reason"), status: text("/status"), text: text("/text") }
    }

    /// Whether the exit is one of the closed set, and no mistake of the graph.
    fn is_named(&self) -> bool {
        let reason: ExitReason = serde_json::from_value(self.exit.as_str().into()).expect("it is a reason");
        !matches!(reason, ExitReason::Declared(_) | ExitReason::GraphError)
    }
}

#[test]
fn a_run_against_it_ends_by_itself_streaming_and_not() {
    let Some(folder) = peers(Part::Model) else { return };
    let model = Model::start(folder, 8192);
    for more in [&[][..], &["--no-stream"][..]] {
        let world = World::new();
        let ended = model.run(&world, &[&["--model", "small::native"][..], more].concat());
        assert!(ended.is_named(), "{ended:?}");
        assert!(matches!(ended.status.as_str(), "succeeded" | "exhausted" | "failed"), "{ended:?}");
        assert!(!ended.text.contains("http"), "it has fetched no page, so it cites none: {ended:?}");
    }
}

#[test]
fn by_a_schema_it_calls_tools_and_its_run_ends_by_itself() {
    let Some(folder) = peers(Part::Model) else { return };
    let model = Model::start(folder, 8192);
    let world = World::new();
    let ended = model.run(&world, &["--graph", "quick_answer", "--model", "small::schema"]);
    assert!(ended.is_named(), "{ended:?}");
    let trace = world.deepgraph(&["trace", "last", "--full"]).out;
    assert!(trace.contains("search") || trace.contains("read"), "it was asked which tool it wants: {trace}");
}

#[test]
fn a_window_that_is_too_small_ends_with_an_exit_too() {
    let Some(folder) = peers(Part::Model) else { return };
    let model = Model::start(folder, 512);
    let world = World::new();
    let ended = model.run(&world, &["--model", "small::native"]);
    assert!(ended.is_named(), "{ended:?}");
}
