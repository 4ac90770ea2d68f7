use std::collections::BTreeMap;

use deepgraph_protocol::Value;

use crate::testing::clean;

fn said(overrides: &[(&str, Value)]) -> String {
    let bundle = clean(
        "deepgraph: 1\nconfig:\n  max_researcher_iterations: {type: integer, default: 6, minimum: 1}\n  model: {type: string, default: extractive}\n  \
         deadline: {type: duration, default: 30m}\n  clarify: {enum: [never, auto], default: auto}\n  names: {type: [string], default: []}\n  \
         flag: {type: boolean, optional: true}\n  needed: string\nstate: {q: string}\nstart: a\nnodes: {a: {update: {q: \"'x'\"}}}\n",
    );
    let overrides: BTreeMap<String, Value> =
        overrides.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect();
    match bundle.config_of(overrides) {
        Ok(config) => Value::from(config).to_json_text(),
        Err(wrong) => wrong.iter().map(|m| format!("! {m}")).collect::<Vec<_>>().join("\n"),
    }
}

#[test]
fn defaults_and_what_is_set() {
    let needed = ("needed", Value::from("n"));
    assert_eq!(
        said(std::slice::from_ref(&needed)),
        r#"{"clarify":"auto","deadline":1800,"max_researcher_iterations":6,"model":"extractive","names":[],"needed":"n"}"#
    );
    let set = |key: &str, value: Value| {
        let config = said(&[needed.clone(), (key, value)]);
        let key = key.strip_prefix("configurable.").unwrap_or(key).to_owned();
        match serde_json::from_str::<Value>(&config) {
            Ok(config) => config.get(&key).map_or("-".to_owned(), Value::to_json_text),
            Err(_) => config,
        }
    };
    let table = [
        ("max_researcher_iterations", Value::from("16"), "16"),
        ("configurable.max_researcher_iterations", Value::Int(3), "3"),
        ("max_researcher_iterations", Value::Float(6.0), "6"),
        ("deadline", Value::from("1h"), "3600"),
        ("deadline", Value::Int(90), "90"),
        ("flag", Value::from("true"), "true"),
        ("names", Value::from("[a, b]"), r#"["a","b"]"#),
        ("model", Value::from("6"), "\"6\""),
        (
            "max_researcher_iterations",
            Value::from("six"),
            "! max_researcher_iterations: must be an integer of at least 1, is \"six\"",
        ),
        (
            "max_researcher_iterations",
            Value::from("0"),
            "! max_researcher_iterations: must be an integer of at least 1, is 0",
        ),
        (
            "configurable.max_researcher_iterations",
            Value::Int(-1),
            "! max_researcher_iterations: must be an integer of at least 1, is -1",
        ),
        ("max_researcher_iterations", Value::Null, "6"),
        ("clarify", Value::from("always"), "! clarify: must be one of never, auto, is \"always\""),
        ("flag", Value::from("yes"), "! flag: must be true or false, is \"yes\""),
        (
            "max_iterations",
            Value::Int(3),
            "! max_iterations: is no key of the configuration; did you mean \"max_researcher_iterations\"?",
        ),
        (
            "zzz",
            Value::Int(3),
            "! zzz: is no key of the configuration; there is: clarify, deadline, flag, max_researcher_iterations, model, names, needed",
        ),
    ];
    for (key, value, wanted) in table {
        assert_eq!(set(key, value.clone()), wanted, "{key} = {value}");
    }
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let found = said(&[
        ("modle", "x".into()),
        ("deadline", "soon".into()),
        ("configurable.model", "a".into()),
        ("model", "b".into()),
    ]);
    assert_eq!(
        found,
        "! model: is set twice\n! modle: is no key of the configuration; did you mean \"model\"?\n\
         ! deadline: must be a duration such as 30s, 10m or 1h, is \"soon\"\n! needed: needs a value: a string"
    );
}

#[test]
fn a_value_that_a_setting_can_not_have_is_told_with_the_setting() {
    let bundle = clean(
        "deepgraph: 1\nconfig: {most: {type: integer, default: 3}, tokens: {type: integer, optional: true}}\n\
         state: {q: string}\nlimits:\n  turns: {count: turns, max: config.most, exit: step_limit}\n  \
         tokens: {count: tokens, max: config.tokens, exit: token_budget}\nstart: a\n\
         nodes: {a: {model: m, prompt: p, retry: {max: config.most}, update: {q: result.text}}}\n",
    );
    let set = |value: i64| bundle.config_of(BTreeMap::from([("most".to_owned(), Value::Int(value))]));
    assert!(set(1).is_ok());
    let told: Vec<String> = set(0).unwrap_err().iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "most: must be an integer of at least 1, is 0; it is read by `max` (t.yaml:5:30)",
            "most: must be an integer of at least 1, is 0; it is read by `max` (t.yaml:8:47)",
        ]
    );
}

#[test]
fn an_optional_key_is_unset_by_null_or_nothing() {
    let bundle = clean(
        "deepgraph: 1\nconfig: {dear: {type: number, optional: true}, note: {type: string, optional: true}, most: {type: integer, default: 3}}\n\
         state: {q: string}\nstart: a\nnodes: {a: {update: {q: \"'x'\"}}}\n",
    );
    let set = |key: &str, value: Value| {
        let config = bundle.config_of(BTreeMap::from([(key.to_owned(), value)]));
        config.map(|config| config.get(key).cloned())
    };
    for nothing in [Value::Null, "null".into(), "".into(), " ".into()] {
        assert_eq!(set("dear", nothing.clone()), Ok(None), "{nothing}");
    }
    assert_eq!(set("most", Value::Null), Ok(Some(Value::Int(3))), "null leaves the default");
    for nothing in ["null", "", " "] {
        assert!(set("most", nothing.into()).is_err(), "{nothing:?}");
    }
    assert_eq!(set("note", "".into()), Ok(None));
    assert_eq!(set("note", "null".into()), Ok(Some("null".into())), "a text may be that word");
}
