//! A bundle whose ways and nodes tell that they were followed.

use std::sync::Arc;

use deepgraph_graph::{
    Bundle, Channel, ChannelIx, Field, Graph, GraphIx, Lookup, NodeIx, Reducer, Route, RouteOf, Target,
    ToolIx, Type, ValueExpr, Write,
};
use deepgraph_protocol::Value;

use crate::fold::FoldError;

/// The channel that marks are written to. No file can declare one of this name: it holds a space.
pub(super) const CHANNEL: &str = "ways followed";

/// Something that tells that it was followed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Mark {
    /// A node, when it has succeeded and writes its `update`.
    Joined(NodeIx),
    /// A way of a route.
    Way {
        /// The route.
        of: RouteOf,
        /// The way, by its index.
        way: usize,
        /// Where it leads.
        to: Target,
    },
}

/// A bundle with marks.
#[derive(Debug)]
pub(super) struct Marked {
    /// It does what the unmarked one does, and writes marks.
    pub bundle: Arc<Bundle>,
    /// The marks of each graph; what is written is a mark's place here.
    marks: Vec<Vec<Mark>>,
}

impl Marked {
    /// A copy of the bundle, compiled again from its texts, with marks.
    pub fn of(bundle: &Bundle) -> Result<Marked, FoldError> {
        let mut copy = Bundle::from_source(&bundle.source, &bundle.ops)
            .map_err(|mistakes| FoldError::Source(mistakes.to_string()))?;
        let marks = copy.graphs.iter_mut().map(mark).collect();
        Ok(Marked { bundle: Arc::new(copy), marks })
    }

    /// The mark that a value of the channel stands for.
    pub fn mark(&self, graph: GraphIx, value: &Value) -> Option<&Mark> {
        self.marks.get(graph.0)?.get(usize::try_from(value.as_int()?).ok()?)
    }
}

/// Adds the channel and the marks to a graph.
fn mark(graph: &mut Graph) -> Vec<Mark> {
    let channel = ChannelIx(graph.channels.len());
    graph.channels.push(Channel {
        name: CHANNEL.into(),
        field: Field::of(Type::List(Box::new(Type::Integer))),
        reducer: Reducer::Append,
        initial: Value::empty_list(),
        persist: None,
    });
    graph.lookup = Arc::new(Lookup::of(&graph.channels, &graph.nodes));
    let mut marks = Marks { channel, marks: Vec::new() };
    marks.route(RouteOf::Start, Some(&mut graph.start));
    marks.route(RouteOf::Finally, graph.finally.as_mut());
    for (ix, node) in graph.nodes.iter_mut().enumerate().map(|(i, node)| (NodeIx(i), node)) {
        let joined = marks.write(Mark::Joined(ix));
        node.update.push(joined);
        marks.route(RouteOf::Next(ix), node.next.as_mut());
        marks.route(RouteOf::Error(ix), node.on_error.as_mut());
    }
    for (ix, tool) in graph.tools.iter_mut().enumerate().map(|(i, tool)| (ToolIx(i), tool)) {
        marks.route(RouteOf::Tool(ix), tool.next.as_mut());
        marks.route(RouteOf::ToolError(ix), tool.on_error.as_mut());
    }
    marks.marks
}

struct Marks {
    channel: ChannelIx,
    marks: Vec<Mark>,
}

impl Marks {
    fn write(&mut self, mark: Mark) -> Write {
        let number = i64::try_from(self.marks.len()).unwrap_or(i64::MAX);
        self.marks.push(mark);
        Write { channel: self.channel, value: ValueExpr::Literal(Value::Int(number)) }
    }

    fn route(&mut self, of: RouteOf, route: Option<&mut Route>) {
        for (index, way) in route.into_iter().flat_map(|r| &mut r.0).enumerate() {
            // A way of a tool that only writes leads nowhere: the turn goes on.
            if matches!(of, RouteOf::Tool(_) | RouteOf::ToolError(_)) && way.to == Target::CarryOn {
                continue;
            }
            let write = self.write(Mark::Way { of, way: index, to: way.to.clone() });
            way.update.push(write);
        }
    }
}
