//! What expressions can read, looked up when it is read.

use std::sync::Arc;

use deepgraph_graph::{Bundle, Context, GraphIx, Names, Text, ValueExpr, Wants};
use deepgraph_protocol::{ErrorKind, Map, StepError, Value};

use crate::channel::View;
use crate::limits::LimitView;
use crate::machine::Machine;

/// The names that are known at one place beside those of the graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct Local {
    pub(crate) args: Option<Value>,
    pub(crate) result: Option<Value>,
    pub(crate) error: Option<Value>,
    /// An item of a list, and its index from 0.
    pub(crate) item: Option<(Value, usize)>,
}

impl Local {
    /// The arguments of a call.
    pub(crate) fn args(args: Value) -> Local {
        Local { args: Some(args), ..Local::default() }
    }

    /// An item of a list.
    pub(crate) fn item(item: Value, index: usize) -> Local {
        Local { item: Some((item, index)), ..Local::default() }
    }

    /// The same names with a result.
    pub(crate) fn with_result(mut self, result: Value) -> Local {
        self.result = Some(result);
        self
    }

    /// The same names with an error.
    pub(crate) fn with_error(mut self, error: &StepError) -> Local {
        self.error = Some(Value::of(error));
        self
    }
}

/// The names in scope for one evaluation.
#[derive(Debug)]
struct Frame {
    bundle: Arc<Bundle>,
    graph: GraphIx,
    view: View,
    config: Arc<Map>,
    limits: Option<Arc<Vec<LimitView>>>,
    run: Option<Value>,
    local: Local,
}

impl Names for Frame {
    fn lookup(&self, name: &str) -> Option<Value> {
        match name {
            "config" => Some(Value::Map(self.config.clone())),
            "limits" => Some(Value::record(
                self.limits.iter().flat_map(|l| l.iter()).map(|l| (l.name.clone(), l.to_value())),
            )),
            "run" => self.run.clone(),
            "args" => self.local.args.clone(),
            "result" => self.local.result.clone(),
            "error" => self.local.error.clone(),
            "item" => self.local.item.as_ref().map(|(item, _)| item.clone()),
            "index" => self.local.item.as_ref().map(|(_, index)| Value::Int(*index as i64)),
            channel => {
                let graph = self.bundle.graph(self.graph);
                graph.channel(channel).map(|ix| self.view.get(graph, ix))
            }
        }
    }
}

impl Machine {
    /// The names of this instance over a view of its state. Limits and the run are made only where they may be read.
    pub(crate) fn names(&self, wants: Wants, view: &View, local: &Local) -> Context {
        let at = self.reading();
        Context::of(Frame {
            bundle: self.bundle.clone(),
            graph: self.graph,
            view: view.clone(),
            config: self.config.clone(),
            limits: wants.limits.then(|| match &self.shown {
                Some(shown) => shown.clone(),
                None => Arc::new(self.limits.iter().map(|l| l.view(&at)).collect()),
            }),
            run: wants.run.then(|| self.run_record()),
            local: local.clone(),
        })
    }

    /// The state as it stands, to read from.
    pub(crate) fn view(&self) -> View {
        View::of(&self.state)
    }

    fn run_record(&self) -> Value {
        Value::record([
            ("date", Value::from(self.date.clone())),
            ("exit", self.exit.as_ref().map_or(Value::Null, |e| Value::from(e.reason.name()))),
            ("attempt", Value::Int(i64::from(self.attempt))),
        ])
    }

    /// The value of an expression; where it has none, the graph is at fault.
    pub(crate) fn value(&self, expr: &ValueExpr, view: &View, local: &Local) -> Result<Value, StepError> {
        if let ValueExpr::Literal(fixed) = expr {
            return Ok(fixed.clone());
        }
        let names = self.names(expr.wants(), view, local);
        self.bundle.programs.value(expr, &names).map_err(|e| StepError::new(ErrorKind::Graph, e.to_string()))
    }

    /// The text of a template; where it has none, the graph is at fault.
    pub(crate) fn text(&self, text: &Text, view: &View, local: &Local) -> Result<String, StepError> {
        let names = self.names(text.wants, view, local);
        self.bundle.programs.render(text, &names).map_err(|e| StepError::new(ErrorKind::Graph, e.to_string()))
    }
}
