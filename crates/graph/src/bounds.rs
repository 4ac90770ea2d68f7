//! The worst case of a run, proved from its graph and configuration before it starts.
//!
//! For each graph: how often each node of an instance can run, and so how many model calls, tool calls, questions and
//! child graphs there are at most. For the run: the same over the whole call tree, recursion followed down to its
//! depth. Whatever models, tools and people do, there is never more.
//!
//! ```text
//! instances (tree) ─▶ limits in force, ways that can hold ─▶ a flow: bounds on sums ─▶ the most of each sum, with
//!                                                            its proof
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `tree` | the instances of a run: configuration, depth, grant |
//! | `in_force`, `known`, `ways` | limits with their bounds; expressions that read the configuration alone; where nodes lead |
//! | `flow`, `limited`, `instead` | how often nodes can start, as bounds on sums; what limits add |
//! | `linear` | the most of a sum under such bounds, exactly |
//! | `measure`, `scope`, `at_once` | what is counted of an instance, and of all below it |
//! | `caps` | limits that bound a figure without counting nodes |
//! | `proof` | why |
//! | `bound` | the bound of one figure |
//!
//! What is left out: attempts of a run after the first, steps repeated after a crash, state set by hand, and what a
//! provider's client repeats by itself.

mod at_once;
mod bound;
mod caps;
mod flow;
mod in_force;
mod instead;
mod known;
mod limited;
mod linear;
mod measure;
mod proof;
mod scope;
#[cfg(test)]
mod tests;
mod tree;
mod ways;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use deepgraph_protocol::{MOST_FAIL_OVERS, Map, Meter};
use serde::Serialize;

pub use bound::{Bound, Figure};
pub use measure::Measure;

use crate::{Bundle, Graph};
use scope::{Child, Scope};

/// The worst case of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bounds {
    /// The root graph.
    pub graph: Arc<str>,
    /// The whole run.
    pub run: RunBounds,
    /// An instance of each graph that can be instantiated, in the order of the bundle; the root first. Where instances
    /// differ (by depth, configuration or grant), each figure is that of the instance for which it is largest.
    pub scopes: Vec<ScopeBounds>,
}

/// The worst case of a whole run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunBounds {
    /// What there is in all.
    pub in_all: BTreeMap<Measure, Figure>,
    /// Runs of each op, further attempts left out.
    pub ops: BTreeMap<Arc<str>, Figure>,
    /// What can be out at the same time: model calls, op runs, and child graphs at work.
    pub at_once: BTreeMap<Measure, Figure>,
}

/// The worst case of one instance of a graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScopeBounds {
    /// The graph, by its path.
    pub graph: Arc<str>,
    /// Instances of it in a run.
    pub instances: Figure,
    /// Instances of it that are alive at the same time.
    pub at_once: Figure,
    /// Of the instance itself: all but tokens and money.
    pub own: BTreeMap<Measure, Figure>,
    /// Of the instance and all below it.
    pub with_children: BTreeMap<Measure, Figure>,
    /// Visits of each node that can run, in plan order, refused starts among them.
    pub visits: Vec<Named>,
    /// Admitted calls of each tool that can be called, in file order.
    pub tools: Vec<Named>,
    /// Child graphs started by the instance itself, by path.
    pub starts: BTreeMap<Arc<str>, Figure>,
    /// The limits in force: in the order of the graph, behind them those that follow from a grant; of instances that
    /// differ, those of the first, then what others add.
    pub limits: Vec<LimitInForce>,
}

/// A figure of something with a name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Named {
    /// What it is of.
    pub name: Arc<str>,
    /// How much.
    #[serde(flatten)]
    pub figure: Figure,
}

/// A limit with its bound.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LimitInForce {
    /// Its name, with the config key of its bound, or what grants it.
    pub name: String,
    /// What it counts: tools and nodes, or a meter.
    pub counts: String,
    /// The bound: calls, visits, tokens; micro-dollars where money is counted, milliseconds where time is.
    pub max: u64,
    /// The meter, where it counts one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meter: Option<Meter>,
}

/// The worst case of a run of a bundle under a configuration, as [`Bundle::config_of`] gives it, where no model has a
/// fallback.
pub fn bounds(bundle: &Bundle, config: &Map) -> Bounds {
    bounds_with_fallbacks(bundle, config, 0)
}

/// The same where so many other models are asked in turn when one can not serve.
pub fn bounds_with_fallbacks(bundle: &Bundle, config: &Map, fallbacks: usize) -> Bounds {
    let fallbacks = u64::try_from(fallbacks).unwrap_or(u64::MAX).min(u64::from(MOST_FAIL_OVERS));
    let (root, scopes) = tree::Tree::of(bundle, config, fallbacks + 1);
    let caps = [
        (Measure::ModelCalls, bundle.concurrency.model_calls, "model_calls"),
        (Measure::OpRuns, bundle.concurrency.tool_calls, "tool_calls"),
        (Measure::Starts, bundle.concurrency.graphs, "graphs"),
    ];
    let mut run = RunBounds { in_all: BTreeMap::new(), ops: BTreeMap::new(), at_once: BTreeMap::new() };
    for measure in Measure::ALL {
        run.in_all.insert(measure, root.count(&scope::Key::Measure(measure)));
    }
    // The root is started by nobody.
    if let Child::Known(root) = &root {
        let starts = scope::Key::Measure(Measure::Starts);
        let below = root.tree.get(&starts).cloned().unwrap_or_else(Figure::none);
        run.in_all.insert(Measure::Starts, below);
        for (key, figure) in &root.tree {
            if let scope::Key::Op(op) = key {
                run.ops.insert(op.clone(), figure.clone());
            }
        }
        for (measure, cap, name) in caps {
            run.at_once.insert(measure, at_work(root, measure, cap, name));
        }
    }
    let kinds = bundle.graphs.iter().filter_map(|graph| {
        let of_kind: Vec<&Rc<Scope>> = scopes.iter().filter(|scope| scope.path == graph.path).collect();
        (!of_kind.is_empty()).then(|| kind(&root, &of_kind, graph))
    });
    Bounds { graph: bundle.root().path.clone(), scopes: kinds.collect(), run }
}

impl Bounds {
    /// What costs money wherever it is and has no bound: model calls, op runs, child graphs.
    pub fn unbounded(&self) -> Vec<Measure> {
        let has_none = |measure: &Measure| {
            self.run.in_all.get(measure).is_some_and(|figure| figure.bound == Bound::Unbounded)
        };
        Measure::COSTLY.into_iter().filter(has_none).collect()
    }

    /// The figures of a graph, by its path.
    pub fn scope(&self, graph: &str) -> Option<&ScopeBounds> {
        self.scopes.iter().find(|scope| &*scope.graph == graph)
    }
}

/// Why no more can be out at the same time.
const TOGETHER: &str = "what the super-steps of a run have out together";

/// What can be at work at the same time, under the caps of the run.
fn at_work(root: &Scope, measure: Measure, cap: Option<usize>, name: &str) -> Figure {
    let bound = match measure {
        Measure::Starts => {
            let graphs = root.at_once.iter().filter(|(key, _)| matches!(key, scope::Key::Graph(_)));
            graphs.fold(Bound::NONE, |sum, (_, bound)| sum.plus(*bound))
        }
        _ => root.at_once.get(&scope::Key::Measure(measure)).copied().unwrap_or(Bound::NONE),
    };
    let why = match bound {
        Bound::Unknown | Bound::Unbounded => {
            let in_all = root.tree.get(&scope::Key::Measure(measure));
            in_all.map(|figure| figure.why.clone()).unwrap_or_default()
        }
        _ => TOGETHER.to_owned(),
    };
    let figure = Figure::new(bound, why);
    let cap = cap.and_then(|cap| u64::try_from(cap).ok());
    match cap {
        Some(cap) => {
            figure.or_tighter(Figure::new(Bound::AtMost(cap), format!("{cap} (concurrency: {name})")))
        }
        None => figure,
    }
}

/// The figures of all instances of one graph together.
fn kind(root: &Child, scopes: &[&Rc<Scope>], graph: &Graph) -> ScopeBounds {
    let path = &graph.path;
    let is_root = root.path() == Some(path);
    let below = |of: &Scope| {
        let key = scope::Key::Graph(path.clone());
        let figure = of.tree.get(&key).cloned().unwrap_or_else(Figure::none);
        let at_once = of.at_once.get(&key).copied().unwrap_or(Bound::NONE);
        (figure, at_once)
    };
    let (mut instances, mut at_once) = match root {
        Child::Known(of) => below(of),
        Child::Refused | Child::Open { .. } => (Figure::none(), Bound::NONE),
    };
    if is_root {
        let why = if instances.bound == Bound::NONE {
            "the run".to_owned()
        } else {
            format!("the run + {}", instances.why)
        };
        instances = Figure::new(instances.bound.plus(Bound::AtMost(1)), why);
        at_once = at_once.plus(Bound::AtMost(1));
    }
    let at_once = Figure::new(at_once, TOGETHER).or_tighter(instances.clone());
    let measures = |of: &dyn Fn(&Scope, Measure) -> Option<Figure>| -> BTreeMap<Measure, Figure> {
        let all = Measure::ALL.into_iter();
        all.filter_map(|m| Some((m, largest(scopes.iter().filter_map(|s| of(s, m)))?))).collect()
    };
    ScopeBounds {
        graph: path.clone(),
        instances,
        at_once,
        own: measures(&|scope, measure| scope.own.get(&measure).cloned()),
        with_children: measures(&|scope, measure| scope.tree.get(&scope::Key::Measure(measure)).cloned()),
        visits: named(scopes, |scope| &scope.visits, |name| graph.node(name)),
        tools: named(scopes, |scope| &scope.tools, |name| graph.tool(name)),
        starts: starts(scopes),
        limits: limits(scopes),
    }
}

/// The largest figure; of equals the first.
fn largest(figures: impl Iterator<Item = Figure>) -> Option<Figure> {
    figures.reduce(|most, figure| if figure.bound > most.bound { figure } else { most })
}

/// Figures by name, each the largest of all instances, in the order in which the graph has the names: an instance may
/// lack some.
fn named<I: Ord>(
    scopes: &[&Rc<Scope>],
    of: impl Fn(&Scope) -> &Vec<(Arc<str>, Figure)>,
    place: impl Fn(&str) -> I,
) -> Vec<Named> {
    let mut all: Vec<Named> = Vec::new();
    for (name, figure) in scopes.iter().flat_map(|scope| of(scope)) {
        match all.iter_mut().find(|known| known.name == *name) {
            Some(known) if figure.bound > known.figure.bound => known.figure = figure.clone(),
            Some(_) => {}
            None => all.push(Named { name: name.clone(), figure: figure.clone() }),
        }
    }
    all.sort_by_key(|named| place(&named.name));
    all
}

fn starts(scopes: &[&Rc<Scope>]) -> BTreeMap<Arc<str>, Figure> {
    let mut all: BTreeMap<Arc<str>, Figure> = BTreeMap::new();
    for (path, figure) in scopes.iter().flat_map(|scope| &scope.starts) {
        let most = all.entry(path.clone()).or_insert_with(|| figure.clone());
        if figure.bound > most.bound {
            *most = figure.clone();
        }
    }
    all
}

/// The limits of all instances; of one that differs among them the loosest.
fn limits(scopes: &[&Rc<Scope>]) -> Vec<LimitInForce> {
    let mut all: Vec<LimitInForce> = Vec::new();
    for row in scopes.iter().flat_map(|scope| &scope.limits) {
        match all.iter_mut().find(|known| known.name == row.name) {
            Some(known) => known.max = known.max.max(row.max),
            None => all.push(LimitInForce {
                name: row.name.clone(),
                counts: row.counts.clone(),
                max: row.max,
                meter: row.meter,
            }),
        }
    }
    all
}
