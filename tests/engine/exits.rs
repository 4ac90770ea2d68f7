//! Each exit reason that can be reached, crossed with each report outcome, with and without findings: the status
//! that follows (G7).

use std::fmt::Write as _;
use std::sync::Arc;

use deepgraph_graph::Bundle;
use deepgraph_protocol::{ErrorKind, Fact, ModelReply, ReportOutcome, RunStatus, StepError, StepId, Value};
use deepgraph_testkit::{Sim, SimRun, call, calls, fails, says};

use super::supervised::{node, turn};
use crate::support;

const GRAPH: &str = r#"
deepgraph: 1
name: matrix
config:
  model:     {type: string, default: scripted}
  max_calls: {type: integer, default: 100, minimum: 1}
  max_turns: {type: integer, default: 100, minimum: 1}
  gain:      {type: number, default: 0, minimum: 0}
  tokens:    {type: integer, default: 1000000, minimum: 1}
  dollars:   {type: number, optional: true, minimum: 0}
  deadline:  {type: duration, default: 30m}
state:
  question: string
  messages: messages
  number:   integer
  facts:    {type: [fact], reduce: union}
  report:   string
input:  [question]
output: [report]
exits: {approved: completion, gave_up: error, out_of_money: budget, enough: cap}
tools:
  read:     {call: read, update: {facts: result.facts}, retry: 1}
  finish:   {next: {exit: research_complete}}
  empty:    {next: {exit: no_sources}}
  approve:  {next: {exit: approved}}
  give_up:  {next: {exit: gave_up}}
  stop_buy: {next: {exit: out_of_money}}
  suffice:  {next: {exit: enough}}
  question: {next: question}
  review:   {next: review}
  crash:    {next: crash}
  fault:    {next: fault}
  end:      {next: end}
limits:
  max_calls: {count: [read], max: config.max_calls, exit: tool_call_cap}
  iterations: {count: [agent], max: 50, exit: iteration_limit}
  max_turns: {count: turns, max: config.max_turns, exit: step_limit}
  gain:      {gain: facts, below: config.gain, window: 2, min_steps: 2, exit: gain_saturated}
  tokens:    {count: tokens, max: config.tokens, exit: token_budget, reserve: 0.5}
  dollars:   {count: cost_usd, max: config.dollars, exit: cost_budget, reserve: 0.5}
  deadline:  {count: wall_time, max: config.deadline, exit: deadline, reserve: 0.5}
finally: report
start: open
nodes:
  open:
    update: {messages: [{user: question}]}
    next: agent
  agent:
    model: config.model
    messages: messages
    tools: [read, finish, empty, approve, give_up, stop_buy, suffice, question, review, crash, fault, end]
    max_output: 10
    retry: 1
    next:
      - {if: not result.tool_calls, exit: no_tool_calls}
      - act
  act:
    run_tools: agent
    next: agent
  question:
    ask: "Which one?"
    next: agent
  review:
    ask: "Shall I?"
    on_error: {exit: plan_rejected}
    next: agent
  crash:
    call: search
    input: {query: question}
    retry: 1
    next: agent
  fault:
    update: {number: number + 1}
    next: agent
  end:
    update: {number: 1}
  report:
    model: config.model
    prompt: "Report on {{ question }}"
    max_output: 10
    retry: 1
    update: {report: result.text}
    on_error: assemble
  assemble:
    call: think
    input: {reflection: question}
    retry: 1
    update: {report: result.text}
"#;

/// How an exit is brought about: what the agent does from its second turn on, and with which configuration.
struct Way {
    exit: &'static str,
    act: fn() -> Result<ModelReply, StepError>,
    config: &'static [(&'static str, Value)],
    cancel: bool,
}

fn way(exit: &'static str, act: fn() -> Result<ModelReply, StepError>) -> Way {
    Way { exit, act, config: &[], cancel: false }
}

fn calls_tool(name: &str) -> Result<ModelReply, StepError> {
    Ok(calls([call(name, "{}")]))
}

fn reads() -> Result<ModelReply, StepError> {
    Ok(calls([call("read", "{\"source\": \"a\"}")]))
}

fn ways() -> Vec<Way> {
    vec![
        way("research_complete", || calls_tool("finish")),
        way("completed", || calls_tool("end")),
        way("approved", || calls_tool("approve")),
        way("no_tool_calls", || Ok(says("done"))),
        Way { config: &[("gain", Value::Float(0.6))], ..way("gain_saturated", reads) },
        way("iteration_limit", || calls_tool("nothing")),
        Way { config: &[("max_turns", Value::Int(3))], ..way("step_limit", || calls_tool("nothing")) },
        Way { config: &[("max_calls", Value::Int(3))], ..way("tool_call_cap", reads) },
        way("no_sources", || calls_tool("empty")),
        way("enough", || calls_tool("suffice")),
        Way { config: &[("tokens", Value::Int(900))], ..way("token_budget", reads) },
        Way { config: &[("dollars", Value::Float(0.01))], ..way("cost_budget", reads) },
        Way { config: &[("deadline", Value::Float(0.06))], ..way("deadline", reads) },
        way("out_of_money", || calls_tool("stop_buy")),
        way("model_error", || Err(fails(ErrorKind::Unauthorized, "no key"))),
        way("step_timeout", || Err(fails(ErrorKind::StepTimeout, "too slow"))),
        way("context_overflow", || Err(fails(ErrorKind::ContextOverflow, "too long"))),
        way("refusal", || Err(fails(ErrorKind::Refusal, "no"))),
        way("tool_error", || calls_tool("crash")),
        way("graph_error", || calls_tool("fault")),
        way("gave_up", || calls_tool("give_up")),
        way("clarification_needed", || calls_tool("question")),
        way("plan_rejected", || calls_tool("review")),
        Way { cancel: true, ..way("cancelled", reads) },
    ]
}

/// What the report stage does.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Complete,
    Partial,
    Failed,
    None,
}

fn read_result(step: &StepId, with_facts: bool) -> Value {
    // The first reads bring something new, later ones the same again.
    let n = if step.as_str().starts_with("act.1/") { "1" } else { "2" };
    let fact = |key: &str| Value::of(&Fact { key: key.to_owned(), ..Fact::default() });
    let facts = if with_facts { Value::from(vec![fact("0"), fact(n)]) } else { Value::empty_list() };
    Value::record([("text", Value::from("text")), ("facts", facts), ("sources", Value::empty_map())])
}

fn run(bundle: &Arc<Bundle>, way: &Way, stage: Stage, findings: bool) -> SimRun {
    let config = support::config(bundle, way.config);
    let priced = |mut reply: ModelReply| {
        reply.cost_micro_usd = Some(2_000);
        reply
    };
    let mut sim = Sim::new(bundle, |step, request| match node(step) {
        "report" if stage == Stage::Complete => Ok(says("the report")),
        "report" => Err(fails(ErrorKind::Unauthorized, "no key")),
        _ if turn(request) == 0 => reads().map(priced),
        _ => (way.act)().map(priced),
    })
    .ops(|step, op, _| match op {
        "read" => Ok(read_result(step, findings)),
        "think" if stage == Stage::Partial => Ok(Value::record([("text", Value::from("assembled"))])),
        _ => Err(fails(ErrorKind::Tool, "broken")),
    })
    .nobody();
    if way.exit == "deadline" {
        sim = sim.step_ms(2);
    }
    if way.cancel {
        sim = sim.cancel_at(9);
    }
    sim.run(support::question("why?"), config)
}

#[test]
fn every_exit_crossed_with_every_report_outcome_has_the_status_of_the_table() {
    let with_stage = support::graph(GRAPH);
    let without = support::graph(&strip_stage(GRAPH));
    let mut table = String::from("exit | findings | report | status\n");
    for way in ways() {
        for findings in [true, false] {
            for stage in [Stage::Complete, Stage::Partial, Stage::Failed, Stage::None] {
                let bundle = if stage == Stage::None { &without } else { &with_stage };
                let run = run(bundle, &way, stage, findings);
                let end = run.ended();
                assert_eq!(end.exit.reason.name(), way.exit, "{:?}", end.exit);
                let status = RunStatus::of_ended(
                    &end.exit.reason,
                    end.exit.class,
                    end.exit.findings,
                    end.report,
                    false,
                );
                let report = end.report.map_or("none", ReportOutcome::name);
                let found = end.exit.findings.unwrap_or(0);
                let _ = writeln!(table, "{} | {found} | {report} | {status}", way.exit);
            }
        }
    }
    support::snapshot("matrix", "exits", &table);
}

/// The graph without its report stage.
fn strip_stage(graph: &str) -> String {
    let end = graph.find("  report:\n    model").expect("the stage is the last part");
    graph[..end].replace("finally: report\n", "")
}

#[test]
fn an_exit_record_names_the_limit_its_value_and_bound_and_the_last_step() {
    let bundle = support::graph(GRAPH);
    let ways = ways();
    let way = ways.iter().find(|w| w.exit == "tool_call_cap").expect("there is such a way");
    let run = run(&bundle, way, Stage::Complete, true);
    let exit = &run.ended().exit;
    let limit = exit.limit.as_ref().expect("a limit fired");
    assert_eq!((&*limit.name, limit.value, limit.bound), ("max_calls", 3, 3));
    assert_eq!(exit.last_step.as_ref().map(StepId::as_str), Some("report.1"));
    assert_eq!(exit.counters["turns"], 3);
    assert_eq!(exit.counters["max_calls"], 3);
    assert_eq!(exit.attempt, 1);
}

#[test]
fn reasons_that_hold_at_the_same_moment_are_kept_beside_the_first() {
    let bundle = support::graph(GRAPH);
    let config = support::config(&bundle, &[("max_calls", Value::Int(2)), ("gain", Value::Float(2.5))]);
    let run = Sim::new(&bundle, |step, request| match (node(step), turn(request)) {
        ("report", _) => Ok(says("r")),
        (_, 0) => reads(),
        _ => Ok(calls([call("read", "{\"source\": \"a\"}"), call("finish", "{}")])),
    })
    .ops(|step, _, _| Ok(read_result(step, true)))
    .run(support::question("why?"), config);
    let exit = &run.ended().exit;
    assert_eq!(exit.reason.name(), "research_complete");
    let also: Vec<&str> = exit.also.iter().map(|r| r.name()).collect();
    assert_eq!(also, ["tool_call_cap", "gain_saturated"]);
}
