//! MCP servers and calls of their tools.

use deepgraph_protocol::{Map, ToolRole, Value};

use crate::testing::{clean, compare, load_first, said_of};
use crate::*;

/// A graph that calls `crm.find`, with the declaration of its server.
fn served(crm: &str) -> String {
    calling("crm.find", &format!("mcp:\n  crm: {crm}\n"))
}

fn calling(tool: &str, mcp: &str) -> String {
    format!(
        "deepgraph: 1\nstate: {{q: string, d: any}}\ninput: [q]\nstart: a\nnodes:\n  a: {{call: {tool}, input: {{name: q}}, update: {{q: result.text, d: result.data.x}}}}\n{mcp}"
    )
}

const HTTP: &str = "{url: https://crm.example.com/mcp}";

/// The stock ops, with the tools of a server `crm`.
pub(super) fn asked() -> OpTable {
    let tool = |name: &str, schema: &str| ServerTool {
        description: "From the server.".into(),
        read_only: Some(name == "find"),
        ..ServerTool::new(name, serde_json::from_str(schema).unwrap())
    };
    let find = r#"{"type": "object", "properties": {"name": {"type": "string", "minLength": 1}, "most": {"type": "integer"}}, "required": ["name"]}"#;
    let closed =
        r#"{"type": "object", "properties": {"id": {"type": "string"}}, "additionalProperties": false}"#;
    OpTable::stock()
        .with_server("crm", vec![tool("find", find), tool("drop", closed), tool("any.thing", "{}")])
}

/// Secrets of a test.
#[derive(Debug)]
struct Secrets(Map);

impl Names for Secrets {
    fn lookup(&self, name: &str) -> Option<Value> {
        (name == "secret").then(|| Value::from(self.0.clone()))
    }
}

#[test]
fn servers_are_reached_by_an_address_or_a_program() {
    let text = served(
        "\n    url: 'https://{{ secret.HOST }}/mcp'\n    headers: {Authorization: 'Bearer {{ secret[\"CRM-TOKEN\"] | trim }}', X-A: b}\n  \
         files: {command: [npx, -y, './data/{{ secret.HOST }}.md'], env: {LANG: C}}\n",
    );
    let text = text.replace("start: a", "tools: {read: {call: files.read}}\nstart: a");
    let loaded = load_first(&[("t.yaml", &*text)], &OpTable::stock()).unwrap();
    let bundle = loaded.bundle;
    let [crm, files] = bundle.servers.as_slice() else { panic!("{:?}", bundle.servers) };
    assert_eq!((&*crm.name, &*files.name), ("crm", "files"));
    let names = |server: &Server| server.secrets.iter().map(|s| s.to_string()).collect::<Vec<_>>();
    assert_eq!((names(crm), names(files)), (vec!["CRM-TOKEN".into(), "HOST".into()], vec!["HOST".into()]));
    let secrets = Map::from([("HOST".into(), "h.example".into()), ("CRM-TOKEN".into(), " t0 ".into())]);
    let secrets = crate::Context::of(Secrets(secrets));
    let render = |text: &Text| bundle.programs.render(text, &secrets).unwrap();
    let Transport::Http { url, headers } = &crm.transport else { panic!() };
    assert_eq!(render(url), "https://h.example/mcp");
    let headers: Vec<(&str, String)> = headers.iter().map(|(n, t)| (&**n, render(t))).collect();
    assert_eq!(headers, [("Authorization", "Bearer t0".to_owned()), ("X-A", "b".to_owned())]);
    let Transport::Command { command, env } = &files.transport else { panic!() };
    let command: Vec<String> = command.iter().map(render).collect();
    assert_eq!(command, ["npx", "-y", "./data/h.example.md"], "an argument is no prompt file");
    assert_eq!((env.len(), &*env[0].0, render(&env[0].1)), (1, "LANG", "C".to_owned()));
}

#[test]
fn what_is_no_server() {
    compare(&[
        ("nothing", served("{}"), &["DG0102 8:3 server \"crm\" needs `url` or `command` | for example..."]),
        (
            "both",
            served("{url: 'https://a', command: [b]}"),
            &["DG0105 8:27 server \"crm\" has `url` and `command`; it has one"],
        ),
        (
            "another kind of address",
            served("{url: crm.example.com}"),
            &["DG0106 8:14 `url` is an http or https address | a server that is a program..."],
        ),
        ("a file", served("{url: 'file:///crm'}"), &["DG0106 8:14 `url` is an http or https address..."]),
        ("a template", served("{url: '{{ secret.URL }}'}"), &[]),
        (
            "no list",
            served("{command: npx x}"),
            &["DG0101 8:18 `command` is a list, the program and its arguments, not text | write [npx, x]"],
        ),
        ("empty", served("{command: []}"), &["DG0106 8:18 `command` names no program"]),
        ("blank", served("{command: [' ', a]}"), &["DG0106 8:18 `command` names no program"]),
        (
            "a number",
            served("{command: [serve, 8080]}"),
            &["DG0101 8:26 a part of `command` must be text, is a number | put it in quotes"],
        ),
        ("headers", served("{command: [a], headers: {b: c}}"), &["DG0105 8:23 `headers` needs `url`"]),
        ("env", served("{url: 'https://a', env: {b: c}}"), &["DG0105 8:27 `env` needs `command`"]),
        (
            "no mapping",
            served("{url: 'https://a', headers: [b]}"),
            &["DG0101 8:36 `headers` must be a mapping, is a list"],
        ),
        (
            "unknown key",
            served("{urls: 'https://a', url: 'https://a'}"),
            &["DG0103 8:9 unknown key \"urls\" in server \"crm\" | did you mean \"url\"?"],
        ),
        ("no server", served("[a]"), &["DG0101 8:8 server \"crm\" must be a mapping, is a list"]),
        (
            "a name",
            calling("crm.find", &format!("mcp: {{crm: {HTTP}, a.b: {HTTP}}}\n")),
            &["DG0107 7:48 \"a.b\" can not be the name of a server...", "~DG0508 7:48..."],
        ),
        (
            "none",
            calling("think", "mcp: {}\n")
                .replace("name: q", "reflection: q")
                .replace(", d: result.data.x", ""),
            &[],
        ),
    ]);
}

#[test]
fn secrets_are_all_that_a_server_reads_and_only_there() {
    let header = |text: &str| served(&format!("{{url: 'https://a', headers: {{k: \"{text}\"}}}}"));
    compare(&[
        (
            "a channel",
            header("{{ q }}"),
            &["DG0306 8:44 \"q\" is not known here: under `mcp`, `secret` is all there is"],
        ),
        ("config", header("{{ config.k }}"), &["DG0306 8:44 \"config\" is not known here..."]),
        ("all secrets", header("{{ secret }}"), &["DG0306 8:44 `secret` is read by name: secret.NAME"]),
        (
            "a loop",
            header("{% for s in secret %}{{ s }}{% endfor %}"),
            &["DG0306 8:53 `secret` is read by name..."],
        ),
        (
            "elsewhere",
            served(HTTP).replace("name: q", "name: secret.K"),
            &["DG0306 6:37 `secret` is known under `mcp` only"],
        ),
    ]);
}

#[test]
fn servers_of_all_graphs_and_files_are_one_table() {
    let child = |mcp: &str| {
        format!(
            "{}graphs:\n  c:\n    state: {{q: string}}\n    input: [q]\n    mcp: {{crm: {mcp}}}\n    start: a\n    nodes: {{a: {{call: crm.find, input: {{name: q}}}}}}\n",
            served(HTTP)
                .replace("start: a", "start: {to: [a, b]}")
                .replace("nodes:\n", "nodes:\n  b: {call: c, input: {q: q}}\n")
        )
    };
    let other = "DG0109 14:11 the server \"crm\" is declared in another way in t.yaml:9:3 | servers are known by name in all graphs and files: give one of them another name";
    compare(&[
        ("the same", child(HTTP), &[]),
        ("another address", child("{url: 'https://b'}"), &[other]),
        ("another header", child("{url: 'https://crm.example.com/mcp', headers: {a: b}}"), &[other]),
        ("a program", child("{command: [a]}"), &[other]),
        (
            "one of them broken",
            child("{url: 3}"),
            &["DG0101 14:22 `url` must be text, is a number | put it in quotes"],
        ),
    ]);
    assert_eq!(clean(&child(HTTP)).servers.len(), 1);
    let root = "deepgraph: 1\nstate: {q: string}\ninput: [q]\nstart: a\nnodes: {a: {call: lib.yaml, input: {q: q}}}\n";
    let lib = served(HTTP);
    let with =
        |mcp: &str| said_of(&[("t.yaml", &*format!("{root}{mcp}")), ("lib.yaml", &*lib)], &OpTable::stock());
    assert_eq!(with(""), [""; 0]);
    assert_eq!(with(&format!("mcp: {{crm: {HTTP}}}\n")), [""; 0]);
    let found = with("mcp: {crm: {command: [a]}}\n");
    assert_eq!(found.len(), 1);
    assert!(
        found[0]
            .starts_with("lib.yaml: DG0109 8:3 the server \"crm\" is declared in another way in t.yaml:6:7"),
        "{found:?}"
    );
}

#[test]
fn servers_that_nothing_calls_are_not_asked() {
    let text = calling("crm.find", &format!("mcp: {{crm: {HTTP}, spare: {HTTP}}}\n"));
    compare(&[("unused", text.clone(), &["~DG0508 7:48 nothing calls a tool of the server \"spare\""])]);
    let loaded = load_first(&[("t.yaml", &*text)], &OpTable::stock()).unwrap();
    assert_eq!(loaded.bundle.servers.len(), 1);
    // A graph of a library that is not called brings no server with it.
    let lib = format!(
        "{}graphs:\n  c: {{state: {{q: string}}, input: [q], start: a, nodes: {{a: {{update: {{q: q}}}}}}}}\n",
        served(HTTP)
    );
    let root = "deepgraph: 1\nstate: {q: string}\ninput: [q]\nstart: a\nnodes: {a: {call: 'lib.yaml#c', input: {q: q}}}\n";
    let loaded = load_first(&[("t.yaml", root), ("lib.yaml", &*lib)], &OpTable::stock()).unwrap();
    assert!(loaded.warnings.is_empty() && loaded.bundle.servers.is_empty(), "{}", loaded.warnings);
}

#[test]
fn tools_that_are_not_there() {
    let said = |text: &str, ops: &OpTable| said_of(&[("t.yaml", text)], ops);
    let misspelt = calling("crm.fnd", &format!("mcp: {{crm: {HTTP}}}\n"));
    assert_eq!(said(&misspelt, &OpTable::stock()), [""; 0], "nobody was asked");
    assert_eq!(
        said(&misspelt, &asked()),
        ["t.yaml: DG0203 6:13 the server \"crm\" has no tool \"fnd\" | did you mean \"find\"?"]
    );
    compare(&[
        (
            "no server",
            calling("crm.find", ""),
            &["DG0208 6:13 there is no server \"crm\" | declare it: mcp: {crm: {url: https://...}}"],
        ),
        (
            "misspelt",
            calling("crn.find", &format!("mcp: {{crm: {HTTP}}}\n")),
            &["DG0208 6:13 there is no server \"crn\" | did you mean \"crm\"?", "~DG0508..."],
        ),
        (
            "a set",
            calling("crm.*", &format!("mcp: {{crm: {HTTP}}}\n")),
            &[
                "DG0105 6:13 \"crm.*\" stands for several tools, and a node calls one | under `tools`, it is a set that a model is offered",
            ],
        ),
    ]);
    let undeclared = said(&calling("crm.find", ""), &asked());
    assert_eq!(undeclared.len(), 1);
    assert!(undeclared[0].contains("DG0208 6:13 there is no server \"crm\""), "{undeclared:?}");
}

#[test]
fn input_is_checked_against_what_the_server_says() {
    let said = |from: &str, to: &str| said_of(&[("t.yaml", &*served(HTTP).replace(from, to))], &asked());
    assert_eq!(said("", ""), [""; 0]);
    assert_eq!(
        said("name: q", "most: 3"),
        ["t.yaml: DG0403 6:23 the tool needs the input \"name\" (string)"]
    );
    assert_eq!(said("name: q", "name: 3"), ["t.yaml: DG0401 6:31 the input \"name\" must be a string, is 3"]);
    assert_eq!(said("name: q", "name: q, more: 3"), [""; 0], "the schema does not close it");
    assert_eq!(
        said("find, input: {name: q}", "drop, input: {idd: q}"),
        ["t.yaml: DG0404 6:31 the tool has no input \"idd\" | did you mean \"id\"?"]
    );
    assert_eq!(said("find, input: {name: q}", "any.thing, input: {x: q}"), [""; 0]);
    assert_eq!(
        said("result.text", "result.txt"),
        ["t.yaml: DG0302 6:60 `result` has no field \"txt\" | did you mean \"text\"?"]
    );
}

#[test]
fn lists_of_tools_are_part_of_the_bundle() {
    let text = served(HTTP);
    let files = [("t.yaml", &*text)];
    let offline = load_first(&files, &OpTable::stock()).unwrap().bundle;
    let online = load_first(&files, &asked().with_server("other", Vec::new())).unwrap().bundle;
    assert_eq!(offline.servers, online.servers, "who is asked does not depend on the answer");
    assert!(offline.source.tools.is_empty() && offline.hash != online.hash);
    assert_eq!(online.source.tools.keys().map(|k| &**k).collect::<Vec<_>>(), ["crm"]);
    assert_eq!(online.source.tools["crm"].len(), 3);
    let text = serde_json::to_string(&offline.source).unwrap();
    assert!(!text.contains("tools"), "{text}");
    let stored: BundleSource = serde_json::from_str(&serde_json::to_string(&online.source).unwrap()).unwrap();
    let again = Bundle::from_source(&stored, &OpTable::stock()).unwrap();
    assert_eq!((&again.hash, &again.source), (&online.hash, &online.source));
    assert!(again.ops.get("crm.find").is_some());
    let mut other = stored;
    other.tools.get_mut("crm").unwrap().remove(0);
    assert_ne!(Bundle::from_source(&other, &OpTable::stock()).unwrap().hash, online.hash);
}

#[test]
fn models_see_the_schema_of_the_server() {
    let text = |tool: &str| {
        format!(
            "deepgraph: 1\nstate: {{m: messages}}\ninput: [m]\nmcp: {{crm: {HTTP}}}\nlimits: {{t: {{count: turns, max: 3, exit: step_limit}}}}\ntools: {{t: {tool}}}\nstart: a\nnodes:\n  a: {{model: x, messages: m, tools: [t], next: r}}\n  r: {{run_tools: a, next: a}}\n"
        )
    };
    let first = |tool: &str, ops: &OpTable| {
        let loaded = load_first(&[("t.yaml", &*text(tool))], ops).unwrap_or_else(|e| panic!("{e}"));
        assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
        loaded.bundle
    };
    let spec = |bundle: &Bundle| match &bundle.root().nodes[0].verb {
        Verb::Model(model) => model.specs[0].clone(),
        other => panic!("{other:?}"),
    };
    let online = first("{call: crm.find}", &asked());
    let (seen, raw) = (spec(&online), asked().get("crm.find").unwrap().schema.clone().unwrap());
    assert_eq!((&*seen.name, &*seen.description, &seen.parameters), ("t", "From the server.", &raw));
    assert_eq!(seen.role, ToolRole::Op("crm.find".into()));
    let tool = &online.root().tools[0];
    let call = tool.call.as_ref().unwrap();
    assert_eq!(tool.parameters.iter().map(|(n, _)| &**n).collect::<Vec<_>>(), ["most", "name"]);
    assert_eq!((&call.callee, call.writes, call.rest), (&Callee::Op("crm.find".into()), false, true));
    assert_eq!(call.input.len(), 2);
    // Own parameters and input are what the file says.
    let own = first("{call: crm.find, description: Own., parameters: {name: string}}", &asked());
    assert!(!own.root().tools[0].call.as_ref().unwrap().rest);
    let seen = spec(&own);
    assert_eq!(
        (&*seen.description, seen.parameters.get("required").unwrap().to_json_text().as_str()),
        ("Own.", r#"["name"]"#)
    );
    // Before the server is asked, anything may be given.
    let offline = first("{call: crm.find, approve: args.most > 3}", &OpTable::stock());
    let seen = spec(&offline);
    assert_eq!((&*seen.description, seen.parameters.to_json_text().as_str()), ("", r#"{"type":"object"}"#));
    let call = offline.root().tools[0].call.as_ref().unwrap();
    assert_eq!((call.writes, call.rest, call.input.len()), (true, true, 0));
}
