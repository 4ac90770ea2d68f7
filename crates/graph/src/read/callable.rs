//! Which graph can call which, within a file and in others.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Decl, Decls};
use crate::files::{self, FileCall, file_call, resolve};
use crate::gather::{GraphFiles, calls};

/// Why a call of a file leads to no graph.
pub(crate) enum NoGraph {
    /// It is no path that can be read.
    Path(&'static str),
    /// It does not end as graph files do.
    Ending,
    /// The file can not be read.
    Missing(String, String),
    /// The file is no graph.
    OtherKind(String),
    /// What is wrong with the file is told there.
    Told,
    /// The file, by index, has no graph of this name.
    Unknown(usize),
}

/// Says of each graph what it can call, and puts those that no run of the first graph can reach at the end.
pub(super) fn link(decls: &mut Decls<'_>) {
    let parents: Vec<Option<usize>> = decls.graphs.iter().map(|g| g.parent).collect();
    let found: Vec<BTreeMap<Arc<str>, usize>> =
        (0..decls.graphs.len()).map(|index| callable(decls, &parents, index)).collect();
    for (graph, callable) in decls.graphs.iter_mut().zip(found) {
        graph.callable = callable;
    }
    let reached = reached(&decls.graphs);
    reorder(decls, &reached);
}

/// The graphs that are declared in a graph and around it, the root of its file, and those of other files that it names.
fn callable(decls: &Decls<'_>, parents: &[Option<usize>], index: usize) -> BTreeMap<Arc<str>, usize> {
    let mut found = BTreeMap::new();
    let Some(own) = decls.graphs.get(index) else { return found };
    let mut around = Some(index);
    while let Some(outer) = around {
        for (child, graph) in decls.graphs.iter().enumerate() {
            if graph.parent == Some(outer) {
                found.entry(graph.name.clone()).or_insert(child);
            }
        }
        around = parents.get(outer).copied().flatten();
    }
    if let Some((root, graph)) = root_of(&decls.graphs, own.file) {
        found.entry(graph.name.clone()).or_insert(root);
    }
    for name in calls(own.node).filter_map(|call| call.text()) {
        if let Some(call) = file_call(name)
            && let Ok(graph) = of_file(decls, own, call)
        {
            found.insert(name.clone(), graph);
        }
    }
    found
}

fn root_of<'d, 't>(graphs: &'d [Decl<'t>], file: usize) -> Option<(usize, &'d Decl<'t>)> {
    graphs.iter().enumerate().find(|(_, g)| g.file == file && g.parent.is_none())
}

/// The graph that a graph means by the name of a file.
pub(crate) fn of_file(decls: &Decls<'_>, from: &Decl<'_>, call: FileCall<'_>) -> Result<usize, NoGraph> {
    let files: &GraphFiles = decls.files;
    let folder = files.list.get(from.file).map_or("", |file| file.folder());
    let path = resolve(folder, call.file).map_err(NoGraph::Path)?;
    if !files::is_graph_file(&path) {
        return Err(NoGraph::Ending);
    }
    let Some((index, file)) = files.find(&path).and_then(|ix| Some((ix, files.list.get(ix)?))) else {
        let why = files.missing.get(&path).cloned().unwrap_or_default();
        return Err(NoGraph::Missing(path, why));
    };
    if !file.is_graph() {
        return Err(NoGraph::OtherKind(path));
    }
    let Some((root, _)) = root_of(&decls.graphs, index) else { return Err(NoGraph::Told) };
    let Some(name) = call.graph else { return Ok(root) };
    let local = |g: &Decl<'_>| g.file == index && g.parent.is_some() && &*g.name == name;
    decls.graphs.iter().position(local).ok_or(NoGraph::Unknown(index))
}

/// Which graphs can be part of a run: those of the first file, and all that they call.
fn reached(graphs: &[Decl<'_>]) -> Vec<bool> {
    let mut reached: Vec<bool> = graphs.iter().map(|g| g.file == 0).collect();
    let mut open: Vec<usize> = (0..graphs.len()).filter(|ix| reached[*ix]).collect();
    while let Some(graph) = open.pop().and_then(|ix| graphs.get(ix)) {
        for name in calls(graph.node).filter_map(|call| call.text()) {
            if let Some(callee) = graph.callable.get(name)
                && let Some(slot @ false) = reached.get_mut(*callee)
            {
                *slot = true;
                open.push(*callee);
            }
        }
    }
    reached
}

/// Puts the graphs that are part of a run first; otherwise the order stays.
fn reorder(decls: &mut Decls<'_>, reached: &[bool]) {
    let is_reached = |ix: &usize| reached.get(*ix).copied().unwrap_or(false);
    let (first, last): (Vec<usize>, Vec<usize>) = (0..decls.graphs.len()).partition(is_reached);
    decls.kept = first.len();
    let mut place = vec![0; decls.graphs.len()];
    for (new, old) in first.into_iter().chain(last).enumerate() {
        if let Some(slot) = place.get_mut(old) {
            *slot = new;
        }
    }
    let moved = |old: usize| place.get(old).copied().unwrap_or(old);
    for graph in &mut decls.graphs {
        graph.parent = graph.parent.map(moved);
        graph.callable.values_mut().for_each(|ix| *ix = moved(*ix));
    }
    for server in &mut decls.servers {
        server.graph = moved(server.graph);
    }
    let mut graphs: Vec<(usize, Decl<'_>)> =
        std::mem::take(&mut decls.graphs).into_iter().enumerate().map(|(old, g)| (moved(old), g)).collect();
    graphs.sort_by_key(|(new, _)| *new);
    decls.graphs = graphs.into_iter().map(|(_, graph)| graph).collect();
}
