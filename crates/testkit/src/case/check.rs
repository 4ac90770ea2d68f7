//! A run against what its case expects.

use deepgraph_graph::{Diagnostics, Severity};
use deepgraph_protocol::{Map, StepId, Value};
use deepgraph_trace::ScopeTrace;

use super::difference::Difference;
use super::expect::{Code, Expect, Wanted};
use super::pattern::{ANY, StepPattern, fits, text_fits};
use super::seen::Seen;
use super::tree::Node;

/// All differences of a run.
pub(crate) fn run(expect: &Expect, seen: &Seen<'_>) -> Vec<Difference> {
    let mut found = Vec::new();
    for wanted in &expect.run {
        of_run(wanted, seen, &mut found);
    }
    for (key, list) in &expect.scopes {
        let Some(scope) = seen.scope(&key.name) else {
            let there: Vec<&str> = seen.scopes().iter().skip(1).map(|s| s.scope.as_str()).collect();
            let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
            found.push(Difference::Note(format!(
                "expect.scopes (line {}): there is no instance `{}`; there is: {there}",
                key.place.line, key.name
            )));
            continue;
        };
        for wanted in list {
            let label = format!("expect.scopes.{}.{}", key.name, wanted.key);
            compare(&label, wanted, &seen.of_scope(scope, &wanted.key), &mut found);
        }
    }
    found
}

fn of_run(wanted: &Wanted, seen: &Seen<'_>, found: &mut Vec<Difference>) {
    let label = format!("expect.{}", wanted.key);
    match &*wanted.key {
        "took" => patterns(&wanted.node, |pattern, line| {
            if !seen.steps().iter().any(|step| pattern.fits(step)) {
                found.push(Difference::Note(format!(
                    "{label} (line {line}): no step `{}`; the steps were: {}",
                    pattern.as_str(),
                    listed(seen)
                )));
            }
        }),
        "not_taken" => patterns(&wanted.node, |pattern, line| {
            if let Some(step) = seen.steps().iter().find(|step| pattern.fits(step)) {
                found.push(Difference::Note(format!("{label} (line {line}): there was a step `{step}`")));
            }
        }),
        "at_once" => {
            for (key, node) in wanted.node.entries() {
                let pattern = StepPattern::new(&key.name);
                let most = seen.at_once(|step| pattern.fits(step));
                let most = Value::Int(i64::try_from(most).unwrap_or(i64::MAX));
                if !fits(&node.value, &most) {
                    let key = format!("{label}.{}", key.name);
                    found.push(Difference::value(key, node.place.line, &node.value, &most));
                }
            }
        }
        "history" => {
            for (key, node) in wanted.node.entries() {
                let label = format!("{label}.{}", key.name);
                match seen.history(&StepId::new(key.name.clone())) {
                    Some(state) => named(&label, node, &state, found),
                    None => {
                        let line = key.place.line;
                        let note = format!("{label} (line {line}): no such step came to its end");
                        found.push(Difference::Note(note));
                    }
                }
            }
        }
        "elapsed" => {
            let came = seen.of_run("elapsed");
            let field = deepgraph_graph::Field::of(deepgraph_graph::Type::Duration);
            let seconds = field.check(&wanted.node.value).unwrap_or_default();
            if seconds.as_float() != came.as_float() {
                let came = Value::from(format!("{}s", came.as_float().unwrap_or(0.0)));
                found.push(Difference::value(label, wanted.node.place.line, &wanted.node.value, &came));
            }
        }
        key if is_of_scope(key) => {
            let root: &ScopeTrace = &seen.trace.root;
            compare(&label, wanted, &seen.of_scope(root, key), found);
        }
        key => compare(&label, wanted, &seen.of_run(key), found),
    }
}

fn is_of_scope(key: &str) -> bool {
    super::words::EXPECT_OF_SCOPE.contains(&key)
}

fn listed(seen: &Seen<'_>) -> String {
    let steps = seen.steps();
    let names: Vec<&str> = steps.iter().map(|step| step.as_str()).collect();
    names.join(", ")
}

fn patterns(node: &Node, mut each: impl FnMut(&StepPattern, usize)) {
    let items = if node.is_list() { node.items() } else { std::slice::from_ref(node) };
    for item in items {
        if let Value::Text(text) = &item.value {
            each(&StepPattern::new(text), item.place.line);
        }
    }
}

/// Compares by the rules of the key: some are the whole of what came, of others only what is named counts.
fn compare(label: &str, wanted: &Wanted, came: &Value, found: &mut Vec<Difference>) {
    let node = &wanted.node;
    match &*wanted.key {
        "exit" if node.is_map() => exit(label, node, came, found),
        "exit" => whole(label, node, came.get("reason").unwrap_or(&Value::Null), found),
        "limits" => {
            for (key, limit) in node.entries() {
                let label = format!("{label}.{}", key.name);
                named(&label, limit, came.get(&key.name).unwrap_or(&Value::Null), found);
            }
        }
        "input" | "output" | "state" | "kept" | "counters" | "used" | "grant" | "clocks" | "attempts"
        | "answers" => {
            named(label, node, came, found);
        }
        _ => whole(label, node, came, found),
    }
}

fn exit(label: &str, node: &Node, came: &Value, found: &mut Vec<Difference>) {
    for (key, value) in node.entries() {
        let label = format!("{label}.{}", key.name);
        let came = came.get(&key.name).unwrap_or(&Value::Null);
        match &*key.name {
            "limit" if !value.is_map() => {
                whole(&label, value, came.get("name").unwrap_or(&Value::Null), found);
            }
            "limit" => named(&label, value, came, found),
            _ => whole(&label, value, came, found),
        }
    }
}

/// Every key that is named has its value; others do not count.
fn named(label: &str, node: &Node, came: &Value, found: &mut Vec<Difference>) {
    for (key, value) in node.entries() {
        let there = came.get(&key.name);
        let label = format!("{label}.{}", key.name);
        if there.is_none() && !value.value.is_null() {
            let names: Vec<&str> = came.as_map().into_iter().flat_map(Map::keys).map(|k| &**k).collect();
            let names = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
            found.push(Difference::Note(format!("{label} (line {}): there is only {names}", key.place.line)));
            continue;
        }
        whole(&label, value, there.unwrap_or(&Value::Null), found);
    }
}

fn whole(label: &str, node: &Node, came: &Value, found: &mut Vec<Difference>) {
    if !fits(&node.value, came) {
        found.push(Difference::value(label, node.place.line, &node.value, came));
    }
}

/// The mistakes or warnings of a graph file against those that are expected.
pub(crate) fn codes(key: &str, wanted: &[Code], came: &Diagnostics, severity: Severity) -> Vec<Difference> {
    let came: Vec<_> = came.iter().filter(|d| d.severity == severity).collect();
    let mut found = Vec::new();
    let is_open = wanted.iter().any(|code| &*code.code == ANY);
    for code in wanted.iter().filter(|code| &*code.code != ANY) {
        let of_code = || came.iter().filter(|d| *d.code == *code.code);
        if of_code().next().is_none() {
            let line = code.place.line;
            let note = format!("expect.{key} (line {line}): no mistake has the code {}", code.code);
            found.push(Difference::Note(note));
        }
        if let Some(message) = &code.message
            && !of_code().any(|d| text_fits(message, &d.message))
            && let Some(first) = of_code().next()
        {
            let label = format!("expect.{key}.{}", code.code);
            let (wanted, came) = (Value::from(message.clone()), Value::from(first.message.as_str()));
            found.push(Difference::value(label, code.place.line, &wanted, &came));
        }
    }
    let is_wanted = |d: &deepgraph_graph::Diagnostic| wanted.iter().any(|code| *code.code == *d.code);
    for other in came.iter().filter(|d| !is_open && !is_wanted(d)) {
        found.push(Difference::Note(format!("the graph also has this:\n{other}")));
    }
    found
}
