//! What a call says beside its input: configuration of the child, its grant, its effect.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deepgraph_protocol::{Meter, Value};

use super::{Home, Reader};
use crate::diagnostic::code;
use crate::infer::Scope;
use crate::nearest::{self, shortened};
use crate::source::{Key, Node};
use crate::{Callee, Field, GraphIx, Setting, Type, ValueExpr};

/// The meters that a child can be granted a bound of.
pub(crate) const GRANTABLE: [Meter; 6] =
    [Meter::Tokens, Meter::CostUsd, Meter::ModelCalls, Meter::ToolCalls, Meter::WallTime, Meter::ActiveTime];

/// What a call says beside its input.
pub(crate) struct Overrides {
    pub config: Vec<(Arc<str>, Setting)>,
    pub grant: Vec<(Meter, ValueExpr)>,
    pub writes: bool,
}

/// The config keys of a graph and of those that it calls, directly or through others.
#[derive(Default)]
struct Below {
    graphs: BTreeSet<usize>,
    fields: BTreeMap<Arc<str>, Field>,
    lost: BTreeSet<Arc<str>>,
}

impl Reader<'_> {
    /// `config`, `grant` and `effect` of a call; the callee is none where it could not be read.
    pub(crate) fn overrides(&mut self, node: &Node, callee: Option<&Callee>, scope: &Scope<'_>) -> Overrides {
        if let Some(Callee::Op(_)) = callee {
            for name in ["config", "grant"] {
                if let Some((key, _)) = node.entry(name) {
                    let message = format!("`{name}` is for the call of a graph, and this calls an op");
                    self.error(code::CONFLICT, key.place, message);
                }
            }
        }
        let effect = self.effect(node, callee);
        let writes = match callee {
            Some(Callee::Op(name)) => effect.unwrap_or_else(|| self.ops.get(name).is_none_or(|op| op.writes)),
            Some(Callee::Graph(_)) | None => false,
        };
        Overrides {
            config: self.overridden(node, callee, scope.home),
            grant: self.grant(node, scope),
            writes,
        }
    }

    /// Whether a call is said to change something outside.
    fn effect(&mut self, node: &Node, callee: Option<&Callee>) -> Option<bool> {
        let (key, effect) = node.entry("effect")?;
        if let Some(Callee::Graph(_)) = callee {
            self.error(
                code::CONFLICT,
                key.place,
                "`effect` is for the call of an op, and this calls a graph",
            )
            .help("what a graph changes outside is what the calls in it do");
        }
        match effect.text().map(|t| &**t) {
            Some("read") => Some(false),
            Some("write") => Some(true),
            other => {
                let help = nearest::hint(other.unwrap_or(""), ["read", "write"]);
                self.error(code::BAD_VALUE, effect.place, "`effect` is read or write").hint(help);
                None
            }
        }
    }

    /// Configuration that is different in the child and below it.
    fn overridden(
        &mut self,
        node: &Node,
        callee: Option<&Callee>,
        home: Home<'_>,
    ) -> Vec<(Arc<str>, Setting)> {
        let Some(config) = node.get("config") else { return Vec::new() };
        if !self.mapping(config, "`config`") {
            return Vec::new();
        }
        let below = match callee {
            Some(Callee::Graph(GraphIx(ix))) => Some((*ix, self.below(*ix, home))),
            _ => None,
        };
        let mut found = Vec::new();
        for (key, value) in config.entries() {
            let what = format!("the config key \"{}\"", shortened(&key.name));
            let field = match &below {
                Some((_, below)) => below.fields.get(&key.name).cloned(),
                None => Some(Field::of(Type::Any)),
            };
            let setting = self.setting(value, home, &field.clone().unwrap_or(Field::of(Type::Any)), &what);
            match (field, setting) {
                (Some(_), Some(setting)) => found.push((key.name.clone(), setting)),
                (Some(_), None) => {}
                (None, _) => {
                    if let Some((ix, below)) = &below
                        && !below.lost.contains(&key.name)
                    {
                        self.no_key_below(key, *ix, below, home);
                    }
                }
            }
        }
        found
    }

    fn no_key_below(&mut self, key: &Key, callee: usize, below: &Below, home: Home<'_>) {
        let title = home.all.graphs.get(callee).map_or("the graph".to_owned(), |g| g.title());
        let message = match below.graphs.len() {
            1 => format!("{title} does not declare the config key \"{}\"", shortened(&key.name)),
            _ => format!(
                "{title} and the graphs that it calls do not declare the config key \"{}\"",
                shortened(&key.name)
            ),
        };
        let names = below.fields.keys().chain(&below.lost).map(|k| &**k);
        let help = nearest::hint(&key.name, names);
        self.error(code::UNKNOWN_CONFIG, key.place, message).hint(help);
    }

    fn below(&mut self, graph: usize, home: Home<'_>) -> Below {
        let mut below = Below::default();
        let mut open = vec![graph];
        while let Some(ix) = open.pop() {
            let Some(own) = home.all.graphs.get(ix) else { continue };
            if !below.graphs.insert(ix) {
                continue;
            }
            for (key, (field, _)) in &own.config {
                below.fields.entry(key.clone()).or_insert_with(|| field.clone());
            }
            below.lost.extend(own.config_lost.iter().cloned());
            for call in own.nodes.iter().chain(&own.tools).filter_map(|named| named.node.get("call")) {
                let found = self.callee(call, Home { all: home.all, own }, false);
                if let Some(Callee::Graph(GraphIx(ix))) = found.map(|f| f.callee) {
                    open.push(ix);
                }
            }
        }
        below
    }

    /// What the child may use at most.
    fn grant(&mut self, node: &Node, scope: &Scope<'_>) -> Vec<(Meter, ValueExpr)> {
        let Some(grant) = node.get("grant") else { return Vec::new() };
        if !self.mapping(grant, "`grant`") {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (key, value) in grant.entries() {
            let meter = Meter::parse(&key.name).filter(|meter| GRANTABLE.contains(meter));
            let value = self.granted(meter, key, value, scope);
            match meter {
                Some(meter) => found.extend(value.map(|value| (meter, value))),
                None => {
                    let name = shortened(&key.name);
                    let message = match Meter::parse(&key.name) {
                        Some(_) => format!("the meter \"{name}\" can not be granted: it counts in one graph"),
                        None => format!("unknown meter \"{name}\""),
                    };
                    let help = nearest::hint(&key.name, GRANTABLE.map(Meter::name));
                    self.error(code::UNKNOWN_COUNTED, key.place, message).hint(help);
                }
            }
        }
        found
    }

    fn granted(
        &mut self,
        meter: Option<Meter>,
        key: &Key,
        node: &Node,
        scope: &Scope<'_>,
    ) -> Option<ValueExpr> {
        let in_time = meter.is_none_or(Meter::is_clock);
        // `20m` is a length of time and no expression.
        if let Some(text) = node.text().filter(|_| in_time)
            && let Ok(seconds) = Field::of(Type::Duration).check(&Value::from(text.clone()))
        {
            return Some(ValueExpr::Literal(seconds));
        }
        let read = self.value(node, scope)?;
        let (unit, help) = match meter {
            Some(Meter::WallTime | Meter::ActiveTime) => {
                ("a length of time", Some("for example 20m, or seconds"))
            }
            Some(Meter::CostUsd) => ("a number of dollars", None),
            _ => ("a number", None),
        };
        let message = match &read.value {
            ValueExpr::Literal(value) if value.as_float().is_none_or(|n| n < 0.0) => {
                format!("the grant of `{}` is {unit}, and this is {}", key.name, value.to_json_text())
            }
            ValueExpr::Literal(_) => return Some(read.value),
            _ if matches!(read.gives.ty, Type::Integer | Type::Number | Type::Duration | Type::Any) => {
                return Some(read.value);
            }
            _ => format!("the grant of `{}` is {unit}, and this is {}", key.name, read.gives.ty),
        };
        self.error(code::MISMATCH, read.place, message).hint(help.map(str::to_owned));
        None
    }
}
