//! What a case expects, as it is written: every key known, every value of the right kind.

use std::sync::Arc;

use deepgraph_protocol::RunStatus;
use deepgraph_trace::Detail;

use super::pattern::ANY;
use super::read::Reader;
use super::tree::{Key, Node, Place};
use super::words;

/// What a case expects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expect {
    /// Of the root instance and the run, in file order.
    pub(crate) run: Vec<Wanted>,
    /// Of other instances, by scope.
    pub(crate) scopes: Vec<(Key, Vec<Wanted>)>,
    /// The codes of mistakes or warnings of the graph file, each with what its message is; none: not said.
    pub(crate) load_error: Option<Vec<Code>>,
    pub(crate) warnings: Option<Vec<Code>>,
    /// How much of the trace is kept as a snapshot; none: no snapshot.
    pub(crate) snapshot: Option<Detail>,
}

/// One thing that is expected.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) key: Arc<str>,
    pub(crate) node: Node,
}

/// A code that a graph file is expected to give.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    pub(crate) code: Arc<str>,
    pub(crate) message: Option<Arc<str>>,
    pub(crate) place: Place,
}

impl Expect {
    pub(crate) fn read(reader: &mut Reader, node: &Node) -> Expect {
        let mut expect = Expect::default();
        let known: Vec<&str> = words::EXPECT_OF_SCOPE.iter().chain(&words::EXPECT_OF_RUN).copied().collect();
        for (key, value) in reader.entries(node, "`expect`", &known) {
            match &*key.name {
                "scopes" => expect.scopes = scopes(reader, value),
                "load_error" => expect.load_error = codes(reader, value),
                "warnings" => expect.warnings = codes(reader, value),
                "trace" => expect.snapshot = reader.one_of(value, "`trace`", &words::TRACE),
                _ => {
                    check_kind(reader, key, value);
                    expect.run.push(Wanted { key: key.name.clone(), node: value.clone() });
                }
            }
        }
        let says_nothing = node.entries().is_empty()
            || (node.entries().len() == 1 && node.get("scopes").is_some_and(|s| s.entries().is_empty()));
        if says_nothing {
            reader.error(node.place, "`expect` states nothing: a case says what it expects");
        }
        if expect.load_error.is_some() && node.entries().len() > 1 {
            reader.error(
                node.place,
                "a graph that is refused does not run: `load_error` stands alone in `expect`",
            );
        }
        expect
    }
}

fn scopes(reader: &mut Reader, node: &Node) -> Vec<(Key, Vec<Wanted>)> {
    if !node.is_map() {
        reader.error(
            node.place,
            "`scopes` is a mapping from the steps that started graphs to what is expected of them",
        );
    }
    let mut scopes = Vec::new();
    for (scope, wanted) in node.entries() {
        let mut list = Vec::new();
        let what = format!("what is expected of `{}`", scope.name);
        for (key, value) in reader.entries(wanted, &what, &words::EXPECT_OF_SCOPE) {
            check_kind(reader, key, value);
            list.push(Wanted { key: key.name.clone(), node: value.clone() });
        }
        scopes.push((scope.clone(), list));
    }
    scopes
}

/// Codes: a list of them, or a mapping to messages.
fn codes(reader: &mut Reader, node: &Node) -> Option<Vec<Code>> {
    if node.is_map() {
        let entries = node.entries().iter();
        return Some(
            entries
                .map(|(key, value)| Code {
                    code: key.name.clone(),
                    message: if &*key.name == ANY { None } else { reader.text(value, "a message") },
                    place: key.place,
                })
                .collect(),
        );
    }
    if !node.is_list() {
        return reader.wrong(
            node,
            "a list of codes",
            "a list (`[DG0505]`) or a mapping (`{DG0505: MESSAGE}`)",
        );
    }
    let code = |item: &Node| {
        let code = reader.text(item, "a code")?;
        Some(Code { code, message: None, place: item.place })
    };
    Some(node.items().iter().filter_map(code).collect())
}

fn check_kind(reader: &mut Reader, key: &Key, node: &Node) {
    let what = format!("`{}`", key.name);
    match &*key.name {
        "exit" if node.is_map() => drop(reader.entries(node, "what is expected of an exit", &words::EXIT)),
        "exit" | "report_error" => drop(reader.text(node, &what)),
        "report" if node.value.is_null() => {}
        "report" => drop(reader.text(node, &what)),
        "status" => {
            let known: Vec<(&str, ())> = STATUSES.iter().map(|s| (s.name(), ())).collect();
            reader.one_of(node, &what, &known);
        }
        "elapsed" => drop(reader.duration(node, &what)),
        "took" | "not_taken" => drop(reader.texts(node, &what)),
        "steps" | "super_steps" | "refused" | "malformed" => {
            if !node.is_list() {
                reader.error(node.place, format!("{what} is a list"));
            }
        }
        _ => drop(reader.map(node, &what)),
    }
}

const STATUSES: [RunStatus; 5] = [
    RunStatus::AwaitingInput,
    RunStatus::Succeeded,
    RunStatus::Failed,
    RunStatus::Cancelled,
    RunStatus::Exhausted,
];
