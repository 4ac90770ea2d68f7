//! What the nodes of a super-step led to, read from the marks in the order in which they were written.

use std::collections::VecDeque;

use deepgraph_graph::{Node, NodeIx, Passage, RouteOf, Target};
use deepgraph_protocol::{ErrorKind, StepId};

use super::marked::Mark;

/// A node of the current super-step.
#[derive(Clone, Debug)]
pub(super) struct Visit {
    pub node: NodeIx,
    pub step: StepId,
    pub failed: Option<ErrorKind>,
    pub done: bool,
}

/// What a node led to at the end of a super-step, or a route into a stage.
#[derive(Clone, Debug)]
pub(super) struct Left {
    /// None for a route into a stage.
    pub visit: Option<Visit>,
    /// The way that was followed; none where no way held or there is none.
    pub gone: Option<Gone>,
    /// The ways of `on_error` by which items of a list were passed over, by their index.
    pub passed_over: Vec<usize>,
}

/// A way that was followed.
#[derive(Clone, Debug)]
pub(super) struct Gone {
    pub of: RouteOf,
    pub way: usize,
    pub to: Target,
}

impl Gone {
    /// The passage out, or to one of its nodes.
    pub fn passage(&self, to: Option<NodeIx>) -> Passage {
        Passage::Way { of: self.of, way: self.way, to }
    }
}

/// Marks that no join has used yet.
#[derive(Debug, Default)]
pub(super) struct Marks(pub VecDeque<Mark>);

impl Marks {
    /// The next mark, if it is a way of such a route.
    fn way(&mut self, is_wanted: impl Fn(RouteOf) -> bool) -> Option<Gone> {
        match self.0.front()? {
            Mark::Way { of, way, to } if is_wanted(*of) => {
                let gone = Gone { of: *of, way: *way, to: to.clone() };
                self.0.pop_front();
                Some(gone)
            }
            _ => None,
        }
    }

    /// The way of a route into a stage.
    pub fn entrance(&mut self, of: RouteOf) -> Left {
        Left { visit: None, gone: self.way(|found| found == of), passed_over: Vec::new() }
    }

    /// What a visit led to.
    pub fn left(&mut self, visit: Visit, node: &Node) -> Left {
        let (ix, mut passed_over) = (visit.node, Vec::new());
        let gone = match (visit.failed, &node.each) {
            (Some(_), _) => self.of_failure(ix),
            (None, Some(_)) => self.of_items(ix, &mut passed_over),
            (None, None) => self.of_success(ix),
        };
        Left { visit: Some(visit), gone, passed_over }
    }

    /// A failure follows `on_error`, and `next` where that carries on.
    fn of_failure(&mut self, node: NodeIx) -> Option<Gone> {
        let error = self.way(|of| of == RouteOf::Error(node))?;
        let carries = error.to == Target::CarryOn;
        let next = if carries { self.way(|of| of == RouteOf::Next(node)) } else { None };
        Some(match next {
            Some(next) => Gone { of: RouteOf::Carried(node, error.way), ..next },
            None => error,
        })
    }

    /// Items write `update` or follow `on_error`, in index order. The first that leads away decides; else `next`.
    fn of_items(&mut self, node: NodeIx, passed_over: &mut Vec<usize>) -> Option<Gone> {
        let mut away = None;
        loop {
            if self.joined(node) {
                continue;
            }
            match self.way(|of| of == RouteOf::Error(node)) {
                Some(error) if error.to == Target::CarryOn => passed_over.push(error.way),
                Some(error) => drop(away.get_or_insert(error)),
                None => break,
            }
        }
        away.or_else(|| self.way(|of| of == RouteOf::Next(node)))
    }

    /// A turn follows the ways of its tools, then writes `update`; all others write `update`. Then `next`.
    fn of_success(&mut self, node: NodeIx) -> Option<Gone> {
        let by_tool = self.way(|of| matches!(of, RouteOf::Tool(_) | RouteOf::ToolError(_)));
        self.joined(node);
        by_tool.or_else(|| self.way(|of| of == RouteOf::Next(node)))
    }

    fn joined(&mut self, node: NodeIx) -> bool {
        let is_next = self.0.front() == Some(&Mark::Joined(node));
        if is_next {
            self.0.pop_front();
        }
        is_next
    }
}
