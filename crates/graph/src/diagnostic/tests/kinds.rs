//! The kinds of mistakes that a check must find, each with its code and place: one table to look them up in.

mod values;

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
        ("node", plain("{update: {q: q}, next: b}"), &["DG0202 8:29 graph \"t\" has no node \"b\"..."]),
        ("node of run_tools", plain("{run_tools: b}"), &["DG0202 8:18 graph \"t\" has no node \"b\"..."]),
        ("channel", plain("{update: {p: q}}"), &["DG0201 8:16 graph \"t\" has no channel \"p\"..."]),
        ("channel that is read", plain("{update: {q: p}}"), &["DG0301 8:19 unknown name \"p\"..."]),
        (
            "channel in a prompt",
            plain("{model: x, prompt: 'To {{ p }}'}"),
            &["DG0301 8:32 unknown name \"p\"..."],
        ),
        (
            "route to an exit",
            plain("{update: {q: q}, next: {exit: over}}"),
            &["DG0209 8:36 unknown exit \"over\"..."],
        ),
        (
            "route to a word",
            plain("{update: {q: q}, next: next}"),
            &["DG0211 8:29 `next` as a target stands in..."],
        ),
        ("tool", graph(offers, ""), &["DG0203 8:38 graph \"t\" has no tool \"serch\"..."]),
        (
            "reducer",
            plain("{update: {q: q}}").replace("reduce: union", "reduce: unoin"),
            &["DG0207 3:77 unknown reducer \"unoin\" | did you mean \"union\"?"],
        ),
        (
            "config key of a setting",
            plain("{model: config.modl, prompt: p}"),
            &["DG0205 8:14 graph \"t\" does not declare the config key \"modl\"..."],
        ),
        ("config key", plain("{update: {n: config.kk}}"), &["DG0205 8:19 graph \"t\" does not declare..."]),
        ("filter", plain("{update: {q: q | uper}}"), &["DG0303 8:23 unknown filter \"uper\"..."]),
        (
            "filter in a prompt",
            plain("{model: x, prompt: '{{ q | uper }}'}"),
            &["DG0303 8:33 unknown filter..."],
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
            &["DG0513 8:29 `next` has no ways...", "DG0501 9:3 nothing leads to..."],
        ),
        ("no node", next("{to: []}"), &["DG0513 8:34 `to` names no node"]),
        (
            "behind one that always holds",
            next("[b, {if: q, exit: completed}]"),
            &["DG0503 8:33 this way is never taken: the one in line 8 always holds..."],
        ),
        (
            "behind the same condition",
            next("[{if: q == \"x\", to: b}, {if: ' q == \"x\"', exit: completed}, b]"),
            &["DG0503 8:53 this way is never taken: the one in line 8 has the same condition..."],
        ),
        (
            "never holds",
            next("[{if: false, exit: completed}, b]"),
            &["DG0503 8:30 this way is never taken: its `if` is..."],
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
    let depth = "{depth: {count: depth, max: 3, refuse: true}}";
    compare(&[
        (
            "itself",
            call("{}", "c"),
            &["DG0515 16:17 graph \"c\" calls itself, and no limit bounds how deep..."],
        ),
        (
            "through another",
            call("{}", "e") + other,
            &["DG0515 16:17 a graph calls itself, and no limit bounds how deep: c -> e -> c..."],
        ),
        (
            "the root",
            call("{}", "t"),
            &["DG0515 8:13 a graph calls itself, and no limit bounds how deep: t -> c -> t..."],
        ),
        ("with a bound", call(depth, "c"), &[]),
        ("a bound of one of two", call(depth, "e") + other, &[]),
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
            &["DG0505 8:34 \"b\" and \"c\" run together and both write the channel \"q\"..."],
        ),
        (
            "one super-step later",
            fan(
                "{update: {n: 1}, next: d}",
                "{update: {q: q}, next: e}",
                "  d: {update: {q: q}}\n  e: {update: {q: q}}\n",
            ),
            &["DG0505 8:34 \"d\" and \"e\" run together and both write the channel \"q\"..."],
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
        "DG0209 10:54",
        "DG0205 11:19",
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
