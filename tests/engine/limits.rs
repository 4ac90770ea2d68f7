//! Limits: exact bounds, reservations, grants to children, reserves for the report.

use deepgraph_protocol::{EntryBody, ErrorKind, Value};
use deepgraph_testkit::{Sim, call, calls, fails, says};

use super::supervised::{self, Turns, conduct, node};
use crate::support::{self, graph, stock};

const LOOP: &str = r#"
deepgraph: 1
name: loop
config:
  model: {type: string, default: scripted}
  max: {type: integer, default: 3, minimum: 1}
state:
  question: string
  rounds: {type: integer, reduce: sum, default: 0}
  log: {type: [string], reduce: append}
input: [question]
output: [rounds, log]
limits:
  rounds: {count: LIMIT, max: config.max, ACTION}
start: write
nodes:
  write: {model: config.model, prompt: "round {{ limits.rounds.used }} of {{ limits.rounds.max }}, {{ limits.rounds.left }} left", update: {rounds: 1}, next: check}
  check: {update: {log: "checked {{ rounds }}"}, next: write}
  last: {update: {log: "'last'"}}
"#;

fn rounds(limit: &str, action: &str, max: i64) -> (deepgraph_testkit::SimRun, String) {
    let text = LOOP.replace("LIMIT", limit).replace("ACTION", action);
    // A node that no way leads to would be refused.
    let text = if action.starts_with("to:") {
        text
    } else {
        text.replace("  last: {update: {log: \"'last'\"}}\n", "")
    };
    let bundle = graph(&text);
    let run = Sim::new(&bundle, |_, _| Ok(says("x")))
        .run(support::question("?"), support::config(&bundle, &[("max", Value::Int(max))]));
    let output = Value::from(run.ended().output.clone()).to_json_text();
    (run, output)
}

#[test]
fn a_limit_on_starts_is_exact_and_its_action_takes_the_place_of_the_start() {
    for max in [1, 2, 7] {
        for limit in ["[write]", "model_calls", "steps"] {
            let (run, output) = rounds(limit, "exit: iteration_limit", max);
            assert_eq!(run.requests.len(), max as usize, "{limit}");
            assert_eq!(run.ended().exit.reason.name(), "iteration_limit");
            assert!(output.ends_with(&format!("\"rounds\":{max}}}")), "{output}");
        }
    }
    let (run, output) = rounds("[write]", "to: last", 2);
    assert_eq!(run.ended().exit.reason.name(), "completed");
    assert_eq!(output, r#"{"log":["checked 1","checked 2","last"],"rounds":2}"#);
    let (run, _) = rounds("[write]", "refuse: true", 2);
    assert_eq!(run.requests.len(), 2);
    assert_eq!(
        run.ended().exit.reason.name(),
        "model_error",
        "a refused start fails; no other way was given"
    );
    assert!(run.ended().exit.detail.as_deref().unwrap_or("").contains("`rounds` (2)"));
}

#[test]
fn super_steps_are_counted_one_by_one() {
    let (run, output) = rounds("super_steps", "exit: step_limit", 5);
    assert_eq!(run.requests.len(), 3, "write check write check write");
    assert_eq!(output, r#"{"log":["checked 1","checked 2"],"rounds":3}"#);
}

#[test]
fn prompts_see_the_limit_and_what_is_left() {
    let (run, _) = rounds("[write]", "exit: iteration_limit", 3);
    let prompts: Vec<&str> = run.requests.iter().map(|(_, r)| &*r.messages[0].content).collect();
    assert_eq!(prompts, ["round 1 of 3, 2 left", "round 2 of 3, 1 left", "round 3 of 3, 0 left"]);
}

fn grants(run: &deepgraph_testkit::SimRun) -> Vec<(String, Option<u64>)> {
    run.rows
        .iter()
        .filter_map(|(scope, entry)| match &entry.body {
            EntryBody::Started(started) => Some((scope.to_string(), started.grant.tokens)),
            _ => None,
        })
        .collect()
}

#[test]
fn children_get_equal_shares_of_what_is_left_after_the_reserve() {
    let bundle = stock("deep_research");
    let turns: Turns = vec![vec![conduct("a"), conduct("b"), conduct("c"), conduct("d")]];
    let config = [("token_budget", Value::Int(100_000)), ("clarify", Value::from("never"))];
    let run = supervised::run(&bundle, &turns, &config, 0);
    let grants = grants(&run);
    assert_eq!(grants[0], (String::new(), None));
    // The root keeps 15 % for the report and has used 110 for the brief.
    assert_eq!(grants[1], ("supervise.1".into(), Some(85_000 - 110)));
    // The supervisor has no `finally`; it has used 110 for its turn.
    let share = (85_000 - 110 - 110) / 4;
    for (i, grant) in grants[2..].iter().enumerate() {
        assert_eq!(
            grant,
            &(format!("supervise.1/supervisor_tools.1/ConductResearch.{}", i + 1), Some(share))
        );
    }
    assert_eq!(run.ended().settled.tokens, 110 * (1 + 2 + 4 * 3 + 1), "the sum of the steps is the run's");
    assert_eq!(run.ended().settled.model_calls, 16);
}

#[test]
fn a_budget_ends_research_and_leaves_its_reserve_to_the_report() {
    let bundle = stock("deep_research");
    let turns: Turns = vec![vec![conduct("a")]; 50];
    let config = support::config(
        &bundle,
        &[
            ("token_budget", Value::Int(120_000)),
            ("max_researcher_iterations", Value::Int(50)),
            ("max_supervisor_turns", Value::Int(50)),
        ],
    );
    for seed in 0..5 {
        let run = Sim::new(&bundle, |step, request| {
            let mut reply = supervised::answer(&turns, step, request)?;
            reply.usage.input_tokens = 2_000;
            Ok(reply)
        })
        .ops(supervised::ops)
        .seed(seed)
        .run(support::question("?"), config.clone());
        let end = run.ended();
        assert_eq!(end.exit.reason.name(), "token_budget");
        assert_eq!(end.exit.limit.as_ref().map(|l| l.name.to_string()).as_deref(), Some("grant.tokens"));
        assert!(end.settled.tokens > 90_000 && end.settled.tokens <= 120_000, "{:?}", end.settled);
        assert_eq!(end.report.map(|r| r.name()), Some("complete"), "the reserve carries the report");
    }
}

#[test]
fn a_money_ceiling_refuses_a_model_whose_price_is_not_known() {
    let text = LOOP.replace("LIMIT", "cost_usd").replace("ACTION", "exit: cost_budget");
    let text = text.replace("  last: {update: {log: \"'last'\"}}\n", "");
    // The cycle needs a cut of its own: money does not bound a model that is free.
    let text =
        text.replace("limits:\n", "limits:\n  visits: {count: [write], max: 9, exit: iteration_limit}\n");
    let bundle = graph(&text);
    let mut machine =
        deepgraph_engine::Machine::new(bundle.clone(), deepgraph_graph::GraphIx(0), Default::default());
    let mut apply = |body| machine.apply(&deepgraph_protocol::Entry { at: 1, body });
    apply(EntryBody::Started(deepgraph_protocol::Started {
        graph: bundle.root().path.clone(),
        input: support::question("?").into(),
        config: support::config(&bundle, &[]).into(),
        attempt: 1,
        ..Default::default()
    }));
    apply(EntryBody::Dispatched {
        step: deepgraph_protocol::StepId::new("write.1"),
        attempt: 1,
        request: None,
        reserve_tokens: 10,
        reserve_micro_usd: None,
        key: None,
        takes_key: false,
        model: None,
        window: None,
        cut: None,
    });
    let exit = &machine.end().expect("it has ended").exit;
    assert_eq!(exit.reason.name(), "model_error");
    assert!(exit.detail.as_deref().unwrap_or("").contains("needs a price"), "{exit:?}");
}

#[test]
fn retries_are_counted_per_step_and_only_what_may_help_is_repeated() {
    let text = LOOP.replace("LIMIT", "[write]").replace("ACTION", "exit: iteration_limit");
    let text = text.replace("  last: {update: {log: \"'last'\"}}\n", "");
    let bundle = graph(&text);
    let config = || support::config(&bundle, &[("max", Value::Int(1))]);
    for (kind, attempts) in [
        (ErrorKind::RateLimited, 3),
        (ErrorKind::Network, 3),
        (ErrorKind::Unauthorized, 1),
        (ErrorKind::Refusal, 1),
    ] {
        let run = Sim::new(&bundle, |_, _| Err(fails(kind, "no"))).run(support::question("?"), config());
        assert_eq!(run.requests.len(), attempts, "{kind}");
        assert_eq!(run.ended().settled.model_calls, attempts as u64);
    }
    let mut left = 2;
    let run = Sim::new(&bundle, |_, _| {
        left -= 1;
        if left >= 0 { Err(fails(ErrorKind::Unavailable, "busy")) } else { Ok(says("at last")) }
    })
    .run(support::question("?"), config());
    assert_eq!(
        run.ended().exit.reason.name(),
        "iteration_limit",
        "the third attempt counts as the one visit"
    );
}

#[test]
fn gain_below_the_threshold_ends_a_researcher() {
    let bundle = stock("deep_research");
    let turns: Turns = vec![vec![conduct("a")]];
    let reads = |gain: f64| {
        let config = support::config(
            &bundle,
            &[("gain_threshold", Value::from(gain)), ("max_react_tool_calls", Value::Int(8))],
        );
        let run = Sim::new(&bundle, |step, request| match node(step) {
            // Each time another passage: a call that repeats one is refused.
            "researcher" => {
                let args = format!("{{\"source\": \"a\", \"query\": \"{}\"}}", request.messages.len());
                Ok(calls([call("read", &args)]))
            }
            _ => supervised::answer(&turns, step, request),
        })
        .ops(supervised::ops)
        .run(support::question("?"), config);
        let exit = run.ended().children.iter().find(|e| e.graph.ends_with("researcher")).cloned();
        let exit = exit.expect("there was a researcher");
        (exit.reason.name().to_owned(), exit.counters["max_react_tool_calls"])
    };
    assert_eq!(reads(0.02), ("gain_saturated".to_owned(), 5), "five reads, without a new fact");
    assert_eq!(reads(0.0), ("tool_call_cap".to_owned(), 8), "0 switches it off");
}

#[test]
fn an_overflow_is_answered_by_a_smaller_request() {
    let bundle = stock("deep_research");
    let turns: Turns = vec![vec![conduct("a"), conduct("b"), conduct("c")]];
    let long = "Finding. [abcdef-1] ".repeat(400);
    let run = Sim::new(&bundle, |step, request| {
        let size: usize = request.messages.iter().map(|m| m.content.len()).sum();
        match node(step) {
            "compress" => Ok(says(&long)),
            "report" if size > 20_000 => Err(fails(ErrorKind::ContextOverflow, "too long")),
            _ => supervised::answer(&turns, step, request),
        }
    })
    .ops(supervised::ops)
    .run(support::question("?"), support::config(&bundle, &[]));
    let sizes: Vec<usize> = run
        .requests
        .iter()
        .filter(|(step, _)| node(step) == "report")
        .map(|(_, r)| r.messages.iter().map(|m| m.content.len()).sum())
        .collect();
    assert_eq!(sizes.len(), 2, "{sizes:?}");
    assert!(sizes[0] > 24_000 && sizes[1] < 20_000, "{sizes:?}");
    assert_eq!(run.ended().report.map(|r| r.name()), Some("complete"));
}

#[test]
fn a_call_whose_answer_was_lost_stays_charged_and_one_that_was_never_sent_does_not() {
    let text = LOOP.replace("LIMIT", "[write]").replace("ACTION", "exit: iteration_limit");
    let text = text.replace("  last: {update: {log: \"'last'\"}}\n", "");
    let bundle = graph(&text);
    let used = |error: deepgraph_protocol::StepError| {
        let run = Sim::new(&bundle, |_, _| Err(error.clone()))
            .run(support::question("?"), support::config(&bundle, &[("max", Value::Int(1))]));
        run.ended().settled.tokens
    };
    assert_eq!(used(fails(ErrorKind::Network, "can not be reached").unsent()), 0);
    assert_eq!(used(fails(ErrorKind::RateLimited, "later")), 0);
    assert!(used(fails(ErrorKind::Network, "broke off")) > 0);
    assert!(used(fails(ErrorKind::StepTimeout, "too slow")) > 0);
}

#[test]
fn tool_calls_of_children_count_and_end_the_parent_at_the_bound() {
    let bundle = graph(
        r#"
deepgraph: 1
name: parent
config: {model: {type: string, default: scripted}}
state: {messages: messages}
input: [messages]
limits:
  calls: {count: tool_calls, max: 4, exit: tool_call_cap}
  turns: {count: turns, max: 20, exit: step_limit}
tools:
  delegate: {call: child, parameters: {topic: string}}
start: lead
nodes:
  lead: {model: config.model, messages: messages, tools: [delegate], next: act}
  act: {run_tools: lead, next: lead}
graphs:
  child:
    config: {model: {type: string, default: scripted}}
    state: {topic: string, messages: messages}
    input: [topic]
    output: [topic]
    limits: {turns: {count: turns, max: 20, exit: step_limit}}
    tools: {think: {call: think}}
    start: open
    nodes:
      open: {update: {messages: [{user: topic}]}, next: work}
      work: {model: config.model, messages: messages, tools: [think], next: act}
      act: {run_tools: work, next: work}
"#,
    );
    for seed in 0..5 {
        let run = Sim::new(&bundle, |step, _| {
            Ok(match node(step) {
                "lead" => calls([call("delegate", "{\"topic\": \"t\"}")]),
                _ => calls([call("think", "{\"reflection\": \"r\"}")]),
            })
        })
        .ops(supervised::ops)
        .seed(seed)
        .run(Default::default(), support::config(&bundle, &[]));
        let end = run.ended();
        assert_eq!(end.exit.reason.name(), "tool_call_cap", "{:?}", end.exit);
        assert_eq!(end.settled.tool_calls, 4, "one delegation and three thoughts of the child");
        assert_eq!(end.children[0].reason.name(), "tool_call_cap", "the child ends on its grant");
        assert_eq!(end.exit.counters["turns"], 1, "no further turn is paid for");
    }
}

#[test]
fn a_report_stage_whose_time_is_up_still_takes_the_way_without_a_model() {
    let bundle = graph(
        r#"
deepgraph: 1
name: late
config: {model: {type: string, default: scripted}}
state: {question: string, report: string}
input: [question]
output: [report]
limits: {deadline: {count: wall_time, max: 200ms, exit: deadline, reserve: 0.5}}
finally: report
start: work
nodes:
  work: {model: config.model, prompt: "{{ question }}", next: {exit: research_complete}}
  report: {model: config.model, prompt: report, retry: {max: 1000, backoff: 0s}, update: {report: result.text}, on_error: again}
  again: {model: config.model, prompt: again, update: {report: result.text}, on_error: assemble}
  assemble: {call: think, input: {reflection: question}, update: {report: result.text}}
"#,
    );
    let run = Sim::new(&bundle, |step, _| match node(step) {
        "work" => Ok(says("done")),
        _ => Err(fails(ErrorKind::Unavailable, "busy")),
    })
    .ops(supervised::ops)
    .step_ms(3)
    .run(support::question("?"), support::config(&bundle, &[]));
    let end = run.ended();
    assert_eq!(end.exit.reason.name(), "research_complete");
    assert_eq!(end.report.map(|r| r.name()), Some("partial"));
    assert_eq!(end.output["report"], Value::from("think result"));
    let error = end.report_error.as_ref().expect("it says why");
    assert_eq!(error.kind, ErrorKind::StepTimeout, "{error}");
    assert!(!run.requests.iter().any(|(step, _)| node(step) == "again"), "no model is asked any more");
}
