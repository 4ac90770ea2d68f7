//! What cases are called, and where two of them would be one.

use super::project::{accepted, names, project, test};
use crate::cli::world::{USAGE, World};

/// The project of one graph, which is in no folder `graphs`, in this folder.
fn alone(world: &World, folder: &str) {
    let from = project();
    for name in ["graph.yaml", "prompts/researcher.md", "cases/winds.yaml"] {
        let text = std::fs::read_to_string(from.path("graphs/sea").join(name)).expect("it is there");
        world.write(&format!("{folder}/{name}"), &text);
    }
}

#[test]
fn a_clone_in_another_folder_finds_its_snapshots() {
    let world = World::new();
    alone(&world, "here");
    let said = test(&world, &["here", "--accept"]);
    assert!(said.code == 0 && said.out.contains("sea/winds"), "{}{}", said.out, said.err);
    assert!(world.path("here/snapshots/sea/winds.snap").is_file());
    std::fs::rename(world.path("here"), world.path("there")).expect("it can be moved");
    let said = test(&world, &["there", "--check", "--unreferenced", "fail"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    let graph = std::fs::read_to_string(world.path("there/graph.yaml")).expect("it is there");
    world.write("there/graph.yaml", &graph.replace("name: sea\n", ""));
    assert_eq!(test(&world, &["there", "--list"]).out, "graph/winds\n");
}

#[test]
fn two_of_one_name_stop_only_those_who_mean_them() {
    let world = accepted();
    let text = std::fs::read_to_string(world.path("graphs/sea/cases/nothing.yaml")).expect("it is there");
    world.write("tests/sea/nothing.yaml", &text.replace("../graph.yaml", "../../graphs/sea/graph.yaml"));
    let said = test(&world, &[]);
    assert_eq!((said.code, said.out.as_str()), (USAGE, ""));
    for part in [
        "graphs/sea/cases/nothing.yaml and tests/sea/nothing.yaml",
        "`sea/nothing`",
        "its file without the ending",
        "graphs/x and tests/x are one",
    ] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    for args in [&["winds"][..], &["graphs"], &["tests"]] {
        let said = test(&world, args);
        assert_eq!(said.code, 0, "{args:?} {}{}", said.out, said.err);
    }
}

#[test]
fn names_that_differ_only_in_large_letters_are_one() {
    let world = accepted();
    let text = std::fs::read_to_string(world.path("graphs/sea/cases/nothing.yaml")).expect("it is there");
    world.write("graphs/sea/cases/Nothing.yml", &text);
    let said = test(&world, &["--accept"]);
    assert_eq!(said.code, USAGE, "{}", said.out);
    assert!(said.err.contains("Nothing.yml") && said.err.contains("large letters"), "{}", said.err);
    assert_eq!(names(&world), ["currents.snap", "nothing.snap", "winds.snap"]);
}
