//! Labels: short, and without what Mermaid would read as its own signs.

use crate::{Counted, Graph, Limit, Setting};

/// A label in quotes, escaped.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// A label of a name and, below it, a detail.
pub(super) fn two_lines(name: &str, detail: &str) -> String {
    if detail.is_empty() {
        return quoted(name);
    }
    format!("\"{}<br/>{}\"", escaped(name), escaped(&short(detail)))
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
