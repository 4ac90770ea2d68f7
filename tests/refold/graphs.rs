//! Another version of the graph: what is asked the same holds, the first that is not is named.

use deepgraph_protocol::Value;
use deepgraph_testkit::{Sim, says};
use deepgraph_trace::refold::{Difference, Matching};

use super::fold;
use crate::engine::supervised::{self, conduct};
use crate::support::{self, graph, stock, stock_with};

#[test]
fn a_changed_report_leaves_the_research_as_it_is() {
    let bundle = stock("deep_research");
    let changed =
        stock_with("deep_research", &[("      Question: {{ question }}", "      Asked: {{ question }}")]);
    let turns = vec![vec![conduct("a"), conduct("b")], vec![conduct("c")]];
    for seed in 0..3 {
        let run = supervised::run(&bundle, &turns, &[], seed);
        let config = support::config(&changed, &[]);
        let folded = fold(&bundle, &run.rows, &changed, config, Matching::Exact);
        let [mismatch] = &folded.mismatches[..] else { panic!("{:?}", folded.mismatches) };
        assert_eq!((mismatch.step.as_str(), mismatch.why), ("report.1", Difference::Request));
        let asked = folded.first_unanswered().expect("the report is asked for");
        assert_eq!(asked.step.as_str(), "report.1");
        let gone: Vec<&str> = folded.not_taken.iter().map(|step| step.as_str()).collect();
        assert_eq!(gone, ["report.1", "cite.1"]);
    }
}

#[test]
fn a_changed_supervisor_holds_up_to_its_first_turn() {
    let bundle = stock("deep_research");
    let changed = stock_with(
        "deep_research",
        &[("update: {messages: [{user: brief}]}", "update: {messages: [{user: 'brief ~ \"!\"'}]}")],
    );
    let run = supervised::run(&bundle, &vec![vec![conduct("a")]], &[], 0);
    let config = support::config(&changed, &[]);
    let folded = fold(&bundle, &run.rows, &changed, config, Matching::Exact);
    let first = folded.mismatches.first().expect("the supervisor differs");
    assert_eq!((first.step.as_str(), first.why), ("supervise.1/supervisor.1", Difference::Request));
    assert_eq!(folded.mismatches.len(), 1, "what comes behind it is not asked for: {:?}", folded.mismatches);
    assert!(!folded.machines.keys().any(|scope| scope.as_str().contains("ConductResearch")));
}

#[test]
fn what_differs_is_named_in_canonical_order_whatever_came_first() {
    let bundle = stock("deep_research");
    let changed = stock_with(
        "deep_research",
        &[(
            "        model: config.compression_model\n",
            "        model: config.compression_model\n        max_output: 77\n",
        )],
    );
    let turns = vec![(0..4).map(|i| conduct(&format!("topic {i}"))).collect::<Vec<_>>()];
    let mut orders = std::collections::BTreeSet::new();
    for seed in 0..6 {
        let run = supervised::run(&bundle, &turns, &[], seed);
        let config = support::config(&changed, &[]);
        let folded = fold(&bundle, &run.rows, &changed, config, Matching::Exact);
        let steps: Vec<String> = folded.mismatches.iter().map(|other| other.step.to_string()).collect();
        assert_eq!(steps.len(), 4, "{steps:?}");
        assert!(steps[0].contains("ConductResearch.1/"), "{steps:?}");
        assert!(steps.is_sorted(), "{steps:?}");
        orders.insert(
            run.rows
                .iter()
                .filter_map(|(_, entry)| entry.body.step())
                .map(ToString::to_string)
                .collect::<Vec<_>>(),
        );
    }
    assert!(orders.len() > 1, "they came in other orders");
}

const PARTS: &str = "
deepgraph: 1
name: parts
state: {question: string, year: string, text: string, note: string}
input: [question]
output: [text, note]
start: ask
nodes:
  ask: {ask: Which year?, update: {year: result.text}, next: look}
  look: {call: search, input: {query: year}, update: {text: result.text}, next: child}
  child: {call: part, input: {topic: text}, update: {note: result.note}}
graphs:
  part:
    state: {topic: string, note: string}
    input: [topic]
    output: [note]
    start: write
    nodes:
      write: {model: m, prompt: \"{{ topic }}\", update: {note: result.text}}
";

#[test]
fn questions_ops_and_children_are_held_against_what_they_are_given() {
    let bundle = graph(PARTS);
    let run = Sim::new(&bundle, |_, _| Ok(says("written")))
        .ops(supervised::ops)
        .person(|_, _| Some(Value::from("1843")))
        .run(support::question("?"), support::config(&bundle, &[]));
    assert_eq!(run.ended().output.get("note"), Some(&Value::from("written")));
    let cases = [
        ("ask: Which year?", "ask: What year?", "ask.1", Difference::Question, 0),
        ("query: year", "query: \"year ~ '!'\"", "look.1", Difference::Input, 1),
        (
            "call: search, input: {query: year}",
            "call: think, input: {reflection: year}",
            "look.1",
            Difference::Op,
            1,
        ),
        ("topic: text", "topic: \"text ~ '!'\"", "child.1", Difference::Input, 2),
        ("\"{{ topic }}\"", "\"on {{ topic }}\"", "child.1/write.1", Difference::Request, 2),
        ("ask: {ask: Which year?,", "ask: {model: m, prompt: Which year?,", "ask.1", Difference::Kind, 0),
    ];
    for (from, to, step, why, taken) in cases {
        assert!(PARTS.contains(from), "{from}");
        let changed = graph(&PARTS.replace(from, to));
        let config = support::config(&changed, &[]);
        let folded = fold(&bundle, &run.rows, &changed, config, Matching::Exact);
        let [mismatch] = &folded.mismatches[..] else { panic!("{to}: {:?}", folded.mismatches) };
        assert_eq!((mismatch.step.as_str(), mismatch.why), (step, why), "{to}");
        assert_eq!(folded.steps.0, taken, "{to}: the steps before it are taken over");
        assert_eq!(folded.first_unanswered().map(|asked| asked.step.as_str()), Some(step), "{to}");
    }
}
