//! Every stock graph has a case for each way in which it can end, and for a branch that fails.
//!
//! What a graph can do is read from its plan, what its cases show from their traces.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use deepgraph_graph::{Bundle, Callee, Counted, Graph, Node, NodeIx, OnReach, Route, Target, Verb};
use deepgraph_protocol::{ExitClass, ExitReason, ReportOutcome, RunStatus, Value};
use deepgraph_testkit::case::Case;
use deepgraph_trace::{Node as Step, Outcome, ScopeTrace, Trace};

use super::files;
use crate::support;

/// Something that a case of a graph must show.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    /// An instance of the part ended so, by a limit or by none.
    Exit { part: String, reason: String, limit: Option<String> },
    /// An instance of the part ended as the graph did that it called.
    Inherited { part: String },
    /// The stage of `finally` of the part went so.
    Report { part: String, outcome: ReportOutcome },
    /// A run that succeeded.
    HappyPath,
    /// A branch failed, and the run came to a result.
    FailedBranch,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shown::Exit { part, reason, limit: None } => write!(f, "`{part}` ends by {reason}"),
            Shown::Exit { part, reason, limit: Some(limit) } => {
                write!(f, "`{part}` ends by {reason}, by the limit `{limit}`")
            }
            Shown::Inherited { part } => write!(f, "`{part}` ends as the graph did that it called"),
            Shown::Report { part, outcome } => write!(f, "the `finally` stage of `{part}` is {outcome}"),
            Shown::HappyPath => f.write_str("a run succeeds"),
            Shown::FailedBranch => f.write_str("a branch fails, and the run comes to a result"),
        }
    }
}

/// What the cases of a graph must show.
fn wanted(name: &str, bundle: &Bundle) -> BTreeSet<Shown> {
    let mut wanted = BTreeSet::from([Shown::HappyPath, Shown::FailedBranch]);
    wanted.insert(exit(bundle.root(), &ExitReason::Cancelled, None));
    // Graphs of other files have cases of their own.
    let below = format!("{name}/");
    for graph in bundle.graphs.iter().filter(|g| &*g.path == name || g.path.starts_with(&below)) {
        wanted.extend(ends(graph));
        wanted.extend(reports(graph, graph.path == bundle.root().path));
    }
    wanted
}

fn exit(graph: &Graph, reason: &ExitReason, limit: Option<&str>) -> Shown {
    Shown::Exit {
        part: graph.path.to_string(),
        reason: reason.name().to_owned(),
        limit: limit.map(str::to_owned),
    }
}

/// The ways in which instances of a graph end.
fn ends(graph: &Graph) -> BTreeSet<Shown> {
    let mut ends = BTreeSet::new();
    let main = || graph.nodes.iter().filter(|node| !node.in_finally);
    let of_nodes = main().flat_map(|node| node.next.iter().chain(&node.on_error));
    let of_tools = graph.tools.iter().flat_map(|tool| tool.next.iter().chain(&tool.on_error));
    for way in std::iter::once(&graph.start).chain(of_nodes).chain(of_tools).flat_map(|route| &route.0) {
        match &way.to {
            Target::Exit(reason, _) => drop(ends.insert(exit(graph, reason, None))),
            Target::Inherit => drop(ends.insert(Shown::Inherited { part: graph.path.to_string() })),
            Target::Nodes(_) | Target::CarryOn => {}
        }
    }
    for limit in &graph.limits {
        if let OnReach::Exit(reason, _) = &limit.on_reach {
            ends.insert(exit(graph, reason, Some(&limit.name)));
        }
    }
    // A deferred node that always runs is the last: where it leads decides.
    let is_begun = |node: &Node| graph.node(&node.name).is_some_and(|ix| begins_with(graph, ix));
    let last = main().find(|node| node.defer && is_begun(node));
    let can_complete = match last {
        Some(last) => !leads_on(last.next.as_ref()),
        None => main().any(|node| !leads_on(node.next.as_ref())),
    };
    if can_complete {
        ends.insert(exit(graph, &ExitReason::Completed, None));
    }
    ends.extend(main().filter_map(failure).map(|reason| exit(graph, &reason, None)));
    ends
}

/// Whether a graph begins with a node, whatever else it begins with.
fn begins_with(graph: &Graph, node: NodeIx) -> bool {
    graph.start.0.iter().all(|way| matches!(&way.to, Target::Nodes(nodes) if nodes.contains(&node)))
}

/// Whether one of the ways is taken in any case, and leads to nodes or out.
fn leads_on(route: Option<&Route>) -> bool {
    let last = route.and_then(|route| route.0.last());
    last.is_some_and(|way| way.condition.is_none() && way.to != Target::CarryOn)
}

/// The exit that a failure of a node is, where it has no way for every failure. A call of a graph does not fail:
/// it ends, somehow.
fn failure(node: &Node) -> Option<ExitReason> {
    let handled = node.on_error.as_ref().and_then(|route| route.0.last());
    if handled.is_some_and(|way| way.condition.is_none()) {
        return None;
    }
    match &node.verb {
        Verb::Model(_) => Some(ExitReason::ModelError),
        Verb::Call(call) => matches!(call.callee, Callee::Op(_)).then_some(ExitReason::ToolError),
        Verb::Ask(_) => Some(ExitReason::ClarificationNeeded),
        Verb::Pass | Verb::RunTools(_) => None,
    }
}

/// How the `finally` stage of a graph can go. Of the root it is skipped at least where the run is cancelled.
fn reports(graph: &Graph, is_root: bool) -> BTreeSet<Shown> {
    let Some(finally) = &graph.finally else { return BTreeSet::new() };
    let stage = || graph.nodes.iter().filter(|node| node.in_finally);
    let outcomes = [
        (ReportOutcome::Complete, true),
        (ReportOutcome::Partial, stage().any(|node| node.on_error.is_some())),
        (ReportOutcome::Failed, stage().any(|node| failure(node).is_some())),
        (ReportOutcome::Skipped, is_root || finally.0.iter().all(|way| way.condition.is_some())),
    ];
    let can_be = outcomes.into_iter().filter(|(_, can_be)| *can_be);
    can_be.map(|(outcome, _)| Shown::Report { part: graph.path.to_string(), outcome }).collect()
}

/// What a run shows, of a graph in which things run side by side, or not.
fn shown(run: &Trace, has_branches: bool) -> BTreeSet<Shown> {
    let mut shown = BTreeSet::new();
    for instance in run.root.instances() {
        let part = instance.graph.to_string();
        let Some(exit) = &instance.exit else { continue };
        shown.extend(instance.report.map(|outcome| Shown::Report { part: part.clone(), outcome }));
        if inherits(instance) {
            shown.insert(Shown::Inherited { part: part.clone() });
        }
        let reason = exit.reason.name().to_owned();
        let limit = exit.limit.as_ref().map(|hit| hit.name.to_string());
        // The time that was granted is up for an instance and for its children at the same moment: a route that then
        // names the deadline comes second.
        if limit.as_deref() == Some("grant.wall_time") {
            shown.insert(Shown::Exit { part: part.clone(), reason: reason.clone(), limit: None });
        }
        shown.insert(Shown::Exit { part, reason, limit });
    }
    if run.status == Some(RunStatus::Succeeded) {
        shown.insert(Shown::HappyPath);
    }
    if came_to_a_result(run) && run.root.instances().into_iter().any(|i| has_failed_branch(i, has_branches)) {
        shown.insert(Shown::FailedBranch);
    }
    shown
}

/// Whether an instance ended as the one did that its last step before `finally` had called.
fn inherits(instance: &ScopeTrace) -> bool {
    let last = instance.super_steps.iter().rev().find(|s| !s.in_finally);
    let children = last.into_iter().flat_map(|s| &s.nodes).filter_map(|node| node.child.as_deref());
    let ends = |i: &ScopeTrace| i.exit.as_ref().map(|e| (e.reason.clone(), e.limit.clone()));
    children.into_iter().any(|child| ends(child).is_some() && ends(child) == ends(instance))
}

/// Whether a run was not lost: it wrote its report, or, without a `finally` stage, has an output.
fn came_to_a_result(run: &Trace) -> bool {
    match run.root.report {
        Some(outcome) => matches!(outcome, ReportOutcome::Complete | ReportOutcome::Partial),
        None => run.root.output.values().any(Value::is_true),
    }
}

/// Whether anything in a bundle runs side by side: children, calls of tools, items, nodes of one super-step.
fn has_branches(bundle: &Bundle) -> bool {
    let several =
        |route: &Route| route.0.iter().any(|way| matches!(&way.to, Target::Nodes(n) if n.len() > 1));
    bundle.graphs.len() > 1
        || bundle.graphs.iter().any(|graph| {
            let each = graph.nodes.iter().any(|node| node.each.is_some());
            let routes = graph.nodes.iter().filter_map(|node| node.next.as_ref()).chain([&graph.start]);
            each || !graph.tools.is_empty() || routes.into_iter().any(several)
        })
}

/// Whether a call, an item, a child or one of several nodes side by side failed; of a graph without any of them,
/// whether a node did.
fn has_failed_branch(instance: &ScopeTrace, has_branches: bool) -> bool {
    let failed = |step: &Step| matches!(step.outcome, Some(Outcome::Failed(_)));
    let of_child = |step: &Step| {
        let exit = step.child.as_ref().and_then(|child| child.exit.as_ref());
        exit.is_some_and(|exit| exit.class == ExitClass::Error)
    };
    let side_by_side = instance.super_steps.iter().filter(|s| s.nodes.len() > 1 || !has_branches);
    side_by_side.flat_map(|s| &s.nodes).any(failed)
        || instance.super_steps.iter().flat_map(|s| &s.nodes).flat_map(|node| &node.calls).any(failed)
        || instance.steps().any(of_child)
}

/// The stock graphs, by name.
fn stock_graphs() -> Vec<String> {
    let entries = std::fs::read_dir(support::repo().join("graphs")).expect("there are stock graphs");
    let folders = entries.map(|entry| entry.expect("it can be listed")).filter(|e| e.path().is_dir());
    let mut names: Vec<String> = folders.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// What no case of a graph shows.
fn missing(name: &str) -> Vec<String> {
    let folder = support::repo().join("graphs").join(name).join("cases");
    let runs = files(&folder).into_iter().map(|path| match Case::load(&path) {
        Ok(case) => case.trace(),
        Err(mistakes) => panic!("{mistakes}"),
    });
    let bundle = support::stock(name);
    let has_branches = has_branches(&bundle);
    let seen: BTreeSet<Shown> = runs.flatten().flat_map(|run| shown(&run, has_branches)).collect();
    wanted(name, &bundle).difference(&seen).map(|lack| format!("{name}: no case in which {lack}")).collect()
}

#[test]
fn the_cases_of_every_stock_graph_show_each_way_to_its_end() {
    let missing: Vec<String> = stock_graphs().iter().flat_map(|name| missing(name)).collect();
    assert!(missing.is_empty(), "{} are missing\n{}", missing.len(), missing.join("\n"));
}

/// A graph with one way of each kind out of it.
const SMALL: &str = r#"
deepgraph: 1
name: small
state: {messages: messages, found: {type: [string], reduce: append}, report: string}
output: [report]
tools: {stop: {next: {exit: research_complete}}}
limits:
  turns: {count: turns, max: 2, exit: step_limit}
  again: {count: [look], max: 2, to: agent}
finally: {if: found, to: report}
start: [{if: run.date == "2000-01-01", exit: deadline}, look]
nodes:
  look:   {call: search, input: {query: "'q'"}, next: [{if: found, to: below}, agent]}
  below:  {call: child, input: {found: found}, next: {exit: inherit}}
  agent:  {model: m, messages: messages, tools: [stop], on_error: {exit: model_error}, next: act}
  act:    {run_tools: agent, next: look}
  report: {model: m, prompt: p, update: {report: result.text}}
graphs:
  child:
    state: {found: [string]}
    input: [found]
    start: keep
    nodes: {keep: {update: {found: "[]"}}}
"#;

#[test]
fn what_is_wanted_is_read_from_the_plan() {
    let bundle = support::graph(SMALL);
    assert!(bundle.root().limits.iter().any(|l| matches!(l.counted, Counted::Names { .. })));
    let wanted: Vec<String> = wanted("small", &bundle).iter().map(ToString::to_string).collect();
    assert_eq!(
        wanted,
        [
            "`small` ends by cancelled",
            "`small` ends by deadline",
            "`small` ends by model_error",
            "`small` ends by research_complete",
            "`small` ends by step_limit, by the limit `turns`",
            "`small` ends by tool_error",
            "`small/child` ends by completed",
            "`small` ends as the graph did that it called",
            "the `finally` stage of `small` is complete",
            "the `finally` stage of `small` is failed",
            "the `finally` stage of `small` is skipped",
            "a run succeeds",
            "a branch fails, and the run comes to a result",
        ]
    );
}

#[test]
fn what_is_shown_is_read_from_the_run() {
    let graph = SMALL.trim_start().replace('\n', "\n  ");
    let case = format!(
        "case: The search finds something.\ngraph:\n  {graph}\nmodels: {{report.1: Found.}}\nops: {{search: a passage}}\nexpect: {{exit: completed}}\n"
    );
    let case =
        case.replace("next: [{if: found, to: below}, agent]", "update: {found: result.text}, next: below");
    let case = Case::parse("case.yaml", &case, Path::new("")).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let run = case.trace().expect("the graph loads");
    let shown: Vec<String> = shown(&run, true).iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "`small` ends by completed",
            "`small/child` ends by completed",
            "`small` ends as the graph did that it called",
            "the `finally` stage of `small` is complete",
            "a run succeeds",
        ]
    );
}
