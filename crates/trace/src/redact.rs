//! Taking out what differs from run to run although nothing else does.

use deepgraph_protocol::{Clocks, Map, Meter, Value};

use crate::tree::{LimitInForce, Node, NodeKind, Outcome, ScopeTrace, Trace};

/// What stands for the run's date.
const DATE: &str = "[date]";
/// What stands for the moment when a page was fetched.
const FETCHED: &str = "[fetched]";

impl Trace {
    /// Without run id, times, deadlines, with `[fetched]` for the moments when pages were fetched, and with `[date]`
    /// where the run's date stood in requests, input and output. Two runs with the same inputs are equal then.
    ///
    /// `date` is the run's date as prompts read it, `YYYY-MM-DD`.
    pub fn redact(mut self, date: &str) -> Trace {
        self.run = None;
        self.ledger.clear();
        scope(&mut self.root, date);
        self
    }
}

fn scope(trace: &mut ScopeTrace, date: &str) {
    trace.grant = None;
    trace.time = None;
    let earlier = trace.earlier.iter_mut().map(|earlier| &mut earlier.exit);
    trace.exit.iter_mut().chain(earlier).for_each(|exit| exit.clocks = Clocks::default());
    // How far past its mark a clock was depends on when it was looked at.
    trace.warned.iter_mut().for_each(|warned| warned.value = warned.value.min(warned.mark));
    // What a child is granted of a clock depends on when it was started, and so do its own limits on that clock.
    let is_granted = !trace.scope.is_root();
    let is_clock = |limit: &&mut LimitInForce| limit.meter.is_some_and(Meter::is_clock);
    for limit in trace.limits.iter_mut().filter(is_clock).filter(|_| is_granted) {
        (limit.max, limit.kept) = (None, 0.0);
    }
    trace.input = map(&trace.input, date);
    trace.output = map(&trace.output, date);
    for node in trace.super_steps.iter_mut().flat_map(|s| &mut s.nodes) {
        redact_node(node, date);
    }
}

fn redact_node(node: &mut Node, date: &str) {
    node.time = None;
    node.request_hash = None;
    node.failed_attempts.iter_mut().for_each(|attempt| attempt.time = None);
    if let Some(args) = &mut node.args {
        *args = redact_value(args, date);
    }
    match &mut node.kind {
        NodeKind::Model(request) => {
            for message in &mut request.messages {
                message.content = text(&message.content, date);
            }
            request.context = map(&request.context, date);
        }
        NodeKind::Op { input, given, .. } => {
            *input = map(input, date);
            *given = map(given, date);
        }
        NodeKind::Ask { question } => *question = text(question, date),
        NodeKind::Plain | NodeKind::Graph => {}
    }
    if let Some(Outcome::Value(value)) = &mut node.outcome {
        *value = redact_value(value, date);
    }
    node.calls.iter_mut().for_each(|call| redact_node(call, date));
    if let Some(child) = &mut node.child {
        scope(child, date);
    }
}

fn text(text: &str, date: &str) -> std::sync::Arc<str> {
    if date.is_empty() { text.into() } else { text.replace(date, DATE).into() }
}

fn map(fields: &Map, date: &str) -> Map {
    let is_moment = |k: &str, v: &Value| k == "fetched" && v.as_str().is_some();
    let field = |(k, v): (&std::sync::Arc<str>, &Value)| match is_moment(k, v) {
        true => (k.clone(), Value::from(FETCHED)),
        false => (k.clone(), redact_value(v, date)),
    };
    fields.iter().map(field).collect()
}

fn redact_value(value: &Value, date: &str) -> Value {
    match value {
        Value::Text(s) if !date.is_empty() && s.contains(date) => Value::Text(text(s, date)),
        Value::List(items) => items.iter().map(|i| redact_value(i, date)).collect(),
        Value::Map(fields) => Value::from(map(fields, date)),
        other => other.clone(),
    }
}
