//! A real server in the user's own configuration: `deepgraph run` has its tools, and goes on without one that is down.

use super::{Part, npm, peers};
use crate::cli::world::{SUCCEEDED, World};

const SCRIPT: &str = "
rules:
  - when: {tools: [read_text_file, search], turn: 0}
    reply: {calls: [{name: read_text_file, arguments: {path: DATA/tides.txt}}, {name: folder, arguments: {path: DATA}}]}
  - {when: {turn: 1, text: 'turns twice a day'}, reply: {text: That is all.}}
  - {reply: {text: 'The tide turns twice a day [ID].'}}
";

#[test]
fn the_filesystem_server_of_the_configuration_answers_a_stock_graph() {
    let Some(folder) = peers(Part::Node) else { return };
    let world = World::new();
    world.write("data/tides.txt", "The tide turns twice a day.\n");
    let data = world.path("data").canonicalize().expect("the folder is there").display().to_string();
    let script = world.write("script.yaml", &SCRIPT.replace("DATA", &data));
    let config = world.write(
        "config.yaml",
        &format!(
            "services:\n  mcp:\n    files:\n      command: [node, '{}', '{data}']\n      \
             only: [read_text_file, list_directory]\n      rename: {{list_directory: folder}}\n    \
             gone: {{command: [no-such-program]}}\n",
            npm(folder, "server-filesystem")
        ),
    );
    let args = ["--graph", "quick_answer", "--model", "scripted", "--script", &script, "--config", &config];
    let run = || world.deepgraph(&[&["run", "How often does the tide turn?"], &args[..]].concat());
    run();
    // The id of what was read is the same each time.
    let trace = world.deepgraph(&["trace", "last", "--full"]).out;
    let (before, _) = trace.split_once("] (files: read_text_file").expect("the tool's answer is a source");
    let (_, id) = before.rsplit_once('[').expect("its id stands before it");
    world.write("script.yaml", &SCRIPT.replace("DATA", &data).replace("ID", id));
    let said = run();
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    // What the tool read is a source, named by the call.
    for part in ["The tide turns twice a day. [1]", "files: read_text_file(path: "] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    for part in [
        "starting files: node ",
        "files with 2 tools",
        "the MCP server \"gone\" can not be started: there is no command \"no-such-program\"",
        "under services.mcp.gone.command",
    ] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    let trace = world.deepgraph(&["trace", "last", "--full"]);
    for part in ["The tide turns twice a day.", "[FILE] tides.txt"] {
        assert!(trace.out.contains(part), "{part}: {}", trace.out);
    }
    let shown = world.deepgraph(&["show", "last"]);
    assert!(shown.out.contains("MCP servers that were down"), "{}", shown.out);
    assert!(shown.out.contains("gone: the MCP server \"gone\" can not be started"), "{}", shown.out);
}
