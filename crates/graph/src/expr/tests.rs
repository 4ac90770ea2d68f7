use std::collections::BTreeMap;

use deepgraph_protocol::Map;

use super::*;

/// Names from a map, as the engine's are from the state.
#[derive(Debug, Default)]
struct Given(BTreeMap<String, Value>);

impl Names for Given {
    fn lookup(&self, name: &str) -> Option<Value> {
        self.0.get(name).cloned()
    }
}

fn names(json: &str) -> Context {
    let value: Value = serde_json::from_str(json).unwrap();
    Context::of(Given(value.as_map().unwrap().iter().map(|(k, v)| (k.to_string(), v.clone())).collect()))
}

fn eval(source: &str, json: &str) -> Result<Value, EvalError> {
    let mut programs = Programs::new();
    let expr = programs.add_expr(source, "t.yaml:1:2").unwrap();
    programs.eval(&expr, &names(json))
}

fn value(source: &str, json: &str) -> String {
    eval(source, json).unwrap().to_json_text()
}

fn text(source: &str, json: &str) -> String {
    let mut programs = Programs::new();
    let text = programs.add_text(source, "t.yaml:1:2").unwrap();
    programs.render(&text, &names(json)).unwrap()
}

const STATE: &str = r#"{"n": 3, "f": 2.5, "s": "a", "none": null, "list": [1, 2, 3], "empty": [],
    "notes": [{"id": "a", "text": "one", "n": 1}, {"id": "b", "text": "two", "n": null}],
    "map": {"k": {"x": 1}}}"#;

#[test]
fn expressions_give_values() {
    let table = [
        ("n + 1", "4"),
        ("n / 2", "1.5"),
        ("n // 2", "1"),
        ("-n", "-3"),
        ("f * 2", "5.0"),
        ("6.0", "6.0"),
        ("s ~ '!' ~ n", "\"a!3\""),
        ("not empty", "true"),
        ("list and s", "\"a\""),
        ("empty or 'none yet'", "\"none yet\""),
        ("list + [4]", "[1,2,3,4]"),
        ("list[1:]", "[2,3]"),
        ("map.k.x", "1"),
        ("map['k']['x']", "1"),
        ("list | length", "3"),
        ("list | batch(2)", "[[1,2],[3]]"),
        ("notes | map(attribute='text') | list", "[\"one\",\"two\"]"),
        ("notes | selectattr('id', 'equalto', 'b') | map(attribute='text') | first", "\"two\""),
        ("notes | rejectattr('n', 'none') | list | length", "1"),
        ("map | list", "[\"k\"]"),
        ("{'a': n, 'b': [s, null]}", "{\"a\":3,\"b\":[\"a\",null]}"),
        ("'x' if n > 2 else 'y'", "\"x\""),
        ("'x' if n > 5", "null"),
        ("s in ['a', 'b']", "true"),
        ("1 < n <= 3", "true"),
        ("n is odd", "true"),
        ("9223372036854775807", "9223372036854775807"),
    ];
    for (source, wanted) in table {
        assert_eq!(value(source, STATE), wanted, "{source}");
    }
}

#[test]
fn null_is_read_where_nothing_is() {
    let table = [
        ("null", "null"),
        ("unknown", "null"),
        ("none_such.field", "null"),
        ("map.missing", "null"),
        ("map.missing.deeper.still", "null"),
        ("map['missing']", "null"),
        ("list[99]", "null"),
        ("notes[1].n", "null"),
        ("notes[1].n == null", "true"),
        ("map.missing == null", "true"),
        ("map == null", "false"),
        ("map.missing is none", "true"),
        ("map.missing is defined", "false"),
        ("map.missing | default('x')", "\"x\""),
        ("map.missing or 'x'", "\"x\""),
        ("'a' ~ map.missing ~ 'b'", "\"ab\""),
        ("not map.missing", "true"),
        ("[null, 1]", "[null,1]"),
    ];
    for (source, wanted) in table {
        assert_eq!(value(source, STATE), wanted, "{source}");
    }
}

#[test]
fn arithmetic_on_null_is_an_error_that_names_place_and_expression() {
    for source in ["map.missing + 1", "1 - map.missing", "map.missing * 2", "null // 2", "-map.missing"] {
        let error = eval(source, STATE).unwrap_err();
        assert_eq!(&*error.place, "t.yaml:1:2", "{source}");
        assert_eq!(&*error.source_text, source);
        assert!(error.to_string().starts_with(&format!("t.yaml:1:2: `{source}`: ")), "{error}");
    }
}

#[test]
fn templates_give_text() {
    assert_eq!(text("{% for x in list %}{{ x }},{% endfor %}", STATE), "1,2,3,");
    assert_eq!(text("{% for x in map.missing %}{{ x }}{% else %}-{% endfor %}", STATE), "-");
    assert_eq!(text("[{{ map.missing }}]", STATE), "[]");
    assert_eq!(text("{{ notes | tojson }}", r#"{"notes": [{"b": 1, "a": null}]}"#), r#"[{"a":null,"b":1}]"#);
    assert_eq!(text("{{ s | tojson }}", r#"{"s": "<b> & 'c'"}"#), r#""<b> & 'c'""#);
    assert_eq!(text("{{ n | tojson }}{{ map.missing | tojson }}", STATE), "3null");
    assert_eq!(text("{{ {'a': n} | tojson(indent=2) }}", STATE), "{\n  \"a\": 3\n}");
    assert_eq!(text("{{ list | join(', ') }}", STATE), "1, 2, 3");
    assert_eq!(text("{{ notes | join('; ', attribute='text') }}", STATE), "one; two");
    assert_eq!(text("{{ s }} <b> & \"{{ s }}\"", r#"{"s": "<i> ü 漢"}"#), "<i> ü 漢 <b> & \"<i> ü 漢\"");
    assert_eq!(text("{{ yes }} {{ no }}", r#"{"yes": true, "no": false}"#), "true false");
    assert_eq!(text("{{ list }} {{ map }}", STATE), r#"[1,2,3] {"k":{"x":1}}"#);
    assert_eq!(text("{% for k, v in map | items %}{{ k }}={{ v.x }}{% endfor %}", STATE), "k=1");
    assert_eq!(text("{{ loop.index if false }}{% set t = n * 2 %}{{ t }}", STATE), "6");
}

#[test]
fn a_value_passes_through_unchanged_and_uncopied() {
    let big: Value = (0..1000).map(Value::Int).collect();
    let record = Value::record([("inner", big.clone())]);
    let names =
        Context::of(Given(BTreeMap::from([("big".to_owned(), big.clone()), ("record".to_owned(), record)])));
    let mut programs = Programs::new();
    let same = |a: &Value, b: &Value| matches!((a, b), (Value::List(a), Value::List(b)) if Arc::ptr_eq(a, b));
    for source in ["big", "record.inner", "record['inner']", "big if true else null", "null or big"] {
        let expr = programs.add_expr(source, "").unwrap();
        assert!(same(&programs.eval(&expr, &names).unwrap(), &big), "{source}");
    }
    let expr = programs.add_expr("{'wrapped': big}", "").unwrap();
    let wrapped = programs.eval(&expr, &names).unwrap();
    assert!(same(wrapped.get("wrapped").unwrap(), &big));
}

/// Counts what is looked up.
#[derive(Clone, Debug, Default)]
struct Counting(Arc<std::sync::Mutex<Vec<String>>>);

impl Names for Counting {
    fn lookup(&self, name: &str) -> Option<Value> {
        self.0.lock().unwrap().push(name.to_owned());
        Some(Value::Int(1))
    }
}

#[test]
fn only_what_is_read_is_looked_up() {
    let counting = Counting::default();
    let names = Context::of(counting.clone());
    let mut programs = Programs::new();
    let expr = programs.add_expr("a if b else c", "").unwrap();
    programs.eval(&expr, &names).unwrap();
    assert_eq!(*counting.0.lock().unwrap(), ["b", "a"]);
}

#[test]
fn an_endless_template_ends_with_an_error() {
    let mut programs = Programs::new();
    let nested = "{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}";
    let text = programs.add_text(nested, "t.yaml:1:2").unwrap();
    let error = programs.render(&text, &names("{}")).unwrap_err();
    assert!(error.message.contains("fuel"), "{error}");
    let sum = "range(9999) | map('string') | list | length * 0 + (range(9999) | list | length)";
    assert!(eval(sum, "{}").is_ok(), "what ends within the bound is evaluated");
    let product = "'x' * 1000000000000";
    assert!(eval(product, "{}").is_err());
}

#[test]
fn values_with_expressions_are_built_from_the_inside() {
    let mut programs = Programs::new();
    let list = ValueExpr::List(vec![
        ValueExpr::Literal(Value::Int(1)),
        ValueExpr::Record(vec![
            ("user".into(), ValueExpr::Text(programs.add_text("{{ s }}!", "").unwrap())),
            ("n".into(), ValueExpr::Expr(programs.add_expr("n + 1", "").unwrap())),
        ]),
    ]);
    let value = programs.value(&list, &names(STATE)).unwrap();
    assert_eq!(value.to_json_text(), r#"[1,{"n":4,"user":"a!"}]"#);
}

#[test]
fn what_is_no_data_is_an_error() {
    for source in ["range", "namespace(a=1)"] {
        let found = eval(source, "{}");
        assert!(found.is_err() || found.as_ref().is_ok_and(|v| v.as_map().is_some()), "{source}: {found:?}");
    }
    assert!(eval("1 / 0", "{}").is_err() || eval("1 / 0", "{}").unwrap().is_null());
    assert!(eval("1 // 0", "{}").is_err());
    assert!(eval("debug()", "{}").is_err(), "`debug` would print the whole state");
}

#[test]
fn numbers_that_do_not_fit_become_floats() {
    assert_eq!(value("9223372036854775807 + 1", "{}"), "9.223372036854776e+18");
    assert_eq!(value("10 ** 30", "{}"), "1e+30");
}

#[test]
fn syntax_that_would_leave_the_wrapping_is_refused() {
    let mut programs = Programs::new();
    for source in ["a) %}{{ b }}{% set c = (d", "a %}", "{{ a }}", "", "a b", "a #}"] {
        assert!(programs.add_expr(source, "").is_err(), "{source}");
    }
    assert!(programs.add_expr("'%}' ~ \"}}\"", "").is_ok());
}

#[test]
fn maps_keep_their_order_of_bytes() {
    let value = eval("{'b': 1, 'a': 2}", "{}").unwrap();
    let keys: Vec<&str> = value.as_map().map(Map::keys).unwrap().map(|k| &**k).collect();
    assert_eq!(keys, ["a", "b"]);
}
