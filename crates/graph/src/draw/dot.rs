//! A picture as a DOT file, for Graphviz.

use std::fmt::Write as _;

use super::picture::{Cluster, ClusterKind, Item, Kind, Line, LineKind, Picture, Seen};
use super::shortened;

/// The most characters of a line of a label.
const MOST: usize = 44;

/// What holds for all boxes and lines.
const DEFAULTS: &str = "  graph [compound=true, newrank=true, rankdir=TB, nodesep=0.3, ranksep=0.45, \
                        fontname=\"Helvetica\", fontsize=11, style=\"rounded\", color=\"#9aa4b2\", labeljust=l]\n  \
                        node [fontname=\"Helvetica\", fontsize=10, shape=box, style=\"filled\", fillcolor=\"#f4f6f8\", \
                        color=\"#57606a\"]\n  \
                        edge [fontname=\"Helvetica\", fontsize=9, color=\"#57606a\", arrowsize=0.7]\n";

/// What is faded.
const FADED: &str = "color=\"#c4cad2\", fontcolor=\"#9aa4b2\"";

/// The file.
pub(super) fn write(picture: &Picture) -> String {
    let title = match picture.overlaid {
        true => format!("{}\n{}", picture.title, picture.about),
        false => picture.title.clone(),
    };
    let mut out = format!("digraph {} {{\n{DEFAULTS}", quoted(&picture.title));
    let _ = writeln!(out, "  label={}; labelloc=t;", quoted(&title));
    cluster(&mut out, &picture.root, 1);
    for of in &picture.calls {
        line(&mut out, of, "  ");
    }
    out.push_str("}\n");
    out
}

fn cluster(out: &mut String, of: &Cluster, depth: usize) {
    let pad = "  ".repeat(depth);
    let inner = "  ".repeat(depth + 1);
    let mut title = of.title.clone();
    if of.seen != Seen::Plain && of.kind == ClusterKind::Graph {
        title = format!("{title} {}", of.seen.times());
    }
    let _ = writeln!(out, "{pad}subgraph cluster_{} {{", of.id);
    let _ = writeln!(out, "{inner}label={}; tooltip={};", quoted(title.trim()), quoted(&of.tip));
    if of.kind != ClusterKind::Graph {
        let _ = writeln!(out, "{inner}style=\"rounded,dashed\";");
    }
    if of.seen == Seen::Not {
        let _ = writeln!(out, "{inner}color=\"#c4cad2\"; fontcolor=\"#9aa4b2\";");
    }
    for item in &of.boxes {
        self::item(out, item, &inner);
    }
    for of in &of.lines {
        line(out, of, &inner);
    }
    for child in &of.inner {
        cluster(out, child, depth + 1);
    }
    let _ = writeln!(out, "{pad}}}");
}

fn item(out: &mut String, item: &Item, pad: &str) {
    let shape = match item.kind {
        Kind::Start | Kind::Finally => "shape=circle, fillcolor=\"#ffffff\"",
        Kind::Model => "style=\"filled,rounded\", fillcolor=\"#dbe9ff\"",
        Kind::RunTools => "shape=component, fillcolor=\"#e9e2fb\"",
        Kind::Op => "shape=cds, fillcolor=\"#d8f3ee\"",
        Kind::Graph => "peripheries=2, fillcolor=\"#d8f3ee\"",
        Kind::Ask => "shape=hexagon, fillcolor=\"#fff0c9\"",
        Kind::Pass => "fillcolor=\"#f4f6f8\"",
        Kind::Tool => "shape=tab, fillcolor=\"#f4effe\"",
        Kind::Limit => "shape=octagon, fillcolor=\"#ffe8d6\"",
        Kind::Cause => "shape=ellipse, style=\"filled,dashed\", fillcolor=\"#ffffff\"",
        Kind::Exit => "style=\"filled,rounded\", fillcolor=\"#ffffff\", penwidth=1.5",
    };
    let mut rows = vec![item.name.clone()];
    if let Seen::Taken(_) = item.seen {
        rows[0] = format!("{} {}", item.name, item.seen.times());
    }
    rows.extend((!item.detail.is_empty()).then(|| shortened(&item.detail, MOST)));
    rows.extend(item.badges.iter().map(|badge| shortened(badge, MOST)));
    rows.extend((item.open > 0).then(|| "not over yet".to_owned()));
    let (label, tip) = (quoted(&rows.join("\n")), quoted(&item.tip));
    let seen = match item.seen {
        Seen::Plain => String::new(),
        Seen::Taken(_) => ", penwidth=3".to_owned(),
        Seen::Not => format!(", {FADED}, fillcolor=\"#fbfbfc\""),
    };
    let _ = writeln!(out, "{pad}{} [label={label}, tooltip={tip}, {shape}{seen}];", item.id);
}

fn line(out: &mut String, of: &Line, pad: &str) {
    let mut style = match of.kind {
        LineKind::Way => vec![],
        LineKind::Error => vec!["style=dashed", "color=\"#b42318\"", "fontcolor=\"#b42318\""],
        LineKind::Runs => vec!["dir=none"],
        LineKind::Counts => vec!["dir=none", "style=dotted"],
        LineKind::Limit => vec!["style=bold", "color=\"#b54708\""],
        LineKind::Implied => vec!["style=dashed"],
        LineKind::Starts => vec!["style=dotted"],
    };
    match of.seen {
        Seen::Plain => {}
        Seen::Taken(_) => style.push("penwidth=3"),
        Seen::Not => style.push(FADED),
    }
    let mut words: Vec<String> = Vec::new();
    words.extend((!of.label.is_empty()).then(|| shortened(&of.label, MOST)));
    words.extend(matches!(of.seen, Seen::Taken(_)).then(|| of.seen.times()));
    let mut attributes: Vec<String> = Vec::new();
    if !words.is_empty() {
        attributes.push(format!("label={}", quoted(&words.join(" "))));
    }
    if !of.label.is_empty() {
        attributes.push(format!("labeltooltip={0}, edgetooltip={0}", quoted(&of.label)));
    }
    attributes.extend(style.into_iter().map(str::to_owned));
    let attributes = match attributes.is_empty() {
        true => String::new(),
        false => format!(" [{}]", attributes.join(", ")),
    };
    let _ = writeln!(out, "{pad}{} -> {}{attributes};", of.from, of.to);
}

/// A string of DOT. Line breaks become `\n`; entities of HTML, which Graphviz would resolve, stay as written.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '&' => out.push_str("&amp;"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn strings_keep_their_signs() {
        assert_eq!(
            super::quoted("a \"b\" \\n &lt; \u{7} ü\nnext"),
            "\"a \\\"b\\\" \\\\n &amp;lt;   ü\\nnext\""
        );
    }
}
