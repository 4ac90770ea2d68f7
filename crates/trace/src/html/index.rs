//! Where steps and instances stand in the page: numbers in reading order, for links.

use std::collections::BTreeMap;

use askama::Template;
use askama::filters::HtmlSafe;
use deepgraph_protocol::{ScopePath, StepId};

use crate::tree::{Node, ScopeTrace};

/// The numbers of all steps and instances of a trace.
#[derive(Debug, Default)]
pub(super) struct Index {
    steps: BTreeMap<StepId, usize>,
    scopes: BTreeMap<ScopePath, usize>,
}

/// A link within the page.
#[derive(Clone, Debug, PartialEq, Template)]
#[template(ext = "html", source = r##"<a href="#{{ anchor }}">{{ label }}</a>"##)]
pub(super) struct Link {
    /// The id of the element that it leads to.
    pub(super) anchor: String,
    /// What is shown.
    pub(super) label: String,
}

impl HtmlSafe for Link {}

impl Index {
    pub(super) fn of(root: &ScopeTrace) -> Index {
        let mut index = Index::default();
        index.scope(root);
        index
    }

    fn scope(&mut self, scope: &ScopeTrace) {
        let number = self.scopes.len() + 1;
        self.scopes.insert(scope.scope.clone(), number);
        scope.super_steps.iter().flat_map(|s| &s.nodes).for_each(|node| self.step(node));
    }

    fn step(&mut self, node: &Node) {
        let number = self.steps.len() + 1;
        self.steps.insert(node.step.clone(), number);
        node.calls.iter().for_each(|call| self.step(call));
        if let Some(child) = &node.child {
            self.scope(child);
        }
    }

    /// How many steps there are.
    pub(super) fn steps(&self) -> usize {
        self.steps.len()
    }

    /// How many instances there are.
    pub(super) fn scopes(&self) -> usize {
        self.scopes.len()
    }

    /// The number of a step; 0 where the trace has no such step.
    pub(super) fn step_number(&self, step: &StepId) -> usize {
        self.steps.get(step).copied().unwrap_or(0)
    }

    /// The number of an instance; 0 where the trace has no such instance.
    pub(super) fn scope_number(&self, scope: &ScopePath) -> usize {
        self.scopes.get(scope).copied().unwrap_or(0)
    }

    /// A link to a step, by its last segment.
    pub(super) fn to_step(&self, step: &StepId) -> Link {
        Link { anchor: format!("s{}", self.step_number(step)), label: step.last().to_owned() }
    }

    /// A link to an instance.
    pub(super) fn to_scope(&self, scope: &ScopePath) -> Link {
        Link { anchor: format!("c{}", self.scope_number(scope)), label: short_path(scope) }
    }
}

/// A scope's path as tables show it: `(root)`, or its last two segments.
pub(super) fn short_path(scope: &ScopePath) -> String {
    let segments: Vec<&str> = scope.as_str().split('/').collect();
    match segments.as_slice() {
        [""] => "(root)".to_owned(),
        [.., parent, last] if segments.len() > 2 => format!("…/{parent}/{last}"),
        all => all.join("/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_short() {
        let short = |path: &str| short_path(&ScopePath::new(path));
        assert_eq!(short(""), "(root)");
        assert_eq!(short("supervise.1"), "supervise.1");
        assert_eq!(short("supervise.1/tools.2"), "supervise.1/tools.2");
        assert_eq!(short("supervise.1/tools.2/ConductResearch.1"), "…/tools.2/ConductResearch.1");
    }
}
