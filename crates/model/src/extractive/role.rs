//! Which part a request wants to have played, by its shape.

use deepgraph_protocol::{Handoff, ModelRequest, OutputShape, Role as Speaker, ToolRole, ToolSpec, Value};

use super::material::{self, Material};
use super::research::Researcher;
use super::supervise::Supervisor;

/// The part to play.
pub(super) enum Role<'a> {
    /// A tool that starts a graph is offered: take the question apart, delegate, look at what came back.
    Supervisor(Supervisor<'a>),
    /// A tool that searches is offered: search and read.
    Researcher(Researcher<'a>),
    /// Structured output is asked for.
    Structured(&'a OutputShape),
    /// The state holds handoffs: write the report.
    Writer(Vec<Handoff>),
    /// The conversation holds tool answers: write the handoff.
    Compressor,
    /// The state holds passages or notes: answer from them.
    Answerer(Material),
    /// Nothing to work from but the question.
    Brief,
}

impl<'a> Role<'a> {
    /// The part that a request wants to have played.
    pub fn of(request: &'a ModelRequest) -> Role<'a> {
        let of_kind = |wanted: &ToolRole| request.tools.iter().find(|tool| tool.role == *wanted);
        if let Some(delegate) = of_kind(&ToolRole::Graph) {
            return Role::Supervisor(Supervisor { delegate, finish: of_kind(&ToolRole::Exit) });
        }
        if let Some(search) = op(request, "search") {
            return Role::Researcher(Researcher {
                search,
                read: op(request, "read"),
                finish: of_kind(&ToolRole::Exit),
            });
        }
        if let Some(shape) = &request.output {
            return Role::Structured(shape);
        }
        if let Some(handoffs) = handoffs(request) {
            return Role::Writer(handoffs);
        }
        if request.messages.iter().any(|m| m.role == Speaker::Tool) {
            return Role::Compressor;
        }
        match material::material(request) {
            Some(material) => Role::Answerer(material),
            None => Role::Brief,
        }
    }
}

/// The tool that runs an op, or one of another server that says by its name that it does the same.
fn op<'a>(request: &'a ModelRequest, name: &str) -> Option<&'a ToolSpec> {
    let runs = |tool: &&ToolSpec| matches!(&tool.role, ToolRole::Op(op) if **op == *name);
    let sounds =
        |tool: &&ToolSpec| matches!(&tool.role, ToolRole::Op(_)) && tool.name.to_lowercase().contains(name);
    request.tools.iter().find(runs).or_else(|| request.tools.iter().find(sounds))
}

/// The handoffs in the state that the templates read; none where they read no such channel.
fn handoffs(request: &ModelRequest) -> Option<Vec<Handoff>> {
    let is_handoff = |value: &Value| value.get("objective").is_some() && value.get("findings").is_some();
    let lists = request.context.iter().filter_map(|(name, value)| Some((name, value.as_list()?)));
    let mut found: Option<Vec<Handoff>> = None;
    for (name, list) in lists {
        if list.iter().any(is_handoff) || (list.is_empty() && name.contains("handoff")) {
            let handoffs = list.iter().filter(|v| is_handoff(v)).filter_map(|v| v.to().ok());
            found.get_or_insert_default().extend(handoffs);
        }
    }
    found
}
