//! New, changed, accepted and outdated snapshots.

use super::project::{accepted, names, project, snapshots, test, test_in_ci};
use crate::cli::world::{Said, USAGE, World};

const FAILED: i32 = 1;

/// Changes what the researchers are told behind a search, where the topic is winds.
fn change_prompt(world: &World) {
    world.write(
        "graphs/sea/prompts/researcher.md",
        "Research {{ topic }}.{% if found and topic == 'winds' %} Name the directions.{% endif %}\n",
    );
}

#[test]
fn a_new_snapshot_waits_is_accepted_and_then_passes() {
    let world = project();
    let said = test(&world, &[]);
    assert_eq!(said.code, FAILED, "{}{}", said.out, said.err);
    assert!(said.out.contains("3 cases: 0 passed, 3 snapshots new"), "{}", said.out);
    assert!(said.out.contains("snapshots/sea/winds.snap.new"), "{}", said.out);
    assert!(said.out.contains("deepgraph test --review") && said.out.contains("deepgraph test --accept"));
    assert_eq!(names(&world), ["currents.snap.new", "nothing.snap.new", "winds.snap.new"]);
    let said = test(&world, &["--accept"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("3 cases: 3 passed, 3 snapshots accepted"), "{}", said.out);
    assert_eq!(names(&world), ["currents.snap", "nothing.snap", "winds.snap"]);
    let text = &snapshots(&world)[2].1;
    assert!(text.starts_with("---\nsource: graphs/sea/cases/winds.yaml\n---\nstatus succeeded\n"), "{text}");
    let before = snapshots(&world);
    let said = test(&world, &[]);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    assert!(said.out.contains("PASS") && said.out.contains("sea/winds"), "{}", said.out);
    assert!(said.out.contains("3 cases: 3 passed ("), "{}", said.out);
    assert_eq!(snapshots(&world), before);
}

#[test]
fn a_changed_prompt_fails_the_one_case_whose_turn_it_changes_and_names_that_turn() {
    let world = accepted();
    let before = snapshots(&world);
    change_prompt(&world);
    let said = test(&world, &[]);
    assert_eq!(said.code, FAILED, "{}{}", said.out, said.err);
    assert!(said.out.contains("3 cases: 2 passed, 1 snapshot changed"), "{}", said.out);
    let (_, told) = said.out.split_once("CHANGED").expect("it is told");
    assert!(told.contains("sea/winds") && told.contains("graphs/sea/cases/winds.yaml"), "{told}");
    assert!(told.contains("first divergence: super-step 3, act.1/ConductResearch.2/researcher.2"), "{told}");
    let (_, request) =
        told.split_once("the request of `act.1/ConductResearch.2/researcher.2`").expect("it is shown");
    assert!(request.contains("system: Research winds. Name the directions."), "{request}");
    assert!(!told.contains("ConductResearch.1"), "the other researcher does the same: {told}");
    // The other way round: what waits is out of date then.
    assert_eq!(names(&world), ["currents.snap", "nothing.snap", "winds.snap", "winds.snap.new"]);
    world.write("graphs/sea/prompts/researcher.md", "Research {{ topic }}.\n");
    assert_eq!(test(&world, &[]).code, 0);
    assert_eq!(snapshots(&world), before);
}

/// The project where each researcher knows the number of its look, a channel that no prompt reads.
fn counted() -> World {
    let world = project();
    let graph = std::fs::read_to_string(world.path("graphs/sea/graph.yaml")).expect("it is there");
    let counted = graph
        .replace("note: string}", "note: string, looks: {type: integer, default: 0}}")
        .replace("update: {found: result.text}", "update: {found: result.text, looks: looks + 1}");
    assert!(counted.contains("looks + 1") && counted.contains("type: integer"), "{counted}");
    world.write("graphs/sea/graph.yaml", &counted);
    let said = test(&world, &["--accept"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    world
}

#[test]
fn five_words_behind_a_condition_on_another_channel_fail_only_the_turn_where_it_holds() {
    let world = counted();
    world.write(
        "graphs/sea/prompts/researcher.md",
        "Research {{ topic }}.{% if looks == 1 and topic == 'winds' %} Name all of the directions.{% endif %}\n",
    );
    let said = test(&world, &[]);
    assert_eq!(said.code, FAILED, "{}{}", said.out, said.err);
    assert!(said.out.contains("3 cases: 2 passed, 1 snapshot changed"), "{}", said.out);
    let (_, told) = said.out.split_once("CHANGED").expect("it is told");
    assert!(told.contains("sea/winds"), "{told}");
    assert!(told.contains("first divergence: super-step 3, act.1/ConductResearch.2/researcher.2"), "{told}");
    assert!(told.contains("system: Research winds. Name all of the directions."), "{told}");
    assert!(!told.contains("researcher.1"), "the first turn is sent the same: {told}");
}

#[test]
fn a_condition_that_never_holds_changes_no_snapshot_whatever_it_reads() {
    let world = counted();
    let before = snapshots(&world);
    world.write(
        "graphs/sea/prompts/researcher.md",
        "Research {{ topic }}.{% if looks > 7 or note == 'nope' %} Name all of the directions.{% endif %}\n",
    );
    let said = test(&world, &[]);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    assert!(said.out.contains("3 cases: 3 passed ("), "{}", said.out);
    assert_eq!(snapshots(&world), before);
}

#[test]
fn a_changed_snapshot_is_accepted_and_keeps_its_header() {
    let world = accepted();
    let path = world.path("snapshots/sea/winds.snap");
    let text = std::fs::read_to_string(&path).expect("it is there");
    let by_rust = text.replace("graphs/sea/cases/winds.yaml", "tests/old.rs");
    std::fs::write(&path, by_rust.trim_end()).expect("it can be written");
    assert_eq!(test(&world, &[]).code, 0, "line breaks at the end do not count");
    change_prompt(&world);
    assert_eq!(test(&world, &["--accept"]).code, 0);
    assert_eq!(test(&world, &["--check"]).code, 0);
    let now = std::fs::read_to_string(&path).expect("it is there");
    assert!(now.starts_with("---\nsource: tests/old.rs\n---\n") && now != by_rust, "{now}");
}

#[test]
fn insta_reads_what_was_accepted() {
    let world = accepted();
    let (_, file) = snapshots(&world).swap_remove(2);
    let (_, trace) = file.split_once("\n---\n").expect("it has a header");
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(world.path("snapshots/sea"));
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!("winds", trace));
    assert_eq!(names(&world), ["currents.snap", "nothing.snap", "winds.snap"]);
}

#[test]
fn a_full_snapshot_holds_the_requests() {
    let world = project();
    let path = world.path("graphs/sea/cases/winds.yaml");
    let text = std::fs::read_to_string(&path).expect("it is there").replace("trace: snapshot", "trace: full");
    std::fs::write(&path, text).expect("it can be written");
    assert_eq!(test(&world, &["winds", "--accept"]).code, 0);
    let text = &snapshots(&world)[0].1;
    assert!(text.contains("system: \"Research winds.") && !text.contains("sha256"), "{text}");
    change_prompt(&world);
    let said = test(&world, &["winds"]);
    assert_eq!(said.code, FAILED);
    assert!(said.out.contains("Name the directions.") && said.out.contains("researcher.2"), "{}", said.out);
    assert!(!said.out.contains("the request of"), "the difference shows it: {}", said.out);
}

#[test]
fn in_ci_and_with_check_nothing_is_written() {
    let world = project();
    for said in [test_in_ci(&world, &[]), test(&world, &["--check"])] {
        assert_eq!(said.code, FAILED);
        assert!(
            said.out.contains("3 snapshots new") && said.out.contains("nothing was written"),
            "{}",
            said.out
        );
        assert!(!world.path("snapshots").exists());
    }
    assert_eq!(test(&world, &["--accept"]).code, 0);
    change_prompt(&world);
    let before = snapshots(&world);
    assert_eq!(test_in_ci(&world, &[]).code, FAILED);
    assert_eq!(snapshots(&world), before);
    // What waits from before is left as it is, too.
    assert_eq!(test(&world, &[]).code, FAILED);
    world.write("graphs/sea/prompts/researcher.md", "Research {{ topic }}.\n");
    assert_eq!(test_in_ci(&world, &[]).code, 0);
    assert!(names(&world).contains(&"winds.snap.new".to_owned()));
    for args in [&["--accept"][..], &["--review"], &["--unreferenced", "delete"]] {
        let said = test_in_ci(&world, args);
        assert_eq!(said.code, USAGE, "{}", said.err);
        assert!(said.err.contains(args[0]) && said.err.contains("CI"), "{}", said.err);
    }
}

#[test]
fn a_variable_ci_that_says_no_does_not_count() {
    let world = project();
    for value in ["", "0", "false", "False"] {
        let mut command = world.command(&["test", "winds"]);
        let said = Said::of(command.env("CI", value));
        assert!(said.out.contains("waits in snapshots/sea/winds.snap.new"), "{value}: {}", said.out);
    }
    for value in ["true", "1", "woodpecker"] {
        let mut command = world.command(&["test", "winds"]);
        let said = Said::of(command.env("CI", value));
        assert!(said.out.contains("nothing was written"), "{value}: {}", said.out);
    }
}

#[test]
fn a_review_needs_somebody_to_ask() {
    let world = project();
    let said = test(&world, &["--review"]);
    assert_eq!(said.code, USAGE);
    assert!(said.err.contains("terminal") && said.err.contains("--accept"), "{}", said.err);
    assert!(!world.path("snapshots").exists(), "nothing was played");
}

#[test]
fn a_snapshot_that_is_none_fails_its_case_and_says_so() {
    let world = accepted();
    world.write("snapshots/sea/winds.snap", "<<<<<<< ours\nstatus succeeded\n");
    let said = test(&world, &[]);
    assert_eq!(said.code, FAILED);
    assert!(
        said.out.contains("is no snapshot") && said.out.contains("3 cases: 2 passed, 1 failed"),
        "{}",
        said.out
    );
    assert!(!names(&world).contains(&"winds.snap.new".to_owned()));
}
