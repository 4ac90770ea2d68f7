//! What can be wrong with a journal.

use std::collections::BTreeMap;

use super::*;

const GRAPH: &str = "deepgraph: 1\nname: small\nstate: {a: string}\ninput: [a]\noutput: [a]\nstart: one\nnodes:\n  one: {update: {a: \"'x'\"}}\n";

fn journal() -> Journal {
    let files = BTreeMap::from([("graph.yaml".to_owned(), GRAPH.to_owned())]);
    let started = serde_json::json!({
        "scope": "",
        "entry": {"at": 5, "entry": "started", "graph": "small", "input": {"a": "y"}, "config": {}, "attempt": 1,
                  "semantics": 1, "bundle": "b"}
    });
    Journal {
        bundle: BundleSource { entry: "graph.yaml".into(), files, ..BundleSource::default() },
        run: Some("a-run".into()),
        rows: vec![serde_json::from_value(started).unwrap()],
    }
}

fn error(text: &str) -> String {
    Journal::read(text).unwrap_err().to_string()
}

#[test]
fn what_is_written_is_read_and_folds() {
    let journal = journal();
    let text = journal.write().unwrap();
    assert!(Journal::is_one(&text));
    let read = Journal::read(&format!("\n{}\n\n", text.replace('\n', "\r\n"))).unwrap();
    assert_eq!(read, journal);
    let trace = read.trace(&read.compile(&OpTable::stock()).unwrap()).unwrap();
    assert_eq!(trace.run.as_deref(), Some("a-run"));
    assert!(trace.to_text(crate::Detail::Short).contains("graph small"));
}

#[test]
fn mistakes_are_told_with_their_line() {
    let text = journal().write().unwrap();
    assert!(error("").contains("is empty"));
    assert!(error("\n\n{}\n").starts_with("line 3: this is no journal"), "{}", error("\n\n{}\n"));
    assert!(error("status succeeded").starts_with("line 1: the header can not be read"));
    let other = error(&text.replace("\"deepgraph_journal\":1", "\"deepgraph_journal\":2"));
    assert!(other.contains("form 2") && other.contains("form 1"), "{other}");
    let other = error(&text.replacen("\"semantics\":1", "\"semantics\":7", 1));
    assert!(other.starts_with("line 1:") && other.contains("semantics 7"), "{other}");
    let other = error(&text.replace("\"semantics\":1,\"bundle\":\"b\"", "\"semantics\":7,\"bundle\":\"b\""));
    assert!(other.starts_with("line 2:") && other.contains("semantics 7"), "{other}");
    let other =
        error(&format!("{text}{{\"scope\":\"\",\"entry\":{{\"at\":6,\"entry\":\"{}\"}}}}", "x".repeat(5000)));
    assert!(other.starts_with("line 3: the entry can not be read: column 5"), "{other}");
    assert!(other.contains(": \"xxx") && other.len() < 400, "{other}");
    for (line, told) in [
        ("{\"scope\":\"\",\"entry\":7}", "an object is expected, not the number 7"),
        ("{\"scope\":\"\"}", "the key \"entry\" is missing in the object that ends here"),
        ("{\"scope\":", "the line ends here, in the middle of"),
    ] {
        let other = error(&format!("{text}{line}\n"));
        assert!(other.starts_with("line 3: the entry can not be read: column "), "{other}");
        assert!(other.contains(told) && !other.contains("EOF") && !other.contains("struct"), "{other}");
    }
}

#[test]
fn a_graph_that_does_not_compile_is_told() {
    let mut journal = journal();
    journal.bundle.files.insert("graph.yaml".into(), GRAPH.replace("start: one", "start: two"));
    let told = journal.compile(&OpTable::stock()).unwrap_err().to_string();
    assert!(told.contains("graph.yaml:6") && told.contains("two"), "{told}");
}
