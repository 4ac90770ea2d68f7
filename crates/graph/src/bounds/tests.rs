//! Bounds that were worked out by hand. That no run exceeds them is tried with random graphs in the tests of the
//! whole.

mod cycles;
mod fans;
mod grants;
mod nesting;
mod stock;

use std::collections::BTreeMap;
use std::path::Path;

use deepgraph_protocol::Value;

use super::{Bound, Bounds, Figure, Measure, ScopeBounds, bounds};
use crate::testing::try_load;
use crate::{Bundle, Files, OpTable, load};

/// A bundle; warnings do not matter here.
fn bundle(text: &str) -> Bundle {
    try_load(text).unwrap_or_else(|mistakes| panic!("{mistakes}")).bundle
}

fn of(text: &str) -> Bounds {
    under(&bundle(text), &[])
}

fn under(bundle: &Bundle, set: &[(&str, Value)]) -> Bounds {
    let set: BTreeMap<String, Value> = set.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect();
    bounds(bundle, &bundle.config_of(set).expect("the configuration fits"))
}

/// A file of the repository with the files beside it.
struct Folder(std::path::PathBuf);

impl Files for Folder {
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(self.0.join(path)).map_err(|e| e.to_string())
    }
}

/// A stock graph.
fn stock_graph(name: &str) -> Bundle {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../graphs").join(name);
    load("graph.yaml", &Folder(folder), &OpTable::stock()).unwrap_or_else(|m| panic!("{m}")).bundle
}

fn scope<'b>(bounds: &'b Bounds, name: &str) -> &'b ScopeBounds {
    let found = bounds.scopes.iter().find(|s| s.graph.rsplit('/').next() == Some(name));
    found.unwrap_or_else(|| panic!("there is no instance of {name}"))
}

/// A bound in short: `6`, `>N`, `?`, `oo`.
fn short(figure: &Figure) -> String {
    match figure.bound {
        Bound::AtMost(n) => n.to_string(),
        Bound::MoreThan(_) => "more".to_owned(),
        Bound::Unknown => "?".to_owned(),
        Bound::Unbounded => "oo".to_owned(),
    }
}

fn measured(figures: &BTreeMap<Measure, Figure>) -> String {
    let at = |m: Measure| figures.get(&m).map(short).unwrap_or_default();
    format!(
        "model {} ({}), tools {}, ops {} ({}), questions {}, starts {}",
        at(Measure::ModelCalls),
        at(Measure::ModelAttempts),
        at(Measure::ToolCalls),
        at(Measure::OpRuns),
        at(Measure::OpAttempts),
        at(Measure::Questions),
        at(Measure::Starts),
    )
}

/// What an instance of a graph does itself.
fn own(bounds: &Bounds, name: &str) -> String {
    measured(&scope(bounds, name).own)
}

/// What a whole run does.
fn run(bounds: &Bounds) -> String {
    measured(&bounds.run.in_all)
}

/// `a 3, b 2`: the visits of an instance's nodes.
fn visits(bounds: &Bounds, name: &str) -> String {
    let all = scope(bounds, name).visits.iter().map(|v| format!("{} {}", v.name, short(&v.figure)));
    all.collect::<Vec<_>>().join(", ")
}

/// `a 3, b 2`: the calls of an instance's tools.
fn tools(bounds: &Bounds, name: &str) -> String {
    let all = scope(bounds, name).tools.iter().map(|v| format!("{} {}", v.name, short(&v.figure)));
    all.collect::<Vec<_>>().join(", ")
}

/// `5 in all, 3 at once`.
fn instances(bounds: &Bounds, name: &str) -> String {
    let scope = scope(bounds, name);
    format!("{} in all, {} at once", short(&scope.instances), short(&scope.at_once))
}

fn why(figures: &BTreeMap<Measure, Figure>, measure: Measure) -> &str {
    figures.get(&measure).map(|figure| &*figure.why).unwrap_or_default()
}
