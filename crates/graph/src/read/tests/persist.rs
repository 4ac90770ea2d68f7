//! Channels that are kept between runs.

use super::graph;
use crate::testing::{clean, compare, load_first};
use crate::{Bundle, OpTable, Persist};

/// A graph with the input `q`, whose channel `n` is kept.
fn kept(persist: &str) -> String {
    graph("input: [q]\n")
        .replace("n: integer", &format!("n: {{type: integer, default: 3, persist: {persist}}}"))
}

fn persist(bundle: &Bundle, graph: usize, channel: &str) -> Option<String> {
    let graph = &bundle.graphs[graph];
    graph.channels[graph.channel(channel).unwrap().0].persist.as_ref().map(|p| match p {
        Persist::Thread => "the thread".to_owned(),
        Persist::Key(text) => text.source.to_string(),
    })
}

#[test]
fn a_channel_is_kept_with_the_thread_or_under_a_key() {
    let of = |text: &str| persist(&clean(&kept(text)), 0, "n");
    assert_eq!(of("thread").as_deref(), Some("the thread"));
    assert_eq!(of("watch").as_deref(), Some("watch"));
    assert_eq!(of("'watch/{{ q | lower }}'").as_deref(), Some("watch/{{ q | lower }}"));
    assert_eq!(of("notes.md").as_deref(), Some("notes.md"), "a key is no file");
    let bundle = clean(&kept("thread"));
    assert_eq!(persist(&bundle, 0, "q"), None);
    let messages = graph("").replace("m: messages", "m: {type: messages, persist: thread}");
    let choice = graph("").replace("n: integer", "n: {enum: [a, b], persist: thread}");
    assert!(persist(&clean(&messages), 0, "m").is_some() && persist(&clean(&choice), 0, "n").is_some());
}

#[test]
fn what_persist_can_not_be() {
    let at = |text: &str| kept(text);
    compare(&[
        (
            "another channel",
            at("'watch/{{ l }}'"),
            &["DG0306 2:70 \"l\" is not known here: `persist` reads input channels | there is: q"],
        ),
        ("a name", at("'watch/{{ qq }}'"), &["DG0306 2:70 \"qq\" is not known here..."]),
        ("config", at("'{{ config.k }}'"), &["DG0306 2:64 \"config\" is not known here..."]),
        ("a run", at("'{{ run.date }}'"), &["DG0306 2:64 \"run\" is not known here..."]),
        ("a secret", at("'{{ secret.K }}'"), &["DG0306 2:64 \"secret\" is not known here..."]),
        (
            "a filter",
            at("'{{ q | lowr }}'"),
            &["DG0303 2:68 unknown filter \"lowr\" | did you mean \"lower\"?"],
        ),
        ("broken", at("'{{ q '"), &["DG0307 2:..."]),
        (
            "misspelt",
            at("threads"),
            &[
                "DG0106 2:60 `persist` is thread, or the text of a key; \"threads\" looks like neither | did you mean \"thread\"?",
            ],
        ),
        ("empty", at("''"), &["DG0106 2:60 `persist` is thread, or the text of a key"]),
        ("a boolean", at("true"), &["DG0101 2:60 `persist` must be text, is a boolean"]),
        (
            "without input",
            at("'{{ l }}'").replace("input: [q]\n", ""),
            &[
                "DG0306 2:64 \"l\" is not known here: `persist` reads input channels | where a value is kept is known before the graph runs",
            ],
        ),
        (
            "without a type",
            graph("").replace("n: integer", "n: {persist: thread}"),
            &["DG0102 2:24 the channel \"n\" is kept and has no `type` | write {type: ..., persist: ...}"],
        ),
    ]);
}

#[test]
fn only_the_graph_that_is_run_keeps_its_state() {
    let child = |persist: &str| {
        format!(
            "graphs:\n  c:\n    state: {{q: {{type: string{persist}}}}}\n    input: [q]\n    start: a\n    nodes: {{a: {{update: {{q: q}}}}}}\n"
        )
    };
    let text = |persist: &str| {
        graph(&child(persist)).replace("{a: {update: {q: \"'x'\"}}}", "{a: {call: c, input: {q: \"'x'\"}}}")
    };
    compare(&[(
        "a local graph",
        text(", persist: thread"),
        &[
            "DG0105 7:31 graph \"c\" is called, and only the graph that is run keeps its state | keep the value in the root graph, give it by `input` and take it back by `output`",
        ],
    )]);
    let called = kept("'k/{{ q }}'");
    let root = "deepgraph: 1\nstate: {q: string}\ninput: [q]\nstart: a\nnodes: {a: {call: lib.yaml, input: {q: q}}}\n";
    let loaded = load_first(&[("r.yaml", root), ("lib.yaml", &*called)], &OpTable::stock()).unwrap();
    assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
    assert_eq!(persist(&loaded.bundle, 1, "n"), None, "a called one starts empty");
    assert_eq!(persist(&clean(&called), 0, "n").as_deref(), Some("k/{{ q }}"));
    let wrong = kept("'k/{{ qq }}'");
    let error = load_first(&[("r.yaml", root), ("lib.yaml", &*wrong)], &OpTable::stock()).unwrap_err();
    assert_eq!((&*error.0[0].file, error.0[0].code), ("lib.yaml", "DG0306"));
}
