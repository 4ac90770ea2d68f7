use std::collections::BTreeSet;

use deepgraph_protocol::{Meter, Value};

use super::{graph_schema, words};
use crate::testing::said;
use crate::vocabulary::{MAPPINGS, ROOT_ONLY, VERBS, Words};

/// Places of keys that are not built yet, which the vocabulary does not list until they are.
const AHEAD: [&str; 3] = ["upgrade", "server", "schedule"];

fn all() -> impl Iterator<Item = Words> {
    MAPPINGS.into_iter().chain(VERBS)
}

#[test]
fn the_tables_have_every_key_of_the_vocabulary_and_no_other() {
    for place in all() {
        let wanted: BTreeSet<&str> = place.known.iter().chain(place.later).copied().collect();
        let written: BTreeSet<&str> = words::of(place.place).iter().map(|word| word.key).collect();
        let missing: Vec<_> = wanted.difference(&written).collect();
        let unknown: Vec<_> = written.difference(&wanted).collect();
        assert!(
            missing.is_empty() && unknown.is_empty(),
            "schema/words: {} lacks {missing:?} and has {unknown:?} too many",
            place.place
        );
    }
    for (place, _) in words::PLACES {
        assert!(
            all().any(|words| words.place == *place) || AHEAD.contains(place),
            "no place is called {place}"
        );
    }
}

#[test]
fn every_key_says_what_it_is_for() {
    for (place, list) in words::PLACES {
        let keys: BTreeSet<&str> = list.iter().map(|word| word.key).collect();
        assert_eq!(keys.len(), list.len(), "a key stands twice in {place}");
        for word in *list {
            assert!(word.about.len() > 10 && word.about.ends_with('.'), "{place}.{}", word.key);
        }
    }
}

/// The properties of the definition of a place.
fn properties(schema: &Value, place: &str) -> Value {
    let part = |owner: &Value| owner.get("properties").cloned().unwrap_or_default();
    let definition = |name: &str| schema.get("$defs").and_then(|d| d.get(name)).cloned().unwrap_or_default();
    match place {
        "graph" => part(schema),
        "field" | "channel" => {
            let forms = definition(place).get("anyOf").cloned().unwrap_or_default();
            let mut forms = forms.as_list().unwrap_or_default().iter().map(part);
            forms.find(|keys| !keys.is_null()).unwrap_or_default()
        }
        verb if VERBS.iter().any(|words| words.place == verb) => part(&definition("node")),
        other => part(&definition(other)),
    }
}

#[test]
fn the_schema_has_every_key_that_is_read_and_none_that_is_not_built() {
    let schema = graph_schema();
    for place in all() {
        let keys = properties(&schema, place.place);
        for key in place.known {
            let found = keys.get(key);
            assert!(found.is_some_and(|key| key.get("description").is_some()), "{}.{key}", place.place);
        }
        let elsewhere = |key: &str| {
            let node = place.place == "node" || VERBS.iter().any(|verb| verb.place == place.place);
            node && VERBS.iter().any(|verb| verb.known.contains(&key))
        };
        for key in place.later.iter().filter(|key| !elsewhere(key)) {
            assert!(keys.get(key).is_none(), "{}.{key} is not built", place.place);
        }
    }
    let child = schema.get("$defs").and_then(|d| d.get("graph")).and_then(|g| g.get("properties"));
    assert!(ROOT_ONLY.iter().all(|key| child.is_some_and(|keys| keys.get(key).is_none())));
}

#[test]
fn references_lead_to_definitions_and_all_are_used() {
    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::List(items) => items.iter().for_each(|item| references(item, found)),
            Value::Map(fields) => {
                found.extend(value.get("$ref").and_then(Value::as_str).map(str::to_owned));
                fields.iter().for_each(|(_, field)| references(field, found));
            }
            _ => {}
        }
    }
    let schema = graph_schema();
    let mut found = BTreeSet::new();
    references(&schema, &mut found);
    let definitions = schema.get("$defs").and_then(Value::as_map).cloned().unwrap_or_default();
    let there: BTreeSet<String> = definitions.keys().map(|name| format!("#/$defs/{name}")).collect();
    assert_eq!(found, there);
}

#[test]
fn every_meter_that_is_offered_can_be_counted() {
    for (meter, _) in Meter::ALL {
        let text = format!(
            "deepgraph: 1\nstate: {{q: string}}\nlimits: {{l: {{count: {meter}, max: 1, exit: step_limit}}}}\nstart: a\n\
             nodes: {{a: {{update: {{q: \"'x'\"}}}}}}\n"
        );
        let found = said(&text);
        assert!(!found.iter().any(|line| line.starts_with("DG0104")), "{meter}: {found:?}");
    }
}
