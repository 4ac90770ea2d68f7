//! Graphs that call tools of MCP servers, from the declaration in the file to the answer of the model.

mod approvals;
mod calls;
mod consent;
mod ends;
mod handover;
mod http;
mod online;
mod own;
mod recorded;
mod site;
mod start;
mod undo;

use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use super::world::{Said, World};

/// The secret that the server is given. It must be nowhere but there.
const TOKEN: &str = "t0ken-of-the-test";

/// A loop of one model with tools of the server `crm`.
const REACT: &str = "\
deepgraph: 1
name: contacts
config: {model: {type: string, default: scripted}}
state: {messages: messages, answer: string}
input: [messages]
output: [answer]
mcp:
  crm: SERVER
tools:
  crm: {call: crm.*, only: [echo, picture], effect: read}
  add: {call: crm.add, approve: true}
limits:
  turns: {count: turns, max: 8, exit: step_limit}
start: agent
nodes:
  agent:
    model: config.model
    messages: messages
    tools: [crm, add]
    next:
      - {if: result.tool_calls, to: act}
      - {update: {answer: result.text}, exit: completed}
  act: {run_tools: agent, next: agent}
";

/// A world with a graph, a script for its model, and the MCP server that the graph declares.
struct Served {
    world: World,
    graph: String,
    script: String,
}

impl Served {
    /// The server behaves in this manner. `SERVER` in the graph is its declaration.
    fn new(graph: &str, manner: &str, script: &str) -> Served {
        let world = World::new();
        // The shell notes the number of the process that it becomes.
        let start = format!(
            "echo $$ >> {}; exec {} {manner}",
            world.path("pids").display(),
            env!("CARGO_BIN_EXE_mcp-server-under-test")
        );
        let server = format!(
            "{{command: [sh, -c, '{start}'], env: {{REQUESTS: '{}', API_KEY: '{{{{ secret.CRM_TOKEN }}}}'}}}}",
            world.path("requests").display()
        );
        let graph = world.write("graph.yaml", &graph.replace("SERVER", &server));
        let script = world.write("script.yaml", script);
        Served { world, graph, script }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.world.command(args);
        command.env("CRM_TOKEN", TOKEN);
        command
    }

    /// A command that has the secret.
    fn deepgraph(&self, args: &[&str]) -> Said {
        said(self.command(args))
    }

    fn run_args<'a>(&'a self, question: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        let mut args = vec!["run", question, "--graph", &self.graph, "--script", &self.script];
        args.extend(more);
        args
    }

    fn run(&self, question: &str, more: &[&str]) -> Said {
        self.deepgraph(&self.run_args(question, more))
    }

    /// The methods of all requests that reached the server, calls with the name of their tool.
    fn requests(&self) -> Vec<String> {
        let asked = self.asked();
        let name = |message: &Value| match message["params"]["name"].as_str() {
            Some(tool) => format!("call {tool}"),
            None => message["method"].as_str().unwrap_or_default().to_owned(),
        };
        asked.iter().map(name).collect()
    }

    /// The arguments of each call of a tool, in the order in which they reached the server.
    fn calls(&self, tool: &str) -> Vec<Value> {
        let calls = self.asked().into_iter().filter(|message| message["params"]["name"] == tool);
        calls.map(|mut call| call["params"]["arguments"].take()).collect()
    }

    fn asked(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.world.path("requests")).unwrap_or_default();
        // The last line may be half written.
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The processes that were started as servers.
    fn pids(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.world.path("pids")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Fails where a server is still there.
    #[track_caller]
    fn all_gone(&self, started: usize) {
        let pids = self.pids();
        assert_eq!(pids.len(), started, "so many were started");
        until("all servers are gone", || !pids.iter().any(|pid| is_alive(pid)));
    }

    /// Fails where the secret is written anywhere, or was said.
    #[track_caller]
    fn keeps_its_secret(&self, said: &[&Said]) {
        for Said { out, err, .. } in said {
            assert!(!out.contains(TOKEN) && !err.contains(TOKEN), "{out}{err}");
        }
        let mut open = vec![self.world.dir.path().to_owned()];
        let mut files = 0;
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).expect("it is a folder") {
                let path = entry.expect("it is there").path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    files += 1;
                    assert!(!holds(&path, TOKEN), "{} holds the secret", path.display());
                }
            }
        }
        assert!(files > 2, "there was something to look through");
    }

    #[track_caller]
    fn has_no_runs(&self) {
        let runs = self.world.deepgraph(&["runs", "--json"]);
        assert!(!runs.out.contains("runId"), "nothing was recorded: {}", runs.out);
    }
}

fn said(mut command: Command) -> Said {
    let output = command.output().expect("the command can be started");
    Said {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).expect("reports are UTF-8"),
        err: String::from_utf8(output.stderr).expect("messages are UTF-8"),
    }
}

fn holds(path: &Path, text: &str) -> bool {
    let bytes = std::fs::read(path).expect("the file can be read");
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Waits until something holds, or fails.
#[track_caller]
fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..3000 {
        if holds() {
            return;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("never came true: {what}");
}

/// Whether a process is there. One that has ended and was not waited for is in the list still; it counts as gone.
fn is_alive(pid: &str) -> bool {
    let state = if cfg!(target_os = "linux") {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        status.lines().find_map(|line| line.strip_prefix("State:")).unwrap_or_default().to_owned()
    } else {
        let shown = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().expect("ps is there");
        String::from_utf8_lossy(&shown.stdout).into_owned()
    };
    !state.trim().is_empty() && !state.contains('Z')
}

/// Sends a signal to a process.
fn signal(name: &str, pid: u32) {
    let kill = format!("kill -{name} {pid}");
    assert!(Command::new("sh").args(["-c", &kill]).status().is_ok_and(|status| status.success()));
}
