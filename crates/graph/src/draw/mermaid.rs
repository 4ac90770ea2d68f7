//! A picture as a Mermaid flowchart.

use std::fmt::Write as _;

use super::picture::{Cluster, ClusterKind, Item, Kind, Line, LineKind, Picture, Seen};
use super::shortened;

/// The most characters of a label.
const MOST: usize = 40;

/// How a run shows: what it took stands out, the rest is faded. Half transparent greys fit light and dark pages.
const CLASSES: &str = "  classDef taken stroke-width:3px,font-weight:bold\n  \
                       classDef faded opacity:0.4\n";

/// The flowchart.
///
/// Shapes: model nodes are rounded, `run_tools` is a subroutine, calls are slanted, questions are hexagons, plain
/// writes are boxes, tools are flags, limits are trapezoids, what ends a graph beside them leans to the left, exits are pills. `on_error` is dotted, what a limit
/// leads to is thick, a child graph hangs on its caller by a dotted line.
pub(super) fn write(picture: &Picture) -> String {
    let mut out = Writer { text: "flowchart TD\n".to_owned(), ..Writer::default() };
    if picture.overlaid {
        let _ = write!(out.text, "  %% {}\n{CLASSES}", comment(&picture.about));
    }
    out.cluster(&picture.root, 1);
    // Lines between graphs come last: Mermaid places a box in the cluster that names it first.
    for line in &picture.calls {
        out.line(line, "  ");
    }
    out.styles();
    out.text
}

#[derive(Default)]
struct Writer {
    text: String,
    taken: Vec<String>,
    faded: Vec<String>,
    /// Lines so far: Mermaid styles them by their number.
    lines: usize,
    taken_lines: Vec<String>,
    faded_lines: Vec<String>,
}

impl Writer {
    fn cluster(&mut self, cluster: &Cluster, depth: usize) {
        let pad = "  ".repeat(depth);
        let title = counted(&cluster.title, cluster.seen);
        let _ = writeln!(self.text, "{pad}subgraph {}[{}]", cluster.id, quoted(&title));
        let inner = "  ".repeat(depth + 1);
        // Where nothing is said, Mermaid turns the direction of a cluster that no line leaves.
        let direction = if cluster.kind == ClusterKind::Anywhere { "LR" } else { "TB" };
        let _ = writeln!(self.text, "{inner}direction {direction}");
        for item in &cluster.boxes {
            self.item(item, &inner);
        }
        let (stages, children): (Vec<&Cluster>, Vec<&Cluster>) =
            cluster.inner.iter().partition(|c| c.kind != ClusterKind::Graph);
        for stage in stages {
            self.cluster(stage, depth + 1);
        }
        for line in &cluster.lines {
            self.line(line, &inner);
        }
        for child in children {
            self.cluster(child, depth + 1);
        }
        let _ = writeln!(self.text, "{pad}end");
        if cluster.seen == Seen::Not {
            self.faded.push(cluster.id.clone());
        }
    }

    fn item(&mut self, item: &Item, pad: &str) {
        let (open, close) = match item.kind {
            Kind::Start | Kind::Finally => ("((", "))"),
            Kind::Model => ("(", ")"),
            Kind::RunTools => ("[[", "]]"),
            Kind::Op | Kind::Graph => ("[/", "/]"),
            Kind::Ask => ("{{", "}}"),
            Kind::Pass => ("[", "]"),
            Kind::Tool => (">", "]"),
            Kind::Limit => ("[\\", "/]"),
            Kind::Cause => ("[\\", "\\]"),
            Kind::Exit => ("([", "])"),
        };
        let _ = writeln!(self.text, "{pad}{}{open}{}{close}", item.id, label(item));
        match item.seen {
            Seen::Plain => {}
            Seen::Taken(_) => self.taken.push(item.id.clone()),
            Seen::Not => self.faded.push(item.id.clone()),
        }
    }

    fn line(&mut self, line: &Line, pad: &str) {
        let arrow = match line.kind {
            LineKind::Way => "-->",
            LineKind::Error | LineKind::Implied | LineKind::Starts => "-.->",
            LineKind::Runs => "---",
            LineKind::Counts => "-.-",
            LineKind::Limit => "==>",
        };
        let label = match counted(&shortened(&line.label, MOST), line.seen) {
            words if words.is_empty() => String::new(),
            words => format!("|{}|", quoted(&words)),
        };
        let _ = writeln!(self.text, "{pad}{} {arrow}{label} {}", line.from, line.to);
        match line.seen {
            Seen::Plain => {}
            Seen::Taken(_) => self.taken_lines.push(self.lines.to_string()),
            Seen::Not => self.faded_lines.push(self.lines.to_string()),
        }
        self.lines += 1;
    }

    fn styles(&mut self) {
        for (names, class) in [(&self.taken, "taken"), (&self.faded, "faded")] {
            if !names.is_empty() {
                let _ = writeln!(self.text, "  class {} {class}", names.join(","));
            }
        }
        for (numbers, style) in
            [(&self.taken_lines, "stroke-width:4px"), (&self.faded_lines, "opacity:0.3,stroke-width:1px")]
        {
            if !numbers.is_empty() {
                let _ = writeln!(self.text, "  linkStyle {} {style}", numbers.join(","));
            }
        }
    }
}

/// Name, detail and badges, one below the other.
fn label(item: &Item) -> String {
    let mut rows = vec![escaped(&counted(&item.name, item.seen))];
    rows.extend((!item.detail.is_empty()).then(|| escaped(&shortened(&item.detail, MOST))));
    rows.extend(item.badges.iter().map(|badge| escaped(&shortened(badge, MOST))));
    rows.extend((item.open > 0).then(|| "not over yet".to_owned()));
    format!("\"{}\"", rows.join("<br/>"))
}

/// A text with how often.
fn counted(text: &str, seen: Seen) -> String {
    [text, &seen.times()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A label in quotes, escaped.
fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
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

/// A text of one line without braces, which Mermaid would read as a directive even in a comment.
fn comment(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace(['{', '}'], "")
}

#[cfg(test)]
mod tests {
    #[test]
    fn labels_hold_no_signs_of_mermaid() {
        let text = super::quoted("a \"b\" <c> [d] {e} (f) | `g` #h; & \\ %% \n ü");
        let inner = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap();
        assert!(
            !inner.contains(['"', '<', '>', '[', ']', '{', '}', '(', ')', '|', '`', '&', '\\', '%', '\n']),
            "{inner}"
        );
        assert!(inner.ends_with('ü'));
    }
}
