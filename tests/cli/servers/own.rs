//! Servers of the user's own configuration.

use std::process::Command;

use super::super::world::{AWAITING_INPUT, SUCCEEDED, Said, USAGE, World};
use super::{TOKEN, said, until};

/// A loop of one model that offers a tool of its own and those of the user's servers.
const REACT: &str = "\
deepgraph: 1
name: own_tools
config: {model: {type: string, default: scripted}}
state: {messages: messages, answer: string}
input: [messages]
output: [answer]
tools:
  think: {call: think}
  mcp: {call: mcp.*}
limits:
  turns: {count: turns, max: 8, exit: step_limit}
start: agent
nodes:
  agent:
    model: config.model
    messages: messages
    tools: [think, mcp]
    next:
      - {if: result.tool_calls, to: act}
      - {update: {answer: result.text}, exit: completed}
  act: {run_tools: agent, next: agent}
";

/// A world with a graph, a script and a configuration, in which `SERVER` is the command of a server that is there.
struct Own {
    world: World,
    args: Vec<String>,
}

impl Own {
    fn new(graph: &str, script: &str, servers: &str) -> Own {
        let world = World::new();
        let start = format!(
            "echo $$ >> {}; exec {} plain",
            world.path("pids").display(),
            env!("CARGO_BIN_EXE_mcp-server-under-test")
        );
        let servers = servers.replace("SERVER", &format!("[sh, -c, '{start}']"));
        let files = [
            ("--graph", world.write("graph.yaml", graph)),
            ("--script", world.write("script.yaml", script)),
            ("--config", world.write("config.yaml", &format!("services:\n  mcp:\n{servers}"))),
        ];
        let args = files.into_iter().flat_map(|(option, path)| [option.to_owned(), path]).collect();
        Own { world, args }
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut args = vec!["run", "What is there?"];
        args.extend(self.args.iter().map(String::as_str));
        args.extend(more);
        self.world.command(&args)
    }

    fn run(&self, more: &[&str]) -> Said {
        said(self.command(more))
    }

    fn config(&self) -> &str {
        self.args.last().expect("it is the last argument")
    }

    fn pids(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.world.path("pids")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

const ECHO: &str = "
rules:
  - {when: {turn: 0, tools: [think, say]}, reply: {calls: [{name: say, arguments: {text: one}}]}}
  - {when: {turn: 1, text: one}, reply: {calls: [{name: say, arguments: {text: two}}]}}
  - {when: {turn: 2, text: 'error: refused: the MCP server \"crm\" was called 1 times in this run, the most that services.mcp.crm.max_calls allows'}, reply: {text: Once is enough.}}
";

#[test]
fn their_tools_are_chosen_renamed_and_limited() {
    let servers = "    crm: {command: SERVER, only: [echo, add], rename: {echo: say}, max_calls: 1}\n";
    let own = Own::new(REACT, ECHO, servers);
    let told = own.run(&["--json", "--record", "run.json"]);
    assert_eq!(told.code, SUCCEEDED, "{}", told.err);
    assert!(told.out.contains("Once is enough."), "{}", told.out);
    let first: serde_json::Value =
        serde_json::from_str(told.out.lines().next().unwrap_or_default()).expect("it is JSON");
    assert_eq!(first, serde_json::json!({"type": "servers", "servers": [{"name": "crm", "tools": 2}]}));
    assert!(told.err.contains("starting crm: sh -c echo $$"), "{}", told.err);
    assert_eq!(own.pids().len(), 1);
    until("the server is gone", || !own.pids().iter().any(|pid| super::is_alive(pid)));
    // A replay needs neither the server nor the configuration, and a case knows the tools.
    let replayed = own.world.deepgraph(&["run", "--replay", "run.json"]);
    assert_eq!((replayed.code, replayed.out.trim()), (SUCCEEDED, "Once is enough."), "{}", replayed.err);
    let case = own.world.deepgraph(&["case", "from-run", "last", "-o", "own.yaml"]);
    assert_eq!(case.code, SUCCEEDED, "{}", case.err);
    let text = std::fs::read_to_string(own.world.path("own.yaml")).expect("it was written");
    assert!(text.contains("servers:\n  mcp:\n") && text.contains("    say:"), "{text}");
    assert_eq!(own.pids().len(), 1);
}

#[test]
fn without_servers_the_set_is_empty_and_that_is_no_mistake() {
    let script = "rules: [{when: {tools: [think]}, reply: {text: There is nothing.}}]\n";
    let own = Own::new(REACT, script, "    {}\n");
    let told = own.run(&[]);
    assert_eq!((told.code, told.out.trim()), (SUCCEEDED, "There is nothing."), "{}", told.err);
    assert!(!told.err.contains("connecting"), "{}", told.err);
}

#[test]
fn a_graph_that_does_not_offer_them_starts_none() {
    let graph = REACT.replace("  mcp: {call: mcp.*}\n", "").replace("[think, mcp]", "[think]");
    let own = Own::new(&graph, "rules: [{reply: {text: Nothing.}}]\n", "    crm: {command: SERVER}\n");
    assert_eq!(own.run(&[]).code, SUCCEEDED);
    assert_eq!(own.pids(), [""; 0]);
}

#[test]
fn one_that_is_down_is_told_and_recorded_and_the_run_goes_on() {
    let servers = "    gone: {command: [no-such-program]}\n    locked: {command: SERVER, env: {KEY: '{{ secret.NO_SUCH_KEY }}'}}\n    crm: {command: SERVER, only: [echo]}\n";
    let script = "rules: [{when: {tools: [think, echo]}, reply: {text: Two are down.}}]\n";
    let own = Own::new(REACT, script, servers);
    let told = own.run(&[]);
    assert_eq!((told.code, told.out.trim()), (SUCCEEDED, "Two are down."), "{}", told.err);
    let shown = own.world.deepgraph(&["show", "last"]);
    for part in [
        "there is no command \"no-such-program\"; install it, put its folder on the PATH, or give its full path under \
         services.mcp.gone.command",
        "the MCP server \"locked\" (services.mcp.locked) can not be reached: it needs the secret NO_SUCH_KEY",
    ] {
        assert!(told.err.contains(part), "{part}: {}", told.err);
        assert!(shown.out.contains(part), "{part}: {}", shown.out);
    }
    assert!(told.err.contains("The run goes on without it") && told.err.contains("crm with 1 tool"));
    let own =
        Own::new(REACT, script, &servers.replace("[no-such-program]}", "[no-such-program], required: true}"));
    let refused = own.run(&[]);
    assert_eq!(refused.code, USAGE, "{}", refused.err);
    assert!(refused.err.contains("the MCP servers can not be used:"), "{}", refused.err);
    until("the others are gone", || !own.pids().iter().any(|pid| super::is_alive(pid)));
}

#[test]
fn names_that_clash_and_tools_that_are_not_there_are_refused_before_the_run() {
    for (servers, expected) in [
        (
            "    crm: {command: SERVER, only: [ecko]}\n",
            "services.mcp.crm.only: the server has no tool \"ecko\"; it has add",
        ),
        ("    crm: {command: SERVER, rename: {echo: think}}\n", "services.mcp.crm.rename: {\"echo\": NAME}"),
        (
            "    crm: {command: SERVER, only: [echo]}\n    other: {command: SERVER, only: [echo]}\n",
            "two tools would be called \"echo\": echo of crm and echo of other: give one another name: \
             services.mcp.other.rename: {\"echo\": NAME}",
        ),
        ("    crm: {comand: SERVER}\n", "services.mcp.crm"),
        (
            "    crm: {command: SERVER, url: 'http://127.0.0.1'}\n",
            "services.mcp.crm: has `url` and `command`; it has one",
        ),
    ] {
        let own = Own::new(REACT, "rules: [{reply: {text: Nothing.}}]\n", servers);
        let told = own.run(&[]);
        assert_eq!(told.code, USAGE, "{}", told.err);
        assert!(told.err.contains(expected), "{expected}: {}", told.err);
        assert!(!own.world.deepgraph(&["runs", "--json"]).out.contains("runId"), "nothing is recorded");
    }
}

#[test]
fn what_a_record_names_is_started_only_where_the_own_configuration_names_it_too() {
    let graph = REACT.replace("start: agent\n", "start: first\n").replace(
        "nodes:\n",
        "nodes:\n  first: {ask: \"Shall we?\", update: {messages: [{user: result.text}]}, next: agent}\n",
    );
    let script = "
rules:
  - {when: {turn: 0, tools: [think, say]}, reply: {calls: [{name: say, arguments: {text: one}}]}}
  - {when: {turn: 1, text: 'the MCP server \"crm\" of the run''s record is not started'}, reply: {text: It was left out.}}
  - {when: {turn: 1, text: one}, reply: {text: It was started.}}
";
    let servers = "    crm: {command: SERVER, only: [echo], rename: {echo: say}}\n";
    for (is_named, is_same, expected) in [
        (false, true, "It was left out."),
        (true, false, "It was left out."),
        (true, true, "It was started."),
    ] {
        let own = Own::new(&graph, script, servers);
        assert_eq!(own.run(&[]).code, AWAITING_INPUT);
        if is_named {
            let text = std::fs::read_to_string(own.config()).expect("it was written");
            let text = if is_same { text } else { text.replace("exec ", "exec  ") };
            std::fs::write(own.world.path("home").join("config.yaml"), text).expect("it can be written");
        }
        let told = own.world.deepgraph(&["resume", "last", "--answer", "yes"]);
        assert_eq!((told.code, told.out.trim()), (SUCCEEDED, expected), "{}", told.err);
        let is_started = is_named && is_same;
        assert_eq!(own.pids().len(), 1 + usize::from(is_started));
        assert_eq!(told.err.contains("started when it is called: crm"), is_started, "{}", told.err);
        let refusal = "put services.mcp.crm with the same `command` and `env` into config.yaml of --home";
        assert_eq!(told.err.contains(refusal), !is_started, "{}", told.err);
    }
}

#[test]
fn a_run_that_is_resumed_has_the_same_tools_and_starts_a_server_when_it_is_called() {
    let graph = REACT.replace("start: agent\n", "start: first\n").replace(
        "nodes:\n",
        "nodes:\n  first: {ask: \"Shall we?\", update: {messages: [{user: result.text}]}, next: agent}\n",
    );
    let script = "
rules:
  - {when: {turn: 0, tools: [think, say]}, reply: {calls: [{name: say, arguments: {text: 'KEY t0ken-of-the-test'}}]}}
  - {when: {turn: 1, text: 'KEY ***'}, reply: {text: It came back.}}
";
    let servers =
        "    crm: {command: SERVER, env: {A: '{{ secret.CRM_TOKEN }}'}, only: [echo], rename: {echo: say}}\n";
    let own = Own::new(&graph, script, servers);
    let mut command = own.command(&[]);
    command.env("CRM_TOKEN", TOKEN);
    let waiting = said(command);
    assert_eq!(waiting.code, AWAITING_INPUT, "{}", waiting.err);
    assert_eq!(own.pids().len(), 1);
    let mut resume = own.world.command(&["resume", "last", "--answer", "yes", "--config", own.config()]);
    resume.env("CRM_TOKEN", TOKEN);
    let told = said(resume);
    assert_eq!((told.code, told.out.trim()), (SUCCEEDED, "It came back."), "{}", told.err);
    assert!(told.err.contains("started when it is called: crm: sh -c echo $$"), "{}", told.err);
    assert_eq!(own.pids().len(), 2);
}
