//! Routes: the ways out of a node, a tool, the start.

use std::sync::Arc;

use deepgraph_protocol::{ExitClass, ExitReason, Value};

use super::declare::names;
use super::keys::Keys;
use super::{Home, Reader, Sites};
use crate::diagnostic::code;
use crate::infer::Scope;
use crate::nearest::{self, shortened};
use crate::source::{Kind, Node, Place};
use crate::{NodeIx, Route, Target, ValueExpr, Way, vocabulary};

/// The word that leads on to the node's own `next`.
const NEXT: &str = "next";

/// Which route it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RouteKind {
    /// `start` of a graph.
    Start,
    /// `finally` of a graph.
    Finally,
    /// `next` of a node or tool; whether it calls a graph.
    Next { calls_graph: bool },
    /// `on_error` of a node or tool.
    OnError,
}

impl RouteKind {
    fn key(self) -> &'static str {
        match self {
            RouteKind::Start => "start",
            RouteKind::Finally => "finally",
            RouteKind::Next { .. } => "next",
            RouteKind::OnError => "on_error",
        }
    }
}

impl Reader<'_> {
    /// A route: a node, a way, or a list of them.
    pub(crate) fn route(
        &mut self,
        node: &Node,
        scope: &Scope<'_>,
        kind: RouteKind,
        sites: &mut Sites,
    ) -> Route {
        let Kind::List(items) = &node.kind else {
            return Route(self.way(node, scope, kind, sites).into_iter().collect());
        };
        if items.is_empty() {
            let message = format!("`{}` has no ways", kind.key());
            self.error(code::NO_WAYS, node.place, message)
                .help("leave the key out where the branch ends, or name a node or an exit");
        }
        let mut ways: Vec<Way> = Vec::new();
        let mut closed: Option<Place> = None;
        for item in items {
            if let Some(first) = closed {
                let message = format!("this way is never taken: the one in line {} always holds", first.line);
                let both = items.iter().all(|i| i.text().is_some());
                let help = if both {
                    let all: Vec<&str> = items.iter().filter_map(|i| i.text().map(|t| &**t)).collect();
                    format!("for all of them at once write {{to: [{}]}}", nearest::listed(all))
                } else {
                    "ways are tried in order: put those with `if` first".to_owned()
                };
                self.error(code::NEVER_TAKEN, item.place, message).help(help);
                closed = None;
            }
            if let Some(way) = self.way(item, scope, kind, sites) {
                if way.is_always() && !ways.iter().any(Way::is_always) {
                    closed = Some(item.place);
                }
                ways.push(way);
            }
        }
        let open = matches!(kind, RouteKind::Next { .. } | RouteKind::Start) && scope.args.is_none();
        if open && !ways.is_empty() && ways.len() == items.len() && !ways.iter().any(Way::is_always) {
            self.may_hold_nowhere(node.place, kind);
        }
        Route(ways)
    }

    fn may_hold_nowhere(&mut self, at: Place, kind: RouteKind) {
        let message =
            format!("perhaps none of these ways of `{}` holds; then the branch just ends", kind.key());
        self.warning(code::MAY_HOLD_NOWHERE, at, message).help("end the list with a way without `if`");
    }

    fn way(&mut self, node: &Node, scope: &Scope<'_>, kind: RouteKind, sites: &mut Sites) -> Option<Way> {
        match &node.kind {
            Kind::Text(scalar) => {
                let to = self.target_word(&scalar.text, node.place, scope.home, kind, sites)?;
                Some(Way { condition: None, update: Vec::new(), to })
            }
            Kind::Map(_) => self.long_way(node, scope, kind, sites),
            Kind::List(_) => {
                sites.routes_broken = true;
                self.error(code::WRONG_KIND, node.place, "a list of ways inside a list of ways")
                    .help("several nodes at once are written {to: [a, b]}");
                None
            }
            _ => {
                sites.routes_broken = true;
                let message =
                    format!("a way is a node or {{if, update, to, exit}}, not {}", node.kind_name());
                self.error(code::WRONG_KIND, node.place, message);
                None
            }
        }
    }

    fn long_way(
        &mut self,
        node: &Node,
        scope: &Scope<'_>,
        kind: RouteKind,
        sites: &mut Sites,
    ) -> Option<Way> {
        let before = self.out.len();
        self.check_keys(node, Keys::of("a way", &vocabulary::WAY));
        let condition = node.get("if").map(|cond| self.condition(cond, scope, "`if`"));
        // A way that leads on is taken once, when all items are through.
        let leads = node.get("exit").is_some() || node.get("to").is_some_and(|to| !is_next(to));
        let update = self.writes(node, &Scope { per_item: scope.per_item && !leads, ..scope.clone() });
        let to = match (node.entry("to"), node.entry("exit")) {
            (Some((_, to)), Some((key, exit))) => {
                self.error(code::CONFLICT, key.place, "a way has `to` or `exit`, not both");
                self.exit(exit, scope.home, kind);
                self.to(to, scope.home, kind, sites);
                None
            }
            (Some((_, to)), None) => self.to(to, scope.home, kind, sites),
            (None, Some((_, exit))) => {
                self.exit(exit, scope.home, kind).or_else(|| lost_exit(exit, scope.home))
            }
            (None, None) => {
                let only_writes = node.get("update").is_some() && kind != RouteKind::Start;
                if !only_writes && self.out.len() == before {
                    let message = "a way needs `to: NODE` or `exit: NAME`";
                    self.error(code::MISSING_KEY, node.place, message);
                }
                only_writes.then_some(Target::CarryOn)
            }
        };
        if to.is_none() {
            sites.routes_broken = true;
        }
        let to = to?;
        // A condition that could not be read: the way is kept, for what it leads to.
        let unread = || ValueExpr::Literal(Value::Bool(false));
        Some(Way { condition: condition.map(|c| c.unwrap_or_else(unread)), update, to })
    }

    fn to(&mut self, node: &Node, home: Home<'_>, kind: RouteKind, sites: &mut Sites) -> Option<Target> {
        let Kind::List(items) = &node.kind else {
            let name = self.plain_text(node, "`to`")?;
            return self.target_word(&name, node.place, home, kind, sites);
        };
        if items.is_empty() {
            self.error(code::NO_WAYS, node.place, "`to` names no node");
            return None;
        }
        let mut nodes: Vec<NodeIx> = Vec::new();
        for item in items {
            let Some(name) = self.plain_text(item, "a node") else { continue };
            match self.node_named(&name, item.place, home, sites) {
                Some(ix) if nodes.contains(&ix) => {
                    self.error(code::TAKEN, item.place, format!("\"{name}\" is listed twice"));
                }
                Some(ix) => nodes.push(ix),
                None => {}
            }
        }
        if nodes.len() > 1 {
            sites.fans.push((node.place, nodes.clone()));
        }
        (!nodes.is_empty()).then_some(Target::Nodes(nodes))
    }

    fn target_word(
        &mut self,
        name: &Arc<str>,
        at: Place,
        home: Home<'_>,
        kind: RouteKind,
        sites: &mut Sites,
    ) -> Option<Target> {
        if &**name == NEXT {
            if kind == RouteKind::OnError {
                return Some(Target::CarryOn);
            }
            self.error(
                code::UNKNOWN_TARGET,
                at,
                format!("`next` as a target stands in `on_error`, not in `{}`", kind.key()),
            );
            sites.routes_broken = true;
            return None;
        }
        self.node_named(name, at, home, sites).map(|ix| Target::Nodes(vec![ix]))
    }

    /// The node of a name; an error where there is none.
    pub(crate) fn node_named(
        &mut self,
        name: &str,
        at: Place,
        home: Home<'_>,
        sites: &mut Sites,
    ) -> Option<NodeIx> {
        if let Some(ix) = home.own.node_of(name) {
            return Some(ix);
        }
        sites.routes_broken = true;
        let own = home.own;
        let known_exit = ExitReason::built_in(name).is_some() || own.exits.contains_key(name);
        let help = if known_exit {
            Some(format!("an exit is written {{exit: {name}}}"))
        } else if own.callable.contains_key(name) {
            Some("a route leads to a node; a graph is called by a node with `call`".to_owned())
        } else {
            nearest::hint(name, names(&own.nodes))
        };
        let message = format!("{} has no node \"{}\"", own.title(), shortened(name));
        self.error(code::UNKNOWN_NODE, at, message).hint(help);
        None
    }

    /// An exit.
    fn exit(&mut self, node: &Node, home: Home<'_>, kind: RouteKind) -> Option<Target> {
        let name = self.plain_text(node, "`exit`")?;
        if &*name == "inherit" {
            if kind == (RouteKind::Next { calls_graph: true }) {
                return Some(Target::Inherit);
            }
            let message = "`inherit` ends as a called graph ended; there is none here";
            self.error(code::UNKNOWN_TARGET, node.place, message)
                .help("it stands in `next` of a node or tool that calls a graph");
            return None;
        }
        self.exit_named(&name, node.place, home).map(|(reason, class)| Target::Exit(reason, class))
    }

    /// The exit of a name with its class; an error where there is none.
    pub(crate) fn exit_named(
        &mut self,
        name: &str,
        at: Place,
        home: Home<'_>,
    ) -> Option<(ExitReason, ExitClass)> {
        if let Some(class) = home.own.exits.get(name) {
            return Some((ExitReason::of(name), *class));
        }
        if let Some(reason) = ExitReason::built_in(name)
            && let Some(class) = reason.class()
        {
            return Some((reason, class));
        }
        let built_in = ExitReason::BUILT_IN.iter().map(|(n, _)| *n);
        let near = nearest::nearest(name, home.own.exits.keys().map(|k| &**k).chain(built_in));
        let help = match near {
            _ if home.own.node_of(name).is_some() => format!("a node is written {{to: {name}}}"),
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("declare it: exits: {{{}: completion}}", shortened(name)),
        };
        let message = format!("unknown exit \"{}\"", shortened(name));
        self.error(code::UNKNOWN_EXIT, at, message).help(help);
        None
    }
}

fn is_next(to: &Node) -> bool {
    to.text().is_some_and(|name| &**name == NEXT)
}

/// What stands for an exit that could not be read: it leads out all the same, unless a node was meant.
fn lost_exit(node: &Node, home: Home<'_>) -> Option<Target> {
    let is_node = node.text().is_some_and(|name| home.own.node_of(name).is_some());
    (!is_node).then_some(Target::Exit(ExitReason::Completed, ExitClass::Completion))
}
