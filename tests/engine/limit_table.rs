//! Every meter with everything that can be done at its bound, in a run and in a child of one: it is told, it does what it
//! says, and the report is written all the same. `depth` is shown by the cases of recursion.

use deepgraph_protocol::{
    ErrorKind, Event, Exit, ExitClass, ReportOutcome, RunStatus, ScopeEnd, ScopePath, Usage, Value,
};
use deepgraph_testkit::{Sim, SimRun, call, calls, fails};

use crate::support::{self, graph};

const LOOP: &str = r#"
state: {question: string, messages: messages, said: {type: [string], reduce: append}, report: string}
input: [question]
output: [said, report]
tools: {look: {call: search, parameters: {query: string}, retry: 1, update: {said: result.text}}}
limits:
  l: {count: METER, max: MAX, reserve: 0.4, ACTION}
  guard: {count: super_steps, max: 60, reserve: 0.4, exit: step_limit}
finally: report
start: open
nodes:
  open:   {update: {messages: [{user: question}]}, next: agent}
  agent:  {model: m, messages: messages, tools: [look], on_error: {exit: no_sources}, next: act}
  act:    {run_tools: agent, next: agent}
  last:   {update: {said: "'last'"}, next: {exit: research_complete}}
  report: {call: think, input: {reflection: question}, update: {report: "'written'"}}
"#;

/// Meters and lists of names, each with a bound that the loop comes to.
const COUNTED: [(&str, &str); 15] = [
    ("turns", "5"),
    ("paid_turns", "3"),
    ("model_calls", "5"),
    ("tool_calls", "5"),
    ("super_steps", "12"),
    ("steps", "9"),
    ("tokens", "1000"),
    ("cost_usd", "0.001"),
    ("active_time", "60ms"),
    ("wall_time", "60ms"),
    ("turn_time", "60ms"),
    ("tool_failures", "5"),
    ("repeated_calls", "5"),
    ("[look]", "5"),
    ("[agent]", "5"),
];

/// What ends the loop where the limit refuses: the failure of the node that is not started, or the guard where calls are
/// refused and the loop goes on. None: it has nothing to refuse.
fn refused(counted: &str) -> Option<&'static str> {
    match counted {
        "active_time" | "wall_time" | "turn_time" | "repeated_calls" => None,
        "paid_turns" | "tool_calls" | "tool_failures" | "[look]" => Some("step_limit"),
        "super_steps" => Some("graph_error"),
        _ => Some("no_sources"),
    }
}

fn text(counted: &str, max: &str, action: &str, in_child: bool) -> String {
    let text = LOOP.replace("METER", counted).replace("MAX", max).replace("ACTION", action);
    // A node that no way leads to would be refused.
    let unreached = |line: &&str| action.starts_with("to:") || !line.starts_with("  last:");
    let text: String = text.lines().filter(unreached).map(|line| format!("{line}\n")).collect();
    if !in_child {
        return format!("deepgraph: 1\n{text}");
    }
    let child: String = text.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "deepgraph: 1
state: {{question: string, said: {{type: [string], reduce: append}}, report: string}}
input: [question]
output: [said, report]
start: go
nodes:
  go: {{call: child, input: {{question: question}}, update: {{said: result.said, report: result.report}}, next: {{exit: completed}}}}
graphs:
  child:
{child}"
    )
}

fn play(counted: &str, text: &str) -> (SimRun, ScopePath) {
    let bundle = graph(text);
    let mut asked = 0;
    let run = Sim::new(&bundle, |_, _| {
        asked += 1;
        let query = if counted == "repeated_calls" { 0 } else { asked };
        let reply = calls([call("look", &format!("{{\"query\": \"q{query}\"}}"))]);
        let usage = Usage { input_tokens: 50, output_tokens: 50, ..Usage::default() };
        Ok(deepgraph_protocol::ModelReply { usage, cost_micro_usd: Some(130), ..reply })
    })
    .ops(|_, op, _| match op {
        "search" if counted == "tool_failures" => Err(fails(ErrorKind::Tool, "broken")),
        _ => Ok(Value::record([("text", Value::from("found"))])),
    })
    .run(support::question("?"), support::config(&bundle, &[]));
    let scope = if text.contains("graphs:") { ScopePath::new("go.1") } else { ScopePath::root() };
    (run, scope)
}

/// The end of the instance with the limit.
fn end<'r>(run: &'r SimRun, scope: &ScopePath) -> (&'r ScopeEnd, &'r Exit) {
    let end = run.ended();
    let exit =
        if scope.is_root() { Some(&end.exit) } else { end.children.iter().find(|e| e.scope == *scope) };
    (end, exit.expect("the instance has ended"))
}

#[test]
fn every_limit_does_what_it_says_and_leaves_the_report() {
    let mut seen = 0;
    for (counted, max) in COUNTED {
        for action in ["exit: iteration_limit", "to: last", "refuse: true"] {
            let wanted = match action {
                "exit: iteration_limit" => Some("iteration_limit"),
                "to: last" => Some("research_complete"),
                _ => refused(counted),
            };
            // A limit on super-steps counts whatever it would lead to.
            let Some(wanted) = wanted.filter(|_| (counted, action) != ("super_steps", "to: last")) else {
                continue;
            };
            for in_child in [false, true] {
                let what = format!("{counted}, {action}, in a child: {in_child}");
                let (run, scope) = play(counted, &text(counted, max, action, in_child));
                let (root, exit) = end(&run, &scope);
                assert_eq!(exit.reason.name(), wanted, "{what}: {exit:?}");
                let told = |e: &Event| matches!(e, Event::LimitReached { limit, scope: of, .. } if &**limit == "l" && *of == scope);
                assert!(run.events.iter().any(told), "{what}: the limit was not told");
                let by = exit.limit.as_ref().map(|hit| &*hit.name);
                let expected = match wanted {
                    "iteration_limit" => Some("l"),
                    "step_limit" => Some("guard"),
                    _ => None,
                };
                assert_eq!(by, expected, "{what}");
                assert!(exit.last_step.is_some(), "{what}: no step was committed");
                assert_eq!(root.output.get("report"), Some(&Value::from("written")), "{what}");
                let said = root.output.get("said").and_then(Value::as_list).unwrap_or_default();
                let led = said.last() == Some(&Value::from("last"));
                assert_eq!(led, action == "to: last", "{what}: {said:?}");
                if !in_child {
                    assert_eq!(root.report, Some(ReportOutcome::Complete), "{what}");
                }
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 2 * (15 + 14 + 11));
}

/// The four limits of a run that every team asks for: each with the state that it ends in, and with the limit and the
/// last committed step in its record.
#[test]
fn four_limits_have_a_terminal_state_and_say_where_they_struck() {
    let of = |limit: &str, timeout: &str| {
        let text = text("turns", "50", "exit: step_limit", false);
        let text = text.replace("  l: {", &format!("  struck: {{{limit}}}\n  l: {{"));
        text.replace("on_error: {exit: no_sources}, ", timeout)
    };
    let table = [
        ("count: turn_time, max: 30ms, exit: turn_deadline", "", "turn_deadline", ExitClass::Budget),
        ("count: cost_usd, max: 0.001, exit: cost_budget", "", "cost_budget", ExitClass::Budget),
        ("count: tool_calls, max: 3, exit: tool_call_cap", "", "tool_call_cap", ExitClass::Cap),
        ("count: tool_calls, max: 3, scope: own, exit: tool_call_cap", "", "tool_call_cap", ExitClass::Cap),
    ];
    for (limit, timeout, reason, class) in table {
        let (run, _) = play("", &of(limit, timeout));
        let end = run.ended();
        assert_eq!((end.exit.reason.name(), end.exit.class), (reason, class), "{limit}");
        assert_eq!(end.exit.limit.as_ref().map(|hit| &*hit.name), Some("struck"), "{limit}");
        let last = end.exit.last_step.as_ref().map(|step| step.as_str()).unwrap_or_default();
        assert_eq!(last, "report.1", "{limit}");
        let status = RunStatus::of_ended(&end.exit.reason, class, None, end.report, false);
        let expected = if class == ExitClass::Budget { RunStatus::Exhausted } else { RunStatus::Succeeded };
        assert_eq!(status, expected, "{limit}");
    }
}

#[test]
fn a_step_that_takes_too_long_ends_by_step_timeout_and_says_so() {
    let text = "deepgraph: 1
state: {question: string, report: string}
input: [question]
output: [report]
start: first
nodes:
  first:  {call: think, input: {reflection: question}, next: slow}
  slow:   {model: m, prompt: \"{{ question }}\", timeout: 5s, retry: 1}
";
    let bundle = graph(text);
    let run = Sim::new(&bundle, |_, _| Err(fails(ErrorKind::StepTimeout, "no answer within 5 s")))
        .run(support::question("?"), support::config(&bundle, &[]));
    let end = run.ended();
    assert_eq!((end.exit.reason.name(), end.exit.class), ("step_timeout", ExitClass::Error));
    assert_eq!(end.exit.detail.as_deref(), Some("step_timeout: no answer within 5 s"));
    assert_eq!(end.exit.last_step.as_ref().map(|step| step.as_str()), Some("first.1"));
    let status = RunStatus::of_ended(&end.exit.reason, end.exit.class, None, end.report, false);
    assert_eq!(status, RunStatus::Failed);
}

/// Where what is kept is too little for the model that writes, the way of `on_error` is taken, and what was found is kept.
#[test]
fn a_reserve_that_is_too_small_for_the_model_leads_to_the_way_of_on_error() {
    for (counted, max) in
        [("tokens", "1000"), ("cost_usd", "0.001"), ("model_calls", "5"), ("wall_time", "40ms")]
    {
        for in_child in [false, true] {
            let text = text(counted, max, "exit: iteration_limit", in_child);
            let indent = if in_child { "    " } else { "" };
            let text = text
                .replace("reserve: 0.4, exit: iteration_limit", "reserve: 0.001, exit: iteration_limit")
                .replace(
                    "report: {call: think, input: {reflection: question}, update: {report: \"'written'\"}}",
                    &format!(
                        "report: {{model: m, prompt: \"{{{{ question }}}}\", max_output: 5000, on_error: assemble, update: \
                         {{report: result.text}}}}\n{indent}  assemble: {{call: think, input: {{reflection: question}}, \
                         update: {{report: \"'written'\"}}}}"
                    ),
                );
            let (run, scope) = play(counted, &text);
            let (root, exit) = end(&run, &scope);
            let what = format!("{counted}, in a child: {in_child}");
            assert_eq!(exit.limit.as_ref().map(|hit| &*hit.name), Some("l"), "{what}: {exit:?}");
            assert_eq!(root.output.get("report"), Some(&Value::from("written")), "{what}");
            let said = root.output.get("said").and_then(Value::as_list).unwrap_or_default();
            assert!(!said.is_empty(), "{what}: what was found is kept");
            if !in_child {
                assert_eq!(root.report, Some(ReportOutcome::Partial), "{what}");
            }
        }
    }
}
