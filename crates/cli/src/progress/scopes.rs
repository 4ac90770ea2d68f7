//! The graph instances of a run as people see them: with a name, at some work, so many steps done.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deepgraph_graph::{Bundle, Field, GraphIx, Verb};
use deepgraph_protocol::{Event, ScopePath, StepId};

/// One instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Its name: `deep_research`, `supervisor`, `researcher 2`.
    pub label: String,
    /// What it is at, in the words of its graph.
    pub phase: Arc<str>,
    /// How many of its own steps are committed.
    pub done: u64,
    graph: Option<GraphIx>,
}

/// All instances that have started, kept from events.
#[derive(Debug)]
pub struct Scopes {
    bundle: Arc<Bundle>,
    views: BTreeMap<ScopePath, View>,
    /// How many instances of a graph have started.
    numbers: BTreeMap<Arc<str>, u64>,
    /// How many steps of the run are committed.
    pub done: u64,
    /// Which. One whose child went on in another attempt was completed before.
    completed: BTreeSet<StepId>,
}

impl Scopes {
    pub fn new(bundle: Arc<Bundle>) -> Scopes {
        Scopes {
            bundle,
            views: BTreeMap::new(),
            numbers: BTreeMap::new(),
            done: 0,
            completed: BTreeSet::new(),
        }
    }

    /// Takes an event in.
    pub fn note(&mut self, event: &Event) {
        match event {
            Event::ScopeStarted { scope, graph } => self.start(scope, graph),
            Event::NodeStarted { step, title } if !self.is_unspoken(step, title) => {
                let scope = self.scope_of(step);
                if let Some(view) = self.views.get_mut(&scope) {
                    view.phase = title.clone();
                }
            }
            Event::StepCompleted { step } if self.completed.insert(step.clone()) => {
                self.done += 1;
                let scope = self.scope_of(step);
                if let Some(view) = self.views.get_mut(&scope) {
                    view.done += 1;
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, scope: &ScopePath, graph: &Arc<str>) {
        let name = graph.rsplit('/').next().unwrap_or_default();
        let number = self.numbers.entry(graph.clone()).or_insert(0);
        *number += 1;
        // Instances that a tool call starts come in numbers; those of a node mostly come once.
        let is_one_of_many = scope.step().is_some_and(|step| self.scope_depth(&step) > 1);
        let label = match self.numbers.get(graph) {
            Some(number) if is_one_of_many || *number > 1 => format!("{name} {number}"),
            _ => name.to_owned(),
        };
        let view = View { label, phase: "".into(), done: 0, graph: self.bundle.find(graph) };
        self.views.insert(scope.clone(), view);
    }

    /// How many segments of a step lie below the instance that it belongs to: one for a node, two for a call.
    fn scope_depth(&self, step: &StepId) -> usize {
        let scope = self.scope_of(step);
        let below = step.as_str().get(scope.as_str().len()..).unwrap_or_default();
        below.split('/').filter(|segment| !segment.is_empty()).count()
    }

    /// The instance that a step belongs to.
    pub fn scope_of(&self, step: &StepId) -> ScopePath {
        let mut path = step.as_str();
        while let Some((above, _)) = path.rsplit_once('/') {
            let scope = ScopePath::new(above);
            if self.views.contains_key(&scope) {
                return scope;
            }
            path = above;
        }
        ScopePath::root()
    }

    /// The instance of a path.
    pub fn get(&self, scope: &ScopePath) -> Option<&View> {
        self.views.get(scope)
    }

    /// Whether a step is one that started an instance.
    pub fn is_scope(&self, step: &StepId) -> bool {
        self.views.contains_key(&step.scope())
    }

    /// What the node of a step does; none for the step of a call.
    pub fn verb(&self, step: &StepId) -> Option<&Verb> {
        if self.scope_depth(step) > 1 {
            return None;
        }
        let graph = self.views.get(&self.scope_of(step))?.graph?;
        let nodes = &self.bundle.graph(graph).nodes;
        nodes.iter().find(|node| &*node.name == name_of(step)).map(|node| &node.verb)
    }

    /// The arguments of a tool that a call of an instance may have, as its graph lists them, those that it must have
    /// first. None where they are not known.
    pub fn arguments(&self, call: &StepId, tool: &str) -> Vec<&str> {
        let graph = self.views.get(&self.scope_of(call)).and_then(|view| view.graph);
        let tools = graph.map_or(&[][..], |graph| &self.bundle.graph(graph).tools);
        let Some(tool) = tools.iter().find(|known| &*known.name == tool) else { return Vec::new() };
        let must = |field: &Field| !field.optional && field.default.is_none();
        let (first, rest): (Vec<_>, Vec<_>) = tool.parameters.iter().partition(|(_, field)| must(field));
        first.into_iter().chain(rest).map(|(name, _)| &**name).collect()
    }

    /// Whether a node only writes state and has no words of its own: nobody waits for it.
    pub fn is_unspoken(&self, step: &StepId, title: &str) -> bool {
        title == name_of(step) && matches!(self.verb(step), Some(Verb::Pass))
    }
}

/// The name of a step's node or tool. An item of a list goes by the name of its node, an approval by that of its
/// tool.
pub fn name_of(step: &StepId) -> &str {
    let mut segments = step.as_str().rsplit('/');
    let mut last = segments.next().unwrap_or("");
    if last == "approval" || last.starts_with("item.") {
        last = segments.next().unwrap_or(last);
    }
    last.rsplit_once('.').map_or(last, |(name, _)| name)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::graphs;

    /// A view of the stock graph in which a supervisor has started two researchers.
    pub fn example() -> Scopes {
        let bundle = graphs::load_named("deep_research").unwrap().unwrap_or_else(|m| panic!("{m}")).bundle;
        let mut scopes = Scopes::new(Arc::new(bundle));
        for (scope, graph) in [
            ("", "deep_research"),
            ("supervise.1", "deep_research/supervisor"),
            ("supervise.1/supervisor_tools.1/ConductResearch.1", "deep_research/researcher"),
            ("supervise.1/supervisor_tools.1/ConductResearch.2", "deep_research/researcher"),
        ] {
            scopes.note(&Event::ScopeStarted { scope: ScopePath::new(scope), graph: graph.into() });
        }
        scopes
    }

    fn label(scopes: &Scopes, step: &str) -> String {
        scopes.get(&scopes.scope_of(&StepId::new(step))).unwrap().label.clone()
    }

    #[test]
    fn instances_have_names() {
        let scopes = example();
        let second = "supervise.1/supervisor_tools.1/ConductResearch.2";
        assert_eq!(label(&scopes, "brief.1"), "deep_research");
        assert_eq!(label(&scopes, "supervise.1"), "deep_research");
        assert_eq!(label(&scopes, "supervise.1/supervisor.1"), "supervisor");
        assert_eq!(label(&scopes, second), "supervisor");
        assert_eq!(label(&scopes, &format!("{second}/tools.1/search.1")), "researcher 2");
        assert!(scopes.is_scope(&StepId::new(second)));
    }

    #[test]
    fn steps_and_phases_are_kept_by_instance() {
        let mut scopes = example();
        let scope = "supervise.1/supervisor_tools.1/ConductResearch.1";
        let open = StepId::new(format!("{scope}/open.1"));
        let look = StepId::new(format!("{scope}/researcher.1"));
        scopes.note(&Event::NodeStarted { step: look.clone(), title: "Looking into: tides".into() });
        scopes.note(&Event::NodeStarted { step: open.clone(), title: "open".into() });
        scopes.note(&Event::StepCompleted { step: look });
        let view = scopes.get(&ScopePath::new(scope)).unwrap();
        assert_eq!((&*view.phase, view.done, scopes.done), ("Looking into: tides", 1, 1));
        assert!(scopes.is_unspoken(&open, "open"));
    }
}
