//! Sets of tools.

use super::servers::asked;
use crate::testing::{load_first, said_of};
use crate::*;

/// A graph that offers what `offered` lists, with tools and limits; `crm` and `files` are servers.
fn graph(tools: &str, offered: &str, limits: &str) -> String {
    format!(
        "deepgraph: 1\nstate: {{m: messages, n: string}}\ninput: [m]\noutput: [n]\nmcp: {{crm: {{url: 'https://a'}}, files: {{command: [f]}}}}\n\
         tools:\n{tools}limits: {{t: {{count: turns, max: 3, exit: step_limit}}{limits}}}\nstart: a\nnodes:\n  a: {{model: x, messages: m, tools: {offered}, next: r}}\n  r: {{run_tools: a, next: [{{if: limits.t.left == 0, exit: completed}}, a]}}\n  s: {{call: files.x, update: {{n: result.text}}}}\n"
    )
    .replace("start: a", "start: {to: [a, s]}")
}

/// All that is said, warnings of what is written included.
fn said(text: &str, ops: &OpTable) -> Vec<String> {
    said_of(&[("t.yaml", text)], ops)
}

fn bundle(text: &str, ops: &OpTable) -> Bundle {
    load_first(&[("t.yaml", text)], ops).unwrap_or_else(|e| panic!("{e}")).bundle
}

fn names(bundle: &Bundle) -> Vec<&str> {
    bundle.root().tools.iter().map(|t| &*t.name).collect()
}

fn offered(bundle: &Bundle) -> Vec<String> {
    match &bundle.root().nodes[0].verb {
        Verb::Model(model) => model.specs.iter().map(|s| s.name.to_string()).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_set_becomes_one_tool_for_each_name() {
    let tools = "  crm:\n    call: crm.*\n    only: [find, drop]\n    effect: read\n    retry: {max: 5, backoff: 1s}\n    answer: '{{ result.text }}!'\n    answer_max: 40\n    update: {n: \"'x'\"}\n    next: {exit: completed}\n  think: {call: think}\n";
    let limits = ", c: {count: [crm], if: args.name, max: 4, refuse: true}";
    let text = graph(tools, "[think, crm]", limits);
    for ops in [OpTable::stock(), asked()] {
        let bundle = bundle(&text, &ops);
        assert_eq!(names(&bundle), ["find", "drop", "think"]);
        assert_eq!(offered(&bundle), ["think", "find", "drop"]);
        for (tool, callee) in bundle.root().tools.iter().zip(["crm.find", "crm.drop"]) {
            let call = tool.call.as_ref().unwrap();
            assert_eq!((&call.callee, call.writes), (&Callee::Op(callee.into()), false));
            assert_eq!(tool.retry.max, Setting::Literal(deepgraph_protocol::Value::Int(5)));
            assert_eq!(tool.answer_max, Setting::Literal(deepgraph_protocol::Value::Int(40)));
            assert!(tool.answer.is_some() && tool.update.len() == 1 && tool.next.is_some());
        }
        let Counted::Names { tools, nodes } = &bundle.root().limits[1].counted else { panic!() };
        assert_eq!((tools.as_slice(), nodes.len()), ([ToolIx(0), ToolIx(1)].as_slice(), 0));
    }
    assert_eq!(said(&text, &asked()), [""; 0]);
}

#[test]
fn without_only_a_set_is_all_that_the_server_has() {
    let ops = OpTable::stock().with_server("crm", asked().server("crm").unwrap()[1..].to_vec());
    let text = graph("  crm: {call: crm.*}\n", "[crm]", ", c: {count: [crm], max: 4, refuse: true}");
    assert_eq!(said(&text, &ops), [""; 0]);
    let asked = bundle(&text, &ops);
    assert_eq!((names(&asked), offered(&asked)), (vec!["drop", "find"], vec!["drop".into(), "find".into()]));
    let wanted = "t.yaml: ~DG0517 7:3 which tools tool \"crm\" stands for is known when the server is asked | list them to have them checked now: only: [NAME, ...]";
    assert_eq!(said(&text, &OpTable::stock()), [wanted]);
    let offline = bundle(&text, &OpTable::stock());
    assert_eq!((names(&offline).len(), offered(&offline).len()), (0, 0));
    assert_eq!(offline.servers.len(), 2, "it has to be asked");
    let none = OpTable::stock().with_server("crm", Vec::new());
    let wanted =
        "t.yaml: DG0203 7:3 the server \"crm\" has no tools, and tool \"crm\" stands for all of them";
    assert_eq!(said(&text, &none), [wanted]);
}

#[test]
fn tools_of_a_set_have_names_of_their_own() {
    let text = graph(
        "  crm: {call: crm.*, only: [find, drop]}\n",
        "[find]",
        ", c: {count: [drop], max: 4, refuse: true}",
    );
    let bundle = bundle(&text, &asked());
    assert_eq!(offered(&bundle), ["find"]);
    let Counted::Names { tools, .. } = &bundle.root().limits[1].counted else { panic!() };
    assert_eq!(tools.as_slice(), [ToolIx(1)]);
    assert_eq!(
        said(&text, &asked()),
        ["t.yaml: ~DG0508 7:35 no model node offers the tool \"drop\" | list it: tools: [drop]"]
    );
}

#[test]
fn what_is_wrong_with_a_set() {
    let set = |keys: &str| graph(&format!("  crm: {{call: crm.*, {keys}}}\n"), "[crm]", "");
    let mut wrong = Vec::new();
    for (name, text, ops, wanted) in [
        (
            "unknown",
            set("only: [find, drp]"),
            asked(),
            vec!["DG0203 7:35 the server \"crm\" has no tool \"drp\" | did you mean \"drop\"?"],
        ),
        ("offline", set("only: [find, drp]"), OpTable::stock(), vec![]),
        (
            "twice",
            set("only: [find, find]"),
            asked(),
            vec![
                "DG0109 7:35 \"find\" is listed twice",
                "DG0109 11:38 two tools \"find\" are offered: the one of the set \"crm\" and the one of the set \"crm\"...",
            ],
        ),
        ("empty", set("only: []"), asked(), vec!["DG0106 7:28 `only` names no tool"]),
        (
            "no list",
            set("only: find"),
            asked(),
            vec!["DG0101 7:28 `only` must be a list of names, is text | write [find]"],
        ),
        (
            "a name for no model",
            set("only: [any.thing]"),
            asked(),
            vec![
                "DG0107 7:29 a model can not be offered the tool \"any.thing\" under this name | leave it out with `only`, and declare it under another name: NAME: {call: crm.any.thing}",
            ],
        ),
        (
            "of all",
            set("effect: read"),
            asked(),
            vec!["DG0107 7:3 a model can not be offered the tool \"any.thing\"..."],
        ),
        (
            "parameters",
            set("only: [find], parameters: {name: string}"),
            asked(),
            vec![
                "DG0105 7:36 tool \"crm\" is a set: each tool in it has the parameters of its server | a tool with its own is declared by itself: call: SERVER.TOOL",
            ],
        ),
        (
            "description",
            set("only: [find], description: x"),
            asked(),
            vec!["DG0105 7:36 tool \"crm\" is a set: each tool in it has the description of its server..."],
        ),
        (
            "told once",
            set("only: [find, drop], retrys: 3"),
            asked(),
            vec!["DG0103 7:42 unknown key \"retrys\" in tool \"crm\" | did you mean \"retry\"?"],
        ),
        (
            "told without tools",
            set("retrys: 3"),
            OpTable::stock(),
            vec!["~DG0517 7:3...", "DG0103 7:22 unknown key \"retrys\" in tool \"crm\"..."],
        ),
        (
            "no server",
            set("only: [find, drop]").replace("crm.*", "cmr.*"),
            asked(),
            vec![
                "~DG0508 5:7 nothing calls a tool of the server \"crm\"",
                "DG0208 7:15 there is no server \"cmr\" | did you mean \"crm\"?",
            ],
        ),
        (
            "no server and no tools",
            set("effect: read").replace("crm.*", "cmr.*"),
            OpTable::stock().with_server("cmr", vec![]),
            vec!["~DG0508 5:7...", "DG0208 7:15 there is no server \"cmr\"..."],
        ),
        (
            "no set",
            set("only: [find]").replace("crm.*", "crm.find"),
            asked(),
            vec!["DG0105 7:25 `only` in tool \"crm\" needs `call: SERVER.*`, a set of tools"],
        ),
        (
            "not offered",
            graph("  crm: {call: crm.*, only: [find, drop]}\n  t: {call: think}\n", "[t]", ""),
            asked(),
            vec!["~DG0508 7:3 no model node offers the tool \"crm\" | list it: tools: [crm]"],
        ),
        (
            "misspelt",
            set("only: [find]").replace("[crm]", "[cmr]"),
            asked(),
            vec!["DG0203 11:38 graph \"t\" has no tool \"cmr\" | did you mean \"crm\"?"],
        ),
    ] {
        let found = said(&text, &ops);
        let fits = found.len() == wanted.len()
            && found.iter().zip(&wanted).all(|(f, w)| {
                let f = f.strip_prefix("t.yaml: ").unwrap_or(f);
                w.strip_suffix("...").map_or(f == *w, |start| f.starts_with(start))
            });
        if !fits {
            wrong.push(format!("{name}:\n{text}\nfound: {found:#?}\nwanted: {wanted:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn two_tools_of_one_name_in_one_node_are_refused() {
    let tools = "  crm: {call: crm.*, only: [find]}\n  files: {call: files.*, only: [find]}\n";
    let both = "t.yaml: DG0109 12:43 two tools \"find\" are offered: the one of the set \"crm\" and the one of the set \"files\" | a model could not tell them apart: leave one out with `only`, or give one another name";
    assert_eq!(said(&graph(tools, "[crm, files]", ""), &OpTable::stock()), [both]);
    // In different nodes they do not meet.
    let apart = graph(tools, "[crm]", "").replace(
        "  s: {call: files.x, update: {n: result.text}}\n",
        "  s: {model: x, messages: m, tools: [files], next: u}\n  u: {run_tools: s}\n",
    );
    let found = said(&apart, &OpTable::stock());
    assert!(found.iter().all(|line| !line.contains("DG0109")), "{found:?}");
    let alone = "  crm: {call: crm.*, only: [find]}\n  find: {call: search}\n";
    let found = said(&graph(alone, "[crm, find]", ""), &OpTable::stock());
    assert!(found[0].contains("the one of the set \"crm\" and the one declared by itself"), "{found:?}");
    // By its name, the one that is declared so is meant.
    let bundle = bundle(&graph(alone, "[find]", ""), &OpTable::stock());
    let Verb::Model(model) = &bundle.root().nodes[0].verb else { panic!() };
    assert_eq!(model.tools, [ToolIx(1)]);
}

/// The tools of a user's own servers.
fn users() -> OpTable {
    let tool = |name: &str| ServerTool {
        origin: Some(ToolOrigin { server: "files".into(), tool: name.into() }),
        ..ServerTool::new(name, asked().server("crm").unwrap()[0].input_schema.clone())
    };
    OpTable::stock().with_server(USER_SERVERS, vec![tool("list"), tool("get")])
}

/// A graph without a server `crm`.
fn own(tools: &str, offered: &str, limits: &str) -> String {
    graph(tools, offered, limits)
        .replace("mcp: {crm: {url: 'https://a'}, files: {command: [f]}}\n", "")
        .replace("call: files.x", "call: think, input: {reflection: \"'x'\"}")
}

#[test]
fn tools_of_a_users_own_servers_are_a_set_that_may_be_empty() {
    let text = own(
        "  mcp: {call: mcp.*, timeout: 30s}\n  think: {call: think}\n",
        "[think, mcp]",
        ", c: {count: [think, mcp], max: 4, refuse: true}",
    );
    assert_eq!(said(&text, &OpTable::stock()), [""; 0], "there are none");
    let none = bundle(&text, &OpTable::stock());
    assert_eq!((offered(&none), none.user_tools), (vec!["think".to_owned()], true));
    assert!(none.source.tools.is_empty() && none.servers.is_empty(), "{:?}", none.servers);
    assert_eq!(said(&text, &users()), [""; 0]);
    let some = bundle(&text, &users());
    assert_eq!(offered(&some), ["think", "get", "list"]);
    let Counted::Names { tools, .. } = &some.root().limits[1].counted else { panic!() };
    assert_eq!(tools.len(), 3);
    assert!(some.root().tools[0].call.as_ref().is_some_and(|call| call.writes));
    let again = Bundle::from_source(&some.source, &OpTable::stock()).unwrap();
    assert_eq!((offered(&again), &again.hash), (offered(&some), &some.hash));
    let other = bundle(&own("  think: {call: think}\n", "[think]", ""), &users());
    assert!(!other.user_tools && other.source.tools.is_empty());
}

#[test]
fn only_chooses_among_a_users_own_tools() {
    let text = own("  mcp: {call: mcp.*, only: [list, gone]}\n  think: {call: think}\n", "[think, mcp]", "");
    assert_eq!(offered(&bundle(&text, &users())), ["think", "list"]);
    assert_eq!(offered(&bundle(&text, &OpTable::stock())), ["think"]);
    assert_eq!(said(&text, &users()), [""; 0]);
}

#[test]
fn what_is_wrong_with_a_users_own_tools_names_his_configuration() {
    let of = |name: &str, ops: &OpTable| {
        said(
            &own(
                &format!("  mcp: {{call: mcp.*}}\n  {name}: {{call: think}}\n"),
                &format!("[{name}, mcp]"),
                "",
            ),
            ops,
        )
    };
    assert_eq!(
        of("list", &users()),
        [
            "t.yaml: DG0109 11:44 two tools \"list\" are offered: the one declared by itself and the one of the set \"mcp\" | a model could not tell them apart: give the server's another name in the configuration: services.mcp.files.rename: {\"list\": NAME}"
        ]
    );
    let odd = ServerTool {
        origin: Some(ToolOrigin { server: "files".into(), tool: "a.b".into() }),
        ..users().server(USER_SERVERS).unwrap()[0].clone()
    };
    let odd = OpTable::stock().with_server(USER_SERVERS, vec![ServerTool { name: "a.b".into(), ..odd }]);
    assert_eq!(
        of("x", &odd),
        [
            "t.yaml: DG0107 6:3 a model can not be offered the tool \"a.b\" under this name | give it another name in the configuration: services.mcp.files.rename: {\"a.b\": NAME}"
        ]
    );
    let named = own("  one: {call: mcp.list}\n", "[one]", "");
    assert_eq!(
        said(&named, &users()),
        [
            "t.yaml: DG0105 6:15 tools of the user's own servers are not called by name | a model is offered them: {call: mcp.*, only: [TOOL, ...]}"
        ]
    );
    let declared = own("  mcp: {call: mcp.*}\n", "[mcp]", "")
        .replace("tools:\n", "mcp: {mcp: {url: 'https://b'}}\ntools:\n");
    assert_eq!(
        said(&declared, &users()),
        [
            "t.yaml: DG0108 5:7 the name \"mcp\" is taken | `mcp.*` is all tools of the servers in the user's own configuration: choose another name"
        ]
    );
}
