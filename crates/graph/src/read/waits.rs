//! Nodes that wait: for others, or until nothing else runs.

use super::declare::{Named, names};
use super::{Home, Reader, Sites};
use crate::diagnostic::code;
use crate::nearest::{self, shortened};
use crate::read::fields::boolean_help;
use crate::source::Kind;
use crate::{NodeIx, Type};

impl Reader<'_> {
    /// The nodes that a node waits for.
    pub(crate) fn after(&mut self, home: Home<'_>, named: Named<'_>, sites: &mut Sites) -> Vec<NodeIx> {
        let Some(list) = named.node.get("after") else { return Vec::new() };
        if matches!(&list.kind, Kind::List(items) if items.is_empty()) {
            self.error(code::BAD_VALUE, list.place, "`after` names no node");
        }
        let own = home.own;
        let mut found: Vec<NodeIx> = Vec::new();
        for (name, place) in self.name_list(list, "`after`") {
            match own.node_of(&name) {
                Some(_) if name == named.key.name => {
                    let message = format!("node \"{name}\" can not wait for itself");
                    self.error(code::CONFLICT, place, message)
                        .help("`after` names the other nodes that lead here");
                }
                Some(ix) if found.contains(&ix) => {
                    self.error(code::TAKEN, place, format!("\"{name}\" is listed twice"));
                }
                Some(ix) => {
                    found.push(ix);
                    if let Some(waiting) = own.node_of(&named.key.name) {
                        sites.waits.push((waiting, ix, place));
                    }
                }
                None => {
                    let message = format!("{} has no node \"{}\"", own.title(), shortened(&name));
                    let help = nearest::hint(&name, names(&own.nodes));
                    self.error(code::UNKNOWN_NODE, place, message).hint(help);
                }
            }
        }
        found
    }

    /// Whether a node waits until nothing else runs.
    pub(crate) fn defer(&mut self, named: Named<'_>) -> bool {
        let Some(defer) = named.node.get("defer") else { return false };
        if let Kind::Bool(defer) = defer.kind {
            return defer;
        }
        let help = boolean_help(defer, &Type::Boolean);
        self.error(code::WRONG_KIND, defer.place, "`defer` must be true or false").hint(help);
        false
    }
}
