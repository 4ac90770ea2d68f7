//! From the positioned tree to the plan, with all mistakes at once.

mod attempts;
mod callable;
pub(crate) mod calls;
mod compensate;
mod counting;
pub(crate) mod declare;
mod each;
pub(crate) mod fields;
mod file;
mod graph;
mod intents;
mod keys;
mod limits;
mod model;
mod names;
mod nodes;
mod overrides;
mod persist;
mod routes;
mod servers;
mod sets;
mod settings;
mod sites;
mod state;
#[cfg(test)]
mod tests;
mod tools;
mod values;
mod waits;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Sink, code};
use crate::gather::GraphFiles;
use crate::source::{FileText, Node, Place};
use crate::{ConfigUse, Expr, Files, Graph, OpTable, Programs};

pub(crate) use declare::{Decl, Decls, declare};
pub use names::ROOTS;
pub(crate) use sites::Sites;

/// What reading needs and fills.
pub(crate) struct Reader<'a> {
    /// Path of the graph file, as given.
    pub entry: &'a str,
    pub files: &'a dyn Files,
    pub ops: &'a OpTable,
    /// The graph file that is being read.
    pub file: FileText,
    /// Its folder, from that of the first one, with its last `/`, or "".
    pub folder: String,
    pub out: Sink,
    pub programs: Programs,
    /// Texts of the files read, by path.
    pub texts: BTreeMap<String, String>,
    /// Settings that read the configuration.
    pub config_uses: Vec<ConfigUse>,
}

/// All graphs, read.
pub(crate) struct Reading {
    pub graphs: Vec<Graph>,
    pub sites: Vec<Sites>,
}

/// The graph that is being read, among all.
#[derive(Clone, Copy)]
pub(crate) struct Home<'d> {
    pub all: &'d Decls<'d>,
    pub own: &'d Decl<'d>,
}

impl<'a> Reader<'a> {
    /// Goes on in another file: places are places in it, and its paths are relative to its folder.
    pub fn enter(&mut self, files: &GraphFiles, index: usize) {
        if let Some(file) = files.list.get(index) {
            self.file = file.text.clone();
            self.folder = file.folder().to_owned();
        }
    }

    /// Reads every graph.
    pub fn read(&mut self, decls: &Decls<'_>) -> Reading {
        let mut graphs = Vec::new();
        let mut sites = Vec::new();
        for own in &decls.graphs {
            self.enter(decls.files, own.file);
            let (graph, site) = self.graph(Home { all: decls, own });
            graphs.push(graph);
            sites.push(site);
        }
        Reading { graphs, sites }
    }

    /// An error at a place of the graph file.
    pub fn error(&mut self, code: &'static str, at: Place, message: impl Into<String>) -> &mut Diagnostic {
        self.out.error(code, &self.file, at, message)
    }

    /// A warning at a place of the graph file.
    pub fn warning(&mut self, code: &'static str, at: Place, message: impl Into<String>) -> &mut Diagnostic {
        self.out.warning(code, &self.file, at, message)
    }

    /// `FILE:LINE:COLUMN` of a place of the graph file.
    pub fn place_text(&self, at: Place) -> String {
        format!("{}:{at}", self.file.name)
    }

    /// An expression that this crate makes up; none only if it were not valid.
    pub fn made_expr(&mut self, source: &str, at: Place) -> Option<Expr> {
        let place = self.place_text(at);
        self.programs.add_expr(source, &place).ok()
    }

    /// The text of a node; an error where it is none.
    pub fn plain_text(&mut self, node: &Node, what: &str) -> Option<Arc<str>> {
        let found = node.text().cloned();
        if found.is_none() {
            let message = format!("{what} must be text, is {}", node.kind_name());
            self.error(code::WRONG_KIND, node.place, message);
        }
        found
    }
}
