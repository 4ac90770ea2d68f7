//! A graph with every key of the language, as a file and built: the same plan, and no key that can not be built.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use deepgraph_protocol::Value;

use super::{plan, read};
use crate::build::tree::{Mapping, Tree};
use crate::build::*;
use crate::vocabulary::{self, Words};
use crate::{OpTable, ServerTool, load};

const FILE: &str = r#"
deepgraph: 1
name: whole
description: Has every key.
config:
  model: {type: string, default: extractive, description: The model.}
  depth: {enum: [low, high], default: low}
  share: {type: number, minimum: 0, maximum: 1.5, default: 0.25}
  most: {type: integer, default: 3, minimum: 1}
  wait: {type: duration, default: 1500ms, optional: true}
  tags: {type: [string], default: [a, "1"], max_items: 4}
types:
  plan: {steps: [string], type: {type: string, optional: true}}
state:
  question: string
  region: {type: string, default: all}
  documents: {type: [any], optional: true}
  messages: {type: messages, persist: thread}
  notes: {type: [string], reduce: append}
  facts: {type: [fact], reduce: union, persist: "facts {{ question }}"}
  plan: {type: plan, optional: true}
  point: {x: number, y: number}
  kinds: {type: {type: string, n: integer}, optional: true}
  level: {enum: [1, 2], optional: true}
  answer: string
input: [question, region, documents]
output: [answer, notes, point, level]
mcp:
  web: {url: "https://example.com/mcp", headers: {Authorization: "Bearer {{ secret.TOKEN }}"}}
  local: {command: [server, --quiet], env: {HOME: nowhere}, takes_keys: true, required: false}
tools:
  delegate:
    description: Hands a topic over.
    call: worker
    parameters: {topic: string, urgent: {type: boolean, default: false}}
    input: {topic: args.topic}
    config: {share: 0.5}
    grant: {tokens: 1000, wall_time: 5m}
    update: {notes: result.note}
    next: [{if: args.urgent, exit: inherit}]
    on_error: {update: {notes: "'failed'"}}
    answer: "{{ result.note }}"
    answer_max: 500
    approve: args.urgent
    parallel: 2
    overflow: queue
  search: {call: search, effect: read, timeout: 30s, retry: {max: 2, backoff: 1s, factor: 3.0, if: error.kind == "network"}, cache: 1h}
  ask_user: {parameters: {why: string}, ask: "{{ args.why }}?", returns: {enum: [yes, no]}, timeout: 1h}
  web: {call: web.*, only: [fetch]}
  files: {call: local.list, effect: write, compensate: {call: think, input: {reflection: result.text}}}
  done: {next: summary}
limits:
  calls: {count: [search], if: args.query, per: args.query, max: config.most, refuse: true}
  visits: {count: [agent, delegate], max: 20, exit: step_limit}
  turns: {count: turns, max: 9, to: summary}
  money: {count: cost_usd, max: 0.5, exit: cost_budget, reserve: 0.1}
  time: {count: wall_time, max: 30m, exit: deadline, reserve: 2m, warn: 0.8}
  own: {count: model_calls, max: 50, exit: step_limit, scope: own}
  gain: {gain: facts, below: config.share, window: 2, min_steps: 4, mode: sum, exit: gain_saturated}
exits: {too_short: error, enough: completion}
concurrency: {graphs: 2, model_calls: 4, tool_calls: 8}
intents:
  fact: {description: One figure., when: [how many, "wie viele * gibt es"], kind: narrow, set: {share: 0.5, wait: 2s}}
start:
  - {if: question | length < 3, exit: too_short}
  - {if: region == "all", update: {notes: region}, to: [open, each, late]}
  - open
finally: [{if: run.exit != "too_short", to: report}]
nodes:
  open:
    update:
      messages: [{user: question}]
      answer: |
        {{ question }}:
        {{ region }}
      point: {x: 1, y: 2.5}
    next: agent
  each:
    call: worker
    each: documents
    max_items: config.most
    parallel: 2
    input: {topic: item.title}
    config: {share: config.share}
    grant: {model_calls: limits.own.left}
    title: "{{ item.title }}"
    update: {notes: result.note}
    on_error: next
    next: join
  agent:
    model: config.model
    system: prompts/agent.md
    messages: messages
    tools: [delegate, search, ask_user, web, files, done]
    max_output: 2000
    truncate: {cut: [tool_results, oldest], to: 0.8, shrink: 0.2, tries: 2}
    options: {temperature: 0.5, stop: [a, b], deep: {x: null}}
    timeout: config.wait
    retry: 2
    on_error:
      - {if: error.kind == "refusal", update: {answer: "'It\\'s refused.'"}, exit: refusal}
      - {exit: model_error}
    next: [{if: not result.tool_calls, to: join}, act]
  act: {run_tools: agent, next: agent}
  join: {update: {level: 2}, after: [each, agent], next: ask}
  ask: {ask: Go on?, returns: plan, timeout: 10m, update: {plan: result.data}, on_error: next, next: summary}
  summary:
    model: "openai::some"
    messages: {read: messages}
    prompt: "Sum up: {{ notes | join(', ') }}"
    returns: {type: plan, description: A plan.}
    update: {plan: result.data, level: null}
    next: look
  look: {call: search, input: {query: question}, effect: write, compensate: {call: think, input: {reflection: result.text}}, cache: 10m, update: {answer: result.text}, next: {exit: enough}}
  late: {update: {notes: "'late'"}, defer: true}
  report: {call: worker, input: {topic: question}, update: {answer: result.note}, next: {exit: inherit}}
graphs:
  worker:
    description: Works.
    config: {share: {type: number, minimum: 0, maximum: 1.5, default: 0.25}}
    state: {topic: string, note: string}
    input: [topic]
    output: [note]
    limits: {tokens: {count: tokens, exit: token_budget}}
    start: n
    nodes: {n: {update: {note: topic}}}
"#;

const PROMPT: &str = "Answer. {{ limits.turns.left }} turns are left.\n";

fn worker() -> Graph {
    Graph::new("worker")
        .description("Works.")
        .config("share", Type::number().minimum(0).maximum(1.5).default(0.25))
        .channel("topic", Type::string())
        .channel("note", Type::string())
        .input(["topic"])
        .output(["note"])
        .limit("tokens", Limit::meter(Meter::Tokens).exit("token_budget"))
        .start("n")
        .node("n", Node::pass().update("note", "topic"))
}

fn data(graph: Graph) -> Graph {
    let plan =
        Record::new().field("steps", Type::list(Type::string())).field("type", Type::string().optional());
    let kinds = Record::new().field("type", Type::string()).field("n", Type::integer());
    graph
        .config("model", Type::string().default("extractive").description("The model."))
        .config("depth", Field::choice(["low", "high"]).default("low"))
        .config("share", Type::number().minimum(0).maximum(1.5).default(0.25))
        .config("most", Type::integer().default(3).minimum(1))
        .config("wait", Type::duration().default(Duration::from_millis(1500)).optional())
        .config("tags", Type::list(Type::string()).default(vec!["a", "1"]).max_items(4))
        .record("plan", plan)
        .channel("question", Type::string())
        .channel("region", Type::string().default("all"))
        .channel("documents", Type::list(Type::any()).optional())
        .channel("messages", Channel::from(Type::messages()).persist_with_thread())
        .channel("notes", Type::list(Type::string()).reduce(Reducer::Append))
        .channel(
            "facts",
            Type::list(Type::named("fact")).reduce(Reducer::Union).persist_under("facts {{ question }}"),
        )
        .channel("plan", Type::named("plan").optional())
        .channel("point", Type::record(Record::new().field("x", Type::number()).field("y", Type::number())))
        .channel("kinds", Type::record(kinds).optional())
        .channel("level", Field::choice([1, 2]).optional())
        .channel("answer", Type::string())
        .input(["question", "region", "documents"])
        .output(["answer", "notes", "point", "level"])
        .mcp(
            "web",
            Server::http("https://example.com/mcp").header("Authorization", "Bearer {{ secret.TOKEN }}"),
        )
        .mcp("local", Server::command(["server", "--quiet"]).env("HOME", "nowhere").takes_keys().optional())
}

fn tools(graph: Graph) -> Graph {
    let delegate = Tool::call("worker")
        .description("Hands a topic over.")
        .parameter("topic", Type::string())
        .parameter("urgent", Type::boolean().default(false))
        .input("topic", "args.topic")
        .config("share", 0.5)
        .grant(Meter::Tokens, 1000)
        .grant(Meter::WallTime, Duration::from_secs(300))
        .update("notes", "result.note")
        .next([when("args.urgent").inherit()])
        .on_error(write("notes", fixed("failed")))
        .answer("{{ result.note }}")
        .answer_max(500)
        .approve("args.urgent")
        .parallel(2, Overflow::Queue);
    let retry = Retry::times(2).backoff("1s").factor(3.0).only_if("error.kind == \"network\"");
    let ask = Tool::ask("{{ args.why }}?").parameter("why", Type::string());
    graph
        .tool("delegate", delegate)
        .tool("search", Tool::call("search").reads().timeout("30s").retry(retry).cache("1h"))
        .tool("ask_user", ask.returns(Field::choice(["yes", "no"])).timeout("1h"))
        .tool("web", Tool::call("web.*").only(["fetch"]))
        .tool("files", Tool::call("local.list").writes().compensate(undo()))
        .tool("done", Tool::pass().next("summary"))
}

fn limits(graph: Graph) -> Graph {
    let calls = Limit::count(["search"]).only_if("args.query").per("args.query").max(config("most"));
    let time = Limit::meter(Meter::WallTime)
        .max(Duration::from_secs(1800))
        .reserve(Duration::from_secs(120))
        .warn(0.8);
    let gain = Limit::gain("facts").below(config("share")).window(2).min_steps(4).sum();
    let fact = Intent::new().description("One figure.").when(["how many", "wie viele * gibt es"]);
    let fact = fact.kind(QuestionKind::Narrow).set("share", 0.5).set("wait", Duration::from_secs(2));
    graph
        .limit("calls", calls.refuse())
        .limit("visits", Limit::count(["agent", "delegate"]).max(20).exit("step_limit"))
        .limit("turns", Limit::meter(Meter::Turns).max(9).to("summary"))
        .limit("money", Limit::meter(Meter::CostUsd).max(0.5).reserve(0.1).exit("cost_budget"))
        .limit("time", time.exit("deadline"))
        .limit("own", Limit::meter(Meter::ModelCalls).max(50).own().exit("step_limit"))
        .limit("gain", gain.exit("gain_saturated"))
        .exit("too_short", ExitClass::Error)
        .exit("enough", ExitClass::Completion)
        .concurrency(Concurrency { graphs: Some(2), model_calls: Some(4), tool_calls: Some(8) })
        .intent("fact", fact)
}

fn nodes(graph: Graph) -> Graph {
    let agent = Node::model(config("model"))
        .messages("messages")
        .tools(["delegate", "search", "ask_user", "web", "files", "done"])
        .system("prompts/agent.md")
        .max_output(2000)
        .truncate(Truncate::cut(["tool_results", "oldest"]).to(0.8).shrink(0.2).tries(2))
        .option("temperature", 0.5)
        .option("stop", vec!["a", "b"])
        .option("deep", Value::record([("x", Value::Null)]))
        .timeout(config("wait"))
        .retry(2)
        .on_error([
            when("error.kind == \"refusal\"").exit("refusal").update("answer", fixed("It's refused.")),
            exit("model_error"),
        ])
        .next([when("not result.tool_calls").to("join"), to("act")]);
    let each = Node::call("worker")
        .each(Each::over("documents", config("most")).parallel(2))
        .input("topic", "item.title")
        .config("share", config("share"))
        .grant(Meter::ModelCalls, "limits.own.left")
        .title("{{ item.title }}")
        .update("notes", "result.note")
        .on_error(carry_on())
        .next("join");
    let open = Node::pass()
        .update("messages", list([record([("user", "question")])]))
        .update("answer", "{{ question }}:\n{{ region }}\n")
        .update("point", record([("x", Expression::from(1)), ("y", Expression::from(2.5))]));
    let ask = Node::ask("Go on?").returns(Type::named("plan")).timeout("10m").update("plan", "result.data");
    let summary = Node::model("openai::some")
        .read_messages("messages")
        .prompt("Sum up: {{ notes | join(', ') }}")
        .returns(Type::named("plan").description("A plan."))
        .update("plan", "result.data")
        .update("level", null());
    let look = Node::call("search").input("query", "question").writes().compensate(undo()).cache("10m");
    let report = Node::call("worker").input("topic", "question").update("answer", "result.note");
    graph
        .start([
            when("question | length < 3").exit("too_short"),
            when("region == \"all\"").to_all(["open", "each", "late"]).update("notes", "region"),
            to("open"),
        ])
        .finally([when("run.exit != \"too_short\"").to("report")])
        .node("open", open.next("agent"))
        .node("each", each)
        .node("agent", agent)
        .node("act", Node::run_tools("agent").next("agent"))
        .node("join", Node::pass().update("level", 2).after(["each", "agent"]).next("ask"))
        .node("ask", ask.on_error("next").next("summary"))
        .node("summary", summary.next("look"))
        .node("look", look.update("answer", "result.text").next(exit("enough")))
        .node("late", Node::pass().update("notes", fixed("late")).defer())
        .node("report", report.next(inherit()))
}

fn undo() -> Compensation {
    Compensation::call("think").input("reflection", "result.text")
}

fn whole() -> Graph {
    let graph = Graph::new("whole").description("Has every key.").file("prompts/agent.md", PROMPT);
    nodes(limits(tools(data(graph)))).graph(worker())
}

fn ops() -> OpTable {
    let tool = |name: &str| ServerTool {
        read_only: Some(true),
        ..ServerTool::new(name, Value::record([("type", Value::from("object"))]))
    };
    OpTable::stock().with_server("web", vec![tool("fetch")]).with_server("local", vec![tool("list")])
}

#[test]
fn every_key_is_built_as_a_file_writes_it() {
    let files = BTreeMap::from([
        ("whole.yaml".to_owned(), FILE.to_owned()),
        ("prompts/agent.md".to_owned(), PROMPT.to_owned()),
    ]);
    let file = load("whole.yaml", &files, &ops()).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let built = whole().load(&ops()).unwrap_or_else(|mistakes| panic!("{}\n{mistakes}", whole().to_yaml()));
    assert_eq!(plan(&built.bundle), plan(&file.bundle));
    let codes =
        |list: &crate::Diagnostics| list.iter().map(|d| (d.code, d.message.clone())).collect::<Vec<_>>();
    assert_eq!(codes(&built.warnings), codes(&file.warnings));
}

/// The keys that stand in mappings of each place.
type Found = BTreeMap<&'static str, BTreeSet<String>>;

fn note(found: &mut Found, place: &'static str, map: Option<&Tree>) {
    if let Some(Tree::Map(map)) = map {
        found.entry(place).or_default().extend(map.entries().iter().map(|(key, _)| key.clone()));
    }
}

fn entries<'t>(graph: &'t Mapping, part: &str) -> impl Iterator<Item = &'t Tree> {
    let part = graph.get(part).and_then(|part| if let Tree::Map(map) = part { Some(map) } else { None });
    part.into_iter().flat_map(|map| map.entries()).map(|(_, value)| value)
}

fn at<'t>(tree: &'t Tree, key: &str) -> Option<&'t Tree> {
    if let Tree::Map(map) = tree { map.get(key) } else { None }
}

/// The keys of a built graph by the place where they stand.
fn keys_of(graph: &Mapping) -> Found {
    let mut found = Found::new();
    note(&mut found, "graph", Some(&Tree::Map(graph.clone())));
    note(&mut found, "concurrency", graph.get("concurrency"));
    entries(graph, "intents").for_each(|intent| note(&mut found, "intent", Some(intent)));
    entries(graph, "config").for_each(|field| note(&mut found, "field", Some(field)));
    entries(graph, "state").for_each(|channel| note(&mut found, "channel", Some(channel)));
    entries(graph, "mcp").for_each(|server| note(&mut found, "server", Some(server)));
    entries(graph, "limits").for_each(|limit| note(&mut found, "limit", Some(limit)));
    for tool in entries(graph, "tools") {
        note(&mut found, "tool", Some(tool));
        note(&mut found, "retry", at(tool, "retry"));
        note(&mut found, "compensate", at(tool, "compensate"));
    }
    for node in entries(graph, "nodes") {
        note(&mut found, "node", Some(node));
        note(&mut found, "truncate", at(node, "truncate"));
        note(&mut found, "messages", at(node, "messages"));
        for route in ["next", "on_error"].iter().filter_map(|key| at(node, key)) {
            let ways = if let Tree::List(ways) = route { ways.iter().collect() } else { vec![route] };
            ways.into_iter().for_each(|way| note(&mut found, "way", Some(way)));
        }
    }
    found
}

#[test]
fn every_key_of_the_language_can_be_built() {
    let found = keys_of(&read(&whole().to_yaml()));
    let verbs = vocabulary::VERBS.map(|words| Words { place: "node", ..words });
    for words in vocabulary::MAPPINGS.into_iter().chain(verbs) {
        let built = found.get(words.place).cloned().unwrap_or_default();
        let missing: Vec<_> = words.known.iter().filter(|key| !built.contains(**key)).collect();
        assert!(missing.is_empty(), "{}: {missing:?} can not be built: add it to the builder", words.place);
    }
}
