//! A trace as text.

mod attempts;
mod fee;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use deepgraph_protocol::{Exit, Map, Message, ModelReply, ModelRequest, OutputShape, Spent, Value};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::tree::{Node, NodeKind, Outcome, ScopeTrace, Trace, Warned};

/// How much a text trace shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Each step with a digest of what its request sends to a model, the beginning of long texts.
    #[default]
    Short,
    /// Whole requests and whole texts.
    Full,
}

/// Characters of a text that the short form shows.
const SHOWN: usize = 300;

impl Trace {
    /// The trace as indented text, a line an item, in canonical order.
    pub fn to_text(&self, detail: Detail) -> String {
        let mut out = Printer { text: String::new(), detail };
        if let Some(run) = &self.run {
            out.line(0, format_args!("run {run}"));
        }
        let status = self.status.map_or("running", |s| s.name());
        out.line(0, format_args!("status {status}"));
        for (key, value) in &self.config {
            out.line(0, format_args!("config {key} = {value}"));
        }
        out.scope(&self.root, 0);
        out.text
    }

    /// The trace as JSON: every step's whole input and output. What only graphs give to an op is there by size and hash:
    /// it is a part of the state, which grows.
    pub fn to_json(&self) -> String {
        // Through our own values: their keys are sorted, whatever serde_json's maps do in this build.
        let value = Value::of(self);
        serde_json::to_string_pretty(&value).unwrap_or_default()
    }
}

struct Printer {
    text: String,
    detail: Detail,
}

impl Printer {
    fn line(&mut self, depth: usize, what: std::fmt::Arguments<'_>) {
        for _ in 0..depth {
            self.text.push_str("  ");
        }
        // Writing to a string can not fail.
        let _ = self.text.write_fmt(what);
        self.text.push('\n');
    }

    /// A text, quoted as JSON so that it stays one line; cut in the short form.
    fn quote(&self, text: &str) -> String {
        let shown = match self.detail {
            Detail::Full => text.to_owned(),
            Detail::Short => match text.char_indices().nth(SHOWN) {
                Some((at, _)) => format!("{}… ({} bytes)", &text[..at], text.len()),
                None => text.to_owned(),
            },
        };
        Value::from(shown).to_json_text()
    }

    fn value(&self, value: &Value) -> String {
        match value {
            Value::Text(text) => self.quote(text),
            Value::List(items) => {
                format!("[{}]", items.iter().map(|i| self.value(i)).collect::<Vec<_>>().join(", "))
            }
            Value::Map(fields) => format!("{{{}}}", self.fields(fields)),
            plain => plain.to_json_text(),
        }
    }

    fn fields(&self, fields: &Map) -> String {
        fields.iter().map(|(k, v)| format!("{k}: {}", self.value(v))).collect::<Vec<_>>().join(", ")
    }

    /// A value whose long form would drown the trace: whole in the full form, else its size.
    fn bulky(&self, value: &Value) -> String {
        let json = value.to_json_text();
        if self.detail == Detail::Full || json.len() <= SHOWN {
            return self.value(value);
        }
        let count = match value {
            Value::List(items) => format!("{} items, ", items.len()),
            Value::Map(fields) => format!("{} keys, ", fields.len()),
            Value::Text(_) => return self.value(value),
            _ => String::new(),
        };
        format!("({count}{} bytes, sha256 {})", json.len(), digest(&json))
    }

    fn scope(&mut self, scope: &ScopeTrace, depth: usize) {
        self.line(depth, format_args!("graph {}", scope.graph));
        let depth = depth + 1;
        for (name, value) in &scope.input {
            let shown = self.bulky(value);
            self.line(depth, format_args!("input {name} = {shown}"));
        }
        for (index, super_step) in scope.super_steps.iter().enumerate() {
            self.earlier(scope, index, depth);
            let stage = if super_step.in_finally { " (finally)" } else { "" };
            self.line(depth, format_args!("super-step {}{stage}", super_step.number));
            for node in &super_step.nodes {
                self.node(node, depth + 1);
            }
        }
        self.earlier(scope, scope.super_steps.len(), depth);
        for Warned { limit, mark, bound, .. } in &scope.warned {
            self.line(depth, format_args!("warned limit {limit} passed {mark} of {bound}"));
        }
        if let Some(exit) = &scope.exit {
            self.exit(exit, depth);
        }
        self.report(scope, scope.report, scope.report_error.as_ref(), depth);
        for (name, value) in &scope.output {
            let shown = self.bulky(value);
            self.line(depth, format_args!("output {name} = {shown}"));
        }
        self.line(depth, format_args!("used {}", spent(&scope.settled)));
    }

    fn exit(&mut self, exit: &Exit, depth: usize) {
        let mut line = format!("exit {} (attempt {})", exit.reason, exit.attempt);
        if let Some(limit) = &exit.limit {
            let _ = write!(line, " by limit {} at {} of {}", limit.name, limit.value, limit.bound);
        }
        if !exit.also.is_empty() {
            let also: Vec<&str> = exit.also.iter().map(|r| r.name()).collect();
            let _ = write!(line, ", also {}", also.join(", "));
        }
        if let Some(findings) = exit.findings {
            let _ = write!(line, ", findings {findings}");
        }
        self.line(depth, format_args!("{line}"));
        let counters: Vec<String> = exit.counters.iter().map(|(k, v)| format!("{k} {v}")).collect();
        self.line(depth, format_args!("counters {}", counters.join(", ")));
        if let Some(step) = &exit.last_step {
            self.line(depth, format_args!("last step {}", step.last()));
        }
        if let Some(detail) = &exit.detail {
            let detail = self.quote(detail);
            self.line(depth, format_args!("detail {detail}"));
        }
        for step in &exit.unknown_writes {
            self.line(depth, format_args!("unknown_write {step}"));
        }
        for left in &exit.not_undone {
            let why = self.quote(&left.why);
            self.line(depth, format_args!("not_undone {} op {} {why}", left.step, left.op));
        }
    }

    fn node(&mut self, node: &Node, depth: usize) {
        let took = node.time.map_or(String::new(), |(from, to)| format!(" {} ms", to.saturating_sub(from)));
        match &node.kind {
            NodeKind::Plain => self.line(depth, format_args!("{}{took}", node.step.last())),
            NodeKind::Model(request) => {
                self.line(depth, format_args!("{} model {}{took}", node.step.last(), request.model));
                self.request(request, depth + 1);
            }
            NodeKind::Op { op, input, given } => {
                let all: BTreeMap<_, _> = input.iter().chain(given).collect();
                let shown: Vec<String> =
                    all.into_iter().map(|(name, value)| format!("{name}: {}", self.bulky(value))).collect();
                let shown = shown.join(", ");
                self.line(depth, format_args!("{} op {op} {{{shown}}}{took}", node.step.last()));
            }
            NodeKind::Graph => self.line(depth, format_args!("{}{took}", node.step.last())),
            NodeKind::Ask { question } => {
                let question = self.quote(question);
                self.line(depth, format_args!("{} ask {question}{took}", node.step.last()));
            }
        }
        let depth = depth + 1;
        for attempt in &node.failed_attempts {
            self.attempt(attempt, depth);
        }
        self.sending(&node.sent, depth);
        for call in &node.calls {
            self.node(call, depth);
        }
        if let Some(child) = &node.child {
            self.scope(child, depth);
        }
        self.fee(node, depth);
        match &node.outcome {
            None | Some(Outcome::Done) => {}
            Some(Outcome::Reply(reply)) => self.reply(reply, depth),
            Some(Outcome::Value(value)) => self.result(value, depth),
            Some(Outcome::Refused(reason)) => self.line(depth, format_args!("refused: {reason}")),
            Some(Outcome::Malformed(reason)) => self.line(depth, format_args!("malformed: {reason}")),
            Some(Outcome::Failed(error)) => self.line(depth, format_args!("failed: {error}")),
        }
    }

    fn result(&mut self, value: &Value, depth: usize) {
        let Value::Map(fields) = value else {
            let shown = self.value(value);
            return self.line(depth, format_args!("= {shown}"));
        };
        for (name, value) in fields.iter() {
            let shown = self.bulky(value);
            self.line(depth, format_args!("{name} = {shown}"));
        }
    }

    fn request(&mut self, request: &ModelRequest, depth: usize) {
        if self.detail == Detail::Short {
            let digest = digest(&Value::of(&Sent::of(request)).to_json_text());
            let tools = request.tools.len();
            let messages = request.messages.len();
            return self
                .line(depth, format_args!("request {messages} messages, {tools} tools, sha256 {digest}"));
        }
        for message in &request.messages {
            self.message(message, depth);
        }
        for tool in &request.tools {
            self.line(depth, format_args!("tool {} {}", tool.name, tool.parameters));
        }
        if let Some(output) = &request.output {
            self.line(depth, format_args!("returns {} {}", output.name, output.schema));
        }
    }

    fn message(&mut self, message: &Message, depth: usize) {
        let role = message.role.name();
        let content = self.quote(&message.content);
        self.line(depth, format_args!("{role}: {content}"));
        for call in &message.tool_calls {
            self.line(depth + 1, format_args!("calls {} {}", call.name, call.arguments));
        }
    }

    fn reply(&mut self, reply: &ModelReply, depth: usize) {
        if !reply.text.is_empty() {
            let text = self.quote(&reply.text);
            self.line(depth, format_args!("text {text}"));
        }
        for call in &reply.tool_calls {
            self.line(depth, format_args!("calls {} {}", call.name, call.arguments));
        }
        if !reply.data.is_null() {
            let data = self.value(&reply.data);
            self.line(depth, format_args!("data {data}"));
        }
        if !reply.guess.is_null() {
            let guess = self.value(&reply.guess);
            self.line(depth, format_args!("guess {guess}"));
        }
        if !reply.mended.is_empty() {
            self.line(depth, format_args!("mended {}", reply.mended.join("; ")));
        }
        let usage = &reply.usage;
        let estimated = if usage.estimated { " (estimated)" } else { "" };
        self.line(
            depth,
            format_args!(
                "finish {}, {} + {} tokens{estimated}, {}",
                reply.finish.name(),
                usage.input_tokens,
                usage.output_tokens,
                reply.cost_micro_usd.map_or("cost unknown".to_owned(), |c| format!("{c} µ$"))
            ),
        );
    }
}

/// What a language model is sent of a request. The digest is over this, so that a request is another one only where a
/// model could tell: not for a channel that its templates read without a word of it in the text, and not for the
/// identity of a message in its channel.
#[derive(Serialize)]
struct Sent<'a> {
    model: &'a str,
    messages: Vec<Message>,
    tools: Vec<Offered<'a>>,
    output: Option<&'a OutputShape>,
    max_output: Option<u64>,
    options: &'a Map,
}

#[derive(Serialize)]
struct Offered<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

impl Sent<'_> {
    fn of(request: &ModelRequest) -> Sent<'_> {
        // Whole, so that a new field has to be sent or left out here.
        let ModelRequest { model, messages, tools, output, max_output, options, context: _ } = request;
        let messages = messages.iter().map(|message| Message { id: None, ..message.clone() }).collect();
        let offered = tools.iter().map(|tool| Offered {
            name: &tool.name,
            description: &tool.description,
            parameters: &tool.parameters,
        });
        Sent {
            model,
            messages,
            tools: offered.collect(),
            output: output.as_ref(),
            max_output: *max_output,
            options,
        }
    }
}

fn spent(spent: &Spent) -> String {
    let unknown = if spent.cost_unknown > 0 {
        format!(" and {} calls of unknown price", spent.cost_unknown)
    } else {
        String::new()
    };
    format!(
        "{} model calls, {} tool calls, {} tokens, {} µ${unknown}",
        spent.model_calls, spent.tool_calls, spent.tokens, spent.cost_micro_usd
    )
}

/// The first 12 hexadecimal digits of the SHA-256.
fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(6).map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use deepgraph_protocol::{Role, ToolRole, ToolSpec};

    use super::*;

    fn request() -> ModelRequest {
        ModelRequest {
            model: "m".to_owned(),
            messages: vec![Message::new(Role::User, "How high?")],
            tools: vec![ToolSpec {
                name: "search".into(),
                description: "Searches.".into(),
                parameters: Value::empty_map(),
                role: ToolRole::Op("search".into()),
            }],
            output: None,
            max_output: None,
            options: Map::default(),
            context: Map::default(),
        }
    }

    /// The digest of the request with one thing changed.
    fn changed(change: impl FnOnce(&mut ModelRequest)) -> String {
        let mut request = request();
        change(&mut request);
        let mut out = Printer { text: String::new(), detail: Detail::Short };
        out.request(&request, 0);
        out.text
    }

    #[test]
    fn the_digest_is_that_of_what_a_model_is_sent() {
        let before = changed(|_| {});
        let one = || [(Arc::<str>::from("k"), Value::Int(1))].into_iter().collect::<Map>();
        assert_eq!(changed(|r| r.context = one()), before);
        assert_eq!(changed(|r| r.messages[0].id = Some("other".into())), before);
        assert_eq!(changed(|r| r.tools[0].role = ToolRole::Op("find".into())), before);
        for other in [
            changed(|r| r.model = "n".to_owned()),
            changed(|r| r.messages[0].content = "How far?".into()),
            changed(|r| r.tools[0].description = "Finds.".into()),
            changed(|r| r.tools[0].parameters = Value::record([("type", Value::from("object"))])),
            changed(|r| r.output = Some(OutputShape { name: "height".into(), schema: Value::empty_map() })),
            changed(|r| r.max_output = Some(9)),
            changed(|r| r.options = one()),
        ] {
            assert_ne!(other, before);
        }
    }
}
