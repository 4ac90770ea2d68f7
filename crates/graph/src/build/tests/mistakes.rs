//! Mistakes of built graphs are told as those of files are.

use std::time::Duration;

use crate::build::*;
use crate::{OpTable, testing};

fn said(graph: &Graph) -> Vec<String> {
    match graph.load(&OpTable::stock()) {
        Ok(loaded) => loaded.warnings.iter().map(testing::line).collect(),
        Err(mistakes) => mistakes.iter().map(testing::line).collect(),
    }
}

fn small() -> Graph {
    Graph::new("small").channel("answer", Type::string()).output(["answer"]).start("a")
}

#[test]
fn names_are_checked_and_the_nearest_is_proposed() {
    let graph = small().node("a", Node::pass().update("anser", fixed("yes")).next("b"));
    assert_eq!(
        said(&graph),
        [
            "~DG0511 1:1 nothing in graph \"small\" writes the output \"answer\"",
            "DG0201 8:16 graph \"small\" has no channel \"anser\" | did you mean \"answer\"?",
            "DG0202 8:39 graph \"small\" has no node \"b\" | there is: a",
        ]
    );
}

#[test]
fn a_text_is_an_expression_unless_it_is_fixed() {
    let graph = small().node("a", Node::pass().update("answer", "hello"));
    assert_eq!(said(&graph), ["DG0301 8:24 unknown name \"hello\" | a fixed text is written \"'hello'\""]);
    assert_eq!(said(&small().node("a", Node::pass().update("answer", fixed("hello")))), [""; 0]);
}

#[test]
fn a_length_of_time_that_can_not_be_written_is_refused() {
    let graph = |time: Duration| {
        small()
            .config("k", Type::duration().default(time))
            .node("a", Node::pass().update("answer", fixed("x")))
    };
    for (nanos, text) in
        [(500_000, "500us"), (1_500_000, "1500us"), (1, "1ns"), (3_600_000_000_500, "3600000000500ns")]
    {
        let found = said(&graph(Duration::from_nanos(nanos)));
        let wanted =
            format!("must be a duration such as 30s, 10m or 1h, is \"{text}\", and `ms` is the finest unit");
        assert!(matches!(found.as_slice(), [one, ..] if one.contains(&wanted)), "{found:?}");
    }
    for (time, seconds) in [
        (Duration::from_millis(1), "0.001"),
        (Duration::from_millis(1500), "1.5"),
        (Duration::from_millis(86_400_001), "86400.001"),
        (Duration::from_secs(90), "90"),
        (Duration::from_secs(7200), "7200"),
        (Duration::ZERO, "0"),
    ] {
        let bundle = graph(time).load(&OpTable::stock()).unwrap_or_else(|m| panic!("{m}")).bundle;
        let default = bundle.config["k"].default.as_ref().map(|value| value.to_json_text());
        assert_eq!(default.as_deref(), Some(seconds));
    }
}

#[test]
fn what_comes_twice_is_a_mistake() {
    let twice = small()
        .node("a", Node::pass().update("answer", fixed(1)).update("answer", fixed("b")))
        .node("a", Node::pass());
    let found = said(&twice);
    assert!(found.iter().any(|line| line.contains("the key \"answer\" is here a second time")), "{found:?}");
    assert!(found.iter().any(|line| line.contains("the key \"a\" is here a second time")), "{found:?}");
}

#[test]
fn what_is_shown_has_the_line_of_the_source() {
    let graph =
        small().node("a", Node::model("extractive").prompt("{{ anser }}").update("answer", "result.text"));
    let mistakes = graph.load(&OpTable::stock()).unwrap_err().to_string();
    assert!(mistakes.contains("small.yaml:8:") && mistakes.contains("prompt: \"{{ anser }}\""), "{mistakes}");
}

#[test]
fn nothing_that_is_built_causes_a_panic() {
    let names = ["", " ", "a b", "../x", "ä", "\n", "a/b", "graph.yaml", "\u{0}"];
    for name in names {
        let graph = Graph::new(name)
            .channel(name, Type::named(name))
            .file(name, name)
            .start(name)
            .tool(name, Tool::call(name))
            .node(name, Node::model(name).messages(name).tools([name]).next(exit(name)))
            .graph(Graph::new(name));
        assert!(graph.load(&OpTable::stock()).is_err(), "{name:?}");
    }
    assert!(
        small()
            .config("x", Type::number().default(f64::NAN))
            .node("a", Node::pass())
            .load(&OpTable::stock())
            .is_err()
    );
}
