//! Values: their types, their ranges, and what YAML makes of them.

use super::{graph, plain};
use crate::testing::compare;

#[test]
fn types_that_do_not_fit() {
    let child = "graphs:\n  c:\n    state: {n: integer, list: [string]}\n    input: [n, list]\n    start: d\n    nodes: {d: {update: {n: n}}}\n";
    let prompt = |text: &str| plain(&format!("{{model: x, prompt: \"{text}\"}}"));
    compare(&[
        (
            "channel",
            plain("{update: {n: q}}"),
            &["DG0401 8:19 the channel \"n\" takes integer, and this is string"],
        ),
        (
            "a child's input",
            graph("  a: {call: c, input: {n: q, list: q}}\n", child),
            &[
                "DG0401 8:24 the input \"n\" takes integer, and this is string",
                "DG0401 8:30 the input \"list\" takes [string], and this is string",
            ],
        ),
        (
            "a child's input that is missing",
            graph("  a: {call: c, input: {n: 1}}\n", child),
            &["DG0403 8:16 the graph needs the input \"list\" ([string])"],
        ),
        (
            "op",
            plain("{call: search, input: {query: n}}"),
            &["DG0401 8:29 the input \"query\" takes string..."],
        ),
        (
            "a field of a loop variable",
            prompt("{% for f in facts %}{{ f.txt }}{% endfor %}"),
            &["DG0302 8:51 the type \"fact\" has no field \"txt\" | did you mean \"text\"?"],
        ),
        (
            "a field of a field of a loop variable",
            prompt("{% for f in facts %}{{ f.span.lin }}{% endfor %}"),
            &["DG0302 8:56 the type \"span\" has no field \"lin\"..."],
        ),
        (
            "a field of text",
            prompt("{% for f in facts %}{{ f.text.length }}{% endfor %}"),
            &["DG0302 8:56 string has no fields, so no \"length\""],
        ),
        (
            "a field in a filter",
            plain("{update: {q: 'facts | map(attribute=\"txt\") | join'}}"),
            &["DG0302 8:28 the type \"fact\" has no field \"txt\"..."],
        ),
        (
            "a setting",
            plain("{model: config.k, prompt: p}"),
            &["DG0401 8:14 `model` takes a string, and config.k is integer"],
        ),
    ]);
}

#[test]
fn limits_out_of_range() {
    let limit =
        |text: &str| plain("{update: {q: q}}").replace("{count: turns, max: 9, exit: step_limit}", text);
    compare(&[
        (
            "none",
            limit("{count: turns, max: 0, exit: step_limit}"),
            &["DG0110 5:33 `max` must be an integer of at least 1, is 0"],
        ),
        (
            "negative",
            limit("{count: [a], max: -1, refuse: true}"),
            &["DG0110 5:31 `max` must be an integer of at least 0, is -1"],
        ),
        (
            "money",
            limit("{count: cost_usd, max: -0.5, exit: cost_budget}"),
            &["DG0110 5:36 `max` must be a number of at least 0, is -0.5"],
        ),
        (
            "time",
            limit("{count: wall_time, max: -5s, exit: deadline}"),
            &["DG0110 5:37 `max` must be a duration..."],
        ),
        (
            "reserve",
            limit("{count: tokens, max: 9, exit: token_budget, reserve: -1}"),
            &["DG0110 5:66 `reserve` is a share below 1..."],
        ),
        (
            "window",
            limit("{gain: facts, window: 0, exit: gain_saturated}"),
            &["DG0110 5:35 `window` must be an integer of at least 1, is 0"],
        ),
        (
            "by default",
            limit("{count: turns, max: config.k, exit: step_limit}")
                .replace("default: 3, minimum: 1", "default: 0"),
            &["DG0110 5:33 `max` must be at least 1, and the default of config.k is 0..."],
        ),
        (
            "no number",
            limit("{count: turns, max: many, exit: step_limit}"),
            &["DG0106 5:33 `max` must be an integer..."],
        ),
    ]);
}

#[test]
fn traps_of_yaml() {
    let flag = |text: &str| plain("{update: {q: q}}").replace("flag: boolean", &format!("flag: {text}"));
    compare(&[
        (
            "yes",
            flag("{type: boolean, default: yes}"),
            &["DG0012 3:63 the default must be true or false, is \"yes\" | write true"],
        ),
        (
            "NO",
            flag("{type: boolean, default: NO}"),
            &["DG0012 3:63 the default must be true or false, is \"NO\" | write false"],
        ),
        (
            "off",
            flag("{type: boolean, optional: off}"),
            &["DG0012 3:64 `optional` must be true or false | write false"],
        ),
        ("NO is text where text is wanted", flag("{type: string, default: NO}"), &[]),
        (
            "as a value",
            plain("{update: {flag: yes}}"),
            &["DG0012 8:22 unknown name \"yes\" | write true; a fixed text is written \"'yes'\""],
        ),
        (
            "as a condition",
            plain("{update: {q: q}, next: {if: no, exit: completed}}"),
            &["DG0012 8:34 `if` must be an expression | write false"],
        ),
        (
            "as a refusal",
            plain("{update: {q: q}}").replace("exit: step_limit", "refuse: yes"),
            &["DG0012 5:44 `refuse` is true, or left out"],
        ),
        (
            "tag",
            plain("{update: {q: q}, next: {if: !q, exit: completed}}"),
            &["DG0003 8:34 tags are not read..."],
        ),
        (
            "key that stands twice",
            plain("{update: {q: q}, update: {n: 1}}"),
            &["DG0002 8:23 the key \"update\" is here a second time..."],
        ),
        (
            "merge key",
            plain("{<<: {update: {q: q}}}"),
            &["DG0013 8:7 merge keys are not read | write the keys out"],
        ),
        ("anchor", plain("{update: &u {q: q}}"), &["DG0004 8:15 anchors and aliases are not read..."]),
    ]);
}
