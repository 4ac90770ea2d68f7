//! What is declared and never used.

use std::collections::BTreeSet;

use super::Checked;
use crate::diagnostic::code;
use crate::read::{Decl, Decls, Reader, Reading};
use crate::source::{Kind, Node};
use crate::{ToolIx, Verb};

/// Tools that no node offers. Beside a mistake only those that nothing in the nodes can mean.
pub(super) fn tools(checked: &mut Checked<'_, '_>, decl: &Decl<'_>) {
    let graph = checked.graph;
    let is_offered = |index: usize| {
        let nodes = graph.nodes.iter();
        nodes
            .filter_map(|n| if let Verb::Model(model) = &n.verb { Some(model) } else { None })
            .any(|model| model.tools.iter().any(|tool| tool.0 == index))
    };
    let unused: Vec<_> = decl.tools.iter().enumerate().filter(|(index, _)| !is_offered(*index)).collect();
    if unused.is_empty() {
        return;
    }
    let has_errors = checked.reader.out.has_errors();
    let mut said = BTreeSet::new();
    if has_errors && let Some(nodes) = decl.node.get("nodes") {
        texts(nodes, &mut said);
        if nodes.entries().iter().any(|(_, node)| decl.lists_unknown_tools(node)) {
            return;
        }
    }
    for (index, tool) in unused.into_iter().filter(|(_, tool)| !said.contains(&*tool.key.name)) {
        // A set is told of as one, unless some of it is offered.
        let tool = match decl.set_of(ToolIx(index)) {
            Some(set) if said.contains(&*set.key.name) => continue,
            Some(set) if !set.tools.iter().any(|t| is_offered(t.0)) => set.key,
            _ => tool.key,
        };
        let message = format!("no model node offers the tool \"{}\"", tool.name);
        let help = format!("list it: tools: [{}]", tool.name);
        checked.reader.warning(code::UNUSED, tool.place, message).help(help);
    }
}

/// Graphs that nobody calls. Beside a mistake only those that nothing can mean.
pub(super) fn graphs(reader: &mut Reader<'_>, decls: &Decls<'_>, reading: &Reading) {
    let mut said = BTreeSet::new();
    if reader.out.has_errors() {
        for decl in &decls.graphs {
            let parts = ["nodes", "tools"].into_iter().filter_map(|part| decl.node.get(part));
            for part in parts {
                texts(part, &mut said);
                if part.entries().iter().any(|(_, node)| calls_unknown(node, decl, reader)) {
                    return;
                }
            }
        }
    }
    // Of another file only some graphs may be wanted.
    let own = decls.graphs.iter().enumerate().filter(|(_, decl)| decl.file == 0);
    for (index, decl) in own.skip(1) {
        let called = reading.sites.iter().any(|s| s.calls.iter().any(|(_, callee)| *callee == index));
        // A name that is taken can not be called, and that is told already.
        let is_taken = decls.graphs.iter().take(index).any(|before| before.name == decl.name);
        if !called && !is_taken && !said.contains(&*decl.name) {
            reader.warning(code::UNUSED, decl.place, format!("nothing calls the graph \"{}\"", decl.name));
        }
    }
}

/// Whether a node or tool calls what there is not: it may stand for any graph.
fn calls_unknown(node: &Node, decl: &Decl<'_>, reader: &Reader<'_>) -> bool {
    let is_known = |name: &str| {
        let other = name.contains(['.', '#']);
        other || decl.callable.contains_key(name) || reader.ops.get(name).is_some()
    };
    node.get("call").is_some_and(|call| call.text().is_none_or(|name| !is_known(name)))
}

/// All texts below a node.
fn texts<'t>(node: &'t Node, found: &mut BTreeSet<&'t str>) {
    match &node.kind {
        Kind::Text(scalar) => {
            found.insert(&scalar.text);
        }
        Kind::List(items) => items.iter().for_each(|item| texts(item, found)),
        Kind::Map(entries) => entries.iter().for_each(|(_, value)| texts(value, found)),
        _ => {}
    }
}
