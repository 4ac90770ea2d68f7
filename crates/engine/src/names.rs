//! What expressions can read, looked up when it is read.

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_graph::{ChannelIx, Names};
use deepgraph_protocol::{Map, Value};

use crate::channel::State;
use crate::limits::LimitView;

/// The names of one graph: which channel a bare name means. Made once per Machine.
pub(crate) type Index = Arc<BTreeMap<Arc<str>, ChannelIx>>;

/// The names in scope at one place: channels, configuration, limits, the run, and what is local there.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    pub(crate) index: Index,
    pub(crate) state: State,
    pub(crate) config: Arc<Map>,
    pub(crate) limits: Arc<Vec<LimitView>>,
    pub(crate) run: Value,
    pub(crate) args: Option<Value>,
    pub(crate) result: Option<Value>,
    pub(crate) error: Option<Value>,
}

impl Scope {
    /// The same names with a result.
    pub(crate) fn with_result(mut self, result: Value) -> Scope {
        self.result = Some(result);
        self
    }

    /// The same names with an error.
    pub(crate) fn with_error(mut self, error: Value) -> Scope {
        self.error = Some(error);
        self
    }

    /// As names for the evaluator.
    pub(crate) fn names(&self) -> Arc<dyn Names> {
        Arc::new(self.clone())
    }
}

impl Names for Scope {
    fn lookup(&self, name: &str) -> Option<Value> {
        match name {
            "config" => Some(Value::Map(self.config.clone())),
            "limits" => Some(Value::record(self.limits.iter().map(|l| (l.name.clone(), l.to_value())))),
            "run" => Some(self.run.clone()),
            "args" => self.args.clone(),
            "result" => self.result.clone(),
            "error" => self.error.clone(),
            channel => self.index.get(channel).map(|ix| self.state.get(*ix).clone()),
        }
    }
}
