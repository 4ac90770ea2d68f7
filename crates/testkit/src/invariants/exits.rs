//! Exactly one exit per instance and attempt. A parent's record lists those of its children in delegation order, and
//! no instance outlives its parent.

use std::collections::BTreeMap;

use deepgraph_protocol::{EntryBody, Event, Exit, ScopePath};

use super::Violation;
use super::seen::{Scope, Seen};

const NAME: &str = "exits";

pub(super) fn check(seen: &Seen<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for scope in seen.scopes.values() {
        let exits: Vec<&Exit> = scope
            .events()
            .filter_map(|(_, event)| if let Event::Exited { exit } = event { Some(exit) } else { None })
            .collect();
        let ends = scope.events().filter(|(_, e)| matches!(e, Event::ScopeEnded { .. })).count();
        let mut wrong = |what: String| found.push(Violation::of_scope(NAME, scope.path, what));
        let resumed = scope.events().filter(|(_, e)| matches!(e, Event::Resumed { .. })).count();
        if exits.len() > resumed + 1 || ends != exits.len() {
            wrong(format!("it told {} exits and {ends} ends in {} attempts", exits.len(), resumed + 1));
        }
        for (exit, attempt) in exits.iter().zip(scope.started.attempt..) {
            if exit.scope != *scope.path || exit.attempt != attempt {
                wrong(format!(
                    "its exit is that of `{}`, attempt {}, not {attempt}",
                    exit.scope, exit.attempt
                ));
            }
        }
        let Some(exit) = exits.get(resumed) else {
            if seen.run.end.is_some() {
                wrong("the run has ended, and it has no exit".to_owned());
            }
            continue;
        };
        for (name, counted) in counted(scope) {
            let told = exit.counters.get(name).copied();
            if told != Some(counted) {
                wrong(format!("its exit counts {told:?} `{name}`, and there were {counted}"));
            }
        }
        let listed = scope.folded.end().map(|end| end.children.clone()).unwrap_or_default();
        let expected = of_children(seen, scope, &mut wrong);
        if listed != expected {
            let names = |exits: &[Exit]| {
                let names: Vec<String> =
                    exits.iter().map(|e| format!("`{}` by {}", e.scope, e.reason)).collect();
                if names.is_empty() { "none".to_owned() } else { names.join(", ") }
            };
            let (listed, expected) = (names(&listed), names(&expected));
            wrong(format!("it lists the exits of its children as {listed}; they ended as {expected}"));
        }
    }
    found
}

/// What an exit counts, counted again.
fn counted(scope: &Scope<'_>) -> [(&'static str, u64); 1] {
    let super_steps = scope.events().filter(|(_, e)| matches!(e, Event::SuperStepStarted { .. })).count();
    [("super_steps", super_steps as u64)]
}

/// The exits of its children, in delegation order, each before those below it.
fn of_children(seen: &Seen<'_>, scope: &Scope<'_>, wrong: &mut impl FnMut(String)) -> Vec<Exit> {
    // Delegation order: by super-step, by node in plan order, by call or item.
    let nodes: BTreeMap<&str, usize> = scope
        .events()
        .filter_map(|(_, event)| match event {
            Event::SuperStepStarted { nodes, .. } => Some(nodes),
            _ => None,
        })
        .flatten()
        .enumerate()
        .map(|(at, step)| (step.as_str(), at))
        .collect();
    let mut children: Vec<((usize, u64), &ScopePath)> = Vec::new();
    for path in seen.scopes.keys() {
        let Some(step) = path.step() else { continue };
        let Some(at) = scope.at(&step).filter(|_| is_direct(seen, scope, path)) else { continue };
        let node = nodes.get(at.run).copied().unwrap_or(usize::MAX);
        children.push(((node, at.part().map_or(0, |(_, number)| number)), path));
    }
    children.sort();
    let mut exits = Vec::new();
    for (_, path) in children {
        // A child that went on hands up its end again.
        let handed = scope.rows.iter().rev().find_map(|row| match &row.entry.body {
            EntryBody::ChildEnded { step, end } if step.scope() == *path => Some(&**end),
            _ => None,
        });
        let Some(end) = handed else {
            wrong(format!("it has ended, and its child `{path}` has not handed up its end"));
            continue;
        };
        let told = seen.scopes.get(path).and_then(|child| child.folded.end());
        if told != Some(end) {
            wrong(format!("`{path}` handed up another end than that by which it ended"));
        }
        exits.push(end.exit.clone());
        exits.extend(end.children.iter().cloned());
    }
    exits
}

/// Whether an instance was started by this one, not by one below it.
fn is_direct(seen: &Seen<'_>, scope: &Scope<'_>, path: &ScopePath) -> bool {
    let Some(step) = path.step() else { return false };
    let between = seen.scopes.keys().filter(|other| {
        let Some(other) = other.step() else { return false };
        other != step && step.below(&other).is_some()
    });
    // The longest that encloses it is its parent.
    let parent = between.max_by_key(|other| other.as_str().len());
    match parent {
        Some(parent) => **parent == *scope.path,
        None => scope.path.is_root(),
    }
}
