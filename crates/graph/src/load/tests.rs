mod called;
mod mangled;

use std::collections::BTreeMap;

use deepgraph_protocol::{ToolRole, Value};

use crate::testing::files;
use crate::*;

/// A small graph with most parts of the language.
const SAMPLE: &str = r#"# A sample.
deepgraph: 1
name: sample
description: Looks things up.
config:
  model: {type: string, default: extractive}
  turns: {type: integer, default: 6, minimum: 1}
  deadline: {type: duration, default: 30m}
types:
  plan: {objective: string, steps: {type: [string], default: []}}
state:
  question: string
  plan: {type: plan, optional: true}
  notes: {type: [handoff], reduce: append}
  sources: {type: {string: source}, reduce: merge}
  report: string
input: [question]
output: [report, sources]
exits: {nothing: completion}
concurrency: {graphs: 2, model_calls: 4}
limits:
  tokens: {count: tokens, max: 100000, exit: token_budget, reserve: 0.2}
  plans: {count: [plan], max: 2, to: look}
finally: report
start: [{if: question | length < 3, exit: nothing}, plan]
nodes:
  plan:
    title: "Planning: {{ question }}"
    model: config.model
    prompt: plan.md
    returns: plan
    retry: {max: 2, backoff: 500ms, if: error.kind == "network"}
    on_error: {update: {plan: null}, to: look}
    update: {plan: result.data}
    next:
      - {if: not plan.steps, to: ask}
      - look
  ask:
    ask: "What about {{ plan.objective }}?"
    timeout: 10m
    update:
      question: |
        {{ question }}
        {{ result.text }}
    on_error: look
    next: plan
  look:
    call: looker
    input: {objective: question, steps: plan.steps}
    update: {notes: result.note, sources: result.sources}
    next: {exit: inherit}
  report:
    call: assemble
    input: {question: question, handoffs: notes, sources: sources}
    update: {report: result.text}
    on_error: {update: {report: "'nothing'"}}
graphs:
  looker:
    config: {model: {type: string, default: extractive}, turns: {type: integer, default: 6, minimum: 1}}
    state:
      objective: {type: string, description: What to find out.}
      steps: {type: [string], optional: true}
      messages: messages
      facts: {type: [fact], reduce: union}
      sources: {type: {string: source}, reduce: merge}
      note: handoff
    input: [objective, steps]
    output: [note, sources]
    tools:
      think: {call: think}
      done: {next: {exit: research_complete}}
      ask_user: {parameters: {why: string}, ask: "{{ args.why }}?", answer: "They say: {{ result.text }}"}
      search:
        call: search
        update: {sources: result.sources}
        answer: "{% for h in result.hits %}[{{ h.source }}] {{ h.text }}{% endfor %}"
        parallel: 3
        overflow: queue
        cache: 1h
      deeper: {call: read, update: {facts: result.facts}, answer_max: 500}
    limits:
      turns: {count: turns, max: config.turns, exit: step_limit}
      gain: {gain: facts, below: 0.05, mode: sum, exit: gain_saturated}
    finally: hand_over
    start: open
    nodes:
      open: {update: {messages: [{user: objective}]}, next: work}
      work:
        model: config.model
        system: "Left: {{ limits.turns.left }} {% for f in facts %}{{ f.text }}{% endfor %}"
        messages: messages
        tools: [search, deeper, think, ask_user, done]
        options: {temperature: 0, nested: [1, {a: b}]}
        next: [{if: not result.tool_calls, exit: no_tool_calls}, act]
      act: {run_tools: work, next: work}
      hand_over:
        call: extract_handoff
        input: {objective: objective, facts: facts, sources: sources}
        update: {note: result.handoff}
"#;

/// The parts that run per item, wait, grant and count.
const ITEMS: &str = r#"deepgraph: 1
config: {most: {type: integer, default: 3, minimum: 1}}
state: {docs: [string], notes: {type: [string], reduce: append}, m: messages}
input: [docs]
tools:
  put: {call: deep, config: {most: 2}, grant: {tokens: 9, wall_time: 5m}, parameters: {t: string}, approve: args.t}
limits:
  turns: {count: turns, max: 3, exit: step_limit}
  some: {count: [put], if: args.t, per: args.t | length, max: 2, refuse: true}
  time: {count: active_time, max: 10m, exit: active_time}
start: {to: [a, b, last]}
nodes:
  a: {model: x, prompt: "{{ item }} {{ index }}", each: docs, max_items: config.most, parallel: 2, truncate: {cut: [item]}, update: {notes: result.text}, on_error: {update: {notes: item}}, next: [{if: not result, exit: no_sources}, join]}
  b: {model: x, messages: m, tools: [put], next: act}
  act: {run_tools: b, next: join}
  join: {call: think, input: {reflection: docs | first}, effect: read, after: [a, act]}
  last: {update: {notes: docs}, defer: true}
graphs:
  deep:
    config: {most: {type: integer, default: 3, minimum: 1}}
    state: {t: string}
    input: [t]
    limits: {depth: {count: depth, max: config.most, refuse: true}}
    start: n
    nodes: {n: {call: deep, input: {t: t}}}
"#;

const PLAN: &str = "Plan: {{ question }}\n";

fn sample() -> BTreeMap<String, String> {
    let mut files = files("", &[("plan.md", PLAN)]);
    files.insert("sample.yaml".to_owned(), SAMPLE.to_owned());
    files
}

fn bundle() -> Bundle {
    let loaded = load("graphs/sample.yaml", &sample(), &OpTable::stock()).unwrap_or_else(|e| panic!("{e}"));
    assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
    loaded.bundle
}

#[test]
fn a_graph_becomes_a_plan() {
    let bundle = bundle();
    let names: Vec<&str> = bundle.graphs.iter().map(|g| &*g.path).collect();
    assert_eq!(names, ["sample", "sample/looker"]);
    assert_eq!(bundle.find("sample/looker"), Some(GraphIx(1)));
    assert_eq!(bundle.concurrency, Concurrency { graphs: Some(2), model_calls: Some(4), tool_calls: None });
    let root = bundle.root();
    let order: Vec<&str> = root.nodes.iter().map(|n| &*n.name).collect();
    assert_eq!(order, ["plan", "ask", "look", "report"], "plan order is the order of the file");
    let Verb::Model(plan) = &root.nodes[0].verb else { panic!() };
    assert_eq!(&*plan.prompt.as_ref().unwrap().source, PLAN);
    assert_eq!(plan.reads, [root.channel("question").unwrap()]);
    let returns = plan.returns.as_ref().unwrap();
    assert_eq!((&*returns.shape.name, returns.shape.schema.text("type")), ("plan", "object"));
    let Verb::Call(look) = &root.nodes[2].verb else { panic!() };
    assert_eq!(look.callee, Callee::Graph(GraphIx(1)));
    assert_eq!(root.nodes[2].next.as_ref().unwrap().0[0].to, Target::Inherit);
    assert_eq!(root.nodes[3].on_error.as_ref().unwrap().0[0].to, Target::CarryOn);
    assert!(root.nodes[3].in_finally && !root.nodes[2].in_finally);
}

#[test]
fn tools_become_specifications() {
    let bundle = bundle();
    let looker = bundle.graph(GraphIx(1));
    let Verb::Model(work) = &looker.nodes[looker.node("work").unwrap().0].verb else { panic!() };
    let found: Vec<(&str, &ToolRole)> = work.specs.iter().map(|s| (&*s.name, &s.role)).collect();
    let wanted = [
        ("search", &ToolRole::Op("search".into())),
        ("deeper", &ToolRole::Op("read".into())),
        ("think", &ToolRole::Op("think".into())),
        ("ask_user", &ToolRole::Ask),
        ("done", &ToolRole::Exit),
    ];
    assert_eq!(found, wanted);
    assert!(work.specs.iter().all(|s| !s.description.is_empty()));
    let ask = &work.specs[3].parameters;
    assert_eq!(
        ask.to_json_text(),
        r#"{"additionalProperties":false,"properties":{"why":{"type":"string"}},"required":["why"],"type":"object"}"#
    );
    assert_eq!(work.options.get("nested").unwrap().to_json_text(), r#"[1,{"a":"b"}]"#);
    let search = &looker.tools[looker.tool("search").unwrap().0];
    assert_eq!(
        (search.overflow, &search.cache),
        (Overflow::Queue, &Some(Setting::Literal(Value::Int(3600))))
    );
}

#[test]
fn the_source_compiles_again_to_the_same() {
    let first = bundle();
    let paths: Vec<&str> = first.source.files.keys().map(String::as_str).collect();
    assert_eq!(paths, ["plan.md", "sample.yaml"], "only what was read is kept");
    let text = serde_json::to_string(&first.source).unwrap();
    let source: BundleSource = serde_json::from_str(&text).unwrap();
    let again = Bundle::from_source(&source, &OpTable::stock()).unwrap();
    assert_eq!(again.hash, first.hash);
    assert_eq!(format!("{:?}", again.graphs), format!("{:?}", first.graphs));
    let mut changed = sample();
    changed.insert("plan.md".to_owned(), "Plan!\n".to_owned());
    let other = load("graphs/sample.yaml", &changed, &OpTable::stock()).unwrap().bundle;
    assert_ne!(other.hash, first.hash);
    let moved = load("/elsewhere/sample.yaml", &sample(), &OpTable::stock()).unwrap().bundle;
    assert_eq!(moved.hash, first.hash, "where the folder lies is no part of what runs");
}

#[test]
fn json_is_read_the_same_way() {
    let json = r#"{
  "deepgraph": 1,
  "state": {"q": "string"},
  "start": "a",
  "nodes": {
    "a": {"update": {"q": "qq"}}
  }
}"#;
    let error = load("g.json", &BTreeMap::from([("g.json".to_owned(), json.to_owned())]), &OpTable::stock())
        .unwrap_err();
    assert_eq!(
        crate::testing::line(&error.0[0]),
        r#"DG0301 6:28 unknown name "qq" | a fixed text is written "'qq'""#
    );
    let good = json.replace("\"qq\"", "\"'x'\"");
    let loaded = load("g.json", &BTreeMap::from([("g.json".to_owned(), good)]), &OpTable::stock()).unwrap();
    assert_eq!(&*loaded.bundle.root().name, "g", "without a name it is that of the file");
}

#[test]
fn a_missing_file_is_reported() {
    let error = load("x/none.yaml", &BTreeMap::new(), &OpTable::stock()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "error[DG0010]: x/none.yaml can not be read: there is no such file\n --> x/none.yaml:1:1\n"
    );
}

#[test]
fn mistakes_of_all_parts_come_at_once_in_order() {
    let broken = SAMPLE
        .replace("exits: {nothing: completion}", "exits: {nothing: complete}")
        .replace("retry: {max: 2,", "retry: {max: 0,")
        .replace("plan.steps}", "plan.step}")
        .replace("result.handoff}", "result.handof}");
    let mut files = sample();
    files.insert("sample.yaml".to_owned(), broken);
    files.insert("plan.md".to_owned(), "{{ questoin }}".to_owned());
    let error = load("sample.yaml", &files, &OpTable::stock()).unwrap_err();
    let found: Vec<String> = error.iter().map(|d| format!("{} {} {}", d.file, d.code, d.line)).collect();
    let wanted = [
        "sample.yaml DG0106 19",
        "sample.yaml DG0110 32",
        "sample.yaml DG0302 49",
        "sample.yaml DG0302 99",
        "plan.md DG0301 1",
    ];
    assert_eq!(found, wanted);
}
