//! Built graphs against graph files.

mod layout;
mod mistakes;
mod same;
mod whole;

use crate::build::tree::{Mapping, Tree};
use crate::source::{Kind, Node, parse};
use crate::{Bundle, OpTable, build};

/// The bundle of a built graph that has no mistakes and gives no warnings.
fn clean(graph: &build::Graph, ops: &OpTable) -> Bundle {
    match graph.load(ops) {
        Ok(loaded) if loaded.warnings.is_empty() => loaded.bundle,
        Ok(loaded) => panic!("{}\n{}", graph.to_yaml(), loaded.warnings),
        Err(mistakes) => panic!("{}\n{mistakes}", graph.to_yaml()),
    }
}

/// All that is compiled, without the places where it stands.
fn plan(bundle: &Bundle) -> String {
    let plan = format!(
        "{:#?}",
        (&bundle.graphs, &bundle.config, &bundle.concurrency, &bundle.intents, &bundle.servers)
    );
    let lines = plan.lines().filter(|line| !line.trim_start().starts_with("place: \""));
    lines.map(|line| format!("{line}\n")).collect()
}

/// The root mapping of a text, as graph files are read.
fn read(text: &str) -> Mapping {
    fn tree(node: &Node) -> Tree {
        match &node.kind {
            Kind::Null => Tree::Null,
            Kind::Bool(b) => Tree::Bool(*b),
            Kind::Int(i) => Tree::Int(*i),
            Kind::Float(f) => Tree::Float(*f),
            Kind::Text(scalar) => Tree::Text(scalar.text.to_string()),
            Kind::List(items) => Tree::List(items.iter().map(tree).collect()),
            Kind::Map(entries) => {
                let mut map = Mapping::default();
                entries.iter().for_each(|(key, value)| map.add(&*key.name, tree(value)));
                Tree::Map(map)
            }
        }
    }
    let parsed = parse(text);
    assert_eq!(parsed.errors, [], "{text}");
    match parsed.node.as_ref().map(tree) {
        Some(Tree::Map(map)) => map,
        other => panic!("{other:?}: {text}"),
    }
}
