//! How the journals were made. They are made once: what is there is left as it is.

use std::collections::BTreeSet;
use std::sync::Arc;

use deepgraph_graph::{Bundle, OpTable, ServerTool, load};
use deepgraph_protocol::{
    Entry, EntryBody, ErrorKind, FinishReason, Map, Millis, ModelReply, ModelRequest, OutputShape,
    ResumeFrom, ScopePath, StepError, StepId, Value,
};
use deepgraph_testkit::{CancelAt, Outside, Said, Sim, SimRun, call, calls, data, fails, says};
use deepgraph_trace::{Journal, JournalRow};

use crate::engine::supervised::{self, Turns, complete, conduct, node, think, turn};
use crate::support;

/// `cargo test -p deepgraph-tests journals::make -- --ignored` makes those that are not there.
#[test]
#[ignore = "writes files; for a new journal in the list"]
fn make_those_that_are_not_there() {
    for (name, (bundle, rows)) in all() {
        let path = support::repo().join("tests/journals").join(format!("{name}.jsonl"));
        if path.exists() {
            continue;
        }
        let rows = rows.into_iter().map(|(scope, entry)| JournalRow { scope, entry });
        let journal = Journal { bundle: bundle.source.clone(), run: None, rows: rows.collect() };
        let text = journal.write().expect("it has a text form");
        std::fs::write(&path, text).expect("it can be written");
    }
}

/// The attempt that an entry completes.
pub fn completed_attempt(entry: &Entry) -> Option<u32> {
    if let EntryBody::Completed { attempt, .. } = entry.body { Some(attempt) } else { None }
}

/// Whether an attempt was sent out twice.
pub fn sent_twice(rows: &[JournalRow]) -> bool {
    let mut sent = BTreeSet::new();
    rows.iter().any(|row| match &row.entry.body {
        EntryBody::Dispatched { step, attempt, .. } => !sent.insert((step.clone(), *attempt)),
        _ => false,
    })
}

type Made = (Arc<Bundle>, Vec<(ScopePath, Entry)>);

fn all() -> Vec<(&'static str, Made)> {
    let five = ["first", "second", "third", "fourth", "fifth"];
    let both: Turns = vec![vec![think(), conduct("first"), conduct("second")], vec![complete()]];
    let run = |sim: Sim<'_>, config: &[(&str, Value)]| {
        let bundle = support::stock("deep_research");
        sim.run(support::question("a question"), support::config(&bundle, config))
    };
    let research = |play: &mut Play, adapt: fn(Sim<'_>) -> Sim<'_>, config: &[(&str, Value)]| -> Made {
        let bundle = support::stock("deep_research");
        let sim = adapt(Sim::in_world(&bundle, play).seed(3).step_ms(7));
        let made = run(sim, config);
        (bundle, made.rows)
    };
    let play = |turns: &Turns, broken: &str| Play { turns: turns.clone(), broken: broken.to_owned() };
    let topics: Turns = vec![five.map(conduct).to_vec(), vec![complete()]];
    let review = [("plan_review", Value::from("required"))];
    vec![
        ("five_researchers", research(&mut play(&topics, ""), |sim| sim, &[])),
        ("crash_and_resume", crash(&both)),
        ("cancelled", research(&mut play(&both, ""), |sim| sim.cancel(CancelAt::Entries(20)), &[])),
        ("deadline", research(&mut play(&both, ""), |sim| sim.step_ms(60_000), &[])),
        ("failed_researcher", research(&mut play(&both, "ConductResearch.3/researcher.2"), |sim| sim, &[])),
        ("answered_question", research(&mut play(&both, ""), |sim| sim, &review)),
        ("recursion", small(RECURSION, &OpTable::stock(), Map::new())),
        ("mcp_tools", small(MCP, &with_crm(), support::question("Who?"))),
        ("late_answer", small(LATE, &OpTable::stock(), Map::new())),
        ("went_on", went_on()),
        ("failed_over", small(FAILED_OVER, &OpTable::stock(), Map::new())),
        ("repaired", small(REPAIRED, &OpTable::stock(), Map::new())),
        ("failed_ops", research(&mut play(&both, "tools.1/search.1"), |sim| sim, &[])),
    ]
}

/// Killed behind an entry at which both researchers were out, then taken up again.
fn crash(turns: &Turns) -> Made {
    let bundle = support::stock("deep_research");
    let mut play = Play { turns: turns.clone(), ..Play::default() };
    let config = support::config(&bundle, &[]);
    let killed = Sim::in_world(&bundle, &mut play).seed(3).stop_at(18);
    let killed = killed.run(support::question("a question"), config);
    let resumed: SimRun = Sim::in_world(&bundle, &mut play).seed(4).resume(&killed.rows);
    (bundle, resumed.rows)
}

/// Ended by the limit of its child, went on with a higher one, and made its report once more.
fn went_on() -> Made {
    let bundle = compiled(WENT_ON, &OpTable::stock());
    let config = |most| support::config(&bundle, &[("most", Value::Int(most))]);
    let mut play = Play::default();
    let first = Sim::in_world(&bundle, &mut play).run(Map::new(), config(1));
    let raised = Sim::in_world(&bundle, &mut play).again(&first, config(3), ResumeFrom::Research);
    let raised = raised.expect("the limit is higher");
    let again = Sim::in_world(&bundle, &mut play).again(&raised, config(3), ResumeFrom::Report);
    let rows = again.expect("it has a report").rows;
    (bundle, rows)
}

fn small(text: &str, ops: &OpTable, input: Map) -> Made {
    let bundle = compiled(text, ops);
    let config = support::config(&bundle, &[]);
    let run = Sim::in_world(&bundle, &mut Play::default()).run(input, config);
    (bundle, run.rows)
}

fn compiled(text: &str, ops: &OpTable) -> Arc<Bundle> {
    let files = std::collections::BTreeMap::from([("graph.yaml".to_owned(), text.to_owned())]);
    let loaded = load("graph.yaml", &files, ops).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    Arc::new(loaded.bundle)
}

/// The outside of these runs.
#[derive(Default)]
struct Play {
    turns: Turns,
    /// The end of the id of a step that fails.
    broken: String,
}

impl Play {
    fn fails(&self, step: &StepId) -> Option<StepError> {
        let is_broken = !self.broken.is_empty() && step.as_str().ends_with(&self.broken);
        is_broken.then(|| fails(ErrorKind::Refusal, "not this"))
    }
}

impl Outside for Play {
    fn model(
        &mut self,
        step: &StepId,
        attempt: u32,
        request: &ModelRequest,
    ) -> Result<ModelReply, StepError> {
        if let Some(error) = self.fails(step) {
            return Err(error);
        }
        match (node(step), turn(request)) {
            ("report", _) if request.messages.iter().all(|message| *message.content == *"report") => {
                Ok(says("written"))
            }
            ("reach", _) if attempt == 1 => Err(fails(ErrorKind::Unavailable, "the provider is down")),
            ("reach", _) if attempt == 2 => {
                let too_long =
                    fails(ErrorKind::ContextOverflow, "a window of 40 tokens, and the request has 60");
                Err(StepError { window: Some(40), tokens: Some(60), ..too_long })
            }
            ("reach", _) => Ok(says("reached")),
            ("judge" | "say", _) => repaired(node(step), attempt),
            ("work", _) => Ok(says(if attempt == 1 { "late" } else { "in time" })),
            ("plan", _) => Ok(data(Value::record([
                ("objective", Value::from("Compare heights")),
                ("sub_questions", [Value::from("How high is each?")].into_iter().collect()),
            ]))),
            ("agent", 0) => Ok(calls([call("find", "{\"name\": \"Ada\"}"), call("find", "{\"nam\": 1}")])),
            ("agent", _) => Ok(says("Ada Lovelace")),
            _ => supervised::answer(&self.turns, step, request),
        }
    }

    fn op(&mut self, step: &StepId, _attempt: u32, op: &str, input: &Map) -> Result<Value, StepError> {
        match self.fails(step) {
            Some(error) => Err(error),
            None if op == "crm.find" => {
                Ok(Value::record([("text", Value::from("Ada Lovelace")), ("data", Value::Null)]))
            }
            None => supervised::ops(step, op, input),
        }
    }

    fn person(&mut self, _: &StepId, _: usize, _: &str, _: &OutputShape) -> Said {
        Said::Answer(Value::record([("action", Value::from("approve"))]))
    }

    fn route(&mut self, model: &str) -> Vec<String> {
        let fallback = (model == "main").then(|| "spare".to_owned());
        std::iter::once(model.to_owned()).chain(fallback).collect()
    }

    fn held(&mut self, step: &StepId, attempt: u32) -> Millis {
        if (node(step), attempt) == ("reach", 1) { 1500 } else { 0 }
    }

    fn takes(&mut self, step: &StepId, _op: Option<&str>, attempt: u32) -> Millis {
        match (node(step), attempt) {
            ("work", 1) => 12_000,
            ("work", _) => 9_000,
            _ => 5,
        }
    }
}

/// Replies that can not be taken, and those to the repair turns: a guess that counts then, and a text.
fn repaired(node: &str, attempt: u32) -> Result<ModelReply, StepError> {
    let verdict = |ok: Value| Value::record([("ok", ok)]);
    match (node, attempt) {
        ("judge", 1) => Ok(data(verdict("perhaps".into()))),
        ("judge", 2) => Err(fails(ErrorKind::ContextOverflow, "the request is too long")),
        ("judge", _) => Ok(ModelReply {
            guess: verdict(Value::Bool(true)),
            mended: vec!["quotation marks".into()],
            ..says("{'ok': yes")
        }),
        (_, 1) => Ok(ModelReply { finish: FinishReason::Empty, ..says("") }),
        _ => Ok(says("said")),
    }
}

const RECURSION: &str = "\
deepgraph: 1
name: levels
state: {levels: {type: [integer], reduce: append}}
output: [levels]
start: call
nodes:
  call: {call: level, input: {n: 1}, update: {levels: result.levels}}
graphs:
  level:
    state: {n: integer, levels: {type: [integer], reduce: append}, why: string}
    input: [n]
    output: [levels]
    limits: {depth: {count: depth, max: 3, refuse: true}}
    start: note
    nodes:
      note:   {update: {levels: limits.depth.left}, next: deeper}
      deeper: {call: level, input: {n: n + 1}, update: {levels: result.levels}, on_error: {update: {why: error.kind}}}
";

const LATE: &str = "\
deepgraph: 1
name: late
state: {text: string}
output: [text]
start: work
nodes:
  work: {model: m, prompt: work, timeout: 10s, retry: {max: 2, backoff: 0s}, update: {text: result.text}}
";

const FAILED_OVER: &str = "\
deepgraph: 1
name: route
state: {notes: {type: [string], reduce: append}, text: string}
output: [text]
start: open
nodes:
  open: {update: {notes: \"['an old note that is rather long, and more of it', 'a middle note that is long', 'the newest']\"}, next: reach}
  reach: {model: main, prompt: \"{% for n in notes %}{{ n }}\\n{% endfor %}Write.\", retry: 1, truncate: {cut: [notes]}, update: {text: result.text}}
";

const REPAIRED: &str = "\
deepgraph: 1
name: repaired
types:
  verdict: {ok: boolean}
state: {ok: boolean, text: string}
output: [ok, text]
start: judge
nodes:
  judge: {model: m, prompt: judge, returns: verdict, retry: {max: 2, backoff: 0s}, update: {ok: result.data.ok}, next: say}
  say:   {model: m, prompt: say, retry: {max: 2, backoff: 0s}, update: {text: result.text}}
";

const WENT_ON: &str = "\
deepgraph: 1
name: rounds
config: {most: {type: integer, default: 1}}
state: {notes: {type: [string], reduce: append}, report: string}
output: [notes, report]
start: look
finally: report
nodes:
  look:   {call: look, update: {notes: result.notes}, next: {exit: inherit}}
  report: {model: m, prompt: report, update: {report: result.text}}
graphs:
  look:
    config: {most: {type: integer, default: 1}}
    state: {notes: {type: [string], reduce: append}}
    output: [notes]
    limits: {rounds: {count: [work], max: config.most, exit: iteration_limit}}
    start: work
    nodes:
      work: {model: m, prompt: work, update: {notes: result.text}, next: work}
";

const MCP: &str = "\
deepgraph: 1
name: contacts
state: {question: string, messages: messages, answer: string}
input: [question]
output: [answer]
mcp:
  crm: {command: [crm-server]}
tools:
  find: {call: crm.find}
limits:
  turns: {count: turns, max: 4, exit: step_limit}
start: open
nodes:
  open: {update: {messages: [{user: question}]}, next: agent}
  agent:
    model: m
    messages: messages
    tools: [find]
    next:
      - {if: result.tool_calls, to: act}
      - {update: {answer: result.text}, exit: completed}
  act: {run_tools: agent, next: agent}
";

fn with_crm() -> OpTable {
    let schema = r#"{"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}"#;
    let tool = ServerTool {
        description: "Finds a person.".into(),
        read_only: Some(true),
        ..ServerTool::new("find", serde_json::from_str(schema).expect("it is JSON"))
    };
    OpTable::stock().with_server("crm", vec![tool])
}
