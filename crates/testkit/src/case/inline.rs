//! The text of a graph that is written in its case.
//!
//! It is the text of the case with everything else taken out, and with the lines where they were: so the order of
//! its nodes is kept, and mistakes in it are told with the lines of the case.

use super::tree::{Node, Parts, Place};

/// The text of the graph that stands at `graph`, a value of a key of `root`.
pub(crate) fn text_of_graph(text: &str, root: &Node, graph: &Node) -> String {
    let end = end_of(text, root, graph);
    let mut kept = String::with_capacity(text.len());
    for (line, number) in text.lines().zip(1..) {
        if (graph.place.line..=end.line).contains(&number) {
            let from = if number == graph.place.line { graph.place.column - 1 } else { 0 };
            let to = if number == end.line { end.column - 1 } else { usize::MAX };
            let shown = line.chars().enumerate();
            kept.extend(shown.take_while(|(i, _)| *i < to).map(|(i, c)| if i < from { ' ' } else { c }));
        }
        kept.push('\n');
    }
    kept
}

/// Where the graph ends: where the next key begins; for `{...}`, behind its bracket.
fn end_of(text: &str, root: &Node, graph: &Node) -> Place {
    let first = text.lines().nth(graph.place.line - 1).and_then(|l| l.chars().nth(graph.place.column - 1));
    if first == Some('{') {
        return graph.end;
    }
    let last = Place { line: text.lines().count() + 1, column: 1 };
    let Parts::Map(entries) = &root.parts else { return last };
    entries.iter().map(|(key, _)| key.place).find(|place| *place > graph.place).unwrap_or(last)
}
