//! Routes and limits.

use super::{limit, node};
use crate::testing::compare;

#[test]
fn routes() {
    let next = |route: &str| node(&format!("    update: {{q: q}}\n    next: {route}\n"));
    compare(&[
        (
            "several",
            next("[a, a]"),
            &[
                "DG0502 6:3 there is no way out of the cycle a -> a, and no limit cuts it | add to `limits`: visits: {count: [a], max: 10, exit: step_limit}",
                "DG0503 8:15 this way is never taken: the one in line 8 always holds | for all of them at once write {to: [a, a]}",
            ],
        ),
        (
            "never",
            next("[{exit: completed}, {if: q, exit: completed}]"),
            &[
                "DG0503 8:31 this way is never taken: the one in line 8 always holds | ways are tried in order: put those with `if` first",
            ],
        ),
        ("if true", next("[{if: true, exit: completed}, {exit: completed}]"), &["DG0503 8:41 this way..."]),
        (
            "to and exit",
            next("{to: a, exit: completed}"),
            &["DG0105 8:19 a way has `to` or `exit`, not both"],
        ),
        ("neither", next("{if: q}"), &["DG0102 8:11 a way needs `to: NODE` or `exit: NAME`"]),
        ("empty", next("[]"), &["DG0513 8:11 `next` has no ways..."]),
        ("empty to", next("{to: []}"), &["DG0513 8:16 `to` names no node"]),
        (
            "twice",
            next("{to: [a, a]}"),
            &["DG0502 6:3 there is no way out of the cycle a -> a...", r#"DG0109 8:20 "a" is listed twice"#],
        ),
        (
            "next in next",
            next("next"),
            &["DG0211 8:11 `next` as a target stands in `on_error`, not in `next`"],
        ),
        ("nested list", next("[[a]]"), &["DG0101 8:12 a list of ways inside a list of ways..."]),
        (
            "inherit",
            next("{exit: inherit}"),
            &["DG0211 8:18 `inherit` ends as a called graph ended; there is none here..."],
        ),
        ("yes", next("{if: yes, exit: completed}"), &["DG0012 8:16 `if` must be an expression | write true"]),
        (
            "template",
            next("{if: '{{ q }}', exit: completed}"),
            &[
                "DG0308 8:16 `if` is a bare expression, no template, whose text would always hold | leave out `{{` and `}}`",
            ],
        ),
        ("tag", next("{if: !q, exit: completed}"), &["DG0003 8:16 tags are not read..."]),
        (
            "only conditions",
            next("[{if: q, exit: completed}]"),
            &["~DG0509 8:11 perhaps none of these ways of `next` holds..."],
        ),
        (
            "a last way that always holds",
            next("[{if: q, to: a}, {if: true, exit: completed}]"),
            &["DG0504 6:3 no limit cuts the cycle a -> a..."],
        ),
        (
            "two that always hold",
            next("[{if: true, exit: completed}, {exit: completed}, {exit: completed}]"),
            &["DG0503 8:41 this way is never taken: the one in line 8 always holds..."],
        ),
        ("update only", next("{update: {q: \"'x'\"}}"), &[]),
    ]);
}

#[test]
fn limits() {
    compare(&[
        (
            "both",
            limit("{count: steps, gain: l, max: 3, exit: step_limit}"),
            &["DG0105 6:21 limit \"l\" has `count` or `gain`, not both"],
        ),
        ("neither", limit("{max: 3, exit: step_limit}"), &["DG0102 6:3 limit \"l\" needs `count` or `gain`"]),
        (
            "two ends",
            limit("{count: steps, max: 3, exit: step_limit, refuse: true}"),
            &["DG0105 6:47 a limit has exactly one of `exit`, `to` and `refuse`"],
        ),
        ("no max", limit("{count: steps, exit: step_limit}"), &["DG0102 6:3 limit \"l\" needs `max`"]),
        (
            "no max at the root",
            limit("{count: tokens, exit: token_budget}"),
            &["DG0102 6:3 limit \"l\" needs `max` | only a child graph can leave it out..."],
        ),
        (
            "zero",
            limit("{count: steps, max: 0, exit: step_limit}"),
            &["DG0110 6:26 `max` must be an integer of at least 1, is 0"],
        ),
        (
            "negative",
            limit("{count: [a], max: -1, refuse: true}"),
            &["DG0110 6:24 `max` must be an integer of at least 0, is -1"],
        ),
        (
            "text",
            limit("{count: steps, max: six, exit: step_limit}"),
            &["DG0106 6:26 `max` must be an integer of at least 1, is \"six\""],
        ),
        (
            "time",
            limit("{count: wall_time, max: soon, exit: deadline}"),
            &["DG0106 6:30 `max` must be a duration..."],
        ),
        (
            "config",
            limit("{count: steps, max: config.k, exit: step_limit}")
                .replace("start", "config: {k: string}\nstart"),
            &["DG0401 7:26 `max` takes an integer of at least 1, and config.k is string"],
        ),
        (
            "reserve",
            limit("{count: tokens, max: 9, exit: token_budget, reserve: -1}"),
            &["DG0110 6:59 `reserve` is a share below 1, or a number of units of at least 1"],
        ),
        (
            "scope",
            limit("{count: steps, max: 9, exit: step_limit, scope: tree}"),
            &["DG0106 6:54 this is counted in the graph itself only: `scope: own`"],
        ),
        ("mode", limit("{gain: l, mode: all, exit: gain_saturated}"), &["DG0106 6:22 `mode` is each or sum"]),
        (
            "gain of a number",
            limit("{gain: n, exit: gain_saturated}"),
            &["DG0401 6:13 `gain` counts the items of a list or map; \"n\" is integer"],
        ),
        (
            "gain with max",
            limit("{gain: l, max: 3, exit: gain_saturated}"),
            &["DG0105 6:16 `max` needs `count`"],
        ),
        (
            "below with count",
            limit("{count: steps, below: 3, max: 3, exit: step_limit}"),
            &["DG0105 6:21 `below` needs `gain`"],
        ),
        (
            "itself",
            limit("{count: [a], max: 3, to: a}"),
            &["DG0510 6:3 limit \"l\" leads to \"a\", which it counts..."],
        ),
        ("off", limit("{count: steps, max: null, exit: step_limit}"), &[]),
    ]);
}
