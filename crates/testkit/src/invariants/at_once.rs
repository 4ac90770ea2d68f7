//! Never more is out than `parallel` allows: of calls of one turn, and of items of one list.

use std::collections::{BTreeMap, BTreeSet};

use deepgraph_graph::{Overflow, Tool};
use deepgraph_protocol::{Effect, Event, Output, StepId};

use super::Violation;
use super::seen::{Scope, Seen};

const NAME: &str = "at_once";

pub(super) fn check(seen: &Seen<'_>) -> Vec<Violation> {
    seen.scopes.values().flat_map(of_scope).collect()
}

fn of_scope(scope: &Scope<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    // By node and tool, or by node for items.
    let mut out: BTreeMap<(&str, &str), BTreeSet<&StepId>> = BTreeMap::new();
    let mut admitted: BTreeMap<(&str, &str), BTreeSet<&StepId>> = BTreeMap::new();
    for (_, output) in scope.outputs() {
        match output {
            Output::Effect(effect) => {
                let (Effect::CallModel { step, .. }
                | Effect::RunOp { step, .. }
                | Effect::Spawn { step, .. }
                | Effect::Reopen { step, .. }
                | Effect::Ask { step, .. }) = effect
                else {
                    continue;
                };
                let Some((group, cap)) = cap_of_open(scope, step) else { continue };
                let steps = out.entry(group).or_default();
                steps.insert(step);
                if steps.len() as u64 > cap {
                    let what = format!("it is number {} that is out, and `parallel` is {cap}", steps.len());
                    found.push(Violation::of_step(NAME, scope.path, step, what));
                }
            }
            Output::Event(Event::StepCompleted { step } | Event::StepFailed { step, .. }) => {
                if let Some(steps) = group_of(scope, step).and_then(|group| out.get_mut(&group)) {
                    steps.remove(step);
                }
            }
            Output::Event(Event::CallAdmitted { step, tool, .. }) => {
                let Some(declared) = tool_of(scope, tool) else { continue };
                let Some(group) = group_of(scope, step) else { continue };
                let steps = admitted.entry(group).or_default();
                steps.insert(step);
                if declared.overflow == Overflow::Refuse
                    && let Some(cap) = cap_of_tool(scope, declared)
                    && steps.len() as u64 > cap
                {
                    let what = format!(
                        "it is call number {} of `{tool}` in one turn, and {cap} may run",
                        steps.len()
                    );
                    found.push(Violation::of_step(NAME, scope.path, step, what));
                }
            }
            Output::Event(_) => {}
        }
    }
    found
}

fn tool_of<'r>(scope: &Scope<'r>, name: &str) -> Option<&'r Tool> {
    scope.graph.tool(name).and_then(|ix| scope.graph.tools.get(ix.0))
}

fn cap_of_tool(scope: &Scope<'_>, tool: &Tool) -> Option<u64> {
    tool.parallel.as_ref()?.count(&scope.config)
}

/// What a step is out together with: the calls of its tool in its turn, the items of its list.
fn group_of<'s>(scope: &Scope<'_>, step: &'s StepId) -> Option<(&'s str, &'s str)> {
    let at = scope.at(step)?;
    // The question about a call is no call.
    let (name, _) = at.part().filter(|_| !at.inner.is_some_and(|inner| inner.contains('/')))?;
    Some((at.run, name))
}

fn cap_of_open<'s>(scope: &Scope<'_>, step: &'s StepId) -> Option<((&'s str, &'s str), u64)> {
    let group = group_of(scope, step)?;
    let cap = match &scope.node(step)?.each {
        Some(each) => each.parallel.as_ref()?.count(&scope.config)?,
        None => cap_of_tool(scope, tool_of(scope, group.1)?)?,
    };
    Some((group, cap.max(1)))
}
