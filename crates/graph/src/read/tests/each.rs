//! Nodes that run once per item.

use crate::testing::{clean, compare};
use crate::{Cut, Setting, Target, Type, ValueExpr, Verb};

/// A graph with one node.
fn node(body: &str) -> String {
    format!(
        "deepgraph: 1\nconfig: {{most: {{type: integer, default: 3, minimum: 1}}, word: {{type: string, default: x}}}}\n\
         types: {{doc: {{id: string, text: string}}}}\n\
         state: {{q: string, n: integer, flag: boolean, docs: [doc], one: doc, map: {{string: doc}}, m: messages, list: [string], notes: {{type: [string], reduce: append}}, sum: {{type: integer, reduce: sum}}}}\n\
         input: [docs]\nstart: a\nnodes:\n  a:\n{body}"
    )
}

/// A node that calls an op per document.
fn each(keys: &str) -> String {
    node(&format!(
        "    call: think\n    input: {{reflection: item.text}}\n    each: docs\n    max_items: config.most\n{keys}"
    ))
}

/// The source of an expression.
fn source(value: &ValueExpr) -> &str {
    match value {
        ValueExpr::Expr(expr) => &expr.source,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_list_its_bound_and_those_in_flight_are_read() {
    let bundle =
        clean(&each("    parallel: config.most\n    update: {notes: '{{ index }}: {{ item.id }}'}\n"));
    let each = bundle.root().nodes[0].each.as_ref().expect("it has items");
    assert_eq!((source(&each.list), source(&each.max_items)), ("docs", "config.most"));
    assert_eq!(each.parallel, Some(Setting::Config("most".into())));
    let bundle = clean(&node("    update: {sum: index}\n    each: docs + docs\n    max_items: 7\n"));
    let each = bundle.root().nodes[0].each.as_ref().expect("it has items");
    assert!(matches!(&each.max_items, ValueExpr::Literal(n) if n.as_int() == Some(7)));
    assert_eq!(each.parallel, None);
}

#[test]
fn each_needs_a_list_and_a_bound() {
    let over =
        |list: &str| node(&format!("    update: {{sum: index}}\n    each: {list}\n    max_items: 3\n"));
    let most =
        |most: &str| node(&format!("    update: {{sum: index}}\n    each: docs\n    max_items: {most}\n"));
    compare(&[
        ("channel", over("docs"), &[]),
        ("filter", over("docs | batch(2)"), &[]),
        ("fixed", over("[1, 2, 3]"), &[]),
        ("pairs", over("map | items"), &[]),
        ("text", over("q"), &["DG0401 10:11 `each` runs over a list, and this is string"]),
        ("number", over("3"), &["DG0401 10:11 `each` runs over a list, and this is integer"]),
        ("record", over("one"), &["DG0401 10:11 `each` runs over a list, and this is doc"]),
        ("null", over("null"), &["DG0401 10:11 `each` runs over a list, and this is null"]),
        (
            "map",
            over("map"),
            &[
                "DG0401 10:11 `each` runs over a list, and this is {string: doc} | the pairs [key, value] of a map are a list: MAP | items",
            ],
        ),
        (
            "template",
            over("'{{ docs }}'"),
            &["DG0401 10:11 `each` runs over a list, and this is string | leave out `{{` and `}}`"],
        ),
        ("unknown", over("doc"), &["DG0301 10:11 unknown name \"doc\" | did you mean \"docs\"?..."]),
        ("itself", over("item.parts"), &["DG0306 10:11 `item` is known in nodes with `each` only"]),
        ("bound", most("docs | length // 2"), &[]),
        ("no integer", most("config.word"), &["DG0401 11:16 `max_items` takes integer, and this is string"]),
        ("none", most("0"), &["DG0106 11:16 `max_items` must be an integer of at least 1, is 0"]),
        ("null bound", most("null"), &["DG0106 11:16 `max_items` must be an integer of at least 1, is null"]),
        (
            "no bound",
            node("    update: {sum: index}\n    each: docs\n"),
            &[
                "DG0102 10:5 `each` in node \"a\" needs `max_items` | it bounds how many items are run: max_items: 20",
            ],
        ),
        (
            "in flight",
            each("    parallel: 0\n"),
            &["DG0110 13:15 `parallel` must be an integer of at least 1, is 0"],
        ),
        (
            "without each",
            node("    update: {q: q}\n    max_items: 3\n    parallel: 3\n"),
            &[
                "DG0105 10:5 `max_items` in node \"a\" needs `each`",
                "DG0105 11:5 `parallel` in node \"a\" needs `each`",
            ],
        ),
    ]);
}

#[test]
fn items_are_known_in_the_whole_node_but_not_in_next() {
    let model = |keys: &str| {
        node(&format!(
            "    model: x\n    prompt: '{{{{ item.text }}}} {{{{ index }}}}'\n    each: docs\n    max_items: 3\n{keys}"
        ))
    };
    let no_field =
        |at: &str| format!("DG0302 {at} the type \"doc\" has no field \"txt\" | did you mean \"text\"?");
    compare(&[
        (
            "all",
            model(
                "    title: 'Reading {{ item.id }}'\n    system: '{{ index + 1 }}'\n    retry: {max: 2, if: item.id == 'a'}\n    update: {notes: item.text}\n    on_error: {if: item.id, update: {notes: error.message ~ index}}\n",
            ),
            &[],
        ),
        ("title", model("    title: '{{ item.txt }}'\n"), &[&no_field("13:21")]),
        ("system", model("    system: '{{ item.txt }}'\n"), &[&no_field("13:22")]),
        ("update", model("    update: {notes: item.txt}\n"), &[&no_field("13:26")]),
        ("on_error", model("    on_error: {update: {notes: item.txt}}\n"), &[&no_field("13:37")]),
        ("retry", model("    retry: {if: item.txt}\n"), &[&no_field("13:22")]),
        (
            "question",
            each("    next: {exit: completed}\n")
                .replace("call: think", "ask: '{{ item.txt }}'")
                .replace("    input: {reflection: item.text}\n", ""),
            &[&no_field("9:19")],
        ),
        (
            "next",
            model("    next: [{if: item.id, exit: completed}, {exit: no_sources}]\n"),
            &["DG0306 13:17 `item` is not known in `next`, which follows when all items are through"],
        ),
        (
            "index in next",
            model("    next: [{if: index, exit: completed}, {exit: no_sources}]\n"),
            &["DG0306 13:17 `index` is not known in `next`, which follows when all items are through"],
        ),
        (
            "elsewhere",
            node("    update: {q: item.id}\n"),
            &["DG0306 9:17 `item` is known in nodes with `each` only"],
        ),
        (
            "near",
            each("    title: '{{ itm.id }}'\n"),
            &["DG0301 13:16 unknown name \"itm\" | did you mean \"item\"?..."],
        ),
    ]);
}

#[test]
fn next_sees_the_list_of_results() {
    let next = |cond: &str| {
        each(&format!(
            "    update: {{notes: result.text}}\n    next:\n      - if: {cond}\n        exit: completed\n      - {{exit: no_sources}}\n"
        ))
    };
    compare(&[
        ("list", next("result | length == docs | length"), &[]),
        ("an item", next("result[0].text"), &[]),
        ("all that came", next("result | selectattr('text') | list"), &[]),
        (
            "no record",
            next("result.text"),
            &["DG0302 15:20 [{text: string}] has no fields, so no \"text\" | for each item..."],
        ),
        (
            "of an item",
            next("result[0].txt"),
            &["DG0302 15:23 the record has no field \"txt\" | did you mean \"text\"?"],
        ),
        (
            "no verb",
            node(
                "    update: {sum: index}\n    each: docs\n    max_items: 3\n    next: [{if: result, exit: completed}, {exit: no_sources}]\n",
            ),
            &["DG0306 12:17 `result` is not known here | this node has no verb, so nothing comes back"],
        ),
    ]);
}

#[test]
fn items_join_what_they_write() {
    let update = |update: &str| node(&format!("    update: {update}\n    each: docs\n    max_items: 3\n"));
    let every = |at: &str, channel: &str, help: &str| {
        format!(
            "DG0505 {at} every item writes the channel \"{channel}\", and `replace` keeps only one value | {help}"
        )
    };
    compare(&[
        ("reducers", update("{notes: item.id, sum: index, m: {user: item.id}}"), &[]),
        (
            "text",
            update("{q: item.id}"),
            &[&every("9:14", "q", "make it a list: q: {type: [string], reduce: append}")],
        ),
        (
            "list",
            update("{list: [item.id]}"),
            &[&every("9:14", "list", "join them: reduce: append, or union")],
        ),
        (
            "map",
            update("{map: {a: item}}"),
            &[&every("9:14", "map", "join them: reduce: merge, or make it a list with append")],
        ),
        (
            "number",
            update("{n: index}"),
            &[&every("9:14", "n", "join them: reduce: sum, or max, or make it a list with append")],
        ),
        (
            "boolean",
            update("{flag: true}"),
            &[&every("9:14", "flag", "make it a list: flag: {type: [boolean], reduce: append}")],
        ),
        ("one item", update("{q: item.id}").replace("max_items: 3", "max_items: 1"), &[]),
        ("by next", each("    next: {update: {q: \"'done'\"}, exit: completed}\n"), &[]),
        (
            "a way per item",
            each("    on_error: {update: {q: item.id}}\n"),
            &[&every("13:25", "q", "make it a list: q: {type: [string], reduce: append}")],
        ),
        (
            "a way per item that carries on",
            each("    on_error: {update: {q: item.id}, to: next}\n"),
            &[&every("13:25", "q", "make it a list: q: {type: [string], reduce: append}")],
        ),
        ("a way out", each("    on_error: {update: {q: item.id}, exit: tool_error}\n"), &[]),
    ]);
}

#[test]
fn a_way_of_on_error_is_per_item_or_leads_on() {
    let ways = "    on_error: [{if: error.kind == 'tool', update: {notes: item.id}}, {if: index, exit: tool_error}, next]\n";
    let bundle = clean(&each(ways));
    let route = bundle.root().nodes[0].on_error.as_ref().expect("it has ways");
    let to: Vec<bool> = route.0.iter().map(|way| way.to == Target::CarryOn).collect();
    assert_eq!(to, [true, false, true]);
}

#[test]
fn no_conversation_and_no_tools_per_item() {
    let model = |keys: &str| node(&format!("    model: x\n    each: docs\n    max_items: 3\n{keys}"));
    let read_only = "DG0105 12:5 the items run side by side and can not all extend one conversation | use `prompt`, with `messages: {read: CHANNEL}` where the conversation is to be seen";
    compare(&[
        ("read", model("    messages: {read: m}\n    prompt: '{{ item.id }}'\n"), &[]),
        ("extended", model("    messages: m\n"), &[read_only]),
        (
            "tools",
            format!("{}tools: {{t: {{call: think}}}}\n", model("    messages: m\n    tools: [t]\n")),
            &[
                "~DG0512...",
                read_only,
                "DG0105 13:5 node \"a\" runs per item, so it can not offer tools | call a graph per item that has the loop of a model and its tools",
            ],
        ),
        (
            "run_tools",
            node(
                "    model: x\n    messages: m\n    tools: [t]\n    next: b\n  b:\n    run_tools: a\n    each: docs\n    max_items: 2\ntools: {t: {call: think}}\n",
            ),
            &[
                "DG0105 15:5 node \"b\" runs the calls of one reply, so `each` means nothing here | call a graph per item that has a loop of its own: call: GRAPH, each: ...",
            ],
        ),
    ]);
}

#[test]
fn many_children_end_in_many_ways() {
    let child = "graphs: {c: {state: {t: string, o: string}, input: [t], output: [o], start: n, nodes: {n: {update: {o: t}}}}}\n";
    let call = |next: &str| {
        format!(
            "{}{child}",
            node(&format!(
                "    call: c\n    input: {{t: item.id}}\n    each: docs\n    max_items: 3\n    update: {{notes: result.o}}\n    next: {next}\n"
            ))
        )
    };
    compare(&[
        ("as the one whose exit counts most", call("{exit: inherit}"), &[]),
        (
            "their exits",
            call(
                "[{if: \"'deadline' in result | map(attribute='exit')\", exit: deadline}, {exit: completed}]",
            ),
            &[],
        ),
    ]);
    let bundle = clean(&call("{exit: completed}"));
    let Verb::Call(call) = &bundle.root().nodes[0].verb else { panic!() };
    assert_eq!(call.input.len(), 1);
    assert_eq!(bundle.graphs[1].channels[0].field.ty, Type::String);
}

#[test]
fn an_item_can_be_cut() {
    let cut = |cut: &str, each: &str| {
        node(&format!("    model: x\n    prompt: 'p'\n    truncate: {{cut: {cut}}}\n{each}"))
    };
    let docs = "    each: docs\n    max_items: 3\n";
    let bundle = clean(&cut("[item, list, oldest]", docs));
    let Verb::Model(model) = &bundle.root().nodes[0].verb else { panic!() };
    let list = bundle.root().channel("list").expect("it is there");
    assert_eq!(model.truncate.cut, [Cut::Item, Cut::Channel(list), Cut::Oldest]);
    compare(&[
        ("without each", cut("[item]", ""), &["DG0306 11:22 `item` can be cut in nodes with `each` only"]),
        (
            "a number",
            cut("[item]", "    each: range(3)\n    max_items: 3\n"),
            &["DG0401 11:22 an item is cut at the longest text in it; here it is integer"],
        ),
        (
            "near",
            cut("[itm]", docs),
            &["DG0201 11:22 unknown channel \"itm\" in `cut` | did you mean \"item\"?"],
        ),
    ]);
}
