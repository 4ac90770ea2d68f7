//! Limits.

use std::sync::Arc;

use deepgraph_protocol::{Meter, Value};

use super::declare::{Named, names};
use super::keys::Keys;
use super::overrides::GRANTABLE;
use super::settings::{at_least_one, duration};
use super::{Home, Reader, Sites};
use crate::diagnostic::{code, misfit};
use crate::nearest::{self, shortened};
use crate::source::{Kind, Node};
use crate::{ChannelIx, Counted, Field, Limit, OnReach, Reserve, Setting, Type, vocabulary};

const GAIN: [&str; 4] = ["below", "window", "min_steps", "mode"];

/// What stands for something that could not be read: it may be reached anywhere and bounds nothing.
const LOST: Counted = Counted::Meter(Meter::WallTime);

/// What a limit counts, as far as it could be read.
struct ReadCounted {
    /// None: it is not known what is counted.
    counted: Option<Counted>,
    /// What is probably meant where it is not known.
    likely: Option<Counted>,
    /// Whether all of it could be read.
    sound: bool,
}

impl ReadCounted {
    fn of(counted: Option<Counted>) -> ReadCounted {
        ReadCounted { sound: counted.is_some(), counted, likely: None }
    }
}

impl Reader<'_> {
    /// Reads the limits of a graph: one for each that is declared, whatever is wrong with it.
    pub(crate) fn limits(&mut self, home: Home<'_>, sites: &mut Sites) -> Vec<Limit> {
        home.own.limits.iter().map(|named| self.limit(home, *named, sites)).collect()
    }

    fn limit(&mut self, home: Home<'_>, named: Named<'_>, sites: &mut Sites) -> Limit {
        let Named { key, node } = named;
        let what = format!("limit \"{}\"", key.name);
        self.check_keys(node, Keys::of(&what, &vocabulary::LIMIT));
        let is_mapping = matches!(node.kind, Kind::Map(_));
        let read = match is_mapping {
            true => self.count_or_gain(node, named, home),
            false => ReadCounted::of(None),
        };
        let on_reach = if is_mapping { self.on_reach(node, named, home, sites) } else { None };
        let counted = read.counted.as_ref();
        self.check_refusal(node, counted);
        let meant = counted.or(read.likely.as_ref());
        let max = if is_mapping { self.max(node, named, home, meant, on_reach.as_ref()) } else { None };
        let reserve = self.reserve(node, counted, home);
        let warn = self.warn(node, home);
        let own = self.own_scope(node, counted);
        let of = self.of_arguments(node, counted.filter(|_| read.sound), home);
        let whole = read.sound && on_reach.is_some() && max.is_some();
        sites.limits_broken |= !whole;
        // Where it would have led is not known. An exit leads to no node.
        sites.routes_broken |= on_reach.is_none() && node.get("exit").is_none();
        Limit {
            name: key.name.clone(),
            counted: read.counted.filter(|_| whole).unwrap_or(LOST),
            max: max.flatten(),
            on_reach: on_reach.unwrap_or(OnReach::Refuse),
            reserve,
            warn,
            own,
            condition: of.condition,
            per: of.per,
        }
    }

    fn count_or_gain(&mut self, node: &Node, named: Named<'_>, home: Home<'_>) -> ReadCounted {
        let what = format!("limit \"{}\"", named.key.name);
        match (node.get("count"), node.entry("gain")) {
            (Some(count), Some((gain, value))) => {
                self.error(code::CONFLICT, gain.place, format!("{what} has `count` or `gain`, not both"));
                self.counted(count, home);
                self.gain(value, node, home);
                ReadCounted::of(None)
            }
            (Some(count), None) => {
                self.refuse_keys(node, &GAIN, "gain");
                self.counted(count, home)
            }
            (None, Some((_, gain))) => {
                self.refuse_keys(node, &["max", "reserve", "warn", "scope"], "count");
                ReadCounted::of(self.gain(gain, node, home))
            }
            (None, None) => {
                self.error(code::MISSING_KEY, named.key.place, format!("{what} needs `count` or `gain`"));
                ReadCounted::of(None)
            }
        }
    }

    fn refuse_keys(&mut self, node: &Node, keys: &[&str], needs: &str) {
        for name in keys {
            if let Some((key, _)) = node.entry(name) {
                self.error(code::CONFLICT, key.place, format!("`{name}` needs `{needs}`"));
            }
        }
    }

    /// Tools and nodes by name, or a meter.
    fn counted(&mut self, node: &Node, home: Home<'_>) -> ReadCounted {
        if let Kind::List(items) = &node.kind {
            if items.is_empty() {
                self.error(code::BAD_VALUE, node.place, "`count` counts nothing");
            }
            return self.counted_names(node, items.len(), home);
        }
        let own = home.own;
        let Some(name) = self.plain_text(node, "`count`") else { return ReadCounted::of(None) };
        let Some(meter) = Meter::parse(&name) else {
            let help = if own.tools_named(&name).is_some() || own.node_of(&name).is_some() {
                Some(format!("tools and nodes are counted as a list: [{name}]"))
            } else {
                nearest::hint(&name, Meter::ALL.iter().map(|(n, _)| *n))
            };
            let message = format!("unknown meter \"{}\"", shortened(&name));
            self.error(code::UNKNOWN_COUNTED, node.place, message).hint(help);
            let likely = nearest::nearest(&name, Meter::ALL.iter().map(|(n, _)| *n)).and_then(Meter::parse);
            return ReadCounted { likely: likely.map(Counted::Meter), ..ReadCounted::of(None) };
        };
        ReadCounted::of(Some(Counted::Meter(meter)))
    }

    fn counted_names(&mut self, node: &Node, listed: usize, home: Home<'_>) -> ReadCounted {
        let own = home.own;
        let mut tools = Vec::new();
        let mut nodes = Vec::new();
        let mut known = 0;
        for (name, place) in self.name_list(node, "`count`") {
            let (tool, visited) = (own.tools_named(&name), own.node_of(&name));
            known += usize::from(tool.is_some() || visited.is_some());
            if tool.is_none() && visited.is_none() {
                let help = nearest::hint(&name, own.tool_names().chain(names(&own.nodes)));
                let message = format!("{} has no tool or node \"{}\"", own.title(), shortened(&name));
                self.error(code::UNKNOWN_COUNTED, place, message).hint(help);
            }
            if tool.is_some() && visited.is_some() {
                let message = format!("\"{name}\" is a tool and a node: it can not be told which is counted");
                self.error(code::TAKEN, place, message).help("give one of them another name");
            }
            nodes.extend(visited.filter(|_| tool.is_none()));
            tools.extend(tool.into_iter().flatten());
        }
        let sound = listed > 0 && known == listed;
        ReadCounted { counted: Some(Counted::Names { tools, nodes }), likely: None, sound }
    }

    fn gain(&mut self, gain: &Node, node: &Node, home: Home<'_>) -> Option<Counted> {
        let channel = self.gain_channel(gain, home);
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
        let mode = self.gain_mode(node, home).unwrap_or(Setting::Literal(Value::from("each")));
        Some(Counted::Gain { channel: channel?, below, window, min_steps, mode })
    }

    fn gain_mode(&mut self, node: &Node, home: Home<'_>) -> Option<Setting> {
        let modes = [Value::from("each"), Value::from("sum")];
        let mode = node.get("mode")?;
        let text = mode.text().map(|t| t.trim().to_owned()).unwrap_or_default();
        if text.starts_with("config.") {
            let want = Field { options: modes.to_vec(), ..Field::of(Type::String) };
            return self.setting(mode, home, &want, "`mode`");
        }
        if !modes.contains(&mode.to_value()) {
            self.error(code::BAD_VALUE, mode.place, "`mode` is each or sum");
            return None;
        }
        Some(Setting::Literal(mode.to_value()))
    }

    fn gain_channel(&mut self, gain: &Node, home: Home<'_>) -> Option<ChannelIx> {
        let name = self.plain_text(gain, "`gain`")?;
        let (channel, declared) = self.channel_named(home.own, &name, gain.place)?;
        if !matches!(declared.field.ty, Type::List(_) | Type::Map(_) | Type::Any) {
            let message =
                format!("`gain` counts the items of a list or map; \"{name}\" is {}", declared.field.ty);
            self.error(code::MISMATCH, gain.place, message);
        }
        Some(channel)
    }

    fn on_reach(
        &mut self,
        node: &Node,
        named: Named<'_>,
        home: Home<'_>,
        sites: &mut Sites,
    ) -> Option<OnReach> {
        let given: Vec<_> = ["exit", "to", "refuse"].iter().filter_map(|k| node.entry(k)).collect();
        if given.is_empty() {
            let message = format!("limit \"{}\" needs one of `exit`, `to` and `refuse`", named.key.name);
            self.error(code::MISSING_KEY, named.key.place, message);
        }
        if let Some((second, _)) = given.get(1) {
            let message = "a limit has exactly one of `exit`, `to` and `refuse`";
            self.error(code::CONFLICT, second.place, message);
        }
        // All of them, so that what is wrong with each is told.
        let found: Vec<Option<OnReach>> =
            given.iter().map(|(key, value)| self.action(&key.name, value, home, sites)).collect();
        match found.as_slice() {
            [only] => only.clone(),
            _ => None,
        }
    }

    /// Time and gain start nothing, so there is nothing to refuse.
    fn check_refusal(&mut self, node: &Node, counted: Option<&Counted>) {
        let starts = !matches!(
            counted,
            Some(Counted::Gain { .. })
                | Some(Counted::Meter(Meter::WallTime | Meter::ActiveTime | Meter::TurnTime))
        );
        let refuses = matches!(counted, Some(Counted::Meter(Meter::RepeatedCalls)));
        if let Some((key, _)) = node.entry("refuse").filter(|_| !starts || refuses) {
            let message = match refuses {
                true => {
                    "repeated calls are refused in any case; the limit says what happens after so many of them"
                }
                false => "`refuse` refuses a start, and this limit counts none",
            };
            self.error(code::CONFLICT, key.place, message)
                .help("give it an `exit` or a node `to` go on with");
        }
    }

    fn action(&mut self, key: &str, value: &Node, home: Home<'_>, sites: &mut Sites) -> Option<OnReach> {
        match key {
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
                let code = misfit(&value.to_value(), &Field::of(Type::Boolean), code::BAD_VALUE);
                self.error(code, value.place, "`refuse` is true, or left out");
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
        counted: Option<&Counted>,
        on_reach: Option<&OnReach>,
    ) -> Option<Option<Setting>> {
        let is_gain = matches!(counted, Some(Counted::Gain { .. })) || node.get("count").is_none();
        let Some(max) = node.get("max").filter(|_| !is_gain) else {
            let bounded = is_gain || self.is_granted(named, home, counted);
            return bounded.then_some(None);
        };
        if max.is_null() {
            return Some(Some(Setting::Literal(Value::Null)));
        }
        match counted {
            Some(counted) => self.setting(max, home, &bound(counted, on_reach), "`max`").map(Some),
            None => self.any_bound(max, home).map(Some),
        }
    }

    /// Whether a limit may do without `max`, because its graph is granted a bound; an error where it may not.
    fn is_granted(&mut self, named: Named<'_>, home: Home<'_>, counted: Option<&Counted>) -> bool {
        let is_child = !home.own.is_first();
        let may = match counted {
            // What is counted is not known.
            None => is_child,
            Some(Counted::Meter(meter)) => is_child && GRANTABLE.contains(meter),
            Some(_) => false,
        };
        if !may {
            let message = format!("limit \"{}\" needs `max`", named.key.name);
            let help = matches!(counted, Some(Counted::Meter(m)) if GRANTABLE.contains(m))
                .then(|| "only a child graph can leave it out: its bound is what it is granted".to_owned());
            self.error(code::MISSING_KEY, named.key.place, message).hint(help);
        }
        may
    }

    /// A bound of something that is not known: what no meter takes is wrong all the same.
    fn any_bound(&mut self, max: &Node, home: Home<'_>) -> Option<Setting> {
        let named = max.text().is_some_and(|t| t.trim().starts_with("config."));
        let value = max.to_value();
        if named || duration().check(&value).is_ok() {
            return self.setting(max, home, &duration(), "`max`");
        }
        let message = format!("`max` must be a number or a duration, is {}", value.to_json_text());
        self.error(code::BAD_VALUE, max.place, message);
        None
    }

    fn reserve(&mut self, node: &Node, counted: Option<&Counted>, home: Home<'_>) -> Reserve {
        let meter = if let Some(Counted::Meter(meter)) = counted { Some(*meter) } else { None };
        let default = Reserve::unsaid(meter, home.own.node.get("finally").is_some());
        let Some(reserve) = node.get("reserve") else { return default };
        let value = reserve.to_value();
        let units = match counted {
            None => duration().check(&value).ok(),
            Some(Counted::Meter(meter)) if meter.is_clock() => duration().check(&value).ok(),
            Some(_) => Some(value),
        };
        // A length of time with its unit is never a share, however short.
        let in_units = reserve.to_value().as_str().is_some();
        match units.and_then(|v| v.as_float()) {
            Some(n) if in_units && n > 0.0 => Reserve::Units(n),
            Some(n) if !in_units && (0.0..1.0).contains(&n) => Reserve::Share(n),
            Some(n) if n >= 1.0 => Reserve::Units(n),
            _ => {
                let message = "`reserve` is a share below 1, or a number of units of at least 1";
                let code = misfit(&reserve.to_value(), &Field::of(Type::Number), code::BAD_VALUE);
                self.error(code, reserve.place, message);
                default
            }
        }
    }

    /// The share of the bound at which it warns.
    fn warn(&mut self, node: &Node, home: Home<'_>) -> Option<Setting> {
        let share = Field { minimum: Some(0.0), maximum: Some(1.0), ..Field::of(Type::Number) };
        node.get("warn").and_then(|warn| self.setting(warn, home, &share, "`warn`"))
    }

    fn own_scope(&mut self, node: &Node, counted: Option<&Counted>) -> bool {
        let covers = |m: &Meter| m.is_quantity() || matches!(m, Meter::ModelCalls | Meter::ToolCalls);
        let tree = match counted {
            None => true,
            Some(Counted::Meter(meter)) => covers(meter),
            Some(_) => false,
        };
        match node.get("scope").map(|n| (n, n.text().map(|t| &**t))) {
            None => !tree,
            Some((scope, Some("own"))) => {
                if let Some(Counted::Meter(meter @ (Meter::Tokens | Meter::CostUsd))) = counted {
                    self.not_built(scope.place, &format!("`scope: own` with the meter \"{}\"", meter.name()));
                }
                true
            }
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
fn bound(counted: &Counted, on_reach: Option<&OnReach>) -> Field {
    match counted {
        Counted::Meter(meter) if meter.is_clock() => duration(),
        // The outermost instance is the first.
        Counted::Meter(Meter::Depth) => at_least_one(),
        Counted::Meter(Meter::CostUsd) => Field { minimum: Some(0.0), ..Field::of(Type::Number) },
        // A refused call is answered and the work goes on, so none at all can be meant.
        // Nor is it known where what happens then is not.
        _ if on_reach.is_none_or(|then| *then == OnReach::Refuse) => {
            Field { minimum: Some(0.0), ..Field::of(Type::Integer) }
        }
        _ => Field { minimum: Some(1.0), ..Field::of(Type::Integer) },
    }
}
