//! One mistake hides no other, and makes none of its own.

use super::{graph, limit, node, tools};
use crate::testing::compare;

#[test]
fn all_that_is_wrong_with_a_limit() {
    compare(&[
        (
            "no action",
            limit("{count: [a], max: two, too: a}"),
            &[
                "DG0102 6:3 limit \"l\" needs one of `exit`, `to` and `refuse`",
                "DG0106 6:24 `max` must be an integer of at least 0, is \"two\"",
                "DG0103 6:29 unknown key \"too\" in limit \"l\" | did you mean \"to\"?",
            ],
        ),
        (
            "unknown tool",
            limit("{count: [b], max: two, exit: stp, reserve: -1, scope: here}"),
            &[
                "DG0210 6:15 graph \"t\" has no tool or node \"b\"...",
                "DG0106 6:24 `max` must be an integer of at least 0, is \"two\"",
                "DG0209 6:35 unknown exit \"stp\"...",
                "DG0110 6:49 `reserve` is a share below 1...",
                "DG0106 6:60 `scope` is tree or own",
            ],
        ),
        (
            "unknown meter",
            limit("{count: turn, max: two, exit: step_limit, reserve: x}"),
            &[
                "DG0210 6:14 unknown meter \"turn\" | did you mean \"turns\"?",
                "DG0106 6:25 `max` must be an integer of at least 1, is \"two\"",
                "DG0106 6:57 `reserve` is a share below 1...",
            ],
        ),
        (
            "unknown meter with the bound of no time",
            limit("{count: turnz, max: 0, exit: step_limit}"),
            &[
                "DG0210 6:14 unknown meter \"turnz\" | did you mean \"turns\"?",
                "DG0110 6:26 `max` must be an integer of at least 1, is 0",
            ],
        ),
        (
            "unknown meter without a bound",
            limit("{count: turn, exit: step_limit}"),
            &["DG0102 6:3 limit \"l\" needs `max`", "DG0210 6:14 unknown meter \"turn\"..."],
        ),
        (
            "an unknown meter may be one of time",
            limit("{count: wall_tme, max: 30m, exit: deadline}"),
            &["DG0210 6:14 unknown meter \"wall_tme\" | did you mean \"wall_time\"?"],
        ),
        (
            "config of an unknown meter",
            limit("{count: turn, max: config.nothing, exit: step_limit}"),
            &[
                "DG0210 6:14 unknown meter \"turn\"...",
                "DG0205 6:25 graph \"t\" does not declare the config key \"nothing\"...",
            ],
        ),
        (
            "two actions",
            limit("{count: [a], max: 1, exit: stp, to: b}"),
            &[
                "DG0209 6:33 unknown exit \"stp\"...",
                "DG0105 6:38 a limit has exactly one of `exit`, `to` and `refuse`",
                "DG0202 6:42 graph \"t\" has no node \"b\"...",
            ],
        ),
        (
            "unknown channel",
            limit("{gain: facts, below: much, window: 0, mode: all, exit: stp}"),
            &[
                "DG0201 6:13 graph \"t\" has no channel \"facts\"...",
                "DG0106 6:27 `below` must be a number of at least 0, is \"much\"",
                "DG0110 6:41 `window` must be an integer of at least 1, is 0",
                "DG0106 6:50 `mode` is each or sum",
                "DG0209 6:61 unknown exit \"stp\"...",
            ],
        ),
        (
            "count and gain",
            limit("{count: turn, gain: facts, max: 1, exit: step_limit}"),
            &[
                "DG0210 6:14 unknown meter \"turn\"...",
                "DG0105 6:20 limit \"l\" has `count` or `gain`, not both",
                "DG0201 6:26 graph \"t\" has no channel \"facts\"...",
            ],
        ),
        (
            "counts no name",
            limit("{count: [[a]], max: 1, exit: step_limit}"),
            &["DG0101 6:15 a name must be text, is a list"],
        ),
    ]);
}

#[test]
fn what_a_broken_limit_or_route_would_lead_to_is_not_told() {
    let two = |limit: &str, next: &str| {
        format!(
            "deepgraph: 1\nstate: {{q: string}}\ninput: [q]\nlimits: {{l: {limit}}}\nstart: a\nnodes:\n  a: {{update: {{q: q}}{next}}}\n  \
             b: {{update: {{q: q}}}}\n"
        )
    };
    compare(&[
        (
            "count",
            two("{count: [c], max: 1, to: b}", ""),
            &["DG0210 4:22 graph \"t\" has no tool or node \"c\"..."],
        ),
        (
            "max",
            two("{count: [a], max: x, to: b}", ""),
            &["DG0106 4:31 `max` must be an integer of at least 1, is \"x\""],
        ),
        (
            "to",
            two("{count: [a], max: 1, too: b}", ""),
            &["DG0102 4:10 limit \"l\" needs one of...", "DG0103 4:34 unknown key \"too\"..."],
        ),
        (
            "a node as an exit",
            two("{count: [a], max: 1, exit: step_limit}", ", next: {exit: b}"),
            &["DG0209 7:36 unknown exit \"b\" | a node is written {to: b}"],
        ),
        (
            "an exit leads to no node",
            two("{count: [a], max: 1, exit: step_limt}", ", next: {exit: compleet}"),
            &[
                "DG0209 4:40 unknown exit \"step_limt\"...",
                "DG0209 7:36 unknown exit \"compleet\"...",
                "DG0501 8:3 nothing leads to node \"b\"...",
            ],
        ),
        (
            "to and exit",
            two("{count: [a], max: 1, exit: step_limit}", ", next: {to: c, exit: stop}"),
            &[
                "DG0202 7:34 graph \"t\" has no node \"c\"...",
                "DG0105 7:37 a way has `to` or `exit`, not both",
                "DG0209 7:43 unknown exit \"stop\"...",
            ],
        ),
    ]);
}

#[test]
fn all_that_is_wrong_with_a_field() {
    compare(&[
        (
            "config",
            graph("config: {k: {type: strng, optional: yes, minimum: low, max_items: -1, description: [a]}}"),
            &[
                "DG0206 5:20 unknown type \"strng\"...",
                "DG0012 5:37 `optional` must be true or false...",
                "DG0101 5:51 `minimum` must be a number...",
                "DG0101 5:67 `max_items` must be a whole number...",
                "DG0101 5:84 `description` must be text",
            ],
        ),
        (
            "bounds of an unknown type",
            graph(
                "config: {k: {type: duratoin, minimum: 30s, maximum: 10s, max_items: 3, enum: [a], default: b}}",
            ),
            &[
                "DG0206 5:20 unknown type \"duratoin\"...",
                "DG0106 5:44 `maximum` is below `minimum`",
                "DG0402 5:92 the default must be one of a, is \"b\"",
            ],
        ),
        (
            "values",
            graph("config: {k: {type: integer, enum: [1, two], default: 1}}"),
            &["DG0106 5:39 a value of `enum` must be an integer, is \"two\""],
        ),
        (
            "channel",
            graph("").replace("n: integer", "n: {type: [strng], reduce: appnd}"),
            &["DG0206 2:31 unknown type \"strng\"...", "DG0207 2:47 unknown reducer \"appnd\"..."],
        ),
        (
            "channel without a type",
            graph("").replace("n: integer", "n: {reduce: appnd}"),
            &[
                "DG0102 2:24 the channel \"n\" has a reducer and no `type`...",
                "DG0207 2:32 unknown reducer...",
            ],
        ),
        (
            "named type",
            graph("types: {source: {a: strng}, 'a b': {c: strng}}"),
            &[
                "DG0108 5:9 the type \"source\" is built in",
                "DG0206 5:21 unknown type \"strng\"...",
                "DG0107 5:29 \"a b\" can not be the name of a type",
                "DG0206 5:40 unknown type \"strng\"...",
            ],
        ),
    ]);
}

#[test]
fn a_channel_that_could_not_be_read_has_no_two_writers() {
    let both = |channel: &str| {
        format!(
            "deepgraph: 1\nstate: {{q: string, l: {channel}}}\ninput: [q]\nstart: {{to: [a, b]}}\n\
             nodes: {{a: {{update: {{l: q}}}}, b: {{update: {{l: q}}}}}}\n"
        )
    };
    compare(&[
        ("type", both("{type: [strng], reduce: append}"), &["DG0206 2:31 unknown type \"strng\"..."]),
        ("reducer", both("{type: [string], reduce: appnd}"), &["DG0207 2:48 unknown reducer \"appnd\"..."]),
        ("read", both("string"), &["DG0505 4:13 \"a\" and \"b\" run together..."]),
    ]);
}

#[test]
fn what_has_a_bad_name_is_read_all_the_same() {
    compare(&[
        (
            "node",
            graph("")
                .replace("{a: {update: {q: \"'x'\"}}}", "{'a b': {update: {q: qq}}}")
                .replace("start: a", "start: a b"),
            &["DG0107 4:9 \"a b\" can not be the name of a node...", "DG0301 4:29 unknown name \"qq\"..."],
        ),
        (
            "channel",
            graph("").replace("n: integer", "result: integr").replace("{q: \"'x'\"}", "{result: 1}"),
            &["DG0108 2:20 \"result\" is reserved...", "DG0206 2:28 unknown type \"integr\"..."],
        ),
        (
            "graph of a taken name",
            graph("graphs:\n  t: {state: {q: strng}, start: a, nodes: {a: {update: {q: q}}}}\n"),
            &["DG0109 6:3 a graph \"t\" is already declared...", "DG0206 6:18 unknown type \"strng\"..."],
        ),
    ]);
}

#[test]
fn all_that_is_wrong_with_verbs_and_values() {
    compare(&[
        (
            "two verbs",
            node("    model: x\n    prompt: '{{ qq }}'\n    ask: '{{ mm }}'\n    update: {q: result.data}\n"),
            &[
                "DG0301 8:17 unknown name \"qq\"...",
                "DG0105 9:5 node \"a\" has two verbs, model and ask...",
                "DG0301 9:14 unknown name \"mm\"...",
            ],
        ),
        (
            "a misspelt verb",
            node("    modl: x\n    update: {q: result.text}\n"),
            &["DG0103 7:5 unknown key \"modl\" in node \"a\" | did you mean \"model\"?"],
        ),
        (
            "record",
            node("    update: {r: {a: 1, c: q}}\n")
                .replace("m: messages", "m: messages, r: {a: string, b: string}"),
            &[
                "DG0401 7:17 the channel \"r\" takes {a: string, b: string}, and this has a field \"a\" that is integer, \
                 and is a record without the field \"b\", and has a field \"c\" that this record has not...",
            ],
        ),
        (
            "tool",
            tools(
                "  t: {call: thnk, ask: '{{ args.x }} {{ qq }}', parallel: none, overflow: drop, answer_max: 0}",
            ),
            &[
                "DG0208 10:13 there is no graph or op \"thnk\"...",
                "DG0105 10:19 tool \"t\" has `call` and `ask`; it does one thing",
                "DG0301 10:41 unknown name \"qq\"...",
                "DG0106 10:59 `parallel` must be an integer of at least 1, is \"none\"",
                "DG0106 10:75 `overflow` is refuse or queue...",
                "DG0110 10:93 `answer_max` must be an integer of at least 1, is 0",
            ],
        ),
    ]);
}
