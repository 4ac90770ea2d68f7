//! The figures of one instance: its own, and those of all below it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use deepgraph_protocol::Meter;

use super::at_once::{self, AtOnce};
use super::bound::{Bound, Figure};
use super::flow::{Flow, Setup};
use super::linear::{Fraction, Most, Optimum, Solver, Sum};
pub(super) use super::measure::Key;
use super::measure::{Measure, Site};
use super::proof::{self, whole};
use crate::{Graph, ToolIx};

/// What is known of an instance of a graph, under one configuration and at one depth.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) path: Arc<str>,
    /// Of the instance itself.
    pub(super) own: BTreeMap<Measure, Figure>,
    /// Of the instance and all below it. Graphs are counted without the instance itself.
    pub(super) tree: BTreeMap<Key, Figure>,
    /// Visits of each node, in plan order.
    pub(super) visits: Vec<(Arc<str>, Figure)>,
    /// Calls of each tool, in file order.
    pub(super) tools: Vec<(Arc<str>, Figure)>,
    /// Child graphs started by the instance itself.
    pub(super) starts: BTreeMap<Arc<str>, Figure>,
    pub(super) at_once: AtOnce,
    /// The limits in force: name, what it counts, bound in base units, config key or caller's limit.
    pub(super) limits: Vec<LimitRow>,
    /// The most attempts of an op that a tool runs, in it and below.
    pub(super) op_attempts: u64,
}

/// A limit in force, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LimitRow {
    pub(super) name: String,
    pub(super) counts: String,
    pub(super) meter: Option<Meter>,
    pub(super) max: u64,
}

/// What a site starts.
#[derive(Debug)]
pub(super) enum Child {
    /// An instance of which this is known.
    Known(Rc<Scope>),
    /// The start is refused: nothing comes of it.
    Refused,
    /// An instance of which nothing is known but what it may count at all, and why.
    Open { path: Arc<str>, keys: Rc<BTreeSet<Key>>, figure: Figure },
}

impl Child {
    /// What a key counts in one such child and below it, the child itself included.
    pub(super) fn count(&self, key: &Key) -> Figure {
        match self {
            Child::Refused => Figure::none(),
            Child::Open { path, keys, figure } => match keys.contains(key) || is_itself(key, path) {
                true => figure.clone(),
                false => Figure::none(),
            },
            Child::Known(scope) => {
                let below = scope.tree.get(key).cloned().unwrap_or_else(Figure::none);
                let itself = is_itself(key, &scope.path);
                let bound = if itself { below.bound.plus(Bound::AtMost(1)) } else { below.bound };
                Figure::new(bound, below.why)
            }
        }
    }

    pub(super) fn known(&self) -> Option<&Scope> {
        if let Child::Known(scope) = self { Some(scope) } else { None }
    }

    /// The path of its graph; none where nothing is started.
    pub(super) fn path(&self) -> Option<&Arc<str>> {
        match self {
            Child::Known(scope) => Some(&scope.path),
            Child::Refused => None,
            Child::Open { path, .. } => Some(path),
        }
    }
}

/// Whether an instance of a graph counts for a key by being there.
fn is_itself(key: &Key, path: &Arc<str>) -> bool {
    match key {
        Key::Graph(of) => of == path,
        key => *key == Key::Measure(Measure::Starts),
    }
}

/// Everything that the figures of an instance are worked out from.
pub(super) struct Work<'w, 'g> {
    pub(super) setup: &'w Setup<'g>,
    pub(super) flow: &'w Flow,
    pub(super) solver: &'w mut Solver,
    /// All that it and those below can count.
    pub(super) keys: BTreeSet<Key>,
    /// What each site starts.
    pub(super) sites: Vec<(Site<'g>, Child)>,
}

impl Work<'_, '_> {
    /// Works the figures of an instance out.
    pub(super) fn scope(&mut self) -> Scope {
        let graph = self.setup.graph;
        let keys: Vec<Key> = self.keys.iter().cloned().collect();
        let mut own: BTreeMap<Measure, Figure> = BTreeMap::new();
        for measure in Measure::ALL.into_iter().filter(|m| m.is_counted()) {
            let key = Key::Measure(measure);
            let mut sum = self.flow.own(self.setup, &key);
            if measure == Measure::Starts {
                let refused =
                    |var| self.sites.iter().any(|(s, c)| s.var == var && matches!(c, Child::Refused));
                sum.retain(|(var, _)| !refused(*var));
            }
            let found = self.most(&sum);
            own.insert(measure, self.own_capped(measure, found));
        }
        let tree: BTreeMap<Key, Figure> = keys
            .into_iter()
            .map(|key| {
                let figure = self.below(&key);
                (key, figure)
            })
            .collect();
        let visits = self.visits();
        let at_once = at_once::of(self, &tree);
        Scope {
            path: graph.path.clone(),
            own,
            visits,
            tools: self.tools(),
            starts: self.starts(),
            at_once,
            limits: self.limits(),
            op_attempts: self.op_attempts(),
            tree,
        }
    }

    pub(super) fn most(&mut self, sum: &Sum) -> Figure {
        proof::solved(self.setup, self.flow, self.solver, sum).0
    }

    /// A figure of the instance and all below it.
    pub(super) fn below(&mut self, key: &Key) -> Figure {
        let figure = match key {
            Key::Measure(measure @ (Measure::Tokens | Measure::CostMicroUsd)) => self.quantity(*measure, key),
            _ => {
                let own = self.flow.own(self.setup, key);
                // Starts are counted with the children that they start.
                let own = if *key == Key::Measure(Measure::Starts) { Sum::new() } else { own };
                self.with_children(own, key)
            }
        };
        let figure = self.by_tools(key, figure);
        let Key::Measure(measure) = key else { return figure };
        self.capped(*measure, figure)
    }

    /// A sum of the instance, and what its children add.
    fn with_children(&mut self, own: Sum, key: &Key) -> Figure {
        let mut sum = own.clone();
        let mut open: Option<Figure> = None;
        let counts: Vec<(Site<'_>, Figure)> =
            self.sites.iter().map(|(site, child)| (*site, child.count(key))).collect();
        for (site, count) in &counts {
            match count.bound {
                Bound::AtMost(0) => {}
                Bound::AtMost(number) => sum.push((site.var, i128::from(number))),
                bound => {
                    let starts = self.most(&vec![(site.var, 1)]);
                    if starts.bound == Bound::NONE {
                        continue;
                    }
                    let why = match count.why.starts_with("in ") {
                        true => count.why.clone(),
                        false => format!("in {}: {}", self.name_of(site), count.why),
                    };
                    let found = Figure::new(bound.max(starts.bound), why);
                    open = Some(match open {
                        Some(before) if before.bound >= found.bound => before,
                        _ => found,
                    });
                }
            }
        }
        let (figure, optimum) = proof::solved(self.setup, self.flow, self.solver, &sum);
        if let Some(open) = open {
            return if figure.bound > open.bound { figure } else { open };
        }
        let shares = optimum.filter(|_| counts.iter().any(|(_, count)| count.bound != Bound::NONE));
        match shares.and_then(|optimum| self.shares(&own, &counts, &optimum)) {
            Some(why) => Figure::new(figure.bound, why),
            None => figure,
        }
    }

    /// Where the most is reached: `12 of its own + 6 (researcher) × 21`. None where it is not reached by whole numbers.
    fn shares(&self, own: &Sum, counts: &[(Site<'_>, Figure)], optimum: &Optimum) -> Option<String> {
        let at = |var| optimum.reached.get(&var).copied().unwrap_or_default();
        let own: Fraction = own.iter().map(|(var, factor)| at(*var) * Fraction::from(*factor)).sum();
        let mut parts = Vec::new();
        if *own.numer() != 0 {
            parts.push(format!("{} of its own", own.is_integer().then(|| own.to_integer())?));
        }
        let mut shares: BTreeMap<(Arc<str>, u64), i128> = BTreeMap::new();
        for (site, count) in counts {
            let starts = at(site.var);
            let Some(each) = count.bound.number().filter(|n| *n > 0 && *starts.numer() > 0) else { continue };
            *shares.entry((self.name_of(site), each)).or_default() +=
                starts.is_integer().then(|| starts.to_integer())?;
        }
        for ((name, each), starts) in &shares {
            let times = if *each == 1 { String::new() } else { format!(" × {each}") };
            parts.push(format!("{starts} ({name}){times}"));
        }
        (!parts.is_empty()).then(|| parts.join(" + "))
    }

    fn name_of(&self, site: &Site<'_>) -> Arc<str> {
        let child = self.sites.iter().find(|(s, _)| s.var == site.var).and_then(|(_, child)| child.path());
        child.map(|path| path.rsplit('/').next().unwrap_or(path).into()).unwrap_or_else(|| "".into())
    }

    /// Tokens or money: what only limits bound.
    fn quantity(&mut self, measure: Measure, key: &Key) -> Figure {
        let calls = self.flow.own(self.setup, &Key::Measure(Measure::ModelCalls));
        if self.most(&calls).bound == Bound::NONE {
            return self.with_children(Sum::new(), key);
        }
        let why = match measure {
            Measure::Tokens => {
                "the sizes of requests and context windows are not known; a limit on tokens would bound them"
            }
            _ => "prices are no part of a graph; a limit on cost_usd would bound it",
        };
        Figure::new(Bound::Unknown, why)
    }

    fn visits(&mut self) -> Vec<(Arc<str>, Figure)> {
        let sums: Vec<(Arc<str>, Sum)> = self
            .flow
            .live(self.setup)
            .map(|(_, node, vars)| {
                let all = [Some(vars.starts), vars.refused].into_iter().flatten();
                (node.name.clone(), all.map(|var| (var, 1)).collect())
            })
            .collect();
        sums.into_iter().map(|(name, sum)| (name, self.most(&sum))).collect()
    }

    fn tools(&mut self) -> Vec<(Arc<str>, Figure)> {
        let graph: &Graph = self.setup.graph;
        let mut figures = Vec::new();
        for (index, tool) in graph.tools.iter().enumerate() {
            let live = self.flow.live(self.setup);
            let sum: Sum =
                live.filter_map(|(_, _, v)| v.calls.get(&ToolIx(index))).map(|var| (*var, 1)).collect();
            if !sum.is_empty() {
                figures.push((tool.name.clone(), self.most(&sum)));
            }
        }
        figures
    }

    fn starts(&mut self) -> BTreeMap<Arc<str>, Figure> {
        let mut sums: BTreeMap<Arc<str>, Sum> = BTreeMap::new();
        for (site, child) in &self.sites {
            if let Some(path) = child.path() {
                sums.entry(path.clone()).or_default().push((site.var, 1));
            }
        }
        sums.into_iter().map(|(path, sum)| (path, self.most(&sum))).collect()
    }

    fn limits(&self) -> Vec<LimitRow> {
        let graph = self.setup.graph;
        let rows = self.setup.limits.iter().filter_map(|limit| {
            Some(LimitRow {
                name: proof::title(limit),
                counts: proof::counted(graph, limit),
                meter: limit.meter(),
                max: limit.max?,
            })
        });
        rows.collect()
    }

    /// How often a site can start something at most.
    pub(super) fn site_starts(solver: &mut Solver, site: &Site<'_>) -> Bound {
        match solver.most(&[(site.var, 1)]) {
            Most::Is(optimum) => whole(optimum.value),
            Most::Endless(_) => Bound::Unbounded,
            Most::TooLarge => Bound::Unknown,
        }
    }
}
