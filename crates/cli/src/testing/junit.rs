//! What came of cases as JUnit XML, for servers that show tests.

use std::collections::BTreeMap;
use std::time::Duration;

use deepgraph_testkit::suite::{Outcome, Verdict};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::Timed;

/// The report: a suite for each graph, with a test for each of its cases.
///
/// # Errors
///
/// It can not be written as XML.
pub fn report(played: &[Timed], took: Duration) -> Result<String, String> {
    let mut suites: BTreeMap<&str, TestSuite> = BTreeMap::new();
    for timed in played {
        let graph = suite_of(timed);
        let suite = suites.entry(graph).or_insert_with(|| TestSuite::new(graph));
        suite.add_test_case(test(graph, timed));
    }
    let mut report = Report::new("deepgraph test");
    report.set_time(took);
    for (graph, mut suite) in suites {
        let of_graph = played.iter().filter(|timed| suite_of(timed) == graph);
        suite.set_time(of_graph.map(|timed| timed.took).sum());
        report.add_test_suite(suite);
    }
    report.to_string().map_err(|error| error.to_string())
}

fn suite_of(timed: &Timed) -> &str {
    match &*timed.outcome.name.graph {
        "" => "cases",
        graph => graph,
    }
}

fn test(graph: &str, timed: &Timed) -> TestCase {
    let Timed { outcome, took } = timed;
    let mut test = TestCase::new(&*outcome.name.case, status(outcome));
    test.set_classname(graph);
    test.set_time(*took);
    test.extra.insert("file".into(), (&*outcome.file.to_string_lossy()).into());
    test
}

fn status(outcome: &Outcome) -> TestCaseStatus {
    let (kind, what) = match outcome.verdict {
        Verdict::Passed | Verdict::Accepted => return TestCaseStatus::success(),
        Verdict::Failed => (NonSuccessKind::Failure, "case"),
        Verdict::SnapshotNew => (NonSuccessKind::Failure, "snapshot new"),
        Verdict::SnapshotChanged => (NonSuccessKind::Failure, "snapshot changed"),
        Verdict::Unreadable => (NonSuccessKind::Error, "mistakes"),
    };
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(what);
    status.set_message(outcome.text.lines().next().unwrap_or(what));
    status.set_description(&*outcome.text);
    status
}
