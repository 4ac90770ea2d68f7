//! Real programs of other people, as peers: MCP servers of npm and PyPI, a SearXNG, and a documentation site.
//! `install.sh` gets them; tests whose peer can not be had here say so, and fail in CI.

mod everything;
mod offered;
mod pages;
mod python;
mod searxng;
mod site;
mod small_model;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use deepgraph_protocol::{Map, StepError, Value};
use deepgraph_runtime::tools::mcp::{Options, Server, Transport};

use crate::support;

/// Longer than any call of these tests takes.
const LONG: Duration = Duration::from_secs(60);

/// A part of what `install.sh` gets.
#[derive(Clone, Copy, Debug)]
enum Part {
    Node,
    Python,
    Model,
    Pages,
}

/// The folder of a part; none where it can not be had here. In CI it must be there.
fn peers(part: Part) -> Option<&'static Path> {
    static NODE: OnceLock<Option<PathBuf>> = OnceLock::new();
    static PYTHON: OnceLock<Option<PathBuf>> = OnceLock::new();
    static MODEL: OnceLock<Option<PathBuf>> = OnceLock::new();
    static PAGES: OnceLock<Option<PathBuf>> = OnceLock::new();
    let (cell, name) = match part {
        Part::Node => (&NODE, "node"),
        Part::Python => (&PYTHON, "python"),
        Part::Model => (&MODEL, "model"),
        Part::Pages => (&PAGES, "pages"),
    };
    cell.get_or_init(|| install(name)).as_deref()
}

fn install(name: &str) -> Option<PathBuf> {
    let script = support::repo().join("tests/peers/install.sh");
    let said = Command::new("bash").arg(script).arg(name).output();
    let why = match &said {
        Ok(said) if said.status.success() => {
            return Some(support::repo().join("target/test-peers").join(name));
        }
        Ok(said) => String::from_utf8_lossy(&said.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    let told =
        format!("the peers of the part {name} can not be installed (tests/peers/install.sh {name}): {why}");
    assert!(std::env::var_os("CI").is_none(), "{told}");
    eprintln!("LEFT OUT: {told}");
    None
}

/// The script of an MCP server of npm.
fn npm(folder: &Path, package: &str) -> String {
    let script = folder.join("node_modules/@modelcontextprotocol").join(package).join("dist/index.js");
    script.to_string_lossy().into_owned()
}

fn command(words: &[&str]) -> Transport {
    let (program, args) = words.split_first().expect("there is a program");
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    Transport::Command { program: (*program).to_owned(), args, env: Vec::new() }
}

async fn connected(name: &str, transport: Transport) -> Server {
    let server = Server::connect(name, transport, Options::default()).await;
    server.unwrap_or_else(|error| panic!("{error}"))
}

fn names(server: &Server) -> Vec<&str> {
    server.tools().iter().map(|tool| tool.name.as_str()).collect()
}

/// Calls a tool with arguments as JSON.
async fn call(server: &Server, tool: &str, arguments: &str) -> Result<Value, StepError> {
    server.call(tool, &map(arguments), LONG).await
}

/// The text that a tool gives back.
async fn text(server: &Server, tool: &str, arguments: &str) -> String {
    let answer = call(server, tool, arguments).await;
    answer.unwrap_or_else(|error| panic!("{}", error.message)).text("text").to_owned()
}

fn map(json: &str) -> Map {
    let value: Value = serde_json::from_str(json).expect("it is JSON");
    value.as_map().expect("it is an object").clone()
}

/// A port of the loopback that nobody listens at.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    listener.local_addr().expect("it has an address").port()
}
