//! Files that are no cases, and what can not be read or written.

use std::fs;

use super::project::{accepted, project, test};
use crate::cli::world::World;

const FAILED: i32 = 1;

/// How often a text is in another.
fn times(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn what_is_no_case_at_all_is_one_mistake() {
    let world = World::new();
    for (name, text, is) in [
        ("empty", "", "it is empty"),
        ("comment", "# nothing\n", "it is empty"),
        ("list", "- case: one\n- two\n", "it is a list"),
        ("text", "Hello, this is a text.\n", "it is a single value"),
    ] {
        world.write(&format!("graphs/g/cases/{name}.yaml"), text);
        let said = test(&world, &[&format!("g/{name}")]);
        assert_eq!(said.code, FAILED);
        assert!(said.out.contains(is) && said.out.contains("`case`, `graph` and `expect`"), "{}", said.out);
        assert_eq!(times(&said.out, "error[case]"), 1, "{}", said.out);
    }
}

#[test]
fn a_large_file_is_not_read() {
    let world = World::new();
    let path = world.write("graphs/g/cases/large.yaml", "case: Large.\n");
    let file = fs::OpenOptions::new().write(true).open(&path).expect("it is there");
    // A hole: reading it would be an allocation that fails.
    file.set_len(1 << 43).expect("it can have a hole");
    let said = test(&world, &[]);
    assert_eq!(said.code, FAILED);
    assert!(said.out.contains("8796093022208 bytes; at most 1048576 are read"), "{}", said.out);
    assert_eq!(times(&said.out, "error[case]"), 1, "{}", said.out);
}

#[test]
fn a_graph_that_is_named_as_a_case_is_told_to_be_one() {
    let world = accepted();
    let said = test(&world, &["graphs/sea/graph.yaml"]);
    assert_eq!(said.code, FAILED);
    assert!(said.out.contains("this file is a graph, and not a case"), "{}", said.out);
    assert!(said.out.contains("`deepgraph test graphs/sea/cases` plays them"), "{}", said.out);
    assert_eq!(times(&said.out, "error[case]"), 1, "{}", said.out);
    let mut command = world.command(&["test", "graph.yaml"]);
    let said = crate::cli::world::Said::of(command.current_dir(world.path("graphs/sea")));
    assert!(said.out.contains("`deepgraph test cases` plays them"), "{}", said.out);
}

#[test]
fn a_graph_among_the_cases_is_none_of_them() {
    let world = accepted();
    fs::rename(world.path("graphs/sea/graph.yaml"), world.path("graphs/sea/cases/graph.yaml"))
        .expect("it is there");
    fs::rename(world.path("graphs/sea/prompts"), world.path("graphs/sea/cases/prompts"))
        .expect("they are there");
    for case in ["currents", "nothing", "winds"] {
        let path = world.path(&format!("graphs/sea/cases/{case}.yaml"));
        let text = fs::read_to_string(&path).expect("it is there");
        fs::write(&path, text.replace("../graph.yaml", "graph.yaml")).expect("it can be written");
    }
    let said = test(&world, &["--check"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("3 cases: 3 passed"), "{}", said.out);
}

#[test]
fn a_trace_that_can_not_be_written_does_not_hide_what_differs() {
    let world = project();
    world.write("snapshots", "a file where the folder is to be");
    for args in [&["winds"][..], &["winds", "--accept"]] {
        let said = test(&world, args);
        assert_eq!(said.code, FAILED);
        assert!(said.out.contains("NEW ") && said.out.contains("1 snapshot new"), "{}", said.out);
        let told = said.out.find("there is no snapshot").expect("it is told");
        let failure = said.out.find("can not be written").expect("it is told");
        assert!(told < failure && said.out.contains("--check nothing is written"), "{}", said.out);
        assert!(said.out.contains("the snapshot snapshots/sea/winds.snap"), "{}", said.out);
        assert!(!said.out.contains(".deepgraph-"), "{}", said.out);
        assert!(!said.out.contains(&*world.path("").to_string_lossy()), "{}", said.out);
    }
}

#[test]
fn what_changed_is_told_before_that_it_can_not_be_written() {
    let world = accepted();
    world.write("graphs/sea/prompts/researcher.md", "Look into {{ topic }}.\n");
    world.write("snapshots/sea/winds.snap.new/odd.txt", "a folder where the file is to be");
    let said = test(&world, &["winds"]);
    assert_eq!(said.code, FAILED);
    let differs = said.out.find("first divergence").expect("it is told");
    let failure =
        said.out.find("the snapshot snapshots/sea/winds.snap.new can not be written").expect("it is told");
    assert!(said.out.contains("CHANGED") && differs < failure, "{}", said.out);
}

#[test]
fn what_waits_and_can_not_be_removed_is_told_beside_that_all_is_well() {
    let world = accepted();
    world.write("snapshots/sea/winds.snap.new/odd.txt", "a folder where the file is to be");
    let said = test(&world, &["winds"]);
    assert_eq!(said.code, FAILED);
    assert!(said.out.contains("all is as the case says, but what waits"), "{}", said.out);
    assert!(said.out.contains("the snapshot snapshots/sea/winds.snap.new"), "{}", said.out);
    assert_eq!(test(&world, &["winds", "--check"]).code, 0);
}

#[cfg(target_os = "linux")]
#[test]
fn what_can_not_be_looked_into_is_warned_of_and_the_others_are_played() {
    use std::os::unix::fs::symlink;
    let world = accepted();
    symlink("nothing.yml", world.path("graphs/sea/cases/gone.yaml")).expect("it can be made");
    symlink("loop.yaml", world.path("graphs/sea/cases/loop.yaml")).expect("it can be made");
    symlink("/proc/self/mem", world.path("graphs/sea/odd.yaml")).expect("it can be made");
    let said = test(&world, &[]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("3 cases: 3 passed"), "{}", said.out);
    for path in ["graphs/sea/cases/gone.yaml", "graphs/sea/cases/loop.yaml", "graphs/sea/odd.yaml"] {
        assert!(said.err.contains(&format!("warning: {path} is left out: ")), "{path}: {}", said.err);
    }
    // Cases may be there: nothing is called unreferenced for want of them.
    fs::remove_file(world.path("graphs/sea/cases/currents.yaml")).expect("it is there");
    let said = test(&world, &["--unreferenced", "delete"]);
    assert!(said.err.contains("were not looked for"), "{}", said.err);
    assert!(world.path("snapshots/sea/currents.snap").is_file());
}

#[cfg(unix)]
#[test]
fn an_unreadable_folder_is_warned_of_and_an_error_where_it_was_named() {
    use std::os::unix::fs::PermissionsExt;
    let world = accepted();
    let closed = world.path("graphs/closed");
    fs::create_dir(&closed).expect("it can be made");
    let allow = |mode| fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).expect("it is ours");
    allow(0o000);
    // Who may do everything can read it.
    if fs::read_dir(&closed).is_err() {
        let said = test(&world, &[]);
        assert!(said.code == 0 && said.err.contains("graphs/closed is left out"), "{}", said.err);
        let said = test(&world, &["graphs/closed"]);
        assert_eq!(said.code, crate::cli::world::USAGE, "{}", said.err);
        assert!(said.err.contains("graphs/closed can not be read"), "{}", said.err);
    }
    allow(0o700);
}
