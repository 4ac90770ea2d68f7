//! How many instances, model calls and ops of a run can be out at the same time.
//!
//! All that is out of one instance belongs to one super-step, in which each node runs at most once.

use std::collections::BTreeMap;

use super::bound::{Bound, Figure};
use super::known::Items;
use super::measure::{Key, Measure};
use super::scope::{Child, Work};
use crate::{Callee, Each, NodeIx, ToolIx, Verb};

/// What can be out at once, of model calls, op runs and instances of graphs below.
pub(super) type AtOnce = BTreeMap<Key, Bound>;

pub(super) fn of(
    work: &Work<'_, '_>,
    calls: &BTreeMap<(NodeIx, ToolIx), Bound>,
    tree: &BTreeMap<Key, Figure>,
) -> AtOnce {
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
            Verb::RunTools(_) => {
                for tool in vars.calls.keys() {
                    let Some(declared) = work.setup.graph.tools.get(tool.0) else { continue };
                    let Some(call) = &declared.call else { continue };
                    let cap = declared.parallel.as_ref().and_then(|p| p.count(&work.setup.known.config));
                    let cap = cap.map_or(Bound::Unbounded, |cap| Bound::AtMost(cap.max(1)));
                    let most = calls.get(&(ix, *tool)).copied().unwrap_or(Bound::NONE);
                    work.called(&mut here, &call.callee, (ix, Some(*tool)), most.min(cap));
                }
            }
        }
        let part = usize::from(node.in_finally && !flow.leads_back);
        if let Some(part) = parts.get_mut(part) {
            for (key, bound) in here {
                join(part, key, bound, flow.one_by_one || std::env::var("MUT").as_deref()==Ok("once"));
            }
        }
    }
    let [mut most, stage] = parts;
    for (key, bound) in stage {
        join(&mut most, key, bound, true);
    }
    for (key, bound) in &mut most {
        let in_all = match key {
            // An attempt that was given up may still be out.
            Key::Measure(Measure::ModelCalls) => &Key::Measure(Measure::ModelAttempts),
            Key::Measure(Measure::OpRuns) => &Key::Measure(Measure::OpAttempts),
            other => other,
        };
        *bound = tree.get(in_all).map_or(*bound, |figure| figure.bound.min(*bound));
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
        let site = self.sites.iter().find(|(site, _)| site.node == node && site.tool == tool);
        match site.map(|(_, child)| child) {
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
    join(to, key, bound, std::env::var("MUT").as_deref()==Ok("once"));
}

/// Puts a bound to those that are there: beside them, or in place of them where both never happen together.
fn join(to: &mut AtOnce, key: Key, bound: Bound, apart: bool) {
    let slot = to.entry(key).or_insert(Bound::NONE);
    *slot = if apart { (*slot).max(bound) } else { slot.plus(bound) };
}
