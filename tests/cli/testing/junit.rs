//! What came of cases as JUnit XML.

use super::forms::wrong;
use super::project::{accepted, test};
use crate::cli::world::USAGE;

const FAILED: i32 = 1;

#[test]
fn what_came_of_them_is_written_as_junit() {
    let world = accepted();
    wrong(&world);
    world.write("graphs/sea/cases/broken.yaml", "case: <Broken> & \u{1}.\ngrahp: ../graph.yaml\n");
    let said = test(&world, &["--junit", "cases.xml"]);
    assert_eq!(said.code, FAILED);
    let text = std::fs::read_to_string(world.path("cases.xml")).expect("it is written");
    let xml = roxmltree::Document::parse(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
    let all = |name: &str| xml.descendants().filter(|n| n.has_tag_name(name)).collect::<Vec<_>>();
    let suite = all("testsuite")[0];
    assert_eq!(suite.attribute("name"), Some("sea"));
    assert_eq!(
        ["tests", "failures", "errors"].map(|name| suite.attribute(name)),
        [Some("5"), Some("1"), Some("1")]
    );
    let names: Vec<_> = all("testcase").iter().filter_map(|n| n.attribute("name")).collect();
    assert_eq!(names, ["broken", "currents", "nothing", "winds", "wrong"]);
    let failure = all("failure")[0];
    assert!(failure.attribute("message").is_some_and(|text| text.contains("expect.exit")), "{text}");
    assert!(failure.text().is_some_and(|text| text.contains("step_limit")), "{text}");
    let said = test(&world, &["--junit", "no/such/folder/cases.xml"]);
    assert!(said.code == USAGE && said.err.contains("--junit"), "{}", said.err);
}

#[test]
fn standard_output_is_a_place_for_it_and_all_else_is_told_on_standard_error() {
    let world = accepted();
    wrong(&world);
    let said = test(&world, &["--junit", "-"]);
    assert_eq!(said.code, FAILED);
    let xml = roxmltree::Document::parse(&said.out).unwrap_or_else(|e| panic!("{e}: {}", said.out));
    assert_eq!(xml.descendants().filter(|n| n.has_tag_name("testcase")).count(), 4);
    for part in ["PASS", "FAIL", "expect.exit", "4 cases: 3 passed, 1 failed"] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    assert!(!world.path("-").exists());
    let said = test(&world, &["--junit", "-", "-q", "winds"]);
    assert!(said.code == 0 && said.err.is_empty() && said.out.contains("winds"), "{}{}", said.out, said.err);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_can_not_be_written_does_not_hide_what_came_of_them() {
    let world = accepted();
    let said = test(&world, &["--junit", "/dev/full"]);
    assert_eq!(said.code, FAILED);
    assert!(said.out.contains("3 cases: 3 passed"), "{}", said.out);
    assert!(said.err.contains("/dev/full") && said.err.contains("--junit"), "{}", said.err);
}
