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
    /// This number, or this truth value.
    Value(&'static str, i64),
    /// A list with so many items.
    Items(&'static str, usize),
    /// A text.
    Text(&'static str),
}

/// The workloads that can be asked for by name, with their usual size: nodes, steps, tasks, items or turns.
pub const NAMES: [(&str, usize); 10] = [
    ("chain", 1000),
    ("condition", 1000),
    ("loop", 1000),
    ("channels", 1000),
    ("untouched", 1000),
    ("fan_out", 1000),
    ("fan_out_calls", 1000),
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
        Workload::new("chain", graphs::chain(nodes), Expected::Value("done", 0))
    }

    /// `steps` super-steps of one node, each of which evaluates one condition and writes nothing.
    pub fn condition(steps: usize) -> Workload {
        Workload::new("condition", graphs::condition(steps), Expected::Value("go", 1))
    }

    /// `steps` super-steps of one node, each of which adds one to a channel and evaluates one condition, in a
    /// state of `channels` integers.
    pub fn counting(steps: usize, channels: usize) -> Workload {
        let name = if channels == 1 { "loop" } else { "channels" };
        Workload::new(name, graphs::counting(steps, channels), Expected::Value("c0", steps as i64))
    }

    /// A counting loop of one channel with `kilobytes` texts of 1,000 bytes each in the state beside it.
    pub fn untouched(steps: usize, kilobytes: usize) -> Workload {
        let texts: Value = (0..kilobytes).map(|i| Value::from(format!("{i:01000}"))).collect();
        let input = Map::from([("ballast".into(), texts)]);
        Workload { name: "untouched", input, ..Workload::counting(steps, 1) }
    }

    /// `width` nodes in one super-step, each of which appends a number; then one node.
    pub fn fan_out(width: usize) -> Workload {
        Workload::fan_out_beside(width, 0, 0)
    }

    /// The same, in a state of `channels` channels more, where `items` numbers were appended before.
    pub fn fan_out_beside(width: usize, channels: usize, items: usize) -> Workload {
        let found: Value = (0..items).map(|i| Value::Int(i as i64)).collect();
        // A channel that is input and output hands up only what was added.
        let expected = Expected::Items("found", width);
        let input = Map::from([("found".into(), found)]);
        Workload { input, ..Workload::new("fan_out", graphs::fan_out(width, channels), expected) }
    }

    /// `width` calls of an op in one super-step: an effect goes out and an entry comes back for each.
    pub fn fan_out_calls(width: usize) -> Workload {
        Workload::new("fan_out_calls", graphs::fan_out_calls(width), Expected::Items("found", width))
    }

    /// `width` child graphs of three nodes, all started in one super-step; then one node.
    pub fn subgraphs(width: usize) -> Workload {
        Workload::new("subgraphs", graphs::subgraphs(width), Expected::Items("found", width))
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
        let (channel, holds): (_, Box<dyn Fn(&Value) -> bool>) = match self.expected {
            Expected::Value(channel, n) => {
                (channel, Box::new(move |v| v.as_int() == Some(n) || *v == Value::Bool(n == 1)))
            }
            Expected::Items(channel, n) => {
                (channel, Box::new(move |v| v.as_list().map(<[_]>::len) == Some(n)))
            }
            Expected::Text(channel) => (channel, Box::new(|v| v.as_str().is_some_and(|t| !t.is_empty()))),
        };
        let right = end.output.get(channel).is_some_and(holds);
        let over = matches!(end.exit.reason, ExitReason::Completed | ExitReason::StepLimit);
        assert!(right && over, "{}: ended by {:?}, with {:?}", self.name, end.exit.reason, end.exit.detail);
    }
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
