use std::collections::BTreeSet;

use crate::mermaid;
use crate::testing::clean;

const GRAPH: &str = r#"deepgraph: 1
name: main
state: {q: string, a: string}
input: [q]
output: [a]
limits:
  asked: {count: [ask], max: 2, exit: step_limit}
  money: {count: cost_usd, max: 1.5, exit: cost_budget}
finally: {if: a, to: tidy}
start: [{if: "q == \"a|b\" or q < 'ü漢'", to: ask}, look]
nodes:
  ask: {ask: "{{ q }}?", update: {q: result.text}, next: look, on_error: {exit: clarification_needed}}
  look: {call: child, input: {topic: q}, update: {a: result.found}, next: {exit: inherit}}
  tidy: {update: {a: a}}
graphs:
  child:
    state: {topic: string, found: string, m: messages}
    input: [topic]
    output: [found]
    tools:
      think: {call: think}
      done: {parameters: {answer: string}, update: {found: args.answer}, next: {exit: research_complete}, parallel: 1}
    limits: {turns: {count: turns, max: 5, exit: iteration_limit}, calls: {count: [think], max: 3, to: stop}}
    start: open
    nodes:
      open: {update: {m: [{user: topic}]}, next: work}
      work: {model: some-model, messages: m, tools: [think, done], next: act}
      act: {run_tools: work, next: work}
      stop: {update: {found: "'stopped'"}}
"#;

const DRAWING: &str = r#"flowchart TD
  subgraph g0["main"]
    g0_start(("start"))
    g0_n0{{"ask<br/>ask"}}
    g0_n1[/"look<br/>call child"/]
    subgraph g0_finally["finally: every exit passes here"]
      g0_fin(("finally"))
      g0_n2["tidy"]
    end
    g0_x0(["cancelled"])
    g0_x1(["clarification_needed"])
    g0_x2(["cost_budget"])
    g0_x3(["graph_error"])
    g0_x4(["inherit<br/>exit of the called graph"])
    g0_x5(["step_limit"])
    g0_x6(["tool_error"])
    g0_start -->|"q == #quot;a#124;b#quot; or q #lt; 'ü漢'"| g0_n0
    g0_start --> g0_n1
    g0_fin -->|"a"| g0_n2
    g0_n0 --> g0_n1
    g0_n0 -.->|"on_error"| g0_x1
    g0_n1 --> g0_x4
    g0_n0 ==>|"asked: ask ≤ 2"| g0_x5
    g0_any(("at any step"))
    g0_any ==>|"money: cost_usd ≤ 1.5"| g0_x2
    g0_fails(("a step fails, no on_error holds"))
    g0_fails -.-> g0_x6
    g0_cancel(("cancelled from outside"))
    g0_cancel -.-> g0_x0
    g0_fault(("an expression fails, or two writers"))
    g0_fault -.-> g0_x3
    subgraph g1["child"]
      g1_start(("start"))
      g1_n0["open"]
      g1_n1("work<br/>model some-model")
      g1_n2[["act<br/>run_tools work"]]
      g1_t0>"think<br/>call think"]
      g1_n2 --- g1_t0
      g1_t1>"done"]
      g1_n2 --- g1_t1
      g1_n3["stop"]
      g1_x0(["cancelled"])
      g1_x1(["completed"])
      g1_x2(["context_overflow"])
      g1_x3(["cost_budget"])
      g1_x4(["graph_error"])
      g1_x5(["iteration_limit"])
      g1_x6(["model_error"])
      g1_x7(["refusal"])
      g1_x8(["research_complete"])
      g1_start --> g1_n0
      g1_n0 --> g1_n1
      g1_n1 --> g1_n2
      g1_n2 --> g1_n1
      g1_t1 --> g1_x8
      g1_n3 --> g1_x1
      g1_n1 ==>|"turns: turns ≤ 5"| g1_x5
      g1_t0 ==>|"calls: think ≤ 3"| g1_n3
      g1_fails(("a step fails, no on_error holds"))
      g1_fails -.-> g1_x2
      g1_fails -.-> g1_x6
      g1_fails -.-> g1_x7
      g1_grant(("what the caller granted is used up"))
      g1_grant -.-> g1_x3
      g1_cancel(("cancelled from outside"))
      g1_cancel -.-> g1_x0
      g1_fault(("an expression fails, or two writers"))
      g1_fault -.-> g1_x4
    end
  end
  g0_n1 -.->|"starts"| g1_start
"#;

#[test]
fn a_drawing_shows_nodes_ways_exits_limits_and_children() {
    let drawing = mermaid(&clean(GRAPH));
    for (found, wanted) in drawing.lines().zip(DRAWING.lines()) {
        assert_eq!(found, wanted);
    }
    assert_eq!(drawing, DRAWING);
}

#[test]
fn every_name_that_a_line_joins_is_declared() {
    let drawing = mermaid(&clean(GRAPH));
    let mut declared = BTreeSet::new();
    let mut joined = BTreeSet::new();
    for line in drawing.lines().map(str::trim) {
        let words: Vec<&str> = line.split(' ').collect();
        let arrow = words
            .iter()
            .any(|w| w.starts_with("-->") || w.starts_with("-.->") || w.starts_with("==>") || *w == "---");
        let id = |word: &str| -> String {
            word.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
        };
        if arrow {
            joined.insert(id(words[0]));
            joined.insert(id(words[words.len() - 1]));
        } else if let Some(rest) = line.strip_prefix("subgraph ") {
            declared.insert(id(rest));
        } else if line != "end" && !line.starts_with("flowchart") {
            assert!(declared.insert(id(line)), "{line} is declared twice");
        }
    }
    assert!(joined.is_subset(&declared), "{:?}", joined.difference(&declared));
}

#[test]
fn labels_hold_no_signs_of_mermaid() {
    let text = super::labels::quoted("a \"b\" <c> [d] {e} (f) | `g` #h; & \\ %% \n ü");
    let inner = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap();
    assert!(
        !inner.contains(['"', '<', '>', '[', ']', '{', '}', '(', ')', '|', '`', '&', '\\', '%', '\n']),
        "{inner}"
    );
    assert!(inner.ends_with('ü'));
    assert_eq!(super::labels::short(&"x".repeat(100)).chars().count(), 40);
}

#[test]
fn a_node_says_how_often_and_when_it_runs() {
    let text = "deepgraph: 1
name: main
state: {l: {type: [string], reduce: append}, m: messages}
tools:
  put: {call: think, approve: true}
  get: {call: search, approve: args.limit > 5}
limits: {t: {count: turns, max: 3, exit: step_limit}}
start: {to: [a, b, last]}
nodes:
  a: {call: think, input: {reflection: item}, each: 'l | unique', max_items: 4, next: c}
  b: {model: x, messages: m, tools: [put, get], next: r}
  r: {run_tools: b, next: c}
  c: {update: {l: \"'x'\"}, after: [a, r]}
  last: {update: {l: \"'y'\"}, defer: true}
";
    let drawn = mermaid(&clean(text));
    for line in [
        r#"g0_n0[/"a<br/>call think<br/>for each of l #124; unique<br/>at most 4"/]"#,
        r#"g0_n3["c<br/>after a and r"]"#,
        r#"g0_n4["last<br/>when nothing else runs"]"#,
        r#"g0_t0>"put<br/>call think<br/>approved by a person"]"#,
        r#"g0_t1>"get<br/>call search<br/>approved by a person if args.limit #gt; 5"]"#,
    ] {
        assert!(drawn.lines().any(|l| l.trim() == line), "{line}\n{drawn}");
    }
}
