//! The examples do what they say.

use std::process::Command;

/// What a program prints. Whatever it leaves behind, it ends well.
fn printed(program: &str) -> String {
    let output = Command::new(program).output().expect("the example starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {errors}");
    String::from_utf8(output.stdout).expect("the example prints text")
}

#[test]
fn a_built_graph_answers_from_the_documents() {
    let printed = printed(env!("CARGO_BIN_EXE_build_and_run"));
    assert!(printed.contains("Norvane N60") && printed.contains("[1]"), "{printed}");
    assert!(printed.contains("\nsucceeded, ended by "), "{printed}");
    assert!(printed.contains("\ndeepgraph: 1\nname: lookup\n"), "{printed}");
}

#[test]
fn a_custom_op_is_called_as_a_tool_and_its_failure_is_answered() {
    let printed = printed(env!("CARGO_BIN_EXE_custom_op"));
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[0], r#"[{"celsius":7.5,"city":"Bergen"},{"celsius":-3.0,"city":"Oslo"}]"#);
    for line in [
        "tool: It is 7.5 degrees in Bergen.",
        "tool: It is -3.0 degrees in Oslo.",
        "tool: error: not_found: there is no station in Atlantis",
        "assistant: Thank you.",
    ] {
        assert!(lines.contains(&line), "{line}:\n{printed}");
    }
}

#[test]
fn embedded_runs_go_on_side_by_side_and_later() {
    let printed = printed(env!("CARGO_BIN_EXE_embed"));
    for line in [
        "rivers: measure.1/item.1 is done",
        "rivers: measure.1/item.2 is done",
        "sea: cancelled",
        "rivers asks: Publish 4 and 6?",
        "rivers: succeeded, published: yes",
    ] {
        assert!(printed.lines().any(|printed| printed == line), "{line}:\n{printed}");
    }
    assert!(!printed.contains("sea: measure.1/item.1 is done"), "{printed}");
}

#[test]
fn a_graph_file_is_drawn_with_its_worst_case() {
    let printed = printed(env!("CARGO_BIN_EXE_look"));
    assert!(printed.contains("flowchart") && printed.contains("tool_call_cap"), "{printed}");
    assert!(printed.contains("  tool calls: 8\n"), "{printed}");
    assert!(printed.contains("max_tool_calls: 8 of "), "{printed}");
}
