//! What nothing would read is refused, not passed over.

use super::{graph, limit, node, tools};
use crate::testing::compare;

const LATER: &str = "| it is part of the language, but this version can not run it";

#[test]
fn attempts_belong_to_calls_of_models_and_ops() {
    let child = "graphs: {c: {state: {q: string}, input: [q], start: b, nodes: {b: {update: {q: q}}}}}\n";
    let calls =
        |key: &str| format!("{}{child}", node(&format!("    call: c\n    input: {{q: q}}\n    {key}\n")));
    let later = |key: &str, of: &str| {
        format!("DG0104 9:5 the key \"{key}\" where {of} is called is not built yet {LATER}")
    };
    for key in ["timeout: 1m", "retry: 2", "cache: 1h"] {
        let name = key.split(':').next().unwrap();
        compare(&[
            ("graph", calls(key), &[&later(name, "a graph")]),
            (
                "write",
                node(&format!("    update: {{q: q}}\n    {key}\n")),
                &[&format!("DG0105 8:5 node \"a\" calls no model or op, so `{name}` means nothing here")],
            ),
            (
                "tool",
                tools(&format!("  t: {{answer: done, {key}}}")),
                &[&format!("DG0105 10:21 tool \"t\" calls no model or op, so `{name}` means nothing here")],
            ),
            ("op", node(&format!("    call: think\n    input: {{reflection: q}}\n    {key}\n")), &[]),
        ]);
    }
    compare(&[
        ("model", node("    model: x\n    prompt: p\n    cache: 1h\n"), &[&later("cache", "a model")]),
        ("off", node("    model: x\n    prompt: p\n    cache: false\n"), &[]),
        ("model again", node("    model: x\n    prompt: p\n    retry: 2\n    timeout: 1m\n"), &[]),
        ("question", node("    ask: why\n    timeout: 1m\n"), &[]),
        (
            "question again",
            node("    ask: why\n    retry: 2\n"),
            &["DG0105 8:5 node \"a\" calls no model or op..."],
        ),
    ]);
}

#[test]
fn limits_refuse_starts_only() {
    let help = "| give it an `exit` or a node `to` go on with";
    let refused =
        |at: &str| format!("DG0105 {at} `refuse` refuses a start, and this limit counts none {help}");
    compare(&[
        ("gain", limit("{gain: l, refuse: true}"), &[&refused("6:16")]),
        ("time", limit("{count: wall_time, max: 1h, refuse: true}"), &[&refused("6:34")]),
        ("tokens", limit("{count: tokens, max: 9, refuse: true}"), &[]),
    ]);
    for meter in ["tokens", "cost_usd"] {
        let text = graph(&format!("limits: {{l: {{count: {meter}, scope: own, max: 9, refuse: true}}}}"));
        let said = format!("`scope: own` with the meter \"{meter}\" is not built yet {LATER}");
        let at = 5 + "limits: {l: {count: , scope: ".len() + meter.len() - 4;
        compare(&[("own", text, &[&format!("DG0104 5:{at} {said}")])]);
    }
}
