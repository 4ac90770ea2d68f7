//! Labels: short, and without what Mermaid would read as its own signs.

use crate::{Counted, Graph, Limit, Node, Setting, ValueExpr};

/// A label in quotes, escaped.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// A label of a name and, below it, a detail.
pub(super) fn two_lines(name: &str, detail: &str) -> String {
    lines(name, [detail.to_owned()])
}

/// A label of a name and, below it, details; those that are empty left out.
pub(super) fn lines(name: &str, details: impl IntoIterator<Item = String>) -> String {
    let mut text = escaped(name);
    for detail in details.into_iter().filter(|d| !d.is_empty()) {
        text.push_str("<br/>");
        text.push_str(&escaped(&short(&detail)));
    }
    format!("\"{text}\"")
}

/// When and how often a node runs, where that is more than once when it is led to.
pub(super) fn manner(graph: &Graph, node: &Node) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(each) = &node.each {
        found.push(format!("for each of {}", expression(&each.list)));
        found.push(format!("at most {}", expression(&each.max_items)));
    }
    if !node.after.is_empty() {
        let names: Vec<&str> =
            node.after.iter().filter_map(|ix| graph.nodes.get(ix.0)).map(|n| &*n.name).collect();
        found.push(format!("after {}", names.join(" and ")));
    }
    if node.defer {
        found.push("when nothing else runs".to_owned());
    }
    found
}

/// When a person is asked before a call of a tool is run.
pub(super) fn approval(approve: Option<&ValueExpr>) -> String {
    match approve {
        None => String::new(),
        Some(ValueExpr::Expr(expr)) => format!("approved by a person if {}", expr.source),
        Some(_) => "approved by a person".to_owned(),
    }
}

fn expression(value: &ValueExpr) -> String {
    match value {
        ValueExpr::Expr(expr) => expr.source.to_string(),
        ValueExpr::Text(text) => text.source.to_string(),
        ValueExpr::Literal(value) => value.to_json_text(),
        ValueExpr::List(_) | ValueExpr::Record(_) => "...".to_owned(),
    }
}

/// A text of one line and at most 40 characters.
pub(super) fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= 40 {
        return line;
    }
    let start: String = line.chars().take(39).collect();
    format!("{start}…")
}

/// Mermaid's entities for its own signs; other text stays.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("#quot;"),
            '#' => out.push_str("#35;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '&' => out.push_str("#amp;"),
            '`' | '|' | '[' | ']' | '{' | '}' | '(' | ')' | '\\' | ';' | '%' => {
                out.push_str(&format!("#{};", u32::from(c)));
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// What a limit counts.
pub(super) fn counted(graph: &Graph, limit: &Limit) -> String {
    match &limit.counted {
        Counted::Names { tools, nodes } => {
            let tools = tools.iter().filter_map(|t| graph.tools.get(t.0)).map(|t| t.name.to_string());
            let nodes = nodes.iter().filter_map(|n| graph.nodes.get(n.0)).map(|n| n.name.to_string());
            short(&tools.chain(nodes).collect::<Vec<_>>().join(" + "))
        }
        Counted::Meter(meter) => meter.name().to_owned(),
        Counted::Gain { channel, .. } => {
            format!("gain of {}", graph.channels.get(channel.0).map_or("", |c| &c.name))
        }
    }
}

/// The bound of a limit.
pub(super) fn bound(limit: &Limit) -> String {
    match (&limit.counted, &limit.max) {
        (Counted::Gain { below, .. }, _) => format!("< {}", shown(below)),
        (_, None) => "≤ grant".to_owned(),
        (_, Some(max)) => format!("≤ {}", shown(max)),
    }
}

fn shown(setting: &Setting) -> String {
    match setting {
        Setting::Literal(value) => value.to_json_text(),
        Setting::Config(key) => format!("config.{key}"),
    }
}
