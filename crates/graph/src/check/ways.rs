//! Ways of a route that can never be taken because of their own condition.

use crate::diagnostic::code;
use crate::read::{Decl, Reader};
use crate::source::{Kind, Node};

/// Reports ways whose condition is `false`, and ways whose condition an earlier way of the same list has too.
pub(super) fn never_taken(reader: &mut Reader<'_>, decl: &Decl<'_>) {
    for key in ["start", "finally"] {
        route(reader, decl.node.get(key));
    }
    for named in decl.tools.iter().chain(&decl.nodes) {
        for key in ["next", "on_error"] {
            route(reader, named.node.get(key));
        }
    }
}

fn route(reader: &mut Reader<'_>, node: Option<&Node>) {
    let Some(node) = node else { return };
    let ways = match &node.kind {
        Kind::List(ways) => ways.as_slice(),
        _ => std::slice::from_ref(node),
    };
    for (index, way) in ways.iter().enumerate() {
        let Some(condition) = way.get("if") else { continue };
        let earlier = ways.iter().take(index).find(|before| same(before.get("if"), condition));
        let message = match (&condition.kind, earlier) {
            (Kind::Bool(false), _) => "this way is never taken: its `if` is false".to_owned(),
            (_, Some(before)) => format!(
                "this way is never taken: the one in line {} has the same condition and comes first",
                before.place.line
            ),
            _ => continue,
        };
        reader.error(code::NEVER_TAKEN, way.place, message).help("take it out, or change its condition");
    }
}

fn same(earlier: Option<&Node>, condition: &Node) -> bool {
    match (earlier.and_then(Node::text), condition.text()) {
        (Some(a), Some(b)) => a.trim() == b.trim(),
        _ => false,
    }
}
