//! Limits that bound a figure as a whole: those on meters that cover all below, and on what is not a sum of starts.

use deepgraph_protocol::Meter;

use super::bound::{Bound, Figure};
use super::flow::NodeVars;
use super::in_force::InForce;
use super::measure::{Key, Measure};
use super::proof;
use super::scope::Work;
use crate::{Node, NodeIx, Verb};

impl Work<'_, '_> {
    /// A figure of the instance alone, held against the limits that bound it without counting its nodes.
    pub(super) fn own_capped(&self, measure: Measure, figure: Figure) -> Figure {
        let caps = self.setup.limits.iter().filter_map(|limit| match (measure, limit.meter()?) {
            (Measure::SuperSteps, Meter::SuperSteps) => {
                Some(Figure::new(Bound::AtMost(limit.max?), of(limit)))
            }
            (Measure::ModelAttempts, Meter::ModelCalls) => self.last_call(limit),
            _ => None,
        });
        caps.fold(figure, Figure::or_tighter)
    }

    /// Where calls are made one by one, none starts once the attempts of those before have used a limit up: only the
    /// last can go past it.
    fn last_call(&self, limit: &InForce) -> Option<Figure> {
        let is_list = |(_, node, _): &(NodeIx, &Node, &NodeVars)| node.each.is_some() && is_model(node);
        if !self.flow.one_by_one || self.flow.live(self.setup).any(|at| is_list(&at)) {
            return None;
        }
        let more = self.attempts().saturating_sub(1);
        let bound = Bound::AtMost(limit.max?).plus(Bound::AtMost(more));
        Some(Figure::new(bound, format!("{} + {more} more attempts of the last", of(limit))))
    }

    /// A figure of all below, held against the limits that cover all below.
    pub(super) fn capped(&self, measure: Measure, figure: Figure) -> Figure {
        let (meter, each) = match measure {
            Measure::ModelCalls => (Meter::ModelCalls, 1),
            Measure::ModelAttempts => (Meter::ModelCalls, self.attempts()),
            Measure::ToolCalls => (Meter::ToolCalls, 1),
            Measure::Tokens => (Meter::Tokens, 1),
            Measure::CostMicroUsd => (Meter::CostUsd, 1),
            _ => return figure,
        };
        let limits = || self.setup.limits.iter().filter(|limit| limit.covers(meter));
        let key = Key::Measure(measure);
        let alone = self.sites.iter().all(|(_, child)| child.count(&key).bound == Bound::NONE);
        let one_by_one = limits().filter(|_| measure == Measure::ModelAttempts && alone);
        let figure = one_by_one.filter_map(|limit| self.last_call(limit)).fold(figure, Figure::or_tighter);
        let caps = limits().filter_map(|limit| {
            let bound = Bound::AtMost(limit.max?).times(Bound::AtMost(each));
            let times = if each == 1 { String::new() } else { format!(" × {each} attempts") };
            Some(Figure::new(bound, format!("{}{times}, which covers all below", of(limit))))
        });
        caps.fold(figure, Figure::or_tighter)
    }

    /// The most attempts of an op that a tool runs, in it or below.
    pub(super) fn op_attempts(&self) -> u64 {
        let below = self.sites.iter().map(|(_, child)| child.known().map_or(0, |scope| scope.op_attempts));
        below.chain([self.setup.tool_attempts()]).max().unwrap_or(0)
    }

    /// The most attempts of a model call in it or below.
    pub(super) fn attempts(&self) -> u64 {
        let own = self.flow.live(self.setup).map(|(_, node, _)| self.setup.model_attempts(node)).max();
        let below = self.sites.iter().map(|(_, child)| child.known().map_or(0, |scope| scope.attempts));
        own.into_iter().chain(below).max().unwrap_or(0)
    }

    /// Runs of ops, held against the limits on calls of tools: tools run no more than are called.
    pub(super) fn by_tools(&mut self, key: &Key, figure: Figure) -> Figure {
        let (by_nodes, each) = match key {
            Key::Measure(Measure::OpRuns) => (Key::NodeRuns(None), 1),
            Key::Measure(Measure::OpAttempts) => (Key::NodeAttempts, self.op_attempts()),
            Key::Op(name) => (Key::NodeRuns(Some(name.clone())), 1),
            _ => return figure,
        };
        let by_nodes = self.below(&by_nodes).bound;
        let limits = self.setup.limits.iter().filter(|limit| limit.covers(Meter::ToolCalls));
        let caps = limits.filter_map(|limit| {
            let bound = Bound::AtMost(limit.max?).times(Bound::AtMost(each)).plus(by_nodes);
            let times = if each == 1 { String::new() } else { format!(" × {each} attempts") };
            Some(Figure::new(bound, format!("{}{times}, and {by_nodes} by nodes", of(limit))))
        });
        caps.fold(figure, Figure::or_tighter)
    }
}

/// `50 (tool_calls)`.
fn of(limit: &InForce) -> String {
    format!("{} ({})", limit.max.unwrap_or(0), proof::title(limit))
}

fn is_model(node: &Node) -> bool {
    matches!(node.verb, Verb::Model(_))
}
