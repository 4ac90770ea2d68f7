//! Classes of questions.

use super::graph;
use crate::testing::{compare, try_load};

const CONFIG: &str =
    "config: {below: {type: number, default: 0.02, minimum: 0}, wait: {type: duration, default: 5m}}\n";

fn intents(text: &str) -> String {
    graph(&format!("{CONFIG}intents:\n{text}"))
}

#[test]
fn mistakes_in_classes_are_told() {
    compare(&[
        (
            "unknown config key",
            intents("  a: {set: {belov: 1}}"),
            &[r#"DG0205 7:13 the intent "a" sets "belov", which is no config key | did you mean "below"?"#],
        ),
        (
            "wrong type",
            intents("  a: {set: {below: many, wait: 5x}}"),
            &[
                r#"DG0401 7:20 the config key "below" must be a number of at least 0, is "many""#,
                r#"DG0401 7:32 the config key "wait" must be a duration such as 30s, 10m or 1h, is "5x""#,
            ],
        ),
        (
            "out of range",
            intents("  a: {set: {below: -1}}"),
            &[r#"DG0110 7:20 the config key "below" must be a number of at least 0, is -1"#],
        ),
        (
            "keys and kinds",
            intents("  a: {kinds: narrow}\n  b: {kind: narow}\n  c: [x]"),
            &[
                r#"DG0103 7:7 unknown key "kinds" in intent "a" | did you mean "kind"?"#,
                r#"DG0106 8:13 `kind` is one of narrow, broad, exhaustive | did you mean "narrow"?"#,
                r#"DG0101 9:6 intent "c" must be a mapping, is a list"#,
            ],
        ),
        (
            "taken twice",
            intents("  a: {when: [How many], kind: broad}\n  b: {when: [\"how  MANY\"], kind: broad}"),
            &[
                r#"DG0109 8:14 the phrase "how  MANY" stands in the intent "a" already | a phrase decides for one class"#,
                r#"DG0109 8:34 broad questions belong to the intent "a" already | a kind decides for one class"#,
            ],
        ),
        (
            "phrases",
            intents("  a: {when: how many}\n  b: {when: [\"* ?\", 3]}"),
            &[
                "DG0101 7:13 `when` must be a list of phrases, is text | write [how many]",
                "DG0106 8:14 a phrase without a word fits every question | \
                 write words that stand in such questions; * stands for at most two words between them",
                "DG0101 8:21 a phrase must be text, is a number",
            ],
        ),
        (
            "none",
            intents("  none: {kind: broad}"),
            &[
                r#"DG0108 7:3 no intent can be called "none" | `--intent none` says that a question is of no class"#,
            ],
        ),
        (
            "below the root",
            graph(
                "graphs: {g: {state: {q: string}, intents: {a: {}}, start: n, nodes: {n: {update: {q: q}}}}}\n",
            ),
            &[
                r#"~DG0508 5:10 nothing calls the graph "g""#,
                r#"DG0105 5:34 only the root graph has the key "intents""#,
            ],
        ),
    ]);
}

#[test]
fn values_are_read_as_their_keys_want_them() {
    let bundle = try_load(&intents("  a: {when: [x], kind: narrow, set: {below: 1, wait: 2m}}\n  b: {}"))
        .unwrap()
        .bundle;
    let [a, b] = &bundle.intents[..] else { panic!("two classes") };
    assert_eq!(a.set.get("wait").and_then(|v| v.as_int()), Some(120));
    assert_eq!(a.class.kind.map(|kind| kind.name()), Some("narrow"));
    assert!(b.set.is_empty() && b.class.when.is_empty() && b.class.kind.is_none());
}
