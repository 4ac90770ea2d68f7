//! Journals in files: `deepgraph trace RUN --format journal`, and reading them again.

use super::world::{SUCCEEDED, USAGE, World, harbour};

#[test]
fn a_journal_file_gives_the_trace_of_its_run_in_every_form() {
    let world = World::new();
    let said = world.deepgraph(&["run", "What is the range of the Norvane N60?", "--docs", &harbour()]);
    assert_eq!(said.code, SUCCEEDED, "{}", said.err);
    let said = world.deepgraph(&["trace", "last", "--format", "journal", "-o", "run.jsonl"]);
    assert_eq!((said.code, said.out.as_str()), (SUCCEEDED, ""), "{}", said.err);
    let file = world.path("run.jsonl").to_string_lossy().into_owned();
    // It stands for itself: read where there are no runs.
    let elsewhere = World::new();
    for form in [
        &["--full"][..],
        &["--redact"],
        &["--format", "json"],
        &["--format", "html"],
        &["--format", "journal"],
    ] {
        let trace = |world: &World, run: &str| {
            let mut args = vec!["trace", run];
            args.extend(form);
            let said = world.deepgraph(&args);
            assert_eq!(said.code, SUCCEEDED, "{form:?}: {}", said.err);
            said.out
        };
        let (of_run, of_file) = (trace(&world, "last"), trace(&elsewhere, &file));
        assert!(of_run == of_file, "{form:?} differs");
    }
    let said = world.deepgraph(&["diff", &file, "last"]);
    assert_eq!((said.code, said.out.trim()), (SUCCEEDED, "no difference"), "{}", said.err);
}

#[test]
fn a_journal_that_can_not_be_read_is_told_with_its_line() {
    let world = World::new();
    let file = world.write("run.jsonl", "{\"deepgraph_journal\":1,\"semantics\":99,\"bundle\":{}}\n");
    let said = world.deepgraph(&["trace", &file]);
    assert_eq!(said.code, USAGE, "{}", said.err);
    assert!(said.err.contains("line 1") && said.err.contains("semantics 99"), "{}", said.err);
}
