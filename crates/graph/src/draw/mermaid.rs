//! A bundle as a Mermaid flowchart.

mod failures;
mod labels;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use deepgraph_protocol::Meter;

use self::labels::{bound, counted, quoted, short};
use crate::shape::{Cause, Edge, Shape, Spot, counted_by, offered};
use crate::{Bundle, Callee, Counted, Graph, GraphIx, Limit, NodeIx, OnReach, Setting, ToolIx, Verb};

/// The flowchart of a bundle: each graph a subgraph, child graphs inside the graph that calls them first.
///
/// Shapes: model nodes are rounded, `run_tools` is a subroutine, calls are slanted, questions are hexagons, plain
/// writes are boxes, tools are flags, exits are pills. `on_error` is dotted, limits are thick with their bound, a
/// child graph hangs on its caller by a dotted line.
pub fn mermaid(bundle: &Bundle) -> String {
    let mut drawing =
        Drawing { bundle, nested: nesting(bundle), text: "flowchart TD\n".to_owned(), links: String::new() };
    if !bundle.graphs.is_empty() {
        drawing.graph(0, 1);
    }
    let Drawing { mut text, links, .. } = drawing;
    text.push_str(&links);
    text
}

/// The graphs to draw inside each graph: those that it calls first.
fn nesting(bundle: &Bundle) -> BTreeMap<usize, Vec<usize>> {
    let mut inside: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut placed = BTreeSet::from([0]);
    let mut queue = std::collections::VecDeque::from([0]);
    let mut place = |inside: &mut BTreeMap<usize, Vec<usize>>,
                     queue: &mut std::collections::VecDeque<usize>| {
        while let Some(at) = queue.pop_front() {
            let Some(graph) = bundle.graphs.get(at) else { continue };
            for callee in callees(graph) {
                if placed.insert(callee) {
                    inside.entry(at).or_default().push(callee);
                    queue.push_back(callee);
                }
            }
        }
        placed.clone()
    };
    for index in 1..bundle.graphs.len() {
        if !place(&mut inside, &mut queue).contains(&index) {
            // Nobody calls it: it stands beside.
            inside.entry(0).or_default().push(index);
            queue.push_back(index);
        }
    }
    inside
}

fn callees(graph: &Graph) -> Vec<usize> {
    let nodes = graph.nodes.iter().filter_map(|n| match &n.verb {
        Verb::Call(call) => Some(&call.callee),
        _ => None,
    });
    let tools = graph.tools.iter().filter_map(|t| t.call.as_ref().map(|c| &c.callee));
    nodes
        .chain(tools)
        .filter_map(|c| match c {
            Callee::Graph(GraphIx(ix)) => Some(*ix),
            Callee::Op(_) => None,
        })
        .collect()
}

/// Exits that every graph has, whatever its file says.
const BY_ITSELF: [&str; 2] = ["cancelled", "graph_error"];

struct Drawing<'b> {
    bundle: &'b Bundle,
    nested: BTreeMap<usize, Vec<usize>>,
    text: String,
    /// Lines between subgraphs come last: Mermaid places a node in the subgraph that names it first.
    links: String,
}

impl Drawing<'_> {
    fn graph(&mut self, ix: usize, depth: usize) {
        let Some(graph) = self.bundle.graphs.get(ix) else { return };
        let pad = "  ".repeat(depth);
        let _ = writeln!(self.text, "{pad}subgraph g{ix}[{}]", quoted(&graph.name));
        let shape = Shape::of(graph);
        let one = One { bundle: self.bundle, ix, graph, shape: &shape, pad: format!("{pad}  ") };
        one.nodes(&mut self.text, false);
        if graph.finally.is_some() {
            let _ = writeln!(
                self.text,
                "{}subgraph g{ix}_finally[{}]",
                one.pad,
                quoted("finally: every exit passes here")
            );
            let inner = One { pad: format!("{}  ", one.pad), ..one.clone() };
            let _ = writeln!(self.text, "{}{}(({}))", inner.pad, one.id(&Spot::Finally), quoted("finally"));
            inner.nodes(&mut self.text, true);
            let _ = writeln!(self.text, "{}end", one.pad);
        }
        one.exits(&mut self.text);
        one.edges(&mut self.text);
        one.limits(&mut self.text);
        one.failures(&mut self.text);
        one.calls(&mut self.links);
        for child in self.nested.get(&ix).cloned().unwrap_or_default() {
            self.graph(child, depth + 1);
        }
        let _ = writeln!(self.text, "{pad}end");
    }
}

/// One graph of the drawing.
#[derive(Clone)]
struct One<'g> {
    bundle: &'g Bundle,
    ix: usize,
    graph: &'g Graph,
    shape: &'g Shape,
    pad: String,
}

impl One<'_> {
    fn id(&self, spot: &Spot) -> String {
        let g = self.ix;
        match spot {
            Spot::Start => format!("g{g}_start"),
            Spot::Finally => format!("g{g}_fin"),
            Spot::Node(ix) => format!("g{g}_n{}", ix.0),
            Spot::Exit(name) => {
                let position = self.exit_names().iter().position(|n| n == name).unwrap_or(0);
                format!("g{g}_x{position}")
            }
            Spot::End => self.id(&Spot::Exit("completed".into())),
        }
    }

    /// Every exit that something leads to, in byte order.
    fn exit_names(&self) -> Vec<Arc<str>> {
        let mut names = BTreeSet::new();
        for spot in self.shape.graph.node_weights() {
            match spot {
                Spot::Exit(name) => names.insert(name.clone()),
                Spot::End => self.ends() && names.insert("completed".into()),
                _ => false,
            };
        }
        names.extend(failures::exits(self.graph).into_iter().map(Arc::from));
        names.extend(BY_ITSELF.map(Arc::from));
        names.extend(self.of_grant().into_iter().map(Arc::from));
        names.into_iter().collect()
    }

    /// Whether a branch of the main part ends without an exit.
    fn ends(&self) -> bool {
        self.spots()
            .iter()
            .any(|spot| !self.in_finally(spot) && self.shape.out(spot).any(|(_, to)| *to == Spot::End))
    }

    fn spots(&self) -> Vec<Spot> {
        let nodes = (0..self.graph.nodes.len()).map(|i| Spot::Node(NodeIx(i)));
        [Spot::Start, Spot::Finally].into_iter().chain(nodes).collect()
    }

    fn in_finally(&self, spot: &Spot) -> bool {
        match spot {
            Spot::Finally => true,
            Spot::Node(ix) => self.graph.nodes.get(ix.0).is_some_and(|n| n.in_finally),
            _ => false,
        }
    }

    fn nodes(&self, text: &mut String, finally: bool) {
        if !finally {
            let _ = writeln!(text, "{}{}(({}))", self.pad, self.id(&Spot::Start), quoted("start"));
        }
        for (index, node) in self.graph.nodes.iter().enumerate().filter(|(_, n)| n.in_finally == finally) {
            let id = self.id(&Spot::Node(NodeIx(index)));
            let detail = match &node.verb {
                Verb::Pass => String::new(),
                Verb::Model(model) => format!("model {}", setting(&model.model)),
                Verb::RunTools(of) => {
                    format!("run_tools {}", self.graph.nodes.get(of.0).map_or("", |n| &n.name))
                }
                Verb::Call(call) => format!("call {}", self.callee(&call.callee)),
                Verb::Ask(_) => "ask".to_owned(),
            };
            let details = std::iter::once(detail).chain(labels::manner(self.graph, node));
            let label = labels::lines(&node.name, details);
            let (open, close) = match &node.verb {
                Verb::Pass => ("[", "]"),
                Verb::Model(_) => ("(", ")"),
                Verb::RunTools(_) => ("[[", "]]"),
                Verb::Call(_) => ("[/", "/]"),
                Verb::Ask(_) => ("{{", "}}"),
            };
            let _ = writeln!(text, "{}{id}{open}{label}{close}", self.pad);
            if let Verb::RunTools(of) = node.verb {
                for tool in offered(self.graph, of) {
                    self.tool(text, &id, tool);
                }
            }
        }
    }

    fn tool(&self, text: &mut String, runner: &str, ix: ToolIx) {
        let Some(tool) = self.graph.tools.get(ix.0) else { return };
        let detail = match (&tool.call, &tool.ask) {
            (Some(call), _) => format!("call {}", self.callee(&call.callee)),
            (None, Some(_)) => "ask".to_owned(),
            (None, None) => String::new(),
        };
        let label = labels::lines(&tool.name, [detail, labels::approval(tool.approve.as_ref())]);
        let _ = writeln!(text, "{}g{}_t{}>{label}]", self.pad, self.ix, ix.0);
        let _ = writeln!(text, "{}{runner} --- g{}_t{}", self.pad, self.ix, ix.0);
    }

    fn callee(&self, callee: &Callee) -> String {
        match callee {
            Callee::Graph(GraphIx(ix)) => {
                self.bundle.graphs.get(*ix).map_or(String::new(), |g| g.name.to_string())
            }
            Callee::Op(name) => name.to_string(),
        }
    }

    fn exits(&self, text: &mut String) {
        for (index, name) in self.exit_names().iter().enumerate() {
            let detail = if &**name == "inherit" { "exit of the called graph" } else { "" };
            let label = labels::two_lines(name, detail);
            let _ = writeln!(text, "{}g{}_x{index}([{label}])", self.pad, self.ix);
        }
    }

    fn edges(&self, text: &mut String) {
        // A tool that two nodes run leads on once.
        let mut drawn = BTreeSet::new();
        for from in self.spots() {
            let edges: Vec<(&Edge, &Spot)> = self.shape.out(&from).collect();
            // petgraph gives the last edge first.
            for (edge, to) in edges.into_iter().rev() {
                if matches!(edge.cause, Cause::Limit(_)) || (*to == Spot::End && self.in_finally(&from)) {
                    continue;
                }
                let line = self.edge(&from, edge, to);
                if drawn.insert(line.clone()) {
                    let _ = writeln!(text, "{}{line}", self.pad);
                }
            }
        }
    }

    fn edge(&self, from: &Spot, edge: &Edge, to: &Spot) -> String {
        let condition = edge.condition.as_ref().map(|c| short(c));
        let (source, arrow, label) = match (edge.cause, condition) {
            (Cause::Error, Some(c)) => (self.id(from), "-.->", Some(format!("on_error: {c}"))),
            (Cause::Error, None) => (self.id(from), "-.->", Some("on_error".to_owned())),
            (Cause::Tool(ix), c) => (format!("g{}_t{}", self.ix, ix.0), "-->", c),
            (_, c) => (self.id(from), "-->", c),
        };
        let label = label.map(|l| format!("|{}|", quoted(&l))).unwrap_or_default();
        format!("{source} {arrow}{label} {}", self.id(to))
    }

    /// What limits lead to, from what they count.
    fn limits(&self, text: &mut String) {
        let mut anywhere = false;
        for limit in &self.graph.limits {
            let to = match &limit.on_reach {
                OnReach::Exit(reason, _) => Spot::Exit(reason.name().into()),
                OnReach::To(node) => Spot::Node(*node),
                OnReach::Refuse => continue,
            };
            let label = quoted(&format!("{}: {} {}", limit.name, counted(self.graph, limit), bound(limit)));
            for source in self.sources(limit) {
                if source.ends_with("_any") && !anywhere {
                    anywhere = true;
                    let _ = writeln!(text, "{}{source}(({}))", self.pad, quoted("at any step"));
                }
                let _ = writeln!(text, "{}{source} ==>|{label}| {}", self.pad, self.id(&to));
            }
        }
    }

    fn of_grant(&self) -> Vec<&'static str> {
        failures::of_grant(self.bundle, GraphIx(self.ix)).into_iter().collect()
    }

    /// The exits that no route and no limit names.
    fn failures(&self, text: &mut String) {
        let draw = |text: &mut String, from: &str, label: &str, exits: &[&str]| {
            if exits.is_empty() {
                return;
            }
            let _ = writeln!(text, "{}{from}(({}))", self.pad, quoted(label));
            for exit in exits {
                let _ = writeln!(text, "{}{from} -.-> {}", self.pad, self.id(&Spot::Exit((*exit).into())));
            }
        };
        let failing: Vec<&str> = failures::exits(self.graph).into_iter().collect();
        draw(text, &format!("g{}_fails", self.ix), "a step fails, no on_error holds", &failing);
        draw(text, &format!("g{}_grant", self.ix), "what the caller granted is used up", &self.of_grant());
        let [cancelled, fault] = BY_ITSELF;
        draw(text, &format!("g{}_cancel", self.ix), "cancelled from outside", &[cancelled]);
        draw(text, &format!("g{}_fault", self.ix), "an expression fails, or two writers", &[fault]);
    }

    /// Where the lines of a limit begin.
    fn sources(&self, limit: &Limit) -> Vec<String> {
        let nodes =
            |list: Vec<NodeIx>| list.into_iter().map(|ix| self.id(&Spot::Node(ix))).collect::<Vec<_>>();
        match &limit.counted {
            Counted::Names { tools, nodes: visited } => {
                let drawn = |ix: &&ToolIx| self.is_drawn(**ix);
                let tools = tools.iter().filter(drawn).map(|ix| format!("g{}_t{}", self.ix, ix.0));
                nodes(visited.clone()).into_iter().chain(tools).collect()
            }
            Counted::Gain { .. } | Counted::Meter(Meter::Turns | Meter::PaidTurns) => {
                nodes(counted_by(self.graph, limit))
            }
            Counted::Meter(_) => vec![format!("g{}_any", self.ix)],
        }
    }

    fn is_drawn(&self, tool: ToolIx) -> bool {
        self.graph.nodes.iter().any(|n| match n.verb {
            Verb::RunTools(of) => offered(self.graph, of).contains(&tool),
            _ => false,
        })
    }

    /// Lines to child graphs.
    fn calls(&self, links: &mut String) {
        let mut link = |from: String, callee: &Callee| {
            if let Callee::Graph(GraphIx(child)) = callee {
                let _ = writeln!(links, "  {from} -.->|{}| g{child}_start", quoted("starts"));
            }
        };
        for (index, node) in self.graph.nodes.iter().enumerate() {
            if let Verb::Call(call) = &node.verb {
                link(self.id(&Spot::Node(NodeIx(index))), &call.callee);
            }
        }
        for (index, tool) in self.graph.tools.iter().enumerate().filter(|(i, _)| self.is_drawn(ToolIx(*i))) {
            if let Some(call) = &tool.call {
                link(format!("g{}_t{index}", self.ix), &call.callee);
            }
        }
    }
}

fn setting(setting: &Setting) -> String {
    match setting {
        Setting::Literal(value) => value.as_str().map_or_else(|| value.to_json_text(), str::to_owned),
        Setting::Config(key) => format!("config.{key}"),
    }
}
