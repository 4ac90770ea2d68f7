//! What all tests use.

use std::time::Duration;

use deepgraph_protocol::{Map, StepError, Value};
use deepgraph_tools::mcp::{McpError, Options, Server, Transport};

/// Longer than anything here takes.
pub const LONG: Duration = Duration::from_secs(20);

/// The scripted server as a command, in this manner.
pub fn command(manner: &str) -> Transport {
    command_with(manner, &[])
}

/// The same with an environment.
pub fn command_with(manner: &str, env: &[(&str, &str)]) -> Transport {
    Transport::Command {
        program: env!("CARGO_BIN_EXE_scripted-mcp-server").to_owned(),
        args: vec![manner.to_owned()],
        env: env.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
    }
}

/// Limits for tests.
pub fn options() -> Options {
    Options { connect_timeout: LONG, grace: Duration::from_millis(300), ..Options::default() }
}

/// Limits with little time to connect.
pub fn hasty() -> Options {
    Options { connect_timeout: Duration::from_millis(400), ..options() }
}

/// Connects to the scripted command, under the name `files`.
pub async fn connect(manner: &str) -> Server {
    Server::connect("files", command(manner), options()).await.unwrap()
}

/// The error of a connection that must fail.
pub async fn refused(transport: Transport, options: Options) -> McpError {
    Server::connect("files", transport, options).await.unwrap_err()
}

/// Arguments from pairs.
pub fn arguments(pairs: &[(&str, Value)]) -> Map {
    pairs.iter().map(|(name, value)| ((*name).into(), value.clone())).collect()
}

/// The text of a call without arguments.
pub async fn text(server: &Server, tool: &str) -> String {
    server.call(tool, &Map::new(), LONG).await.unwrap().text("text").to_owned()
}

/// The error of a call without arguments.
pub async fn failure(server: &Server, tool: &str) -> StepError {
    server.call(tool, &Map::new(), LONG).await.unwrap_err()
}

/// Waits until something holds, or fails.
pub async fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..500 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("never came true: {what}");
}

/// Whether a process is there. One that has ended and was not waited for is in the list still; it counts as gone.
pub fn is_alive(pid: &str) -> bool {
    let state = if cfg!(target_os = "linux") {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        status.lines().find_map(|line| line.strip_prefix("State:")).unwrap_or_default().to_owned()
    } else {
        let shown = std::process::Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
        String::from_utf8_lossy(&shown.stdout).into_owned()
    };
    !state.trim().is_empty() && !state.contains('Z')
}
