//! Any text as an expression and as a template, in every place where a graph has one.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_graph::{OpTable, load};
use deepgraph_protocol::{Entry, EntryBody, Map, SEMANTICS, ScopePath, Started, StepId, Value};
use deepgraph_trace::{Detail, Row, fold};

/// A graph with a text in place of one of these.
const PLACES: [&str; 5] = ["UPDATE", "CONDITION", "PROMPT", "EACH", "LIMIT"];

const GRAPH: &str = "\
deepgraph: 1
config: {key: {type: integer, default: 3}}
types: {pair: {left: string, right: integer}}
state:
  n: integer
  f: number
  s: string
  b: boolean
  l: [integer]
  t: [string]
  r: {type: {string: string}, reduce: merge}
  p: pair
  m: messages
  out: string
input: [n, f, s, b, l, t, r, p]
output: [out]
limits: {turns: {count: turns, max: 5, if: LIMIT, exit: turns}}
start: first
nodes:
  first: {update: {out: UPDATE}, next: [{if: CONDITION, to: many}, say]}
  many:  {op: search, each: EACH, max_items: 4, input: {query: item}, next: say}
  say:   {model: m, prompt: PROMPT, update: {out: result.text}}
";

/// The first byte says where the rest stands.
pub fn check(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let place = PLACES[usize::from(*first) % PLACES.len()];
    let quoted = serde_json::to_string(text).expect("a text has a JSON form");
    let of = |name: &str| match name {
        name if name == place => quoted.clone(),
        "CONDITION" => "b".into(),
        "LIMIT" => "\"true\"".into(),
        "EACH" => "t".into(),
        _ => "s".into(),
    };
    let graph = PLACES.iter().fold(GRAPH.to_owned(), |graph, name| graph.replacen(name, &of(name), 1));
    let files = BTreeMap::from([("graph.yaml".to_owned(), graph)]);
    let Ok(loaded) = load("graph.yaml", &files, &OpTable::stock()) else { return };
    let bundle = Arc::new(loaded.bundle);
    let config = bundle.config_of(BTreeMap::new()).expect("every key has a default");
    let at = |body| Entry { at: 1_767_225_600_000, body };
    let started = Started {
        graph: bundle.root().path.clone(),
        input: Arc::new(input()),
        config: Arc::new(config),
        attempt: 1,
        semantics: SEMANTICS,
        bundle: bundle.hash.clone(),
        ..Started::default()
    };
    let sent = EntryBody::Dispatched {
        step: StepId::new("say.1"),
        attempt: 1,
        request: None,
        reserve_tokens: 10,
        reserve_micro_usd: None,
        key: None,
        takes_key: false,
        model: None,
        window: None,
        cut: None,
    };
    let (root, rows) = (ScopePath::root(), [at(EntryBody::Started(started)), at(sent)]);
    let trace =
        fold(&bundle, rows.iter().map(|entry| Row { scope: &root, entry })).expect("the root has started");
    let _ = trace.to_text(Detail::Full);
}

fn input() -> Map {
    let texts = |items: &[&str]| items.iter().map(|item| Value::from(*item)).collect::<Value>();
    Map::from([
        ("n".into(), Value::Int(7)),
        ("f".into(), Value::from(0.5)),
        ("s".into(), Value::from("a text with ä and \u{1f600}")),
        ("b".into(), Value::Bool(true)),
        ("l".into(), [1, -2, i64::MAX].into_iter().map(Value::Int).collect()),
        ("t".into(), texts(&["one", "two", ""])),
        ("r".into(), Value::record([("key", Value::from("value"))])),
        ("p".into(), Value::record([("left", Value::from("l")), ("right", Value::Int(1))])),
    ])
}
