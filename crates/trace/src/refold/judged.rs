//! Which keys of the configuration a refold can judge.
//!
//! A recorded reply stands for the same step whatever the step is asked. So the record tells what comes of a bound that
//! ends or refuses work, and of a condition that leads elsewhere; of another model or another text it tells nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use deepgraph_graph::{Bundle, Counted, Graph, Limit, Node, Retry, Route, Setting, Tool, ValueExpr};

/// The keys that a limit or a condition of a graph reads, those that are passed on to such a key of a called graph
/// included.
pub fn judged_keys(bundle: &Bundle) -> BTreeSet<Arc<str>> {
    let mut keys = Keys { bundle, found: BTreeSet::new() };
    bundle.graphs.iter().for_each(|graph| keys.of_graph(graph));
    // A call may give a key of the called graph the value of another one.
    loop {
        let passed_on = bundle.graphs.iter().flat_map(Graph::calls).flat_map(|call| &call.config);
        let more: Vec<Arc<str>> = passed_on
            .filter_map(|(key, setting)| match setting {
                Setting::Config(from) if keys.found.contains(key) => Some(from.clone()),
                _ => None,
            })
            .filter(|from| !keys.found.contains(from))
            .collect();
        if more.is_empty() {
            return keys.found;
        }
        keys.found.extend(more);
    }
}

struct Keys<'b> {
    bundle: &'b Bundle,
    found: BTreeSet<Arc<str>>,
}

impl Keys<'_> {
    fn of_graph(&mut self, graph: &Graph) {
        graph.limits.iter().for_each(|limit| self.of_limit(limit));
        graph.tools.iter().for_each(|tool| self.of_tool(tool));
        graph.nodes.iter().for_each(|node| self.of_node(node));
        graph.calls().flat_map(|call| &call.grant).for_each(|(_, share)| self.value(share));
        self.route(Some(&graph.start));
        self.route(graph.finally.as_ref());
    }

    fn of_limit(&mut self, limit: &Limit) {
        self.setting(limit.max.as_ref());
        if let Counted::Gain { below, window, min_steps, mode, .. } = &limit.counted {
            [below, window, min_steps, mode].into_iter().for_each(|setting| self.setting(Some(setting)));
        }
        limit.condition.iter().chain(&limit.per).for_each(|value| self.value(value));
    }

    fn of_tool(&mut self, tool: &Tool) {
        self.setting(tool.parallel.as_ref());
        self.retry(&tool.retry);
        tool.approve.iter().for_each(|value| self.value(value));
        self.route(tool.next.as_ref());
        self.route(tool.on_error.as_ref());
    }

    fn of_node(&mut self, node: &Node) {
        node.each.iter().for_each(|each| self.value(&each.max_items));
        self.retry(&node.retry);
        self.route(node.next.as_ref());
        self.route(node.on_error.as_ref());
    }

    fn retry(&mut self, retry: &Retry) {
        self.setting(Some(&retry.max));
        retry.condition.iter().for_each(|value| self.value(value));
    }

    fn route(&mut self, route: Option<&Route>) {
        let ways = route.iter().flat_map(|route| &route.0);
        ways.filter_map(|way| way.condition.as_ref()).for_each(|value| self.value(value));
    }

    fn setting(&mut self, setting: Option<&Setting>) {
        if let Some(Setting::Config(key)) = setting {
            self.found.insert(key.clone());
        }
    }

    fn value(&mut self, value: &ValueExpr) {
        match value {
            ValueExpr::Expr(expr) => self.text(&expr.source),
            ValueExpr::Text(text) => self.text(&text.source),
            ValueExpr::Literal(_) => {}
            ValueExpr::List(items) => items.iter().for_each(|item| self.value(item)),
            ValueExpr::Record(fields) => fields.iter().for_each(|(_, value)| self.value(value)),
        }
    }

    /// The keys that stand in a text behind `config`; where something else stands there, it may read any.
    fn text(&mut self, source: &str) {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        for behind in source.split("config").skip(1) {
            if behind.starts_with(is_part) {
                continue;
            }
            let behind = behind.trim_start();
            let name = behind.strip_prefix('.').or_else(|| behind.strip_prefix('['));
            let name = name.map(|name| name.trim_start_matches(['"', '\'', ' ']));
            let name = name.and_then(|name| name.split(|c| !is_part(c)).next());
            match name.and_then(|name| self.bundle.config.get_key_value(name)) {
                Some((key, _)) => drop(self.found.insert(key.clone())),
                None => self.found.extend(self.bundle.config.keys().cloned()),
            }
        }
    }
}
