//! Going through a trace in reading order, and what has to be known on the way.

use deepgraph_protocol::Millis;

use super::index::Index;
use super::pool::Pool;
use super::request::Last;
use crate::tree::{Node, ScopeTrace, Trace};

/// The most steps of a trace whose instances are all unfolded at first.
const FEW: usize = 150;

/// Where we are in a trace and what was shown so far.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    pub(super) index: Index,
    pub(super) pool: Pool<'a>,
    /// The last request of the instance that we are in.
    pub(super) last: Last<'a>,
    /// When the run began; 0 where times are not known.
    pub(super) began: Millis,
    scope: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(trace: &'a Trace) -> Walk<'a> {
        Walk {
            index: Index::of(&trace.root),
            pool: Pool::new(),
            last: None,
            began: trace.root.time.map_or(0, |(began, _)| began),
            scope: 0,
        }
    }

    /// From here on, what is shown belongs to this step.
    pub(super) fn go_to_step(&mut self, node: &Node) {
        self.pool.go_to(self.index.to_step(&node.step), self.scope);
    }

    /// From here on, what is shown belongs to this instance. Gives what [`leave`](Walk::leave) needs.
    pub(super) fn enter(&mut self, scope: &ScopeTrace) -> (usize, Last<'a>) {
        let outer = (self.scope, self.last.take());
        self.come_back_to(scope);
        outer
    }

    /// The same, for what is shown of an instance after its steps.
    pub(super) fn come_back_to(&mut self, scope: &ScopeTrace) {
        self.scope = self.index.scope_number(&scope.scope);
        self.pool.go_to(self.index.to_scope(&scope.scope), self.scope);
    }

    /// Back in the instance around it.
    pub(super) fn leave(&mut self, (scope, last): (usize, Last<'a>)) {
        self.scope = scope;
        self.last = last;
    }

    /// Whether the trace is so small that all its instances are unfolded at first.
    pub(super) fn opens_steps(&self) -> bool {
        self.index.steps() <= FEW
    }
}
