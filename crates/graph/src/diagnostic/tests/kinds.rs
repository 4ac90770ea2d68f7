//! The kinds of mistakes that a check must find, each with its code and place: one table to look them up in.

use crate::testing::{compare, said};

/// A small graph with a place for more; its first node is in line 8.
fn graph(nodes: &str, more: &str) -> String {
    format!(
        "deepgraph: 1\nconfig: {{k: {{type: integer, default: 3, minimum: 1}}}}\n\
         state: {{q: string, n: integer, flag: boolean, facts: {{type: [fact], reduce: union}}, m: messages}}\n\
         input: [q]\nlimits: {{t: {{count: turns, max: 9, exit: step_limit}}}}\nstart: a\nnodes:\n{nodes}{more}"
    )
}

fn plain(node: &str) -> String {
    graph(&format!("  a: {node}\n"), "")
}

#[test]
fn names_that_there_are_not() {
    let offers = "  a: {model: x, messages: m, tools: [serch], next: r}\n  r: {run_tools: a, next: a}\n";
    compare(&[
        ("key", plain("{updte: {q: q}}"), &["DG0103 8:7 unknown key \"updte\" in node \"a\"..."]),
        ("node", plain("{update: {q: q}, next: b}"), &["DG0202 8:26 graph \"t\" has no node \"b\"..."]),
        ("node of run_tools", plain("{run_tools: b}"), &["DG0202 8:18 graph \"t\" has no node \"b\"..."]),
        ("channel", plain("{update: {p: q}}"), &["DG0201 8:16 graph \"t\" has no channel \"p\"..."]),
        ("channel that is read", plain("{update: {q: p}}"), &["DG0301 8:19 unknown name \"p\"..."]),
        (
            "channel in a prompt",
            plain("{model: x, prompt: 'To {{ p }}'}"),
            &["DG0301 8:33 unknown name \"p\"..."],
        ),
        (
            "route to an exit",
            plain("{update: {q: q}, next: {exit: over}}"),
            &["DG0209 8:33 unknown exit \"over\"..."],
        ),
        (
            "route to a word",
            plain("{update: {q: q}, next: next}"),
            &["DG0211 8:26 `next` as a target stands in..."],
        ),
        ("tool", graph(offers, ""), &["DG0203 8:38 graph \"t\" has no tool \"serch\"..."]),
        (
            "reducer",
            plain("{update: {q: q}}").replace("reduce: union", "reduce: unoin"),
            &["DG0207 3:70 unknown reducer \"unoin\" | did you mean \"union\"?"],
        ),
        (
            "config key of a setting",
            plain("{model: config.modl, prompt: p}"),
            &["DG0205 8:15 graph \"t\" does not declare the config key \"modl\"..."],
        ),
        ("config key", plain("{update: {n: config.kk}}"), &["DG0205 8:26 graph \"t\" does not declare..."]),
        ("filter", plain("{update: {q: q | uper}}"), &["DG0303 8:23 unknown filter \"uper\"..."]),
        (
            "filter in a prompt",
            plain("{model: x, prompt: '{{ q | uper }}'}"),
            &["DG0303 8:34 unknown filter..."],
        ),
        (
            "filter by name",
            plain("{update: {n: facts | map(\"len\") | length}}"),
            &["DG0303 8:27 unknown filter..."],
        ),
    ]);
}

#[test]
fn ways_that_lead_nowhere_or_never_end() {
    let two = |a: &str, b: &str| graph(&format!("  a: {a}\n  b: {b}\n"), "");
    let next = |ways: &str| two(&format!("{{update: {{q: q}}, next: {ways}}}"), "{update: {q: q}}");
    compare(&[
        (
            "unreachable",
            two("{update: {q: q}}", "{update: {q: q}}"),
            &["DG0501 9:3 nothing leads to node \"b\"..."],
        ),
        (
            "no way out",
            two("{update: {q: q}, next: b}", "{update: {q: q}, next: a}"),
            &["DG0502 8:3 there is no way out of the cycle a -> b -> a..."],
        ),
        (
            "no way at all",
            next("[]"),
            &["DG0513 8:26 `next` has no ways...", "DG0501 9:3 nothing leads to..."],
        ),
        ("no node", next("{to: []}"), &["DG0513 8:31 `to` names no node"]),
        (
            "behind one that always holds",
            next("[b, {if: q, exit: completed}]"),
            &["DG0503 8:30 this way is never taken: the one in line 8 always holds..."],
        ),
        (
            "behind the same condition",
            next("[{if: q == \"x\", to: b}, {if: ' q == \"x\"', exit: completed}, b]"),
            &["DG0503 8:50 this way is never taken: the one in line 8 has the same condition..."],
        ),
        (
            "never holds",
            next("[{if: false, exit: completed}, b]"),
            &["DG0503 8:27 this way is never taken: its `if` is..."],
        ),
        (
            "a cycle that no limit cuts",
            next("[{if: n > 3, to: b}, a]"),
            &[
                "DG0504 8:3 no limit cuts the cycle a -> a | add to `limits`: visits: {count: [a], max: 10, exit: step_limit}",
            ],
        ),
        (
            "a limit that some rounds do not count",
            two(
                "{update: {q: q}, next: [{if: n > 3, to: b}, {if: n > 2, to: a}, {exit: completed}]}",
                "{update: {q: q}, next: a}",
            )
            .replace("count: turns", "count: [b]"),
            &["DG0504 8:3 no limit cuts the cycle a -> a..."],
        ),
        (
            "tokens may stand still",
            two("{model: x, prompt: p, next: b}", "{update: {q: q}, next: a}").replace(
                "count: turns, max: 9, exit: step_limit",
                "count: tokens, max: 9, exit: token_budget",
            ),
            &["DG0504 8:3 no limit cuts the cycle a -> b -> a..."],
        ),
    ]);
}

#[test]
fn graphs_that_call_themselves() {
    let child = |limits: &str, inner: &str| {
        format!(
            "graphs:\n  c:\n    state: {{q: string}}\n    input: [q]\n    limits: {limits}\n    start: d\n    nodes:\n      \
             d: {{call: {inner}, input: {{q: q}}}}\n"
        )
    };
    let call = |limits: &str, inner: &str| graph("  a: {call: c, input: {q: q}}\n", &child(limits, inner));
    let other = "  e:\n    state: {q: string}\n    input: [q]\n    start: f\n    nodes:\n      f: {call: c, input: {q: q}}\n";
    let unbounded = "this graph calls itself, directly or through others, and no limit bounds how deep...";
    let later = "a graph that calls itself, directly or through others, is not built yet...";
    let depth = "{depth: {count: depth, max: 3, refuse: true}}";
    compare(&[
        ("itself", call("{}", "c"), &[&format!("DG0515 16:17 {unbounded}")]),
        (
            "through another",
            call("{}", "e") + other,
            &[&format!("DG0515 16:17 {unbounded}"), &format!("DG0515 22:17 {unbounded}")],
        ),
        ("the root", call("{}", "t"), &[&format!("DG0515 16:17 {unbounded}")]),
        (
            "with a bound",
            call(depth, "c"),
            &["DG0104 13:29 the meter \"depth\" is not built yet...", &format!("DG0104 16:17 {later}")],
        ),
        (
            "a bound of one of two",
            call(depth, "e") + other,
            &["DG0104 13:29 the meter \"depth\" is not built yet...", &format!("DG0104 22:17 {later}")],
        ),
    ]);
}

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
                "DG0401 8:25 the input \"n\" takes integer, and this is string",
                "DG0401 8:31 the input \"list\" takes [string], and this is string",
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
            &["DG0401 8:30 the input \"query\" takes string..."],
        ),
        (
            "a field of a loop variable",
            prompt("{% for f in facts %}{{ f.txt }}{% endfor %}"),
            &["DG0302 8:50 the type \"fact\" has no field \"txt\" | did you mean \"text\"?"],
        ),
        (
            "a field of a field of a loop variable",
            prompt("{% for f in facts %}{{ f.span.lin }}{% endfor %}"),
            &["DG0302 8:55 the type \"span\" has no field \"lin\"..."],
        ),
        (
            "a field of text",
            prompt("{% for f in facts %}{{ f.text.length }}{% endfor %}"),
            &["DG0302 8:55 string has no fields, so no \"length\""],
        ),
        (
            "a field in a filter",
            plain("{update: {q: 'facts | map(attribute=\"txt\") | join'}}"),
            &["DG0302 8:28 the type \"fact\" has no field \"txt\"..."],
        ),
        (
            "a setting",
            plain("{model: config.k, prompt: p}"),
            &["DG0401 8:15 `model` takes a string, and config.k is integer"],
        ),
    ]);
}

#[test]
fn two_writers_in_one_super_step() {
    let fan = |a: &str, b: &str, more: &str| {
        graph(&format!("  a: {{update: {{n: 1}}, next: {{to: [b, c]}}}}\n  b: {a}\n  c: {b}\n{more}"), "")
    };
    compare(&[
        (
            "at once",
            fan("{update: {q: q}}", "{update: {q: q}}", ""),
            &["DG0505 8:31 \"b\" and \"c\" run together and both write the channel \"q\"..."],
        ),
        (
            "one super-step later",
            fan(
                "{update: {n: 1}, next: d}",
                "{update: {q: q}, next: e}",
                "  d: {update: {q: q}}\n  e: {update: {q: q}}\n",
            ),
            &["DG0505 8:31 \"d\" and \"e\" run together and both write the channel \"q\"..."],
        ),
        (
            "one after the other",
            fan("{update: {n: 1}, next: d}", "{update: {q: q}}", "  d: {update: {q: q}}\n"),
            &[],
        ),
        (
            "round and round",
            fan("{update: {n: 1}, next: c}", "{update: {q: q}, next: b}", "")
                .replace("count: turns", "count: [b, c]"),
            &[],
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
            &["DG0110 5:31 `max` must be an integer of at least 1, is 0"],
        ),
        (
            "negative",
            limit("{count: [a], max: -1, refuse: true}"),
            &["DG0110 5:29 `max` must be an integer of at least 0, is -1"],
        ),
        (
            "money",
            limit("{count: cost_usd, max: -0.5, exit: cost_budget}"),
            &["DG0110 5:34 `max` must be a number of at least 0, is -0.5"],
        ),
        (
            "time",
            limit("{count: wall_time, max: -5s, exit: deadline}"),
            &["DG0110 5:35 `max` must be a duration..."],
        ),
        (
            "reserve",
            limit("{count: tokens, max: 9, exit: token_budget, reserve: -1}"),
            &["DG0110 5:64 `reserve` is a share below 1..."],
        ),
        (
            "window",
            limit("{gain: facts, window: 0, exit: gain_saturated}"),
            &["DG0110 5:33 `window` must be an integer of at least 1, is 0"],
        ),
        (
            "by default",
            limit("{count: turns, max: config.k, exit: step_limit}")
                .replace("default: 3, minimum: 1", "default: 0"),
            &["DG0110 5:31 `max` must be at least 1, and the default of config.k is 0..."],
        ),
        (
            "no number",
            limit("{count: turns, max: many, exit: step_limit}"),
            &["DG0106 5:31 `max` must be an integer..."],
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
            &["DG0012 3:57 the default must be true or false, is \"yes\" | write true"],
        ),
        (
            "NO",
            flag("{type: boolean, default: NO}"),
            &["DG0012 3:57 the default must be true or false, is \"NO\" | write false"],
        ),
        (
            "off",
            flag("{type: boolean, optional: off}"),
            &["DG0012 3:58 `optional` must be true or false | write false"],
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
            &["DG0012 8:31 `if` must be an expression | write false"],
        ),
        (
            "as a refusal",
            plain("{update: {q: q}}").replace("exit: step_limit", "refuse: yes"),
            &["DG0012 5:42 `refuse` is true, or left out"],
        ),
        (
            "tag",
            plain("{update: {q: q}, next: {if: !q, exit: completed}}"),
            &["DG0003 8:31 tags are not read..."],
        ),
        (
            "key that stands twice",
            plain("{update: {q: q}, update: {n: 1}}"),
            &["DG0002 8:24 the key \"update\" is here a second time..."],
        ),
        (
            "merge key",
            plain("{<<: {update: {q: q}}}"),
            &["DG0013 8:7 merge keys are not read | write the keys out"],
        ),
        ("anchor", plain("{update: &u {q: q}}"), &["DG0004 8:16 anchors and aliases are not read..."]),
    ]);
}

#[test]
fn one_pass_finds_them_all() {
    let text = "\
deepgraph: 1
config: {k: {type: integer, default: 0, minimm: 1}, on: {type: boolean, default: NO}}
state: {q: string, n: integer, s: {type: [string], reduce: appnd}, f: [fact], m: messages}
input: [q]
output: [r]
tools: {t: {call: thnk}}
limits: {l: {count: turns, max: 0, exit: step_limit}, l: {}}
start: {to: [a, b]}
nodes:
  a: {update: {q: q | uper}, next: [c, {if: q, exit: over}]}
  b: {update: {q: config.z}, next: !d b}
  c: {call: child, input: {x: q}, nxt: a}
  d: {model: x, messages: m, tools: [u]}
  e: {model: x, prompt: '{% for x in f %}{{ x.txt }}{% endfor %}'}
graphs:
  child: {state: {x: integer}, input: [x], start: n, nodes: {n: {call: child, input: {x: x}}}}
";
    let places: Vec<String> =
        said(text).iter().map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    let wanted = [
        "DG0103 2:41",
        "DG0012 2:82",
        "DG0207 3:60",
        "DG0201 5:10",
        "DG0208 6:19",
        "DG0110 7:33",
        "DG0002 7:55",
        "DG0505 8:13",
        "DG0303 10:23",
        "DG0503 10:40",
        "DG0209 10:53",
        "DG0205 11:26",
        "DG0003 11:36",
        "DG0401 12:28",
        "DG0103 12:35",
        "DG0501 13:3",
        "DG0203 13:38",
        "DG0501 14:3",
        "DG0302 14:47",
        "DG0515 16:72",
    ];
    assert_eq!(places, wanted, "{:#?}", said(text));
}
