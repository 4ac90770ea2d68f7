//! What a run really did, counted from its events and from what the world was asked: none of the engine's own counters
//! are looked at.

use std::collections::{BTreeMap, BTreeSet};

use deepgraph_graph::{Bound, Bounds, Bundle, Figure, Measure, ScopeBounds, Verb};
use deepgraph_protocol::{Event, ScopePath, StepId};
use deepgraph_testkit::{RandomWorld, SimRun};

/// What one instance did.
#[derive(Debug, Default)]
pub struct Did {
    graph: String,
    pub measures: BTreeMap<Measure, u64>,
    visits: BTreeMap<String, u64>,
    tools: BTreeMap<String, u64>,
    starts: BTreeMap<String, u64>,
    ops: BTreeMap<String, u64>,
}

impl Did {
    fn more(&mut self, measure: Measure) {
        *self.measures.entry(measure).or_default() += 1;
    }
}

/// What a run did, by instance.
#[derive(Debug, Default)]
pub struct Counted {
    instances: BTreeMap<String, Did>,
    /// The most tokens that the run used; none where it has not ended.
    tokens: Option<u64>,
    /// The most model calls that were out at once.
    models_at_once: u64,
    most_alive: BTreeMap<String, usize>,
}

impl Counted {
    pub fn of(bundle: &Bundle, run: &SimRun, world: &RandomWorld) -> Counted {
        let mut counted = Counted {
            tokens: run.end.as_ref().map(|end| end.settled.tokens),
            most_alive: run.most_alive.clone(),
            ..Counted::default()
        };
        let mut calls: BTreeSet<&StepId> = BTreeSet::new();
        for event in &run.events {
            match event {
                Event::ScopeStarted { scope, graph } => counted.started(scope, graph),
                Event::SuperStepStarted { scope, .. } => counted.at(scope.as_str()).more(Measure::SuperSteps),
                Event::NodeStarted { step, .. } => {
                    let node = node_of(step).to_owned();
                    *counted.of_step(step).visits.entry(node).or_default() += 1;
                }
                Event::Asked { step, .. } => counted.of_step(step).more(Measure::Questions),
                // A call that waits for a place is told of twice.
                Event::CallAdmitted { step, tool, .. } | Event::CallQueued { step, tool }
                    if calls.insert(step) =>
                {
                    let did = counted.of_step(step);
                    did.more(Measure::ToolCalls);
                    *did.tools.entry(tool.to_string()).or_default() += 1;
                }
                _ => {}
            }
        }
        counted.sent(bundle, world);
        counted.in_flight(run, world);
        counted
    }

    fn started(&mut self, scope: &ScopePath, graph: &str) {
        if let Some(step) = scope.step() {
            let parent = self.of_step(&step);
            parent.more(Measure::Starts);
            *parent.starts.entry(graph.to_owned()).or_default() += 1;
        }
        self.instances.insert(scope.as_str().to_owned(), Did { graph: graph.to_owned(), ..Did::default() });
    }

    /// Model calls and ops, as the world saw them, whichever model of the route was asked.
    fn sent(&mut self, bundle: &Bundle, world: &RandomWorld) {
        let mut first: BTreeSet<&StepId> = BTreeSet::new();
        for (step, _) in &world.models {
            let did = self.of_step(step);
            did.more(Measure::ModelAttempts);
            if !first.insert(step) {
                continue;
            }
            did.more(Measure::ModelCalls);
            let graph = bundle.find(&did.graph).map(|ix| bundle.graph(ix)).expect("the graph is there");
            let node = graph.node(node_of(step)).and_then(|ix| graph.nodes.get(ix.0));
            if matches!(node.map(|n| &n.verb), Some(Verb::Model(model)) if !model.tools.is_empty()) {
                did.more(Measure::Turns);
            }
        }
        for (step, op, _) in &world.ops {
            let did = self.of_step(step);
            did.more(Measure::OpAttempts);
            if first.insert(step) {
                did.more(Measure::OpRuns);
                *did.ops.entry(op.clone()).or_default() += 1;
            }
        }
    }

    fn in_flight(&mut self, run: &SimRun, world: &RandomWorld) {
        let models: BTreeSet<&StepId> = world.models.iter().map(|(step, _)| step).collect();
        let mut out = 0u64;
        for passage in run.flight.iter().filter(|passage| models.contains(&passage.step)) {
            out = if passage.out { out + 1 } else { out.saturating_sub(1) };
            self.models_at_once = self.models_at_once.max(out);
        }
    }

    fn at(&mut self, scope: &str) -> &mut Did {
        self.instances.get_mut(scope).expect("an instance starts before it does anything")
    }

    /// The instance that a step belongs to: the longest that it lies below.
    fn of_step(&mut self, step: &StepId) -> &mut Did {
        let path = step.as_str();
        let below = |scope: &&String| {
            scope.is_empty() || path.strip_prefix(scope.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        let scope = self.instances.keys().filter(below).max_by_key(|scope| scope.len());
        let scope = scope.expect("the root is there").clone();
        self.at(&scope)
    }

    /// The sum over all instances.
    pub fn in_all(&self, measure: Measure) -> u64 {
        self.instances.values().filter_map(|did| did.measures.get(&measure)).sum()
    }

    /// All figures that are above their bounds.
    pub fn exceed(&self, bounds: &Bounds) -> Vec<String> {
        let mut told = Vec::new();
        for (scope, did) in &self.instances {
            match bounds.scope(&did.graph) {
                Some(proved) => did.exceed(scope, proved, &mut told),
                None => told.push(format!("`{scope}` is an instance of {}, which can not run", did.graph)),
            }
        }
        for (measure, figure) in &bounds.run.in_all {
            let counted = match measure {
                Measure::Tokens => self.tokens.unwrap_or(0),
                other => self.in_all(*other),
            };
            check("the run", measure.title(), counted, figure, &mut told);
        }
        for (op, figure) in &bounds.run.ops {
            let runs = self.instances.values().filter_map(|did| did.ops.get(&**op)).sum();
            check("the run", op, runs, figure, &mut told);
        }
        if bounds.run.at_once[&Measure::ModelCalls].why.starts_with("what") {
            let figure = &bounds.run.at_once[&Measure::ModelCalls];
            check("the run", "model calls at once", self.models_at_once, figure, &mut told);
        }
        for scope in &bounds.scopes {
            let of_graph = self.instances.values().filter(|did| did.graph == *scope.graph).count();
            check("the run", &scope.graph, of_graph as u64, &scope.instances, &mut told);
            let alive = self.most_alive.get(&*scope.graph).copied().unwrap_or(0);
            check("at once", &scope.graph, alive as u64, &scope.at_once, &mut told);
        }
        told
    }
}

impl Did {
    fn exceed(&self, scope: &str, proved: &ScopeBounds, told: &mut Vec<String>) {
        for (measure, figure) in &proved.own {
            let counted = self.measures.get(measure).copied().unwrap_or(0);
            check(scope, measure.title(), counted, figure, told);
        }
        for (list, counts) in [(&proved.visits, &self.visits), (&proved.tools, &self.tools)] {
            for (name, counted) in counts {
                let none = Figure { bound: Bound::AtMost(0), why: "it is not in the list".into() };
                let figure = list.iter().find(|named| *named.name == **name).map(|named| &named.figure);
                check(scope, name, *counted, figure.unwrap_or(&none), told);
            }
        }
        for (graph, counted) in &self.starts {
            match proved.starts.get(graph.as_str()) {
                Some(figure) => check(scope, graph, *counted, figure, told),
                None => told.push(format!("`{scope}` starts {graph}, which it can not")),
            }
        }
    }
}

fn check(scope: &str, what: &str, counted: u64, figure: &Figure, told: &mut Vec<String>) {
    if let Bound::AtMost(most) = figure.bound
        && counted > most
    {
        told.push(format!("`{scope}`: {what} {counted}, and the bound is {most} = {}", figure.why));
    }
}

/// The node of a step: its last segment, or that before it for an item.
fn node_of(step: &StepId) -> &str {
    let mut segments = step.as_str().rsplit('/').skip_while(|segment| segment.starts_with("item."));
    let last = segments.next().unwrap_or_default();
    last.rsplit_once('.').map_or(last, |(name, _)| name)
}
