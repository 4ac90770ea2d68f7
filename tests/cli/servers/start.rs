//! What keeps a run from starting: it is told before anything is recorded.

use super::super::world::{AWAITING_INPUT, SUCCEEDED, USAGE, World};
use super::{REACT, Served, TOKEN, said};

const SCRIPT: &str = "rules: [{reply: {text: Nothing was asked.}}]\n";

#[test]
fn a_missing_secret_is_named_and_nothing_is_started() {
    let served = Served::new(REACT, "plain", SCRIPT);
    for set in [None, Some(""), Some(" \n")] {
        let mut command = served.world.command(&served.run_args("Who?", &[]));
        if let Some(value) = set {
            command.env("CRM_TOKEN", value);
        }
        let said = said(command);
        assert_eq!(said.code, USAGE, "{}", said.err);
        let expected = "the MCP server \"crm\" needs the secret CRM_TOKEN: put it into the environment variable CRM_TOKEN";
        assert!(said.err.contains(expected), "{}", said.err);
    }
    served.all_gone(0);
    served.has_no_runs();
}

#[test]
fn a_server_that_ends_at_once_is_told_with_its_last_words_but_not_the_secret() {
    let served = Served::new(REACT, "crash", SCRIPT);
    let said = served.run("Who?", &[]);
    assert_eq!(said.code, USAGE, "{}", said.err);
    for part in
        ["the MCP server \"crm\" (command \"sh\") ended before it was ready", "    ValueError: bad key ***"]
    {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    served.has_no_runs();
    served.keeps_its_secret(&[&said]);
}

#[test]
fn all_servers_that_can_not_be_reached_are_told_at_once() {
    // A port that nobody listens at any more.
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("bound").port();
    let graph = REACT.replace(
        "  crm: SERVER\n",
        &format!(
            "  crm: SERVER\n  mail: {{url: 'http://127.0.0.1:{port}/mcp'}}\n  files: {{command: [no-such-program]}}\n"
        ),
    );
    let graph = graph.replace(
        "  add: {call: crm.add, approve: true}\n",
        "  add: {call: files.add}\n  send: {call: mail.send}\n",
    );
    let served = Served::new(&graph.replace("[crm, add]", "[crm, add, send]"), "plain", SCRIPT);
    let said = served.run("Who?", &[]);
    assert_eq!(said.code, USAGE, "{}", said.err);
    for part in [
        "there is no command \"no-such-program\"; install it",
        "the MCP server \"mail\" can not be reached at http://127.0.0.1",
        "is mcp.mail.url right?",
    ] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    served.all_gone(1);
    served.has_no_runs();
}

#[test]
fn a_tool_that_the_server_does_not_have_is_a_mistake_of_the_graph() {
    let served = Served::new(&REACT.replace("crm.add", "crm.adds"), "plain", SCRIPT);
    let said = served.run("Who?", &[]);
    assert_eq!(said.code, USAGE, "{}", said.err);
    for part in
        ["DG0203", "the server \"crm\" has no tool \"adds\"", "did you mean \"add\"?", "graph.yaml:11"]
    {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    served.all_gone(1);
    served.has_no_runs();
}

#[test]
fn commands_that_run_nothing_need_no_server_and_no_secret() {
    let served = Served::new(REACT, "plain", SCRIPT);
    let (world, graph): (&World, &str) = (&served.world, &served.graph);
    let commands: &[&[&str]] = &[
        &["check", graph],
        &["bounds", graph],
        &["config", graph],
        &["draw", graph],
        &["run", "--print-config", "--graph", graph],
    ];
    for command in commands {
        let said = world.deepgraph(command);
        assert_eq!((said.code, said.err.as_str()), (SUCCEEDED, ""), "{command:?}: {}", said.out);
    }
    served.all_gone(0);
}

#[test]
fn what_is_known_only_from_the_server_is_not_warned_of_in_a_run() {
    let graph = REACT.replace(", only: [echo, picture]", "");
    let graph = graph.replace("approve: true", "answer: done").replace("tools: [crm, add]", "tools: [crm]");
    let graph = graph.replace("  add: {call: crm.add, answer: done}\n", "");
    let served = Served::new(&graph, "plain", SCRIPT);
    assert!(served.world.deepgraph(&["check", &served.graph]).err.contains("DG0517"));
    let said = served.run("Who?", &[]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    assert!(!said.err.contains("DG0517"), "{}", said.err);
}

#[test]
fn the_graph_of_a_run_is_the_same_when_it_is_resumed() {
    let script = "rules: [{when: {turn: 0}, reply: {calls: [{name: add, arguments: {a: 1, b: 2}}]}}]\n";
    let served = Served::new(REACT, "plain", script);
    assert_eq!(served.run("Who?", &[]).code, AWAITING_INPUT);
    // The server is of another kind now; the run knows it as it was.
    let text = std::fs::read_to_string(&served.graph).expect("it was written").replace(" plain", " toolless");
    std::fs::write(&served.graph, text).expect("it can be written");
    let rows = served.world.journal();
    let hash = rows.iter().find_map(|row| match &row.entry.body {
        deepgraph_protocol::EntryBody::Started(started) => Some(started.bundle.to_string()),
        _ => None,
    });
    let shown = served.world.deepgraph(&["show", "last", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.out).expect("it is JSON");
    assert_eq!(shown["bundleHash"].as_str(), hash.as_deref(), "read from its record, it is the same graph");
    assert!(!shown.to_string().contains(TOKEN));
}

#[test]
fn a_run_goes_on_without_a_server_that_is_not_required() {
    let graph = REACT
        .replace("crm: SERVER", "crm: {command: [no-such-program], required: false}")
        .replace(
            "  add: {call: crm.add, approve: true}\n",
            "  add: {call: crm.add, retry: 1}\n  all: {call: crm.*}\n",
        )
        .replace("  crm: {call: crm.*, only: [echo, picture], effect: read}\n", "")
        .replace("tools: [crm, add]", "tools: [all, add]");
    let script = "
rules:
  - {when: {turn: 0, tools: [add]}, reply: {calls: [{name: add, arguments: {a: 1, b: 2}}]}}
  - {when: {turn: 1, text: 'error: unavailable: the MCP server \"crm\" can not be started'}, reply: {text: It is down.}}
";
    let served = Served::new(&graph, "plain", script);
    let said = served.run("Is it there?", &[]);
    assert_eq!((said.code, said.out.trim()), (SUCCEEDED, "It is down."), "{}", said.err);
    assert!(said.err.contains("starting crm: no-such-program"), "{}", said.err);
    assert!(said.err.contains("The run goes on without it"), "{}", said.err);
    let shown = served.world.deepgraph(&["show", "last"]);
    assert!(shown.out.contains("crm: the MCP server \"crm\" can not be started"), "{}", shown.out);
}
