//! Limits.

use std::sync::Arc;

use deepgraph_protocol::{Meter, Value};

use super::declare::{Named, names};
use super::keys::Keys;
use super::settings::duration;
use super::{Home, Reader, Sites};
use crate::diagnostic::code;
use crate::nearest::{self, shortened};
use crate::source::{Kind, Node};
use crate::{Counted, Field, Limit, OnReach, Reserve, Setting, Type};

const LIMIT: [&str; 12] = [
    "count",
    "max",
    "gain",
    "below",
    "window",
    "min_steps",
    "mode",
    "exit",
    "to",
    "refuse",
    "reserve",
    "scope",
];
const LATER: [&str; 2] = ["if", "per"];
const GAIN: [&str; 4] = ["below", "window", "min_steps", "mode"];

impl Reader<'_> {
    /// Reads the limits of a graph.
    pub(crate) fn limits(&mut self, home: Home<'_>, sites: &mut Sites) -> Vec<Limit> {
        let mut limits = Vec::new();
        for named in &home.own.limits {
            match self.limit(home, *named, sites) {
                Some(limit) => limits.push(limit),
                None => sites.limits_broken = true,
            }
        }
        limits
    }

    fn limit(&mut self, home: Home<'_>, named: Named<'_>, sites: &mut Sites) -> Option<Limit> {
        let Named { key, node } = named;
        let what = format!("limit \"{}\"", key.name);
        if !self.check_keys(node, Keys { what: &what, known: &LIMIT, later: &LATER }) {
            return None;
        }
        let counted = match (node.get("count"), node.entry("gain")) {
            (Some(_), Some((gain, _))) => {
                self.error(code::CONFLICT, gain.place, format!("{what} has `count` or `gain`, not both"));
                None
            }
            (Some(count), None) => {
                self.refuse_keys(node, &GAIN, "gain");
                self.counted(count, home)
            }
            (None, Some((_, gain))) => {
                self.refuse_keys(node, &["max", "reserve", "scope"], "count");
                self.gain(gain, node, home)
            }
            (None, None) => {
                self.error(code::MISSING_KEY, key.place, format!("{what} needs `count` or `gain`"));
                None
            }
        };
        let on_reach = self.on_reach(node, named, home, sites);
        let counted = counted?;
        let on_reach = on_reach?;
        let max = self.max(node, named, home, &counted, &on_reach);
        let reserve = self.reserve(node, &counted, home);
        let own = self.own_scope(node, &counted);
        Some(Limit { name: key.name.clone(), counted, max: max?, on_reach, reserve, own })
    }

    fn refuse_keys(&mut self, node: &Node, keys: &[&str], needs: &str) {
        for name in keys {
            if let Some((key, _)) = node.entry(name) {
                self.error(code::CONFLICT, key.place, format!("`{name}` needs `{needs}`"));
            }
        }
    }

    /// Tools and nodes by name, or a meter.
    fn counted(&mut self, node: &Node, home: Home<'_>) -> Option<Counted> {
        let own = home.own;
        if let Kind::List(_) = node.kind {
            let mut tools = Vec::new();
            let mut nodes = Vec::new();
            let list = self.name_list(node, "`count`");
            if list.is_empty() {
                self.error(code::BAD_VALUE, node.place, "`count` counts nothing");
            }
            let mut sound = !list.is_empty();
            for (name, place) in list {
                let (tool, visited) = (own.tool_of(&name), own.node_of(&name));
                if tool.is_none() && visited.is_none() {
                    let all = names(&own.tools).chain(names(&own.nodes));
                    let help = nearest::hint(&name, all);
                    let message = format!("{} has no tool or node \"{}\"", own.title(), shortened(&name));
                    self.error(code::UNKNOWN_COUNTED, place, message).hint(help);
                    sound = false;
                }
                if tool.is_some() && visited.is_some() {
                    let message =
                        format!("\"{name}\" is a tool and a node: it can not be told which is counted");
                    self.error(code::TAKEN, place, message).help("give one of them another name");
                }
                tools.extend(tool);
                nodes.extend(visited.filter(|_| tool.is_none()));
            }
            return sound.then_some(Counted::Names { tools, nodes });
        }
        let name = self.plain_text(node, "`count`")?;
        match Meter::parse(&name) {
            Some(meter) => {
                if matches!(meter, Meter::Depth | Meter::ActiveTime) {
                    self.not_built(node.place, &format!("the meter \"{name}\""));
                }
                Some(Counted::Meter(meter))
            }
            None => {
                let help = if own.tool_of(&name).is_some() || own.node_of(&name).is_some() {
                    Some(format!("tools and nodes are counted as a list: [{name}]"))
                } else {
                    nearest::hint(&name, Meter::ALL.iter().map(|(n, _)| *n))
                };
                self.error(
                    code::UNKNOWN_COUNTED,
                    node.place,
                    format!("unknown meter \"{}\"", shortened(&name)),
                )
                .hint(help);
                None
            }
        }
    }

    fn gain(&mut self, gain: &Node, node: &Node, home: Home<'_>) -> Option<Counted> {
        let name = self.plain_text(gain, "`gain`")?;
        let Some((channel, declared)) = home.own.channel(&name) else {
            let help = nearest::hint(&name, home.own.channel_names());
            let message = format!("{} has no channel \"{}\"", home.own.title(), shortened(&name));
            self.error(code::UNKNOWN_CHANNEL, gain.place, message).hint(help);
            return None;
        };
        if !matches!(declared.field.ty, Type::List(_) | Type::Map(_) | Type::Any) {
            let message =
                format!("`gain` counts the items of a list or map; \"{name}\" is {}", declared.field.ty);
            self.error(code::MISMATCH, gain.place, message);
        }
        let share = Field { minimum: Some(0.0), ..Field::of(Type::Number) };
        let window = Field { minimum: Some(1.0), ..Field::of(Type::Integer) };
        let steps = Field { minimum: Some(0.0), ..Field::of(Type::Integer) };
        let mut setting = |key: &str, want: &Field, default: Value| {
            let read = node.get(key).and_then(|n| self.setting(n, home, want, &format!("`{key}`")));
            read.unwrap_or(Setting::Literal(default))
        };
        let below = setting("below", &share, Value::Float(0.02));
        let window = setting("window", &window, Value::Int(3));
        let min_steps = setting("min_steps", &steps, Value::Int(3));
        let sum = match node.get("mode").map(|n| (n, n.text().map(|t| &**t))) {
            None | Some((_, Some("each"))) => false,
            Some((_, Some("sum"))) => true,
            Some((mode, _)) => {
                self.error(code::BAD_VALUE, mode.place, "`mode` is each or sum");
                false
            }
        };
        Some(Counted::Gain { channel, below, window, min_steps, sum })
    }

    fn on_reach(
        &mut self,
        node: &Node,
        named: Named<'_>,
        home: Home<'_>,
        sites: &mut Sites,
    ) -> Option<OnReach> {
        let given: Vec<_> = ["exit", "to", "refuse"].iter().filter_map(|k| node.entry(k)).collect();
        match given.as_slice() {
            [] => {
                let message = format!("limit \"{}\" needs one of `exit`, `to` and `refuse`", named.key.name);
                self.error(code::MISSING_KEY, named.key.place, message);
                None
            }
            [(key, value)] => match &*key.name {
                "exit" => {
                    let name = self.plain_text(value, "`exit`")?;
                    let (reason, class) = self.exit_named(&name, value.place, home)?;
                    Some(OnReach::Exit(reason, class))
                }
                "to" => {
                    let name: Arc<str> = self.plain_text(value, "`to`")?;
                    self.node_named(&name, value.place, home, sites).map(OnReach::To)
                }
                _ if matches!(value.kind, Kind::Bool(true)) => Some(OnReach::Refuse),
                _ => {
                    self.error(code::BAD_VALUE, value.place, "`refuse` is true, or left out");
                    None
                }
            },
            [_, (second, _), ..] => {
                let message = "a limit has exactly one of `exit`, `to` and `refuse`";
                self.error(code::CONFLICT, second.place, message);
                None
            }
        }
    }

    /// The bound; none where it could not be read.
    #[allow(clippy::option_option)]
    fn max(
        &mut self,
        node: &Node,
        named: Named<'_>,
        home: Home<'_>,
        counted: &Counted,
        on_reach: &OnReach,
    ) -> Option<Option<Setting>> {
        let grantable = [Meter::Tokens, Meter::CostUsd, Meter::WallTime, Meter::ModelCalls, Meter::ToolCalls];
        let Some(max) = node.get("max") else {
            let granted = match counted {
                Counted::Meter(meter) => grantable.contains(meter) && home.own.parent.is_some(),
                Counted::Gain { .. } => true,
                Counted::Names { .. } => false,
            };
            if !granted {
                let message = format!("limit \"{}\" needs `max`", named.key.name);
                let help = matches!(counted, Counted::Meter(m) if grantable.contains(m)).then(|| {
                    "only a child graph can leave it out: its bound is what it is granted".to_owned()
                });
                self.error(code::MISSING_KEY, named.key.place, message).hint(help);
                return None;
            }
            return Some(None);
        };
        if matches!(counted, Counted::Gain { .. }) {
            return Some(None);
        }
        if max.is_null() {
            return Some(Some(Setting::Literal(Value::Null)));
        }
        self.setting(max, home, &bound(counted, on_reach), "`max`").map(Some)
    }

    fn reserve(&mut self, node: &Node, counted: &Counted, home: Home<'_>) -> Reserve {
        let kept = match counted {
            Counted::Meter(meter) => meter.is_quantity() && home.own.node.get("finally").is_some(),
            _ => false,
        };
        let default = if kept { Reserve::Share(0.1) } else { Reserve::Share(0.0) };
        let Some(reserve) = node.get("reserve") else { return default };
        let value = reserve.to_value();
        let units = match counted {
            Counted::Meter(Meter::WallTime | Meter::ActiveTime) => duration().check(&value).ok(),
            _ => Some(value),
        };
        match units.and_then(|v| v.as_float()) {
            Some(n) if (0.0..1.0).contains(&n) => Reserve::Share(n),
            Some(n) if n >= 1.0 => Reserve::Units(n),
            _ => {
                let message = "`reserve` is a share below 1, or a number of units of at least 1";
                self.error(code::BAD_VALUE, reserve.place, message);
                default
            }
        }
    }

    fn own_scope(&mut self, node: &Node, counted: &Counted) -> bool {
        let tree = matches!(counted, Counted::Meter(m)
            if m.is_quantity() || matches!(m, Meter::ModelCalls | Meter::ToolCalls));
        match node.get("scope").map(|n| (n, n.text().map(|t| &**t))) {
            None => !tree,
            Some((_, Some("own"))) => true,
            Some((_, Some("tree"))) if tree => false,
            Some((scope, Some("tree"))) => {
                self.error(
                    code::BAD_VALUE,
                    scope.place,
                    "this is counted in the graph itself only: `scope: own`",
                );
                true
            }
            Some((scope, _)) => {
                self.error(code::BAD_VALUE, scope.place, "`scope` is tree or own");
                true
            }
        }
    }
}

/// What bounds are allowed.
fn bound(counted: &Counted, on_reach: &OnReach) -> Field {
    match counted {
        Counted::Meter(Meter::WallTime | Meter::ActiveTime) => duration(),
        Counted::Meter(Meter::CostUsd) => Field { minimum: Some(0.0), ..Field::of(Type::Number) },
        // A refused call is answered and the work goes on, so none at all can be meant.
        _ if *on_reach == OnReach::Refuse => Field { minimum: Some(0.0), ..Field::of(Type::Integer) },
        _ => Field { minimum: Some(1.0), ..Field::of(Type::Integer) },
    }
}
