use deepgraph_protocol::{Map, Value};

use super::*;

fn stock() -> OpTable {
    let read = OpTable::default().with(include_str!("stock.yaml")).unwrap_or_else(|e| panic!("{e}"));
    OpTable { stock: STOCK, ..read }
}

#[test]
fn the_stock_ops_can_be_read() {
    let names: Vec<String> = stock().names().map(str::to_owned).collect();
    assert_eq!(
        names,
        ["assemble", "cite", "extract_handoff", "facts", "handoff", "join", "read", "search", "think"]
    );
    assert_eq!(OpTable::stock(), stock());
}

#[test]
fn a_model_is_not_asked_for_what_only_graphs_give() {
    let graph = "deepgraph: 1\nname: g\nstate: {q: string, m: messages, facts: {type: [fact], reduce: union}}\ninput: [q]\n\
        tools: {read: {call: read, input: {source: args.source, known: facts}, update: {facts: result.facts}}}\n\
        limits: {turns: {count: turns, max: 3, exit: step_limit}}\nstart: a\nnodes:\n  \
        a: {model: extractive, messages: m, tools: [read], next: [{if: result.tool_calls, to: b}, {exit: no_tool_calls}]}\n  \
        b: {run_tools: a, next: a}\n";
    let files = BTreeMap::from([("graph.yaml".to_owned(), graph.to_owned())]);
    let loaded = crate::load("graph.yaml", &files, &stock()).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let tool = &loaded.bundle.root().tools[0];
    let asked: Vec<&str> = tool.parameters.iter().map(|(name, _)| &**name).collect();
    assert_eq!(asked, ["source", "query", "from"]);
    let given: Vec<&str> = tool.call.iter().flat_map(|call| &call.input).map(|(name, _)| &**name).collect();
    assert_eq!(given, ["source", "known"]);
}

#[test]
fn results_always_have_text() {
    let table = OpTable::default().with("ping: {effect: read}\nread: {result: {n: integer}}").unwrap();
    let fields = |name: &str| -> Vec<String> {
        table.get(name).unwrap().result.fields.iter().map(|(n, _)| n.to_string()).collect()
    };
    assert_eq!(fields("ping"), ["text"]);
    assert_eq!(fields("read"), ["n", "text"]);
    assert!(!table.get("ping").unwrap().writes);
    assert!(table.get("read").unwrap().writes, "write is what holds where nothing is said");
}

#[test]
fn inputs_are_checked_by_name_and_type() {
    let table = stock();
    let search = table.get("search").unwrap();
    let input =
        |fields: &[(&str, Value)]| -> Map { fields.iter().map(|(k, v)| ((*k).into(), v.clone())).collect() };
    let said = |fields: &[(&str, Value)]| search.check_input(&input(fields)).unwrap_err().to_string();
    assert!(search.check_input(&input(&[("query", "a".into())])).is_ok());
    assert_eq!(said(&[]), "query: is missing");
    assert_eq!(said(&[("query", Value::Int(1))]), "query: must be a string, is 1");
    assert_eq!(
        said(&[("query", "a".into()), ("limit", Value::Int(0))]),
        "limit: must be an integer from 1 to 50, is 0"
    );
    assert_eq!(
        said(&[("query", "a".into()), ("limits", Value::Int(3))]),
        "limits: is no field of search (did you mean \"limit\"?)"
    );
}

#[test]
fn mistakes_of_a_table_are_reported() {
    let error = OpTable::stock().with("a:\n  effekt: read\n  input: {x: strng}\n").unwrap_err();
    let codes: Vec<&str> = error.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["DG0103", "DG0206"]);
}

#[test]
fn an_input_is_what_a_call_is_about_and_what_only_graphs_give() {
    let input = || Map::from([("source".into(), Value::from("a.md")), ("known".into(), Value::empty_map())]);
    let names = |part: &Map| part.keys().map(|name| name.to_string()).collect::<Vec<_>>();
    let (own, given) = stock().split("read", input());
    assert_eq!((names(&own), names(&given)), (vec!["source".to_owned()], vec!["known".to_owned()]));
    assert_eq!(stock().split("nothing", input()), (input(), Map::new()));
}

#[test]
fn what_models_were_offered_before_is_kept_beside_what_they_are_offered_now() {
    let (now, before) = (stock(), stock().into_earlier(0));
    let names = |op: &Op| op.input.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>();
    let search = before.get("search").expect("it is there");
    assert_eq!(names(search), ["query", "limit", "read"]);
    let read = before.get("read").expect("it is there");
    assert_eq!(names(read)[..3], ["source", "query", "from"]);
    assert_eq!(names(read)[3..], names(now.get("read").expect("it is there"))[3..], "what graphs give stays");
    assert_eq!(before.get("cite"), now.get("cite"));
    assert_eq!(stock().into_earlier(STOCK), now);
    let own = stock()
        .with("search: {effect: read, input: {q: string}, result: {text: string}}")
        .expect("it is sound");
    assert_eq!(
        names(own.clone().into_earlier(0).get("search").expect("it is there")),
        ["q"],
        "an op of one's own stays"
    );
}
