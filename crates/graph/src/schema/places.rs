//! The definitions of a schema: one for each kind of mapping, with what its keys demand of each other.

use deepgraph_protocol::Value;

use super::build::{any_of, array, named, not, object_of, one_of, reference, requires, with, words};
use super::shape::{Shape, money_bound, time_bound, whole_bound};
use super::{Known, words as tables};
use crate::vocabulary;

/// A mapping with the keys of some places and no others.
fn mapping(known: Known, places: &[&str]) -> Value {
    let mut keys: Vec<(&str, Value)> = Vec::new();
    for place in places {
        for word in tables::of(place).iter().filter(|word| known.has(place, word.key)) {
            let about = [("description", Value::from(word.about))];
            keys.push((word.key, with(word.shape.schema(), about)));
        }
    }
    closed(keys)
}

fn closed(keys: Vec<(&str, Value)>) -> Value {
    with(named("object"), [("properties", Value::record(keys)), ("additionalProperties", Value::Bool(false))])
}

/// Keys that are allowed only beside others: of the keys that the schema has.
fn needs(known: Known, place: &str, pairs: &[(&'static str, &'static str)]) -> Value {
    let there = pairs.iter().filter(|(key, needed)| known.has(place, key) && known.has(place, needed));
    Value::record(there.map(|(key, needed)| (*key, Value::from(vec![Value::from(*needed)]))))
}

/// A mapping with the keys of one place.
pub(super) fn plain(known: Known, place: &str) -> Value {
    mapping(known, &[place])
}

/// A graph; the root has keys that the others have not.
pub(super) fn graph(known: Known, is_root: bool) -> Value {
    let mut graph = mapping(known, &["graph"]);
    let mut needed = vec!["state", "start", "nodes"];
    if is_root {
        needed.insert(0, "deepgraph");
    } else {
        let keys = graph.get("properties").and_then(Value::as_map).cloned().unwrap_or_default();
        let own = keys.iter().filter(|(key, _)| !vocabulary::ROOT_ONLY.contains(&&***key));
        graph = closed(own.map(|(key, value)| (&**key, value.clone())).collect());
    }
    with(graph, [("required", needed.into_iter().map(Value::from).collect())])
}

/// A node: what is common to all and the keys of one verb.
pub(super) fn node(known: Known) -> Value {
    let verbs = vocabulary::VERBS.map(|words| words.place);
    let mut places = vec!["node"];
    places.extend(verbs);
    let mut needs: Vec<(&str, Value)> = Vec::new();
    for place in verbs {
        for word in tables::of(place).iter().filter(|word| word.key != place && known.has(place, word.key)) {
            let owners = verbs.iter().copied().filter(|verb| known.has(verb, word.key));
            needs.push((word.key, any_of(owners.map(|verb| requires([verb])))));
        }
    }
    let mut pairs = Vec::new();
    for (index, one) in verbs.iter().enumerate() {
        pairs.extend(verbs.iter().skip(index + 1).map(|other| not(requires([*one, *other]))));
    }
    with(
        mapping(known, &places),
        [
            ("minProperties", Value::Int(1)),
            ("dependentSchemas", Value::record(needs)),
            ("allOf", pairs.into_iter().collect()),
        ],
    )
}

/// A tool; nothing at all is a tool that only answers.
pub(super) fn tool(known: Known) -> Value {
    let pairs = [
        ("input", "call"),
        ("compensate", "call"),
        ("returns", "ask"),
        ("overflow", "parallel"),
        ("only", "call"),
    ];
    let kinds = ["object", "null"].map(Value::from).to_vec();
    with(
        mapping(known, &["tool"]),
        [
            ("type", Value::from(kinds)),
            ("dependentRequired", needs(known, "tool", &pairs)),
            ("not", requires(["call", "ask"])),
        ],
    )
}

/// A limit.
pub(super) fn limit(known: Known) -> Value {
    let gain = ["below", "window", "min_steps", "mode"].map(|key| (key, "gain"));
    let count = ["max", "reserve", "scope", "if", "per"].map(|key| (key, "count"));
    let pairs: Vec<_> = gain.into_iter().chain(count).collect();
    let counts = one_of([requires(["count"]), requires(["gain"])]);
    let acts = one_of(["exit", "to", "refuse"].map(|key| requires([key])));
    with(
        mapping(known, &["limit"]),
        [
            ("dependentRequired", needs(known, "limit", &pairs)),
            ("allOf", [counts, acts, bounds()].into_iter().collect()),
        ],
    )
}

/// What bound goes with what is counted.
fn bounds() -> Value {
    let counting = |meters: &[&'static str]| {
        let counted = Value::record([("count", words(meters.iter().copied()))]);
        with(requires(["count"]), [("properties", counted)])
    };
    let max = |schema: Value| Value::record([("properties", Value::record([("max", schema)]))]);
    let choose = |when: Value, then: Value, otherwise: Value| {
        Value::record([("if", when), ("then", then), ("else", otherwise)])
    };
    // What is refused may be refused altogether; what ends a graph must let it begin.
    let whole = choose(requires(["refuse"]), max(whole_bound(0)), max(whole_bound(1)));
    let money = choose(counting(&["cost_usd"]), max(money_bound()), whole);
    choose(counting(&["wall_time", "active_time", "turn_time"]), max(time_bound()), money)
}

/// A way of a route, written out.
pub(super) fn way(known: Known) -> Value {
    with(
        mapping(known, &["way"]),
        [
            ("anyOf", ["to", "exit", "update"].map(|key| requires([key])).into_iter().collect()),
            ("not", requires(["to", "exit"])),
        ],
    )
}

/// A route: a node, a way, or a list of them.
pub(super) fn route() -> Value {
    let way = any_of([Shape::Name.schema(), reference("way")]);
    let list = array(way, 1);
    any_of([Shape::Name.schema(), reference("way"), list])
}

/// What undoes a call.
pub(super) fn compensate(known: Known) -> Value {
    with(mapping(known, &["compensate"]), [("required", Value::from(vec![Value::from("call")]))])
}

/// A conversation that is only read.
pub(super) fn messages(known: Known) -> Value {
    with(mapping(known, &["messages"]), [("required", Value::from(vec![Value::from("read")]))])
}

/// A type, where nothing more is said of it.
pub(super) fn a_type() -> Value {
    any_of([type_name(), list_type(), record()])
}

/// A named type: a record of fields.
pub(super) fn record() -> Value {
    with(fields(), [("minProperties", Value::Int(1))])
}

/// A field: a type, or one written out with `type` or `enum`; with the keys of more places.
pub(super) fn field(known: Known, more: &[&str]) -> Value {
    let mut places = vec!["field"];
    places.extend(more);
    let told = || ["type", "enum"].map(|key| requires([key])).into_iter();
    let written_out = with(mapping(known, &places), [("anyOf", told().collect())]);
    let extra = more.iter().flat_map(|place| tables::of(place)).map(|word| requires([word.key]));
    let plain_record = with(record(), [("not", any_of(told().chain(extra)))]);
    // A record may have a field called `type`: then it has another one that no field written out has.
    let keys = places.iter().flat_map(|place| tables::of(place)).map(|word| word.key);
    let no_other = Value::record([("propertyNames", words(keys))]);
    let odd_record = with(fields(), [("anyOf", told().collect()), ("not", no_other)]);
    any_of([type_name(), list_type(), written_out, plain_record, odd_record])
}

fn type_name() -> Value {
    let own = super::build::pattern("^[A-Za-z0-9_]+$");
    let plain = vocabulary::PLAIN.iter().map(|(name, _)| *name);
    any_of([words(plain.chain(vocabulary::RECORDS)), own])
}

fn list_type() -> Value {
    with(array(reference("type"), 1), [("maxItems", Value::Int(1))])
}

fn fields() -> Value {
    with(named("object"), [("additionalProperties", reference("field"))])
}

/// Config values by key.
pub(super) fn settings() -> Value {
    object_of("^[A-Za-z_][A-Za-z0-9_]{0,63}$", Value::empty_map(), true)
}
