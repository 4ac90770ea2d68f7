use crate::testing::{clean, compare};
use crate::*;

/// A graph with one node, whose body is given.
fn node(body: &str) -> String {
    format!("deepgraph: 1\nstate: {{q: string, m: messages}}\ninput: [q]\nstart: a\nnodes:\n  a:\n{body}")
}

/// A graph with more top level keys.
fn graph(keys: &str) -> String {
    format!(
        "deepgraph: 1\nstate: {{q: string, n: integer, l: [string], m: messages}}\nstart: a\nnodes: {{a: {{update: {{q: \"'x'\"}}}}}}\n{keys}"
    )
}

/// A graph with a model node that offers the tools given.
fn tools(tools: &str) -> String {
    format!(
        "deepgraph: 1\nstate: {{q: string, m: messages}}\ninput: [q]\nlimits: {{t: {{count: turns, max: 3, exit: step_limit}}}}\n\
         start: a\nnodes:\n  a: {{model: x, messages: m, tools: [t], next: r}}\n  r: {{run_tools: a, next: a}}\ntools:\n{tools}"
    )
}

/// A graph with one limit.
fn limit(limit: &str) -> String {
    graph(&format!("limits:\n  l: {limit}\n"))
}

#[test]
fn unknown_keys_at_every_level() {
    compare(&[
        (
            "graph",
            graph("limts: {}"),
            &[r#"DG0103 5:1 unknown key "limts" in a graph | did you mean "limits"?"#],
        ),
        (
            "node",
            node("    promt: hi\n    model: x\n    prompt: hi\n"),
            &[r#"DG0103 7:5 unknown key "promt" in node "a" | did you mean "prompt"?"#],
        ),
        (
            "other verb",
            node("    model: x\n    prompt: hi\n    input: {a: 1}\n"),
            &[r#"DG0103 9:5 the key "input" belongs to the verb `call`, which node "a" has not"#],
        ),
        (
            "no verb",
            node("    prompt: hi\n    update: {q: q}\n"),
            &[r#"DG0103 7:5 the key "prompt" belongs to the verb `model`, which node "a" has not"#],
        ),
        (
            "field",
            graph("config: {k: {type: string, defalt: x}}"),
            &[r#"DG0103 5:28 unknown key "defalt" in a field | did you mean "default"?"#],
        ),
        (
            "tool",
            tools("  t: {descripton: x}"),
            &[r#"DG0103 10:7 unknown key "descripton" in tool "t" | did you mean "description"?"#],
        ),
        (
            "limit",
            limit("{count: steps, max: 3, exits: step_limit}"),
            &[
                r#"DG0102 6:3 limit "l" needs one of `exit`, `to` and `refuse`"#,
                r#"DG0103 6:29 unknown key "exits" in limit "l" | did you mean "exit"?"#,
            ],
        ),
        (
            "way",
            node("    update: {q: q}\n    next: {iff: q, exit: completed}\n"),
            &[r#"DG0103 8:12 unknown key "iff" in a way | did you mean "if"?"#],
        ),
        (
            "truncate",
            node("    model: x\n    prompt: hi\n    truncate: {cuts: []}\n"),
            &[r#"DG0103 9:16 unknown key "cuts" in `truncate` | did you mean "cut"?"#],
        ),
        (
            "retry",
            node("    model: x\n    prompt: hi\n    retry: {times: 3}\n"),
            &[r#"DG0103 9:13 unknown key "times" in `retry` | there is: max, backoff, factor, if"#],
        ),
        (
            "messages",
            node("    model: x\n    messages: {reed: m}\n"),
            &[
                "DG0102 8:15 `messages` is a channel or {read: CHANNEL}",
                r#"DG0103 8:16 unknown key "reed" in `messages` | did you mean "read"?"#,
            ],
        ),
        (
            "concurrency",
            graph("concurrency: {graph: 1}"),
            &[r#"DG0103 5:15 unknown key "graph" in `concurrency` | did you mean "graphs"?"#],
        ),
    ]);
}

#[test]
fn keys_that_are_not_built_yet_are_refused_as_such() {
    let not_built = |what: &str, at: &str| {
        format!(
            "DG0104 {at} {what} is not built yet | it is part of the language, but this version can not run it"
        )
    };
    let cases = [
        (graph("profiles: {a: {}}"), "the key \"profiles\"", "5:1"),
        (graph("upgrade: {}"), "the key \"upgrade\"", "5:1"),
        (graph("mcp: {}"), "the key \"mcp\"", "5:1"),
        (graph("schedule: {}"), "the key \"schedule\"", "5:1"),
        (graph("").replace("q: string", "q: {type: string, persist: thread}"), "the key \"persist\"", "2:27"),
        (node("    update: {q: q}\n    after: [a]\n"), "the key \"after\"", "8:5"),
        (node("    update: {q: q}\n    defer: true\n"), "the key \"defer\"", "8:5"),
        (node("    update: {q: item.x}\n    each: m\n"), "the key \"each\"", "8:5"),
        (node("    update: {q: q}\n    max_items: 3\n"), "the key \"max_items\"", "8:5"),
        (node("    update: {q: q}\n    parallel: 3\n"), "the key \"parallel\"", "8:5"),
        (node("    call: think\n    input: {reflection: q}\n    config: {}\n"), "the key \"config\"", "9:5"),
        (node("    call: think\n    input: {reflection: q}\n    grant: {}\n"), "the key \"grant\"", "9:5"),
        (
            node("    call: think\n    input: {reflection: q}\n    effect: read\n"),
            "the key \"effect\"",
            "9:5",
        ),
        (
            node("    call: other.yaml#g\n    update: {q: result.x}\n"),
            "calling a graph of another file",
            "7:11",
        ),
        (node("    call: server.tool\n    input: {x: 1}\n"), "calling a tool of an MCP server", "7:11"),
        (node("    call: publish\n"), "the op \"publish\"", "7:11"),
        (node("    model: x\n    prompt: '{{ profile.name }}'\n"), "`profile`", "8:17"),
        (tools("  t: {call: think, approve: true}"), "the key \"approve\"", "10:20"),
        (tools("  t: {call: think, only: [a]}"), "the key \"only\"", "10:20"),
        (limit("{count: [a], if: args.x, max: 3, refuse: true}"), "the key \"if\"", "6:19"),
        (limit("{count: [a], per: args.x, max: 3, refuse: true}"), "the key \"per\"", "6:19"),
        (limit("{count: depth, max: 3, refuse: true}"), "the meter \"depth\"", "6:14"),
        (limit("{count: active_time, max: 3, exit: active_time}"), "the meter \"active_time\"", "6:14"),
    ];
    for (text, what, at) in cases {
        compare(&[(what, text, &[&not_built(what, at)])]);
    }
}

#[test]
fn unknown_names() {
    compare(&[
        (
            "channel",
            node("    update: {qq: q}\n"),
            &[r#"DG0201 7:14 graph "t" has no channel "qq" | there is: q, m"#],
        ),
        (
            "output",
            graph("output: [nn]"),
            &[r#"DG0201 5:10 unknown channel "nn" in `output` | there is: q, n, l, m"#],
        ),
        (
            "messages",
            node("    model: x\n    messages: mm\n"),
            &[r#"DG0201 8:15 graph "t" has no channel "mm" | there is: q, m"#],
        ),
        (
            "cut",
            node("    model: x\n    prompt: p\n    truncate: {cut: [oldst]}\n"),
            &[r#"DG0201 9:22 unknown channel "oldst" in `cut` | did you mean "oldest"?"#],
        ),
        (
            "node",
            node("    update: {q: q}\n    next: sumarize\n")
                .replace("nodes:\n", "nodes:\n  summarize: {update: {q: q}}\n"),
            &[r#"DG0202 9:11 graph "t" has no node "sumarize" | did you mean "summarize"?"#],
        ),
        (
            "exit as a node",
            node("    update: {q: q}\n    next: completed\n"),
            &[r#"DG0202 8:11 graph "t" has no node "completed" | an exit is written {exit: completed}"#],
        ),
        (
            "tool",
            tools("  think: {call: think}"),
            &[r#"DG0203 7:38 graph "t" has no tool "t" | there is: think"#],
        ),
        (
            "config",
            node("    model: config.modl\n    prompt: p\n")
                .replace("start", "config: {model: string}\nstart"),
            &[r#"DG0205 8:12 graph "t" does not declare the config key "modl" | did you mean "model"?"#],
        ),
        (
            "type",
            graph("types: {p: {a: strin}}"),
            &[r#"DG0206 5:16 unknown type "strin" | did you mean "string"?"#],
        ),
        (
            "reducer",
            graph("").replace("n: integer", "n: {type: integer, reduce: summ}"),
            &[r#"DG0207 2:47 unknown reducer "summ" | did you mean "sum"?"#],
        ),
        (
            "callee",
            node("    call: thnk\n    input: {a: 1}\n"),
            &[r#"DG0208 7:11 there is no graph or op "thnk" | did you mean "think"?"#],
        ),
        (
            "exit",
            node("    update: {q: q}\n    next: {exit: complet}\n"),
            &[r#"DG0209 8:18 unknown exit "complet" | did you mean "completed"?"#],
        ),
        (
            "own exit",
            node("    update: {q: q}\n    next: {exit: zzz}\n"),
            &["DG0209 8:18 unknown exit \"zzz\" | declare it: exits: {zzz: completion}"],
        ),
        (
            "meter",
            limit("{count: turn, max: 1, exit: step_limit}"),
            &[r#"DG0210 6:14 unknown meter "turn" | did you mean "turns"?"#],
        ),
        (
            "meter that is a node",
            limit("{count: a, max: 1, exit: step_limit}"),
            &[r#"DG0210 6:14 unknown meter "a" | tools and nodes are counted as a list: [a]"#],
        ),
        (
            "counted",
            limit("{count: [b], max: 1, exit: step_limit}"),
            &[r#"DG0210 6:15 graph "t" has no tool or node "b" | there is: a"#],
        ),
        (
            "limit to",
            limit("{count: [a], max: 1, to: b}"),
            &[r#"DG0202 6:31 graph "t" has no node "b" | there is: a"#],
        ),
    ]);
}

#[test]
fn names_that_can_not_be() {
    compare(&[
        (
            "reserved root",
            graph("").replace("n: integer", "result: integer"),
            &[
                r#"DG0108 2:20 "result" is reserved and can not be the name of a channel | reserved are config, limits, ..."#,
            ],
        ),
        (
            "exit as channel",
            graph("").replace("n: integer", "exit: integer"),
            &[r#"DG0108 2:20 "exit" is reserved and can not be the name of a channel..."#],
        ),
        (
            "word",
            graph("").replace("n: integer", "loop: integer"),
            &[r#"DG0108 2:20 "loop" is a word of expressions and can not be the name of a channel"#],
        ),
        (
            "bad channel",
            graph("").replace("n: integer", "a-b: integer"),
            &[r#"DG0107 2:20 "a-b" can not be the name of a channel..."#],
        ),
        (
            "bad node",
            node("    update: {q: q}\n").replace("  a:", "  'a/b':").replace("start: a", "start: a/b"),
            &[
                r#"DG0202 4:8 graph "t" has no node "a/b""#,
                r#"DG0107 6:3 "a/b" can not be the name of a node..."#,
            ],
        ),
        (
            "node called next",
            graph("").replace("{a:", "{next:").replace("start: a", "start: {to: [next]}"),
            &[
                r#"DG0202 3:14 graph "t" has no node "next""#,
                r#"DG0108 4:9 "next" is a word of routes and can not be the name of a node"#,
            ],
        ),
        (
            "built-in type",
            graph("types: {source: {a: string}}"),
            &[r#"DG0108 5:9 the type "source" is built in"#],
        ),
        (
            "built-in exit",
            graph("exits: {completed: error}"),
            &[r#"DG0108 5:9 the exit "completed" is built in..."#],
        ),
        (
            "class",
            graph("exits: {mine: completon}"),
            &[
                "DG0106 5:15 the class of an exit is one of completion, error, budget, cap, waiting | did you mean \"completion\"?",
            ],
        ),
    ]);
}

#[test]
fn shapes_of_values() {
    compare(&[
        ("not a mapping", "- a\n".to_owned(), &["DG0101 1:1 a graph file is a mapping, not a list"]),
        (
            "no version",
            graph("").replace("deepgraph: 1\n", ""),
            &["DG0102 1:1 a graph file begins with `deepgraph: 1` | ..."],
        ),
        (
            "version",
            graph("").replace("deepgraph: 1", "deepgraph: 2"),
            &["DG0106 1:12 this program reads version 1 of the format: `deepgraph: 1`"],
        ),
        (
            "no state",
            "deepgraph: 1\nstart: a\nnodes: {a: {call: think, input: {reflection: \"'x'\"}}}\n".to_owned(),
            &[r#"DG0102 1:1 graph "t" has no `state`"#],
        ),
        (
            "no start",
            graph("").replace("start: a\n", ""),
            &[r#"DG0102 1:1 graph "t" has no `start` | for example start: a"#],
        ),
        (
            "no nodes",
            "deepgraph: 1\nstate: {}\nstart: a\n".to_owned(),
            &["DG0102 1:1 a graph has no `nodes`", r#"DG0202 3:8 graph "t" has no node "a""#],
        ),
        (
            "two verbs",
            node("    model: x\n    prompt: p\n    ask: why\n"),
            &[r#"DG0105 9:5 node "a" has two verbs, model and ask | make it two nodes"#],
        ),
        ("empty node", node("    {}\n"), &[r#"DG0102 6:3 node "a" does nothing..."#]),
        ("null node", node("    \n"), &["DG0101 6:4 node \"a\" must be a mapping, is nothing"]),
        ("no prompt", node("    model: x\n"), &[r#"DG0102 7:5 node "a" needs `prompt` or `messages`"#]),
        (
            "tools without messages",
            tools("  t: {call: think}").replace("messages: m,", "prompt: p,"),
            &[r#"DG0102 7:28 node "a" offers tools and so needs `messages`..."#],
        ),
        (
            "tools only read",
            tools("  t: {call: think}").replace("messages: m,", "messages: {read: m},"),
            &[r#"DG0105 7:17 node "a" offers tools, so its replies must be added to the conversation..."#],
        ),
        (
            "run_tools",
            node("    run_tools: a\n"),
            &[r#"DG0507 7:16 `run_tools` names a model node that offers tools; "a" is none"#],
        ),
        (
            "boolean",
            graph("config: {k: {type: string, optional: yes}}"),
            &["DG0101 5:38 `optional` must be true or false | write true"],
        ),
        (
            "boolean default",
            graph("config: {k: {type: boolean, default: off}}"),
            &[r#"DG0402 5:38 the default must be true or false, is "off" | write false"#],
        ),
        (
            "default",
            graph("config: {k: {type: integer, default: 0, minimum: 1}}"),
            &["DG0402 5:38 the default must be an integer of at least 1, is 0"],
        ),
        (
            "enum default",
            graph("config: {k: {enum: [a, b], default: c}}"),
            &[r#"DG0402 5:37 the default must be one of a, b, is "c""#],
        ),
        (
            "bounds",
            graph("config: {k: {type: integer, minimum: 3, maximum: 1}}"),
            &["DG0106 5:41 `maximum` is below `minimum`"],
        ),
        (
            "list type",
            graph("types: {p: {a: [string, integer]}}"),
            &[
                "DG0101 5:16 a list type has one type in it: [T] | values to choose from are written {enum: [a, b]}",
            ],
        ),
        (
            "own type",
            graph("types: {p: {a: [r]}, r: {b: p}}"),
            &[r#"DG0106 5:29 the type "p" holds itself..."#],
        ),
        (
            "reducer",
            graph("").replace("n: integer", "n: {type: integer, reduce: append}"),
            &[r#"DG0406 2:47 `append` joins a list type, [T], and the channel "n" is integer"#],
        ),
        (
            "file",
            node("    model: x\n    prompt: missing.md\n"),
            &["DG0010 8:13 the file missing.md can not be read: there is no such file..."],
        ),
        (
            "path",
            node("    model: x\n    prompt: ../secret.md\n"),
            &["DG0011 8:13 a path can not lead out of the graph file's folder"],
        ),
        ("absolute", node("    model: x\n    prompt: /etc/x.md\n"), &["DG0011 8:13 a path is relative..."]),
        (
            "text",
            node("    model: x\n    prompt: {{ q }}\n"),
            &["DG0001 8:14 a key must be text | a template that begins with `{{` stands in quotes..."],
        ),
        (
            "prompt list",
            node("    model: x\n    prompt: [q]\n"),
            &["DG0101 8:13 `prompt` must be text, is a list"],
        ),
        ("model", node("    model: ''\n    prompt: p\n"), &["DG0106 7:12 `model` names no model"]),
        (
            "timeout",
            node("    model: x\n    prompt: p\n    timeout: soon\n"),
            &[r#"DG0106 9:14 `timeout` must be a duration such as 30s, 10m or 1h, is "soon""#],
        ),
        (
            "retry",
            node("    model: x\n    prompt: p\n    retry: 0\n"),
            &["DG0106 9:12 `retry` must be an integer of at least 1, is 0"],
        ),
        (
            "input list",
            graph("input: q"),
            &["DG0101 5:8 `input` must be a list of names, is text | write [q]"],
        ),
        (
            "child keys",
            graph("graphs: {c: {name: d, state: {q: string}, start: a, nodes: {a: {update: {q: q}}}}}"),
            &["DG0105 5:14 only the root graph has the key \"name\"..."],
        ),
        (
            "two graphs",
            graph("graphs:\n  t: {state: {q: string}, start: a, nodes: {a: {update: {q: q}}}}\n"),
            &[r#"DG0109 6:3 a graph "t" is already declared in line 1..."#],
        ),
    ]);
}

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
        ("empty", next("[]"), &["DG0502 8:11 `next` has no ways..."]),
        ("empty to", next("{to: []}"), &["DG0502 8:16 `to` names no node"]),
        (
            "twice",
            next("{to: [a, a]}"),
            &["DG0502 6:3 there is no way out of the cycle a -> a...", r#"DG0109 8:20 "a" is listed twice"#],
        ),
        (
            "next in next",
            next("next"),
            &["DG0306 8:11 `next` as a target stands in `on_error`, not in `next`"],
        ),
        ("nested list", next("[[a]]"), &["DG0101 8:12 a list of ways inside a list of ways..."]),
        (
            "inherit",
            next("{exit: inherit}"),
            &["DG0306 8:18 `inherit` ends as a called graph ended; there is none here..."],
        ),
        ("yes", next("{if: yes, exit: completed}"), &["DG0106 8:16 `if` must be an expression | write true"]),
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
            &["DG0106 6:26 `max` must be an integer of at least 1, is 0"],
        ),
        (
            "negative",
            limit("{count: [a], max: -1, refuse: true}"),
            &["DG0106 6:24 `max` must be an integer of at least 0, is -1"],
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
            &["DG0106 6:59 `reserve` is a share below 1, or a number of units of at least 1"],
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

#[test]
fn calls_and_their_input() {
    let child = "graphs:\n  c:\n    state: {x: string, y: {type: integer, optional: true}, z: {type: [string], default: []}, out: handoff}\n    input: [x, y, z]\n    output: [out]\n    start: n\n    nodes: {n: {call: handoff, input: {objective: x}, update: {out: result.handoff}}}\n";
    let call = |body: &str| format!("{}{child}", node(&format!("    call: c\n{body}")));
    let result = |update: &str| {
        format!("{}{child}", node(&format!("    call: c\n    input: {{x: q}}\n    update: {update}\n")))
    };
    compare(&[
        ("fits", call("    input: {x: q, y: 3}\n"), &[]),
        ("missing", call(""), &[r#"DG0403 7:11 the graph needs the input "x" (string)"#]),
        (
            "unknown",
            call("    input: {x: q, yy: 3}\n"),
            &[r#"DG0404 8:19 the graph has no input "yy" | there is: x, y, z"#],
        ),
        (
            "literal",
            call("    input: {x: q, y: 'true'}\n"),
            &[r#"DG0401 8:19 the input "y" takes integer, and this is boolean"#],
        ),
        (
            "fixed",
            call("    input: {x: q, y: 1.5}\n"),
            &[r#"DG0401 8:19 the input "y" must be an integer, is 1.5"#],
        ),
        (
            "type",
            call("    input: {x: m}\n"),
            &[r#"DG0401 8:13 the input "x" takes string, and this is [message]"#],
        ),
        ("result", result("{q: result.out.text}"), &[]),
        (
            "result field",
            result("{q: result.text}"),
            &[r#"DG0302 9:24 `result` has no field "text" | there is: out, exit"#],
        ),
        (
            "inherit",
            format!("{}{child}", node("    call: c\n    input: {x: q}\n    next: {exit: inherit}\n")),
            &[],
        ),
        (
            "op",
            node("    call: search\n    input: {query: q, limit: 99}\n"),
            &["DG0401 8:23 the input \"limit\" must be an integer from 1 to 50, is 99"],
        ),
        (
            "op input",
            node("    call: search\n    input: {qery: q}\n"),
            &[
                r#"DG0403 8:5 the op needs the input "query" (string)"#,
                r#"DG0404 8:13 the op has no input "qery" | did you mean "query"?"#,
            ],
        ),
        (
            "itself",
            format!(
                "{}{}",
                node("    call: c\n    input: {x: q}\n"),
                child.replace(
                    "{n: {call: handoff, input: {objective: x}, update: {out: result.handoff}}}",
                    "{n: {call: c, input: {x: x}}}"
                )
            ),
            &[
                "~DG0511 10:3 nothing in graph \"c\" writes the output \"out\"",
                "DG0104 15:23 a graph that calls itself, directly or through others, is not built yet...",
            ],
        ),
        (
            "the root",
            format!(
                "{}{}",
                node("    call: c\n    input: {x: q}\n"),
                child.replace(
                    "call: handoff, input: {objective: x}, update: {out: result.handoff}",
                    "call: t"
                )
            ),
            &["~DG0511...", "DG0104 15:23 a graph that calls itself is not built yet..."],
        ),
    ]);
}

#[test]
fn tools_and_their_arguments() {
    compare(&[
        ("callee's input", tools("  t: {call: search, answer: '{{ args.query }} {{ result.text }}'}"), &[]),
        ("by name", tools("  t: {call: think, parameters: {reflection: string}}"), &[]),
        (
            "by wrong name",
            tools("  t: {call: think, parameters: {reflexion: string}}"),
            &[
                r#"DG0403 10:13 the op needs the input "reflection" (string)"#,
                r#"DG0404 10:33 the op has no input "reflexion" | did you mean "reflection"?"#,
            ],
        ),
        (
            "by wrong type",
            tools("  t: {call: think, parameters: {reflection: integer}}"),
            &[r#"DG0401 10:33 the input "reflection" takes string, and this is integer"#],
        ),
        (
            "args",
            tools("  t: {parameters: {a: string}, update: {q: args.b}}"),
            &["~DG0505...", r#"DG0302 10:49 the record has no field "b" | there is: a"#],
        ),
        (
            "result",
            tools("  t: {update: {q: result.text}}"),
            &[
                "~DG0505...",
                "DG0306 10:19 `result` is not known here | this tool has no `call` and no `ask`, so nothing comes back",
            ],
        ),
        (
            "call and ask",
            tools("  t: {call: think, ask: why}"),
            &["DG0105 10:20 tool \"t\" has `call` and `ask`; it does one thing"],
        ),
        (
            "input without call",
            tools("  t: {input: {a: 1}}"),
            &["DG0105 10:7 `input` in tool \"t\" needs `call`"],
        ),
        (
            "overflow",
            tools("  t: {call: think, parallel: 1, overflow: drop}"),
            &["DG0106 10:43 `overflow` is refuse or queue | there is: refuse, queue"],
        ),
        (
            "parallel",
            tools("  t: {call: think, parallel: 0}"),
            &["DG0106 10:30 `parallel` must be an integer of at least 1, is 0"],
        ),
        (
            "two writers",
            tools("  t: {parameters: {a: string}, update: {q: args.a}}"),
            &[
                "~DG0505 10:3 two calls of \"t\" in one turn would both write the channel \"q\"; the last stays...",
            ],
        ),
        (
            "one writer",
            tools("  t: {parameters: {a: string}, update: {q: args.a}, parallel: 1, overflow: refuse}"),
            &[],
        ),
        ("fixed", tools("  t: {update: {q: \"'done'\"}}"), &[]),
        (
            "unused",
            tools("  t: {call: think}\n  u: {call: think}"),
            &["~DG0508 11:3 no model node offers the tool \"u\"..."],
        ),
    ]);
}

#[test]
fn config_is_one_value_run_wide() {
    let child = |config: &str| {
        graph(&format!(
            "config: {{k: {{type: integer, default: 3, minimum: 1}}}}\ngraphs:\n  c:\n    config: {{k: {config}}}\n    state: {{q: string}}\n    start: a\n    nodes: {{a: {{update: {{q: q}}}}}}\n"
        ))
        .replace("{a: {update: {q: \"'x'\"}}}", "{a: {call: c}}")
    };
    compare(&[
        ("same", child("{type: integer, default: 3, minimum: 1}"), &[]),
        ("without default", child("{type: integer, minimum: 1}"), &[]),
        (
            "type",
            child("{type: number, default: 3, minimum: 1}"),
            &["DG0405 8:14 config key \"k\" has another type than in another graph of this file..."],
        ),
        (
            "bounds",
            child("{type: integer, default: 3}"),
            &["DG0405 8:14 config key \"k\" has other bounds..."],
        ),
        (
            "default",
            child("{type: integer, default: 4, minimum: 1}"),
            &["DG0405 8:14 config key \"k\" has another default..."],
        ),
    ]);
}

#[test]
fn types_that_are_too_large_are_refused() {
    let mut types = String::from("types:\n  t0: {a: string}\n");
    for i in 1..20 {
        types += &format!("  t{i}: {{a: t{p}, b: t{p}, c: t{p}}}\n", p = i - 1);
    }
    let found = crate::testing::said(&graph(&types));
    assert!(!found.is_empty() && found.iter().all(|d| d.starts_with("DG0008")), "{found:?}");
    let mut chain = String::from("types:\n");
    for i in 0..400 {
        chain += &format!("  t{i}: {{a: t{}}}\n", i + 1);
    }
    chain += "  t400: {a: string}\n";
    let found = crate::testing::said(&graph(&chain));
    assert!(found.iter().any(|d| d.starts_with("DG0007")), "{found:?}");
}

#[test]
fn what_is_left_out_has_its_default() {
    let bundle = clean(&tools("  t: {call: search}"));
    let root = bundle.root();
    let tool = &root.tools[0];
    assert_eq!(tool.answer_max, Setting::Literal(Value::Int(8000)));
    assert_eq!(tool.retry.max, Setting::Literal(Value::Int(3)));
    assert_eq!(tool.call.as_ref().unwrap().input.len(), 3, "each argument goes to the input of its name");
    let Verb::Model(model) = &root.nodes[0].verb else { panic!() };
    assert_eq!(model.truncate.cut, [Cut::ToolResults, Cut::Oldest]);
    assert_eq!((model.truncate.to, model.truncate.shrink, model.truncate.tries), (0.9, 0.1, 3));
    assert!(model.extends);
    assert_eq!(model.specs[0].parameters.get("required").unwrap().to_json_text(), r#"["query"]"#);
    assert!(!model.specs[0].description.is_empty(), "an op describes itself");
}

use deepgraph_protocol::{Meter, Value};

#[test]
fn reserves_and_scopes_of_limits() {
    let text = graph(
        "finally: {if: q, to: f}\nlimits:\n  a: {count: tokens, max: 9, exit: token_budget}\n  b: {count: tokens, max: 9, exit: token_budget, reserve: 0.2}\n  c: {count: model_calls, max: 9, exit: step_limit, reserve: 2}\n  d: {count: wall_time, max: 1h, exit: deadline, reserve: 30s}\n  e: {count: turns, max: 9, exit: step_limit}\n  f: {count: cost_usd, max: 9, exit: cost_budget, scope: own}\n",
    )
    .replace("nodes: {a:", "nodes: {f: {update: {q: q}}, a:");
    let bundle = clean(&text);
    let found: Vec<(Reserve, bool)> = bundle.root().limits.iter().map(|l| (l.reserve, l.own)).collect();
    let wanted = [
        (Reserve::Share(0.1), false),
        (Reserve::Share(0.2), false),
        (Reserve::Units(2.0), false),
        (Reserve::Units(30.0), false),
        (Reserve::Share(0.0), true),
        (Reserve::Share(0.1), true),
    ];
    assert_eq!(found, wanted);
    assert!(matches!(bundle.root().limits[3].counted, Counted::Meter(Meter::WallTime)));
    assert_eq!(bundle.root().limits[3].max, Some(Setting::Literal(Value::Int(3600))));
}

#[test]
fn channels_have_reducers_and_first_values() {
    let text = "deepgraph: 1\nstate:\n  a: string\n  b: [string]\n  c: {string: source}\n  d: messages\n  e: {type: integer, reduce: sum}\n  f: {type: integer, reduce: max}\n  g: {type: string, default: x}\n  h: {enum: [p, q], default: q}\n  i: {type: messages}\n  j: {type: [message]}\nstart: n\nnodes: {n: {update: {a: \"'x'\"}}}\n";
    let bundle = clean(text);
    let found: Vec<(String, String)> = bundle
        .root()
        .channels
        .iter()
        .map(|c| (c.reducer.name().to_owned(), c.initial.to_json_text()))
        .collect();
    let wanted = [
        ("replace", "null"),
        ("replace", "[]"),
        ("replace", "{}"),
        ("messages", "[]"),
        ("sum", "0"),
        ("max", "null"),
        ("replace", "\"x\""),
        ("replace", "\"q\""),
        ("messages", "[]"),
        ("replace", "[]"),
    ];
    assert_eq!(found, wanted.map(|(a, b)| (a.to_owned(), b.to_owned())));
}
