//! How many instances, model calls and ops of a run can be out at the same time.
//!
//! All that is out of one instance belongs to one super-step, in which each node runs at most once.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::bound::{Bound, Figure};
use super::flow::NodeVars;
use super::known::Items;
use super::linear::Sum;
use super::measure::{Key, Measure};
use super::scope::{Child, Work};
use crate::{Callee, Each, NodeIx, ToolIx, Verb};

/// What can be out at once, of model calls, op runs and instances of graphs below.
pub(super) type AtOnce = BTreeMap<Key, Bound>;

pub(super) fn of(work: &mut Work<'_, '_>, tree: &BTreeMap<Key, Figure>) -> AtOnce {
    let flow = work.flow;
    // The two parts of an instance never run at the same time, unless one leads back into the other.
    let mut parts = [AtOnce::new(), AtOnce::new()];
    for (ix, node, vars) in flow.live(work.setup) {
        let width = match (vars.items, &node.each) {
            (Some((_, items)), Some(each)) => work.width(each, items),
            _ => Bound::AtMost(1),
        };
        let mut here = AtOnce::new();
        match &node.verb {
            Verb::Pass | Verb::Ask(_) => {}
            Verb::Model(_) => add(&mut here, Key::Measure(Measure::ModelCalls), width),
            Verb::Call(call) => work.called(&mut here, &call.callee, (ix, None), width),
            Verb::RunTools(_) => work.turn(&mut here, ix, vars),
        }
        let part = usize::from(node.in_finally && !flow.leads_back);
        if let Some(part) = parts.get_mut(part) {
            for (key, bound) in here {
                join(part, key, bound, flow.one_by_one);
            }
        }
    }
    let [mut most, stage] = parts;
    for (key, bound) in stage {
        join(&mut most, key, bound, true);
    }
    for (key, bound) in &mut most {
        *bound = tree.get(key).map_or(*bound, |figure| figure.bound.min(*bound));
    }
    most
}

impl Work<'_, '_> {
    /// How many items of a list are out at once.
    fn width(&self, each: &Each, items: Items) -> Bound {
        let items = if let Items::AtMost(most) = items { Bound::AtMost(most) } else { Bound::Unknown };
        let cap = each.parallel.as_ref().and_then(|p| p.count(&self.setup.known.config));
        cap.map_or(items, |cap| items.min(Bound::AtMost(cap.max(1))))
    }

    /// What the calls of a turn have out: of each tool as many as `parallel` lets run, and of those that call the same
    /// no more than limits admit together.
    fn turn(&mut self, here: &mut AtOnce, ix: NodeIx, vars: &NodeVars) {
        let mut groups: Vec<(&Callee, ToolIx, Bound, Sum)> = Vec::new();
        for (tool, var) in &vars.calls {
            let Some(declared) = self.setup.graph.tools.get(tool.0) else { continue };
            let Some(call) = &declared.call else { continue };
            let cap = declared.parallel.as_ref().and_then(|p| p.count(&self.setup.known.config));
            let most = self.most(&vec![(*var, 1)]).bound;
            let width = cap.map_or(most, |cap| most.min(Bound::AtMost(cap.max(1))));
            let alike = |(first, of, ..): &&mut (&Callee, ToolIx, Bound, Sum)| {
                self.are_alike(ix, (first, *of), (&call.callee, *tool))
            };
            match groups.iter_mut().find(alike) {
                Some((_, _, sum, vars)) => {
                    *sum = sum.plus(width);
                    vars.push((*var, 1));
                }
                None => groups.push((&call.callee, *tool, width, vec![(*var, 1)])),
            }
        }
        for (callee, tool, width, calls) in groups {
            let together = self.most(&calls).bound;
            self.called(here, callee, (ix, Some(tool)), width.min(together));
        }
    }

    /// Whether calls of two tools in one turn have the same out: ops, or instances of which the same is known.
    fn are_alike(&self, node: NodeIx, a: (&Callee, ToolIx), b: (&Callee, ToolIx)) -> bool {
        match (a.0, b.0) {
            (Callee::Op(_), Callee::Op(_)) => true,
            (Callee::Graph(_), Callee::Graph(_)) => {
                match (self.child(node, Some(a.1)), self.child(node, Some(b.1))) {
                    (Some(Child::Known(one)), Some(Child::Known(other))) => Rc::ptr_eq(one, other),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// What a call of a node, or of a tool in its turn, starts.
    fn child(&self, node: NodeIx, tool: Option<ToolIx>) -> Option<&Child> {
        self.sites.iter().find(|(site, _)| site.node == node && site.tool == tool).map(|(_, child)| child)
    }

    /// What so many calls of one place have out.
    fn called(
        &self,
        here: &mut AtOnce,
        callee: &Callee,
        (node, tool): (NodeIx, Option<ToolIx>),
        width: Bound,
    ) {
        if matches!(callee, Callee::Op(_)) {
            return add(here, Key::Measure(Measure::OpRuns), width);
        }
        match self.child(node, tool) {
            None | Some(Child::Refused) => {}
            Some(Child::Open { path, keys, figure }) => {
                let counted = |key: &&Key| match key {
                    Key::Graph(_) => true,
                    key => [Measure::ModelCalls, Measure::OpRuns].map(Key::Measure).contains(key),
                };
                let itself = Key::Graph(path.clone());
                for key in keys.iter().filter(counted).chain([&itself]) {
                    add(here, key.clone(), width.times(figure.bound));
                }
            }
            Some(Child::Known(scope)) => {
                add(here, Key::Graph(scope.path.clone()), width);
                for (key, bound) in &scope.at_once {
                    add(here, key.clone(), width.times(*bound));
                }
            }
        }
    }
}

fn add(to: &mut AtOnce, key: Key, bound: Bound) {
    join(to, key, bound, false);
}

/// Puts a bound to those that are there: beside them, or in place of them where both never happen together.
fn join(to: &mut AtOnce, key: Key, bound: Bound, apart: bool) {
    let slot = to.entry(key).or_insert(Bound::NONE);
    *slot = if apart { (*slot).max(bound) } else { slot.plus(bound) };
}
