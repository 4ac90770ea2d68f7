//! Snapshots that belong to no case any more.

use super::project::{accepted, names, test, test_in_ci};
use crate::cli::world::{Said, USAGE, World};

/// The case of currents is gone, and a Rust test keeps a snapshot beside those of the cases.
fn with_leftover() -> World {
    let world = accepted();
    std::fs::remove_file(world.path("graphs/sea/cases/currents.yaml")).expect("it is there");
    world.write("snapshots/sea/by_rust.snap", "---\nsource: tests/runs.rs\n---\ntext\n");
    world
}

const ALL: [&str; 4] = ["by_rust.snap", "currents.snap", "nothing.snap", "winds.snap"];

#[test]
fn they_are_told() {
    let world = with_leftover();
    let said = test(&world, &[]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.err.contains("1 snapshot belongs to no case any more"), "{}", said.err);
    assert!(
        said.err.contains("snapshots/sea/currents.snap") && !said.err.contains("by_rust"),
        "{}",
        said.err
    );
    assert_eq!(names(&world), ALL);
}

#[test]
fn those_of_a_graph_that_is_gone_or_renamed_are_told() {
    let world = with_leftover();
    world.write("snapshots/tides/high.snap", "---\nsource: graphs/tides/cases/high.yaml\n---\ntext\n");
    std::fs::rename(world.path("graphs/sea"), world.path("graphs/ocean")).expect("it is there");
    assert_eq!(test(&world, &["--accept"]).code, 0);
    let said = test(&world, &["--unreferenced", "fail"]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("4 snapshots belong to no case any more"), "{}", said.err);
    for name in ["sea/currents", "sea/nothing", "sea/winds", "tides/high"] {
        assert!(said.err.contains(&format!("snapshots/{name}.snap\n")), "{name}: {}", said.err);
    }
    assert_eq!(test(&world, &["--unreferenced", "delete"]).code, 0);
    assert_eq!(names(&world), ["by_rust.snap"]);
}

#[test]
fn they_are_not_looked_for_where_not_all_cases_are_played() {
    let world = with_leftover();
    world.write("graphs/tides/cases/none.yaml", "");
    for args in [&["graphs/sea/cases/winds.yaml"][..], &["sea"], &["graphs/sea"], &["graphs/sea", "winds"]] {
        let said = test(&world, args);
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{args:?}");
        let said = test(&world, &[&["--unreferenced", "delete"], args].concat());
        assert!(said.code == 0 && said.err.contains("were not looked for"), "{args:?}: {}", said.err);
    }
    // Nor from within a part of the project.
    let mut command = world.command(&["test"]);
    let said = Said::of(command.env_remove("CI").current_dir(world.path("graphs/sea")));
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert_eq!(names(&world), ALL);
}

#[test]
fn they_fail_where_that_is_asked_for() {
    let world = with_leftover();
    let said = test_in_ci(&world, &["--unreferenced", "fail"]);
    assert_eq!(said.code, 1);
    assert!(
        said.out.contains("2 cases: 2 passed") && said.err.contains("currents.snap"),
        "{}{}",
        said.out,
        said.err
    );
    assert_eq!(names(&world), ALL);
}

#[test]
fn they_are_removed_where_that_is_asked_for() {
    let world = with_leftover();
    let said = test(&world, &["--unreferenced", "delete", "--check"]);
    assert_eq!(said.code, USAGE, "{}", said.err);
    let said = test(&world, &["--unreferenced", "delete"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.err.contains("currents.snap") && said.err.contains("removed"), "{}", said.err);
    assert_eq!(names(&world), ["by_rust.snap", "nothing.snap", "winds.snap"]);
    assert_eq!(test(&world, &["--unreferenced", "fail"]).code, 0);
}
