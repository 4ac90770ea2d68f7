//! The workloads by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_graph::{Bundle, OpTable};
use deepgraph_protocol::{ExitReason, Map, ScopeEnd, Value};

use crate::Outside;
use crate::graphs;

/// A graph, its input, what the outside answers while it runs, and what must come out.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Its name.
    pub name: &'static str,
    /// The graph, loaded.
    pub bundle: Arc<Bundle>,
    /// The root's input.
    pub input: Map,
    /// What ops and the model answer.
    pub outside: Outside,
    expected: Expected,
}

/// What a channel holds at the end.
#[derive(Clone, Copy, Debug)]
enum Expected {
    /// This number.
    Number(&'static str, i64),
    /// This truth value.
    Truth(&'static str, bool),
    /// A list with so many items.
    Items(&'static str, usize),
    /// A text.
    Text(&'static str),
}

/// The workloads that can be asked for by name, with their usual size: nodes, steps, tasks, items or turns.
pub const NAMES: [(&str, usize); 11] = [
    ("chain", 1000),
    ("condition", 1000),
    ("loop", 1000),
    ("channels", 1000),
    ("untouched", 1000),
    ("fan_out", 1000),
    ("fan_out_calls", 1000),
    ("nodes", 1000),
    ("subgraphs", 100),
    ("append", 200),
    ("tool_loop", 100),
];

impl Workload {
    /// The workload of a name; none where there is none.
    pub fn named(name: &str, size: usize) -> Option<Workload> {
        Some(match name {
            "chain" => Workload::chain(size),
            "condition" => Workload::condition(size),
            "loop" => Workload::counting(size, 1),
            "channels" => Workload::counting(size, 1000),
            "untouched" => Workload::untouched(size, 1000),
            "fan_out" => Workload::fan_out(size),
            "fan_out_calls" => Workload::fan_out_calls(size),
            "nodes" => Workload::nodes(size, 0, 0),
            "subgraphs" => Workload::subgraphs(size),
            "append" => Workload::append(size, 1000),
            "tool_loop" => Workload::tool_loop(size, 36_000),
            _ => return None,
        })
    }

    fn new(name: &'static str, text: String, expected: Expected) -> Workload {
        let ops = OpTable::default().with(graphs::OPS).unwrap_or_else(|e| panic!("the ops do not load: {e}"));
        let files = BTreeMap::from([("workload.yaml".to_owned(), text)]);
        let loaded = deepgraph_graph::load("workload.yaml", &files, &ops).unwrap_or_else(|mistakes| {
            let text = mistakes.to_string();
            panic!("{name} does not load: {}", text.split("\n\n").next().unwrap_or(&text))
        });
        let bundle = Arc::new(loaded.bundle);
        Workload { name, bundle, input: Map::new(), outside: Outside::SHORT, expected }
    }

    /// `nodes` nodes, one after the other, that do nothing.
    pub fn chain(nodes: usize) -> Workload {
        Workload::new("chain", graphs::chain(nodes), Expected::Truth("done", false))
    }

    /// `steps` super-steps of one node, each of which evaluates one condition and writes nothing.
    pub fn condition(steps: usize) -> Workload {
        Workload::new("condition", graphs::condition(steps), Expected::Truth("go", true))
    }

    /// `steps` super-steps of one node, each of which adds one to a channel and evaluates one condition, in a
    /// state of `channels` integers.
    pub fn counting(steps: usize, channels: usize) -> Workload {
        let name = if channels == 1 { "loop" } else { "channels" };
        Workload::new(name, graphs::counting(steps, channels), Expected::Number("c0", steps as i64))
    }

    /// A counting loop of one channel with `kilobytes` texts of 1,000 bytes each in the state beside it.
    pub fn untouched(steps: usize, kilobytes: usize) -> Workload {
        let texts: Value = (0..kilobytes).map(|i| Value::from(format!("{i:01000}"))).collect();
        let input = Map::from([("ballast".into(), texts)]);
        Workload { name: "untouched", input, ..Workload::counting(steps, 1) }
    }

    /// One node whose `width` items each append a number; then one node.
    pub fn fan_out(width: usize) -> Workload {
        Workload::each("fan_out", graphs::fan_out(), width)
    }

    /// The same, with a call of an op for each item: an effect goes out and an entry comes back.
    pub fn fan_out_calls(width: usize) -> Workload {
        Workload::each("fan_out_calls", graphs::fan_out_calls(), width)
    }

    /// The same, with a child graph of three nodes for each item, all started in one super-step.
    pub fn subgraphs(width: usize) -> Workload {
        Workload::each("subgraphs", graphs::subgraphs(), width)
    }

    fn each(name: &'static str, text: String, width: usize) -> Workload {
        let input = Map::from([("items".into(), numbers(width))]);
        Workload { input, ..Workload::new(name, text, Expected::Items("found", width)) }
    }

    /// `width` nodes in one super-step, each of which appends a number to a list that has `items` already; then one
    /// node. The state has `channels` channels more.
    pub fn nodes(width: usize, channels: usize, items: usize) -> Workload {
        // A channel that is input and output hands up only what was added.
        let expected = Expected::Items("found", width);
        let input = Map::from([("found".into(), numbers(items))]);
        Workload { input, ..Workload::new("nodes", graphs::nodes(width, channels), expected) }
    }

    /// `items` calls of an op, one after the other; each text of `bytes` bytes is appended to a list.
    pub fn append(items: usize, bytes: usize) -> Workload {
        let outside = Outside { turns: 0, bytes };
        Workload {
            outside,
            ..Workload::new("append", graphs::append(items), Expected::Items("texts", items))
        }
    }

    /// `turns` turns of a model, each with one call of a tool that answers `bytes` bytes; then an answer.
    pub fn tool_loop(turns: usize, bytes: usize) -> Workload {
        let outside = Outside { turns, bytes };
        Workload { outside, ..Workload::new("tool_loop", graphs::tool_loop(turns), Expected::Text("answer")) }
    }

    /// Looks whether a run came to the end that it must come to.
    ///
    /// # Panics
    ///
    /// Where it did not: nothing that was measured is worth anything then.
    pub fn verify(&self, end: &ScopeEnd) {
        let of = |channel| end.output.get(channel);
        let right = match self.expected {
            Expected::Number(channel, n) => of(channel).and_then(Value::as_int) == Some(n),
            Expected::Truth(channel, truth) => of(channel) == Some(&Value::Bool(truth)),
            Expected::Items(channel, n) => of(channel).and_then(Value::as_list).map(<[_]>::len) == Some(n),
            Expected::Text(channel) => {
                of(channel).and_then(Value::as_str).is_some_and(|text| !text.is_empty())
            }
        };
        let over = matches!(end.exit.reason, ExitReason::Completed | ExitReason::StepLimit);
        assert!(right && over, "{}: ended by {:?}, with {:?}", self.name, end.exit.reason, end.exit.detail);
    }
}

/// The whole numbers below `n`.
fn numbers(n: usize) -> Value {
    (0..n).map(|i| Value::Int(i as i64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_comes_to_its_end() {
        for (name, size) in NAMES {
            let workload = Workload::named(name, size / 20).unwrap_or_else(|| panic!("there is no {name}"));
            assert_eq!(workload.name, name);
            workload.verify(&crate::run(&workload).end);
        }
    }

    #[test]
    #[should_panic(expected = "fan_out: ended by")]
    fn a_result_that_is_not_right_is_told() {
        let three = crate::run(&Workload::fan_out(3)).end;
        Workload::fan_out(4).verify(&three);
    }
}
