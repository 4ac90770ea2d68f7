//! The boxes of nodes, tools and limits.

use super::{Item, Kind, Overlay, words};
use crate::{
    Bundle, Callee, Graph, Limit, Node, NodeIx, OnReach, Overflow, Setting, Tool, ToolIx, Type, ValueExpr,
    Verb,
};

/// The box of a node.
pub(super) fn node(bundle: &Bundle, graph: &Graph, overlay: &Overlay<'_>, ix: NodeIx, id: String) -> Item {
    let Some(node) = graph.nodes.get(ix.0) else { return plain(id, Kind::Pass, "") };
    let kind = match &node.verb {
        Verb::Pass => Kind::Pass,
        Verb::Model(_) => Kind::Model,
        Verb::RunTools(_) => Kind::RunTools,
        Verb::Call(call) if matches!(call.callee, Callee::Graph(_)) => Kind::Graph,
        Verb::Call(_) => Kind::Op,
        Verb::Ask(_) => Kind::Ask,
    };
    Item {
        name: node.name.to_string(),
        detail: words::verb(bundle, graph, &node.verb),
        badges: node_badges(graph, overlay, ix, node),
        tip: node_tip(bundle, graph, node),
        seen: overlay.seen(|t| t.visits.get(&ix).copied().unwrap_or(0)),
        open: overlay.taken.and_then(|t| t.open.get(&ix).copied()).unwrap_or(0),
        ..plain(id, kind, "")
    }
}

/// What is to be seen of a node beside its verb. Each remark is a few words: it is drawn in one line.
fn node_badges(graph: &Graph, overlay: &Overlay<'_>, ix: NodeIx, node: &Node) -> Vec<String> {
    let mut badges = Vec::new();
    if !node.after.is_empty() {
        let names: Vec<&str> = node.after.iter().map(|source| words::node_name(graph, *source)).collect();
        badges.push(format!("after {}", names.join(" + ")));
    }
    badges.extend(node.defer.then(|| "when nothing else runs".to_owned()));
    if let Some(each) = &node.each {
        let (list, most) = (each.list.as_written(), each.max_items.as_written());
        let parallel = each.parallel.as_ref().map(|p| format!(", parallel ≤ {}", words::setting(p)));
        badges.push(format!("each {list} ≤ {most}{}", parallel.unwrap_or_default()));
        let items = overlay.taken.and_then(|t| t.items.get(&ix)).filter(|n| **n > 0);
        badges.extend(items.map(|n| format!("{n} items")));
    }
    let returns = match &node.verb {
        Verb::Model(model) => model.returns.as_ref(),
        Verb::Ask(ask) => Some(&ask.returns),
        Verb::Pass | Verb::RunTools(_) | Verb::Call(_) => None,
    };
    let named = returns.and_then(|r| match &r.field.ty {
        Type::Record(record) => record.name.as_ref(),
        _ => None,
    });
    badges.extend(named.map(|name| format!("returns {name}")));
    badges
}

fn node_tip(bundle: &Bundle, graph: &Graph, node: &Node) -> String {
    let mut parts = vec![node.name.to_string()];
    let verb = words::verb(bundle, graph, &node.verb);
    parts.extend((!verb.is_empty()).then_some(verb));
    if let Verb::Model(model) = &node.verb {
        let returns = model.returns.as_ref().map(|r| format!("returns {}", r.field.ty));
        parts.extend(returns);
    }
    if let Verb::Ask(ask) = &node.verb {
        parts.push(format!("returns {}", ask.returns.field.ty));
    }
    parts.extend(words::writes(graph, &node.update));
    if let Verb::Call(call) = &node.verb {
        parts.extend(words::of_child(call));
    }
    parts.extend(effort(node.timeout.as_ref(), &node.retry.max, node.cache.as_ref(), &node.verb));
    parts.join("; ")
}

fn effort(timeout: Option<&Setting>, retry: &Setting, cache: Option<&Setting>, verb: &Verb) -> Vec<String> {
    if matches!(verb, Verb::Pass | Verb::RunTools(_)) {
        return Vec::new();
    }
    tries(timeout, retry, cache, !matches!(verb, Verb::Ask(_)))
}

fn tries(timeout: Option<&Setting>, retry: &Setting, cache: Option<&Setting>, repeats: bool) -> Vec<String> {
    let timeout = timeout.map(|t| format!("timeout {}", words::time(t)));
    let retry = repeats.then(|| format!("at most {} attempts", words::setting(retry)));
    let cache = cache.map(|c| format!("reused for {}", words::time(c)));
    [timeout, retry, cache].into_iter().flatten().collect()
}

/// The box of a tool.
pub(super) fn tool(bundle: &Bundle, graph: &Graph, overlay: &Overlay<'_>, ix: ToolIx, id: String) -> Item {
    let Some(tool) = graph.tools.get(ix.0) else { return plain(id, Kind::Tool, "") };
    let detail = match (&tool.call, &tool.ask) {
        (Some(call), _) => words::call(bundle, call),
        (None, Some(_)) => "ask".to_owned(),
        (None, None) => String::new(),
    };
    let count = |t: &crate::draw::taken::TakenGraph| {
        t.calls.iter().filter(|((_, tool), _)| *tool == ix).map(|(_, n)| n).sum()
    };
    let mut parts = vec![format!("tool {}", tool.name)];
    parts.extend((!detail.is_empty()).then(|| detail.clone()));
    parts.extend(words::writes(graph, &tool.update));
    if let Some(call) = &tool.call {
        parts.extend(words::of_child(call));
        parts.extend(tries(tool.timeout.as_ref(), &tool.retry.max, tool.cache.as_ref(), true));
    }
    parts.extend(tool_badges(tool));
    Item {
        name: tool.name.to_string(),
        detail,
        badges: tool_badges(tool),
        tip: parts.join("; "),
        seen: overlay.seen(count),
        ..plain(id, Kind::Tool, "")
    }
}

/// What a tool is bound to beside what it does. Each remark is a few words: it is drawn in one line.
fn tool_badges(tool: &Tool) -> Vec<String> {
    let parallel = tool.parallel.as_ref().map(|most| {
        let then = match tool.overflow {
            Overflow::Refuse => "refuse",
            Overflow::Queue => "queue",
        };
        format!("parallel ≤ {}, {then}", words::setting(most))
    });
    let approve = tool.approve.as_ref().and_then(|when| match when {
        ValueExpr::Literal(value) if !value.is_true() => None,
        ValueExpr::Literal(_) => Some("asks a person first".to_owned()),
        when => Some(format!("asks a person if {}", when.as_written())),
    });
    parallel.into_iter().chain(approve).collect()
}

/// The box of a limit.
pub(super) fn limit(graph: &Graph, overlay: &Overlay<'_>, index: usize, limit: &Limit, id: String) -> Item {
    let refuses = limit.on_reach == OnReach::Refuse;
    Item {
        name: limit.name.to_string(),
        detail: words::limit(graph, limit),
        badges: refuses.then(|| "refuses more".to_owned()).into_iter().collect(),
        tip: words::limit_tip(graph, limit),
        seen: overlay.seen(|t| t.reached.get(&index).copied().unwrap_or(0)),
        ..plain(id, Kind::Limit, "")
    }
}

/// A box with a name only.
pub(super) fn plain(id: String, kind: Kind, name: &str) -> Item {
    Item {
        id,
        kind,
        name: name.to_owned(),
        detail: String::new(),
        badges: Vec::new(),
        tip: name.to_owned(),
        seen: super::Seen::Plain,
        open: 0,
    }
}
