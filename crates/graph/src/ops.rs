//! The ops: what a graph may call beside graphs.
//!
//! An op is known here by its name and types only; what it does is registered with the runtime.

pub(crate) mod server;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_protocol::{Map, Value};

use crate::diagnostic::{Diagnostics, Sink, code};
use crate::read::fields::{TypeEnv, Typing};
use crate::source::{self, FileText, Node};
use crate::types::builtin;
use crate::{Field, Mismatch, RecordType, Type, nearest};

pub use server::{ServerTool, ToolOrigin, USER_SERVERS};

/// Ops of the agreed language that do not exist yet.
pub const NOT_BUILT: [&str; 3] = ["publish", "assemble_published", "propose_profile"];

/// An op as graphs see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Op {
    /// Its name.
    pub name: Arc<str>,
    /// What it does, for models.
    pub description: Arc<str>,
    /// Its input, by name.
    pub input: Vec<(Arc<str>, Field)>,
    /// Which fields of its input only graphs give: as a tool, a model is not asked for them. They come from the state, so
    /// traces and recordings hold them by their digest.
    pub given: Vec<Arc<str>>,
    /// The fields of its result; always with `text`.
    pub result: Arc<RecordType>,
    /// Whether it changes anything outside.
    pub writes: bool,
    /// The JSON Schema of its input as its server gives it, for models; none: that of `input`.
    pub schema: Option<Value>,
    /// Whether fields that are not in `input` are passed on.
    pub open: bool,
}

impl Op {
    /// Checks an input and completes it with defaults. Fields that are not given and optional stay away.
    pub fn check_input(&self, input: &Map) -> Result<Map, Mismatch> {
        let record =
            RecordType { name: Some(self.name.clone()), fields: self.input.clone(), open: self.open };
        let field = Field::of(Type::Record(Arc::new(record)));
        let checked = field.check(&Value::from(input.clone()))?;
        Ok(checked.as_map().cloned().unwrap_or_default())
    }
}

/// The number of the stock ops as they are declared now. It goes up where what models are offered of them changes: a
/// run goes on with what it began with.
pub(crate) const STOCK: u32 = 1;

/// The ops that graphs may call, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpTable {
    ops: BTreeMap<Arc<str>, Op>,
    /// The number of its stock ops.
    pub(crate) stock: u32,
    /// The tools of the MCP servers whose lists are known, by server.
    servers: BTreeMap<Arc<str>, Vec<ServerTool>>,
}

impl OpTable {
    /// The ops of the stock graphs.
    pub fn stock() -> OpTable {
        // The text is part of this crate and a test reads it.
        let stock = OpTable::default().with(include_str!("ops/stock.yaml")).unwrap_or_default();
        OpTable { stock: STOCK, ..stock }
    }

    /// The same ops as models were offered them under an earlier number. What was put in place of a stock op stays.
    pub(crate) fn into_earlier(mut self, stock: u32) -> OpTable {
        if stock >= self.stock {
            return self;
        }
        let now = OpTable::stock();
        let before = OpTable::default().with(include_str!("ops/stock_0.yaml")).unwrap_or_default();
        for (name, before) in before.ops {
            if let Some(op) = self.ops.get_mut(&name).filter(|op| now.get(&name) == Some(&**op)) {
                let given = op.input.iter().filter(|(name, _)| op.given.contains(name)).cloned();
                op.input = before.input.into_iter().chain(given).collect();
                op.description = before.description;
            }
        }
        self.stock = stock;
        self
    }

    /// Adds ops from a YAML text: `NAME: {description, effect: read or write, input: {NAME: F}, given: {NAME: F},
    /// result: {NAME: F}}`, with F as in graph files. `given` is input that a model is not asked for. An op of the same
    /// name is replaced. A result without `text` gets it; `effect` is `write` where it is not said.
    pub fn with(mut self, text: &str) -> Result<OpTable, Diagnostics> {
        let file = FileText::new("ops", text);
        let mut out = Sink::default();
        let parsed = source::parse(text);
        out.unread(&file, parsed.errors);
        for (key, node) in parsed.node.iter().flat_map(Node::entries) {
            let op = read_op(&key.name, node, &file, &mut out);
            self.ops.insert(key.name.clone(), op);
        }
        if out.has_errors() { Err(out.finish(&file)) } else { Ok(self) }
    }

    /// The op of a name.
    pub fn get(&self, name: &str) -> Option<&Op> {
        self.ops.get(name)
    }

    /// The input of a call in two: what the call is about, and what only graphs give ([`Op::given`]).
    pub fn split(&self, op: &str, input: Map) -> (Map, Map) {
        match self.get(op) {
            Some(op) if !op.given.is_empty() => {
                input.into_iter().partition(|(name, _)| !op.given.contains(name))
            }
            _ => (input, Map::new()),
        }
    }

    /// All names, in byte order.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.ops.keys().map(|k| &**k)
    }
}

fn read_op(name: &Arc<str>, node: &Node, file: &FileText, out: &mut Sink) -> Op {
    let mut op = Op {
        name: name.clone(),
        description: "".into(),
        input: Vec::new(),
        given: Vec::new(),
        result: Arc::new(RecordType { name: None, fields: Vec::new(), open: false }),
        writes: true,
        schema: None,
        open: false,
    };
    let types = TypeEnv::default();
    for (key, value) in node.entries() {
        match &*key.name {
            "description" => op.description = value.text().cloned().unwrap_or_default(),
            "effect" => op.writes = value.text().is_none_or(|t| &**t != "read"),
            "input" => op.input.extend(Typing { file, out, own: None }.fields(value, &types)),
            "given" => {
                let fields = Typing { file, out, own: None }.fields(value, &types);
                op.given = fields.iter().map(|(name, _)| name.clone()).collect();
                op.input.extend(fields);
            }
            "result" => {
                let mut fields = Typing { file, out, own: None }.fields(value, &types);
                if !fields.iter().any(|(n, _)| &**n == "text") {
                    fields.push(("text".into(), Field::of(Type::String)));
                }
                op.result = Arc::new(RecordType { name: None, fields, open: false });
            }
            other => {
                let help = nearest::hint(other, ["description", "effect", "input", "given", "result"]);
                let message = format!("unknown key \"{other}\" in op \"{name}\"");
                out.error(code::UNKNOWN_KEY, file, key.place, message).hint(help);
            }
        }
    }
    if op.result.fields.is_empty() {
        let text = Field::of(builtin::built_in("string").unwrap_or(Type::Any));
        op.result = Arc::new(RecordType { name: None, fields: vec![("text".into(), text)], open: false });
    }
    op
}
