//! Limits that bound a figure as a whole: those on meters that cover all below, and on what is not a sum of starts.

use deepgraph_protocol::Meter;

use super::bound::{Bound, Figure};
use super::in_force::InForce;
use super::measure::{Key, Measure};
use super::proof;
use super::scope::Work;

impl Work<'_, '_> {
    /// A figure of the instance alone, held against the limits that bound it without counting its nodes.
    pub(super) fn own_capped(&self, measure: Measure, figure: Figure) -> Figure {
        let caps = self.setup.limits.iter().filter_map(|limit| match (measure, limit.meter()?) {
            (Measure::SuperSteps, Meter::SuperSteps) | (Measure::ModelAttempts, Meter::ModelCalls) => {
                Some(Figure::new(Bound::AtMost(limit.max?), of(limit)))
            }
            _ => None,
        });
        caps.fold(figure, Figure::or_tighter)
    }

    /// A figure of all below, held against the limits that cover all below.
    pub(super) fn capped(&self, measure: Measure, figure: Figure) -> Figure {
        let meter = match measure {
            Measure::ModelCalls | Measure::ModelAttempts => Meter::ModelCalls,
            Measure::ToolCalls => Meter::ToolCalls,
            Measure::Tokens => Meter::Tokens,
            Measure::CostMicroUsd => Meter::CostUsd,
            _ => return figure,
        };
        let limits = self.setup.limits.iter().filter(|limit| limit.covers(meter));
        let caps = limits.filter_map(|limit| {
            Some(Figure::new(Bound::AtMost(limit.max?), format!("{}, which covers all below", of(limit))))
        });
        caps.fold(figure, Figure::or_tighter)
    }

    /// The most attempts of an op that a tool runs, in it or below.
    pub(super) fn op_attempts(&self) -> u64 {
        let below = self.sites.iter().map(|(_, child)| child.known().map_or(0, |scope| scope.op_attempts));
        below.chain([self.setup.tool_attempts()]).max().unwrap_or(0)
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
