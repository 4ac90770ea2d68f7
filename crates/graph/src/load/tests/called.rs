//! Graphs of other files.

use deepgraph_protocol::Value;

use crate::testing::{load_first, said_of};
use crate::*;

/// A file whose root hands its question to `call`.
fn caller(call: &str) -> String {
    format!(
        "deepgraph: 1\nstate: {{q: string}}\ninput: [q]\noutput: [q]\nstart: a\nnodes:\n  a: {{call: {call}, input: {{q: q}}, update: {{q: result.q}}}}\n"
    )
}

const LEAF: &str = "deepgraph: 1\nname: leaf\nstate: {q: string}\ninput: [q]\noutput: [q]\nstart: a\nnodes:\n  a: {model: x, prompt: prompts/p.md, update: {q: result.text}}\n";

/// A library: a root that calls its local graph, which calls another file; and a graph that nothing calls.
const LIB: &str = r#"deepgraph: 1
config: {model: {type: string, default: small}, rounds: {type: integer, default: 3}}
concurrency: {graphs: 1}
schedule: {cron: "0 7 * * *"}
state: {q: string}
input: [q]
output: [q]
start: a
nodes:
  a: {call: inner, input: {q: q}, update: {q: result.q}}
graphs:
  inner:
    state: {q: string}
    input: [q]
    output: [q]
    start: a
    nodes:
      a: {call: ../leaf.yaml, input: {q: q}, update: {q: result.q}}
  alone:
    config: {alone: string}
    state: {q: string}
    input: [q]
    output: [q]
    start: a
    nodes:
      a: {update: {q: q ~ config.alone}}
"#;

fn paths(bundle: &Bundle) -> Vec<&str> {
    bundle.graphs.iter().map(|g| &*g.path).collect()
}

fn loaded(files: &[(&str, &str)]) -> Bundle {
    let loaded = load_first(files, &OpTable::stock()).unwrap_or_else(|e| panic!("{e}"));
    assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
    loaded.bundle
}

fn errors(files: &[(&str, &str)]) -> Vec<String> {
    said_of(files, &OpTable::stock())
}

#[test]
fn graphs_of_other_files_are_called_by_path() {
    let root = caller("lib/lib.yaml");
    let files = [
        ("r.yaml", &*root),
        ("lib/lib.yaml", LIB),
        ("leaf.yaml", LEAF),
        ("prompts/p.md", "{{ q }}?"),
        ("unread.yaml", "nothing"),
    ];
    let bundle = loaded(&files);
    assert_eq!(paths(&bundle), ["r", "lib/lib.yaml", "lib/lib.yaml#inner", "leaf.yaml"]);
    let names: Vec<&str> = bundle.graphs.iter().map(|g| &*g.name).collect();
    assert_eq!(names, ["r", "lib", "inner", "leaf"]);
    assert_eq!(bundle.find("lib/lib.yaml#inner"), Some(GraphIx(2)));
    let callee = |graph: usize| match &bundle.graphs[graph].nodes[0].verb {
        Verb::Call(call) => call.callee.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(callee(0), Callee::Graph(GraphIx(1)));
    assert_eq!(callee(1), Callee::Graph(GraphIx(2)));
    assert_eq!(callee(2), Callee::Graph(GraphIx(3)), "a path is relative to the file that it stands in");
    assert_eq!(bundle.concurrency, Concurrency::default(), "that of a called file is not that of the run");
    let read: Vec<&str> = bundle.source.files.keys().map(String::as_str).collect();
    assert_eq!(read, ["leaf.yaml", "lib/lib.yaml", "prompts/p.md", "r.yaml"]);
    let again = Bundle::from_source(&bundle.source, &OpTable::stock()).unwrap();
    assert_eq!((again.hash, paths(&bundle)), (bundle.hash.clone(), paths(&bundle)));
    let mut changed = bundle.source.clone();
    changed.files.insert("leaf.yaml".to_owned(), LEAF.replace("model: x", "model: y"));
    assert_ne!(Bundle::from_source(&changed, &OpTable::stock()).unwrap().hash, bundle.hash);
}

#[test]
fn only_what_can_run_is_part_of_the_bundle() {
    let root = caller("./lib/lib.yaml#inner");
    let files =
        [("r.yaml", &*root), ("lib/lib.yaml", LIB), ("leaf.yaml", LEAF), ("prompts/p.md", "{{ q }}?")];
    let bundle = loaded(&files);
    assert_eq!(paths(&bundle), ["r", "lib/lib.yaml#inner", "leaf.yaml"]);
    assert!(bundle.config.is_empty(), "{:?}", bundle.config);
    let root = caller("lib/lib.yaml#alone");
    let bundle = loaded(&[("r.yaml", &*root), files[1], files[2], files[3]]);
    assert_eq!(paths(&bundle), ["r", "lib/lib.yaml#alone"]);
    assert_eq!(bundle.config.keys().map(|k| &**k).collect::<Vec<_>>(), ["alone"]);
}

#[test]
fn prompts_are_those_of_the_folder_of_their_file() {
    let root = caller("lib/leaf.yaml");
    let leaf = LEAF.replace("prompts/p.md", "../lib/prompts/./p.md");
    let files = [
        ("r.yaml", &*root),
        ("lib/leaf.yaml", &*leaf),
        ("lib/prompts/p.md", "here {{ q }}"),
        ("prompts/p.md", "there {{ q }}"),
    ];
    let bundle = loaded(&files);
    let Verb::Model(model) = &bundle.graphs[1].nodes[0].verb else { panic!() };
    let prompt = model.prompt.as_ref().unwrap();
    assert_eq!((&*prompt.source, &*prompt.place), ("here {{ q }}", "lib/prompts/p.md:1:1"));
}

#[test]
fn a_file_is_read_once_however_it_is_called() {
    struct Counting(std::collections::BTreeMap<String, String>, std::sync::Mutex<Vec<String>>);
    impl Files for Counting {
        fn read(&self, path: &str) -> Result<String, String> {
            self.1.lock().unwrap().push(path.to_owned());
            self.0.read(path)
        }
    }
    let root = caller("lib/lib.yaml").replace("nodes:\n", "nodes:\n  b: {call: leaf.yaml, input: {q: q}}\n");
    let root = root.replace("start: a", "start: {to: [a, b]}");
    let all = [("r.yaml", &*root), ("lib/lib.yaml", LIB), ("leaf.yaml", LEAF), ("prompts/p.md", "{{ q }}")];
    let all = all.map(|(name, text)| (name.to_owned(), text.to_owned())).into_iter().collect();
    let files = Counting(all, std::sync::Mutex::default());
    load("/far/r.yaml", &files, &OpTable::stock()).unwrap();
    let read = files.1.into_inner().unwrap();
    assert_eq!(read, ["r.yaml", "leaf.yaml", "lib/lib.yaml", "prompts/p.md"]);
}

#[test]
fn configuration_is_one_value_in_all_files() {
    let config =
        |text: &str| caller("lib/lib.yaml").replace("start: a", &format!("config: {text}\nstart: a"));
    let with = |root: &str| -> Vec<(String, Option<Value>)> {
        let files =
            [("r.yaml", root), ("lib/lib.yaml", LIB), ("leaf.yaml", LEAF), ("prompts/p.md", "{{ q }}")];
        loaded(&files).config.into_iter().map(|(key, field)| (key.to_string(), field.default)).collect()
    };
    let keys = |model: &str| -> Vec<(String, Option<Value>)> {
        vec![("model".into(), Some(model.into())), ("rounds".into(), Some(Value::Int(3)))]
    };
    assert_eq!(with(&caller("lib/lib.yaml")), keys("small"));
    let outer = "{model: {type: string, default: large}}";
    assert_eq!(with(&config(outer)), keys("large"), "the caller's default wins");
    assert_eq!(with(&config("{model: string}")), keys("small"), "the caller has none");
    let clash = config("{rounds: {type: number, default: 3}}");
    let files = [
        ("d/r.yaml", &*clash),
        ("lib/lib.yaml", LIB),
        ("leaf.yaml", LEAF),
        ("prompts/p.md", "{{ q }}"),
        ("r.yaml", &*clash),
    ];
    assert_eq!(
        errors(&files),
        [
            "d/lib/lib.yaml: DG0405 2:49 config key \"rounds\" has another type here than in d/r.yaml:5:10 | one name is one value run-wide: declare it the same everywhere"
        ]
    );
}

#[test]
fn limits_of_a_called_root_may_be_granted() {
    let leaf = LEAF.replace("start: a", "limits: {t: {count: tokens, exit: token_budget}}\nstart: a");
    let root = caller("leaf.yaml");
    loaded(&[("r.yaml", &*root), ("leaf.yaml", &*leaf), ("prompts/p.md", "{{ q }}")]);
    let alone = errors(&[("leaf.yaml", &*leaf), ("prompts/p.md", "{{ q }}")]);
    assert!(alone[0].starts_with("leaf.yaml: DG0102 6:10 limit \"t\" needs `max`"), "{alone:?}");
}

#[test]
fn calls_that_lead_to_no_graph() {
    let lib = [("lib/lib.yaml", LIB), ("leaf.yaml", LEAF), ("prompts/p.md", "{{ q }}"), ("x.yaml", "a: b\n")];
    let outside = "r.yaml: DG0011 7:13 a path can not lead out of the graph file's folder | a path is relative to the file that it stands in...";
    for (call, wanted) in [
        (
            "lib/none.yaml",
            "r.yaml: DG0010 7:13 the file lib/none.yaml can not be read: there is no such file | a file is named from the folder of the file that calls it",
        ),
        ("lib/none.yaml#g", "r.yaml: DG0010 7:13 the file lib/none.yaml can not be read..."),
        (
            "lib/lib.yaml#iner",
            "r.yaml: DG0208 7:13 the file lib/lib.yaml has no graph \"iner\" | did you mean \"inner\"?",
        ),
        (
            "leaf.yaml#leaf",
            "r.yaml: DG0208 7:13 the file leaf.yaml has no graph \"leaf\" | the graph of the file itself is called by leaf.yaml",
        ),
        (
            "x.yaml",
            "r.yaml: DG0014 7:13 the file x.yaml is no graph | a graph file begins with `deepgraph: 1`",
        ),
        ("../leaf.yaml", outside),
        ("lib/../../leaf.yaml#g", outside),
        ("/leaf.yaml", "r.yaml: DG0011 7:13 a path is relative to the graph file's folder..."),
        (
            "'#inner'",
            "r.yaml: DG0011 7:13 \"#inner\" names no file | a graph of this file is called by its name alone: inner",
        ),
        (
            "lib#inner",
            "r.yaml: DG0011 7:13 \"lib\" is no graph file by its name | a graph file ends in .yaml, .yml or .json",
        ),
    ] {
        let root = caller(call);
        let files: Vec<(&str, &str)> = [("r.yaml", &*root)].into_iter().chain(lib).collect();
        let found = errors(&files);
        let fits = match wanted.strip_suffix("...") {
            Some(start) => found.len() == 1 && found[0].starts_with(start),
            None => found == [wanted],
        };
        assert!(fits, "{call}: {found:#?}");
    }
}

#[test]
fn mistakes_of_all_files_come_at_once() {
    let root = caller("lib/lib.yaml").replace("update: {q: result.q}", "update: {q: result.x}");
    let lib = LIB.replace("q ~ config.alone", "qq").replace("inner, input: {q: q}", "inner, input: {p: q}");
    let leaf = LEAF.replace("start: a", "start: b").replace("deepgraph: 1", "deepgraph: 1\noutputs: [q]");
    let files =
        [("r.yaml", &*root), ("lib/lib.yaml", &*lib), ("leaf.yaml", &*leaf), ("prompts/p.md", "{{ x }}")];
    insta::assert_snapshot!(errors(&files).join("\n"));
    let broken = [("r.yaml", &*root), ("lib/lib.yaml", "deepgraph: 1\n\tx: ["), files[2], files[3]];
    insta::assert_snapshot!(load_first(&broken, &OpTable::stock()).unwrap_err());
    let later = [("r.yaml", &*root), ("lib/lib.yaml", "deepgraph: 2\nnodes: {}"), files[2], files[3]];
    insta::assert_snapshot!(load_first(&later, &OpTable::stock()).unwrap_err());
}

#[test]
fn files_may_call_each_other_within_a_depth() {
    let limit = "limits: {d: {count: depth, max: 2, refuse: true}}\nstart: a";
    let one = caller("two.yaml");
    let two = caller("one.yaml");
    let found = errors(&[("one.yaml", &*one), ("two.yaml", &*two)]);
    assert_eq!(
        found,
        [
            "one.yaml: DG0515 7:13 a graph calls itself, and no limit bounds how deep: one -> two.yaml -> one | give one of them a limit on its nesting in itself: depth: {count: depth, max: 3, refuse: true}"
        ]
    );
    let bound = two.replace("start: a", limit);
    assert_eq!(paths(&loaded(&[("one.yaml", &*one), ("two.yaml", &*bound)])), ["one", "two.yaml"]);
    let itself = caller("one.yaml");
    let found = errors(&[("one.yaml", &*itself)]);
    assert!(found[0].starts_with("one.yaml: DG0515 7:13 graph \"one\" calls itself"), "{found:?}");
    assert_eq!(paths(&loaded(&[("one.yaml", &*itself.replace("start: a", limit))])), ["one"]);
}
