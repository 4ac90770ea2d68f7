//! Planning churn (S7): sub-questions that were first asked after the first step, and rewritten queries that brought no
//! source.
//!
//! Both are read from a trace. Whether two wordings ask the same is for the caller to say, since a trace knows nothing of
//! language: `deepgraph_research::text::similar::is_near` does.

use std::collections::BTreeSet;

use deepgraph_protocol::{Map, StepId, Value};
use serde::Serialize;

use crate::tree::{Node, NodeKind, Outcome, ScopeTrace, Trace};

/// The churn of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Churn {
    /// Sub-questions that were delegated, each wording that asks the same counted once per instance that delegated.
    pub sub_questions: u64,
    /// Those of them that were first asked after the first step of delegating, in delegation order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asked_late: Vec<Asked>,
    /// Queries after the first of an instance that had an answer: each is a rewrite of what was asked before.
    pub rewrites: u64,
    /// Those of them that brought no source that the instance did not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub idle_rewrites: Vec<Asked>,
}

/// What was asked, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// The step that asked it.
    pub step: StepId,
    /// The sub-question or query.
    pub text: String,
}

/// The churn of a run. `same` says whether two wordings ask the same.
pub fn churn(trace: &Trace, same: impl Fn(&str, &str) -> bool) -> Churn {
    let mut churn = Churn::default();
    for scope in trace.root.instances() {
        note_sub_questions(scope, &same, &mut churn);
        note_rewrites(scope, &mut churn);
    }
    churn
}

fn note_sub_questions(scope: &ScopeTrace, same: &impl Fn(&str, &str) -> bool, churn: &mut Churn) {
    let mut known: Vec<String> = Vec::new();
    for node in scope.super_steps.iter().flat_map(|super_step| &super_step.nodes) {
        // What is asked at once was asked in one step, whatever its number.
        let is_first = known.is_empty();
        for call in &node.calls {
            let Some(text) = call.child.as_ref().and_then(|child| topic(&child.input)) else { continue };
            if known.iter().any(|other| same(other, &text)) {
                continue;
            }
            churn.sub_questions += 1;
            if !is_first {
                churn.asked_late.push(Asked { step: call.step.clone(), text: text.clone() });
            }
            known.push(text);
        }
    }
}

/// Inputs that hold what an instance is asked, the likeliest first.
const TOPICS: [&str; 4] = ["objective", "question", "topic", "research_topic"];

/// What an instance is asked: one of the usual inputs, else its first text.
fn topic(input: &Map) -> Option<String> {
    let named = TOPICS.iter().filter_map(|name| input.get(*name));
    let text =
        |value: &Value| value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    named.chain(input.values()).find_map(text)
}

fn note_rewrites(scope: &ScopeTrace, churn: &mut Churn) {
    let mut sources: BTreeSet<&str> = BTreeSet::new();
    let mut searched = false;
    for step in scope.steps() {
        let Some(found) = sources_of(step) else { continue };
        let new = found.keys().filter(|id| sources.insert(id)).count();
        let Some(query) = query_of(step) else { continue };
        if searched {
            churn.rewrites += 1;
            if new == 0 {
                churn.idle_rewrites.push(Asked { step: step.step.clone(), text: query.to_owned() });
            }
        }
        searched = true;
    }
}

/// The sources that an op brought, by id.
fn sources_of(step: &Node) -> Option<&Map> {
    match &step.outcome {
        Some(Outcome::Value(value)) => value.get("sources").and_then(Value::as_map),
        _ => None,
    }
}

/// The query of a search. An op that is told which document to read searches nothing.
fn query_of(step: &Node) -> Option<&str> {
    match &step.kind {
        NodeKind::Op { input, .. } if !input.contains_key("source") => {
            input.get("query").and_then(Value::as_str)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use deepgraph_protocol::Spent;

    use super::*;
    use crate::tree::SuperStep;

    fn node(step: &str, kind: NodeKind, outcome: Option<Outcome>) -> Node {
        Node {
            step: StepId::new(step),
            kind,
            args: None,
            queued: false,
            request_hash: None,
            charged: Spent::default(),
            fee: deepgraph_protocol::Fee::NONE,
            sent: Default::default(),
            failed_attempts: Vec::new(),
            outcome,
            calls: Vec::new(),
            child: None,
            time: None,
        }
    }

    fn search(step: &str, query: &str, ids: &[&str]) -> Node {
        let input: Map = [(Arc::from("query"), Value::from(query))].into();
        let sources = Value::record(ids.iter().map(|id| (*id, Value::empty_map())));
        let kind = NodeKind::Op { op: "search".into(), input, given: Map::new() };
        node(step, kind, Some(Outcome::Value(Value::record([("sources", sources)]))))
    }

    fn delegate(step: &str, topic: &str, inside: Vec<Node>) -> Node {
        let child = ScopeTrace {
            input: [(Arc::from("objective"), Value::from(topic))].into(),
            ..scope(vec![inside])
        };
        Node { child: Some(Box::new(child)), ..node(step, NodeKind::Graph, Some(Outcome::Done)) }
    }

    /// A scope in which each of these lists of calls is a turn.
    fn scope(turns: Vec<Vec<Node>>) -> ScopeTrace {
        let turn = |(number, calls): (usize, Vec<Node>)| SuperStep {
            number: number as u64 + 1,
            in_finally: false,
            nodes: vec![Node { calls, ..node(&format!("act.{}", number + 1), NodeKind::Plain, None) }],
        };
        ScopeTrace { super_steps: turns.into_iter().enumerate().map(turn).collect(), ..ScopeTrace::default() }
    }

    fn of(root: ScopeTrace) -> Churn {
        let trace = Trace {
            run: None,
            status: None,
            bundle: "".into(),
            config: Map::new(),
            root,
            ledger: Vec::new(),
        };
        churn(&trace, |a, b| a.eq_ignore_ascii_case(b))
    }

    fn texts(asked: &[Asked]) -> Vec<&str> {
        asked.iter().map(|asked| asked.text.as_str()).collect()
    }

    #[test]
    fn sub_questions_of_later_turns_are_late_unless_they_were_asked() {
        let found = of(scope(vec![
            vec![],
            vec![delegate("a/C.1", "population", vec![]), delegate("a/C.2", "area", vec![])],
            vec![delegate("b/C.1", "AREA", vec![]), delegate("b/C.2", "language", vec![])],
            vec![delegate("c/C.1", "language", vec![])],
        ]));
        assert_eq!((found.sub_questions, texts(&found.asked_late)), (3, vec!["language"]));
        assert_eq!(found.asked_late[0].step.as_str(), "b/C.2");
    }

    #[test]
    fn rewrites_are_idle_where_no_source_is_new_to_the_instance() {
        let inside = |prefix: &str| {
            vec![
                search(&format!("{prefix}.1"), "ports", &["a-1", "a-2"]),
                search(&format!("{prefix}.2"), "all ports", &["a-2"]),
                search(&format!("{prefix}.3"), "harbours", &["b-1"]),
                search(&format!("{prefix}.4"), "nothing at all", &[]),
            ]
        };
        // Another researcher that finds the same has asked its own questions.
        let found =
            of(scope(vec![vec![delegate("x", "one", inside("x")), delegate("y", "two", inside("y"))]]));
        assert_eq!(found.rewrites, 6);
        assert_eq!(
            texts(&found.idle_rewrites),
            ["all ports", "nothing at all", "all ports", "nothing at all"]
        );
    }

    #[test]
    fn reading_and_failing_are_no_rewrites() {
        let mut read = search("r.1", "ports", &["a-1"]);
        if let NodeKind::Op { input, .. } = &mut read.kind {
            input.insert("source".into(), Value::from("a.md"));
        }
        let mut failed = search("s.2", "ports", &[]);
        failed.outcome = None;
        let found = of(scope(vec![vec![read, search("s.1", "ports", &["a-1"]), failed]]));
        assert_eq!(found, Churn::default());
    }
}
