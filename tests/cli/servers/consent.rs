//! Programs that a graph file names are started only where the user says so.

use super::super::world::{SUCCEEDED, USAGE};
use super::{REACT, Served, said};

const SCRIPT: &str = "rules: [{reply: {text: Nothing was asked.}}]\n";

#[test]
fn a_program_of_a_graph_is_started_with_consent_alone() {
    let served = Served::new(REACT, "plain", SCRIPT);
    let run = |more: &[&str]| {
        let mut command = served.command(&served.run_args("Who?", more));
        command.env_remove("DEEPGRAPH_ALLOW_COMMANDS");
        said(command)
    };
    let refused = run(&[]);
    assert_eq!(refused.code, USAGE, "{}", refused.err);
    for part in ["the graph wants to start programs", "crm: sh -c", "--allow-commands", "services.mcp"] {
        assert!(refused.err.contains(part), "{part}: {}", refused.err);
    }
    served.all_gone(0);
    served.has_no_runs();
    let allowed = run(&["--allow-commands"]);
    assert_eq!(allowed.code, SUCCEEDED, "{}", allowed.err);
}
