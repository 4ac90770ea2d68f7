//! Limits that look at the arguments of the calls that they count: `if` and `per`.

use super::{Home, Reader};
use crate::diagnostic::code;
use crate::infer::Scope;
use crate::source::Node;
use crate::{Counted, Field, RecordType, ToolIx, Type, ValueExpr};

/// What a limit looks at in the arguments.
pub(crate) struct OfArguments {
    /// Which calls it counts.
    pub condition: Option<ValueExpr>,
    /// Of what there is one count each.
    pub per: Option<ValueExpr>,
}

impl Reader<'_> {
    /// `if` and `per` of a limit; `counted` is none where that could not be read in full.
    pub(crate) fn of_arguments(
        &mut self,
        node: &Node,
        counted: Option<&Counted>,
        home: Home<'_>,
    ) -> OfArguments {
        let tools = match counted {
            Some(Counted::Names { tools, nodes }) if nodes.is_empty() => Ok(tools.as_slice()),
            None => Ok(&[][..]),
            Some(Counted::Names { .. }) => Err("visits of nodes, which have none"),
            Some(Counted::Meter(_)) => Err("by a meter"),
            Some(Counted::Gain { .. }) => Err("what is new in a channel"),
        };
        for name in ["if", "per"] {
            if let (Err(counts), Some((key, _))) = (tools, node.entry(name)) {
                let message =
                    format!("`{name}` looks at the arguments of calls, and this limit counts {counts}");
                self.error(code::CONFLICT, key.place, message).help("count tools by name: count: [TOOL]");
            }
        }
        if node.get("if").is_none() && node.get("per").is_none() {
            return OfArguments { condition: None, per: None };
        }
        let args = self.common_args(tools.unwrap_or(&[]), home);
        let scope = Scope { args: Some(args), ..Scope::plain(home) };
        OfArguments {
            condition: node.get("if").and_then(|n| self.condition(n, &scope, "`if`")),
            per: node.get("per").and_then(|n| self.value(n, &scope)).map(|read| read.value),
        }
    }

    /// The arguments of several tools: all of their fields, for what one does not have is null.
    fn common_args(&mut self, tools: &[ToolIx], home: Home<'_>) -> Type {
        let mut fields: Vec<(std::sync::Arc<str>, Field)> = Vec::new();
        for tool in tools {
            let Type::Record(record) = self.args_of(*tool, home) else { return Type::Any };
            for (name, field) in &record.fields {
                match fields.iter_mut().find(|(n, _)| n == name) {
                    Some((_, known)) if known.ty != field.ty => *known = Field::of(Type::Any),
                    Some(_) => {}
                    None => fields.push((name.clone(), field.clone())),
                }
            }
        }
        if tools.is_empty() {
            return Type::Any;
        }
        Type::Record(std::sync::Arc::new(RecordType { name: None, fields, open: false }))
    }
}
