//! The call tree of a run: which graphs are instantiated, with which configuration and input, how deep, and with which
//! grant.
//!
//! Instances that differ in none of these have the same figures, which are worked out once.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use deepgraph_protocol::{Map, Meter, Nesting, Value};

use super::bound::{Bound, Figure};
use super::flow::{Begin, Flow, Setup};
use super::in_force::{self, Granted};
use super::known::Known;
use super::linear::Solver;
use super::measure::{Site, keys};
use super::scope::{Child, Scope, Work};
use crate::{Bundle, Counted, Graph, GraphIx, OnReach};

/// How many graphs deep a run is followed.
const DEEPEST: usize = 64;

/// How many instances that differ are looked at.
const MOST_SCOPES: usize = 1000;

/// The meters that a child can be granted a share of.
const GRANTED: [Meter; 4] = [Meter::Tokens, Meter::CostUsd, Meter::ModelCalls, Meter::ToolCalls];

/// What makes instances of a graph differ.
#[derive(Clone, Debug)]
struct Instance {
    graph: GraphIx,
    config: Arc<Map>,
    /// What is known of its input.
    input: Map,
    nesting: Nesting,
    granted: Granted,
}

impl Instance {
    fn key(&self) -> String {
        let granted: Vec<String> =
            self.granted.iter().map(|(meter, (most, _))| format!("{}={most}", meter.name())).collect();
        let config = Value::Map(self.config.clone()).to_json_text();
        let input = Value::from(self.input.clone()).to_json_text();
        format!("{} {:?} {} {input} {config}", self.graph.0, self.nesting, granted.join(","))
    }
}

/// The instances of a run.
pub(super) struct Tree<'b> {
    bundle: &'b Bundle,
    /// The most models that are asked in a row.
    models: u64,
    /// By what makes them differ; none: it is being worked out.
    scopes: BTreeMap<String, Option<Rc<Scope>>>,
}

impl<'b> Tree<'b> {
    /// The figures of the root instance, and of all instances that a run can have: by what makes them differ, in the
    /// byte order of [`Instance::key`], so in the same order each time.
    pub(super) fn of(bundle: &'b Bundle, config: &Map, models: u64) -> (Child, Vec<Rc<Scope>>) {
        let mut tree = Tree { bundle, models, scopes: BTreeMap::new() };
        let root = Instance {
            graph: GraphIx(0),
            config: Arc::new(config.clone()),
            input: Map::new(),
            nesting: Nesting::new(),
            granted: Granted::new(),
        };
        let root = tree.child(root, 0);
        (root, tree.scopes.into_values().flatten().collect())
    }

    fn child(&mut self, instance: Instance, level: usize) -> Child {
        let Some(graph) = self.bundle.graphs.get(instance.graph.0) else { return Child::Refused };
        let open = |bound, why: &str| Child::Open {
            path: graph.path.clone(),
            keys: Rc::new(keys(self.bundle, instance.graph)),
            figure: Figure::new(bound, why),
        };
        let key = instance.key();
        match self.scopes.get(&key) {
            Some(Some(scope)) => return Child::Known(scope.clone()),
            Some(None) => {
                let why =
                    "it is nested in itself without end: a limit on its depth leads on where it could refuse";
                return open(Bound::Unbounded, why);
            }
            None => {}
        }
        if level >= DEEPEST {
            return open(Bound::Unknown, "graphs are nested too deep to be looked at");
        }
        if self.scopes.len() >= MOST_SCOPES {
            return open(Bound::Unknown, "there are too many different instances to be looked at");
        }
        self.scopes.insert(key.clone(), None);
        let scope = Rc::new(self.scope(graph, &instance, level));
        self.scopes.insert(key, Some(scope.clone()));
        Child::Known(scope)
    }

    fn scope(&mut self, graph: &'b Graph, instance: &Instance, level: usize) -> Scope {
        let known = Known::of(&self.bundle.programs, graph, instance.config.clone(), &instance.input);
        let limits = in_force::of(graph, &instance.config, &instance.granted);
        let setup = Setup { begin: begin(graph, instance), graph, known, limits, models: self.models };
        let flow = Flow::of(&setup);
        let mut solver = Solver::of(&flow.linear);
        let mut sites = Vec::new();
        for site in flow.sites(&setup) {
            let child = match Work::site_starts(&mut solver, &site) {
                Bound::NONE => Child::Refused,
                _ => match self.called(&setup, &flow, instance, &site) {
                    Some(child) => self.child(child, level + 1),
                    None => Child::Refused,
                },
            };
            sites.push((site, child));
        }
        let keys = keys(self.bundle, instance.graph);
        Work { setup: &setup, flow: &flow, solver: &mut solver, keys, sites }.scope()
    }

    /// The instance that a call starts; none where the call fails each time.
    fn called(&self, setup: &Setup<'_>, flow: &Flow, caller: &Instance, site: &Site<'_>) -> Option<Instance> {
        let config = self.config(caller, site)?;
        let graph = self.bundle.graphs.get(site.callee.0)?;
        let nesting = nesting(graph, caller, &config)?;
        let input = setup.known.input(site.call, graph);
        Some(Instance { graph: site.callee, input, nesting, granted: granted(setup, flow, site), config })
    }

    /// The configuration of a child; none where a value does not fit.
    fn config(&self, caller: &Instance, site: &Site<'_>) -> Option<Arc<Map>> {
        if site.call.config.is_empty() {
            return Some(caller.config.clone());
        }
        let mut config = (*caller.config).clone();
        for (key, setting) in &site.call.config {
            let value = setting.resolve(&caller.config);
            let fitted = match self.bundle.config.get(key) {
                Some(field) if !value.is_null() => field.check(value).ok()?,
                _ => value.clone(),
            };
            config.insert(key.clone(), fitted);
        }
        Some(Arc::new(config))
    }
}

/// The limits on the depth of a graph, with what they do: bound, action.
fn depths<'g>(graph: &'g Graph, config: &'g Map) -> impl Iterator<Item = (u64, &'g OnReach)> {
    graph
        .limits
        .iter()
        .filter(|limit| matches!(limit.counted, Counted::Meter(Meter::Depth)))
        .filter_map(|limit| Some((limit.max.as_ref()?.count(config)?, &limit.on_reach)))
}

/// How often each graph encloses a child; none where it would be too deep.
fn nesting(graph: &Graph, caller: &Instance, config: &Map) -> Option<Nesting> {
    let mut nesting = caller.nesting.clone();
    if !graph.limits.iter().any(|limit| matches!(limit.counted, Counted::Meter(Meter::Depth))) {
        return Some(nesting);
    }
    let depth = nesting.entry(graph.path.clone()).or_insert(0);
    *depth += 1;
    if depths(graph, config).any(|(max, then)| *then == OnReach::Refuse && *depth > max) {
        return None;
    }
    // All that are too deep are alike.
    let deepest = depths(graph, config).map(|(max, _)| max).max();
    *depth = deepest.map_or(*depth, |deepest| (*depth).min(deepest.saturating_add(1)));
    Some(nesting)
}

/// Where an instance begins.
fn begin(graph: &Graph, instance: &Instance) -> Begin {
    let depth = instance.nesting.get(&graph.path).copied().unwrap_or(1).max(1);
    match depths(graph, &instance.config).find(|(max, _)| depth > *max) {
        None | Some((_, OnReach::Refuse)) => Begin::Start,
        Some((_, OnReach::Exit(..))) => Begin::Nowhere,
        Some((_, OnReach::To(node))) => Begin::At(*node),
    }
}

/// What a child is granted at most: what limits of the caller leave, and what the call asks for.
fn granted(setup: &Setup<'_>, flow: &Flow, site: &Site<'_>) -> Granted {
    let in_stage = setup.graph.nodes.get(site.node.0).is_some_and(|node| node.in_finally);
    let mut granted = Granted::new();
    for meter in GRANTED {
        let limits = setup.limits.iter().filter(|limit| limit.covers(meter));
        let left = limits.filter_map(|limit| {
            let bound = if in_stage || flow.leads_back { limit.max } else { limit.main };
            let of = limit
                .from
                .clone()
                .unwrap_or_else(|| format!("{} of {}", limit.name, setup.graph.name).into());
            Some((bound?, of))
        });
        let asked = site.call.grant.iter().find(|(m, _)| *m == meter).and_then(|(_, expr)| {
            let units = setup.known.value(expr)?.as_float()?;
            let units = (units.max(0.0) * meter.base_units()).round() as u64;
            Some((units, Arc::from(format!("the call in {}", setup.graph.name))))
        });
        if let Some(most) = left.chain(asked).min_by_key(|(bound, _)| *bound) {
            granted.insert(meter, most);
        }
    }
    granted
}
