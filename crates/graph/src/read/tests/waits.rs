//! `after` and `defer`.

use crate::NodeIx;
use crate::testing::{clean, compare};

/// Two branches that meet.
fn joined(keys: &str) -> String {
    format!(
        "deepgraph: 1\nstate: {{q: {{type: [string], reduce: append}}}}\nstart: {{to: [a, b]}}\nnodes:\n  \
         a: {{update: {{q: \"'a'\"}}, next: c}}\n  b: {{update: {{q: \"'b'\"}}, next: c}}\n  c: {{update: {{q: q}}, {keys}}}\n"
    )
}

#[test]
fn a_node_waits_for_others_or_until_nothing_runs() {
    let bundle = clean(&joined("after: [b, a]"));
    let nodes = &bundle.root().nodes;
    assert_eq!(nodes[2].after, [NodeIx(1), NodeIx(0)]);
    assert!(nodes[0].after.is_empty() && nodes.iter().all(|n| !n.defer));
    let bundle = clean(&joined("defer: true"));
    let deferred: Vec<bool> = bundle.root().nodes.iter().map(|n| n.defer).collect();
    assert_eq!(deferred, [false, false, true]);
    assert!(!clean(&joined("defer: false")).root().nodes[2].defer);
}

#[test]
fn what_is_waited_for_are_other_nodes() {
    compare(&[
        (
            "itself",
            joined("after: [a, c]"),
            &[
                "DG0105 7:34 node \"c\" can not wait for itself | `after` names the other nodes that lead here",
            ],
        ),
        (
            "unknown",
            joined("after: [a, bb]"),
            &["DG0202 7:34 graph \"t\" has no node \"bb\" | there is: a, b, c"],
        ),
        ("twice", joined("after: [a, a]"), &["DG0109 7:34 \"a\" is listed twice"]),
        ("none", joined("after: []"), &["DG0106 7:30 `after` names no node"]),
        (
            "no list",
            joined("after: a"),
            &["DG0101 7:30 `after` must be a list of names, is text | write [a]"],
        ),
        ("yes", joined("defer: yes"), &["DG0101 7:30 `defer` must be true or false | write true"]),
        ("setting", joined("defer: config.d"), &["DG0101 7:30 `defer` must be true or false"]),
    ]);
}
