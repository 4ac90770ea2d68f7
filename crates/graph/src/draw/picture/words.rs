//! The words of a drawing: what is counted, up to what, under which condition.

use crate::{Bundle, Call, Callee, Counted, Graph, Limit, NodeIx, OnReach, Reserve, Setting, Verb, Write};

/// A setting as its file has it.
pub(super) fn setting(setting: &Setting) -> String {
    match setting {
        Setting::Literal(value) => value.as_str().map_or_else(|| value.to_json_text(), str::to_owned),
        Setting::Config(key) => format!("config.{key}"),
    }
}

/// A length of time as its file has it, in seconds where it is a literal.
pub(super) fn time(time: &Setting) -> String {
    match time {
        Setting::Literal(_) => format!("{} s", setting(time)),
        Setting::Config(_) => setting(time),
    }
}

/// What a limit counts and its bound: `search + read ≤ 8`.
pub(super) fn limit(graph: &Graph, limit: &Limit) -> String {
    let bound = match (&limit.counted, &limit.max) {
        (Counted::Gain { below, .. }, _) => format!("< {}", setting(below)),
        (_, None) => "≤ grant".to_owned(),
        (Counted::Meter(meter), Some(max)) if meter.is_clock() => format!("≤ {}", time(max)),
        (_, Some(max)) => format!("≤ {}", setting(max)),
    };
    let mut words = format!("{} {bound}", counted(graph, limit));
    words.extend(limit.per.iter().map(|per| format!(" per {}", per.as_written())));
    words.extend(limit.condition.iter().map(|condition| format!(" if {}", condition.as_written())));
    words
}

fn counted(graph: &Graph, limit: &Limit) -> String {
    match &limit.counted {
        Counted::Names { tools, nodes } => {
            let tools = tools.iter().filter_map(|t| graph.tools.get(t.0)).map(|t| t.name.to_string());
            let nodes = nodes.iter().filter_map(|n| graph.nodes.get(n.0)).map(|n| n.name.to_string());
            tools.chain(nodes).collect::<Vec<_>>().join(" + ")
        }
        Counted::Meter(meter) => meter.name().to_owned(),
        Counted::Gain { channel, .. } => {
            format!("gain of {}", graph.channels.get(channel.0).map_or("", |c| &c.name))
        }
    }
}

/// All that is to be said of a limit.
pub(super) fn limit_tip(graph: &Graph, of: &Limit) -> String {
    let mut parts = vec![format!("limit {}: {}", of.name, limit(graph, of))];
    if let Counted::Gain { window, min_steps, mode, .. } = &of.counted {
        let how = match mode {
            Setting::Config(key) => format!("together or each, as config.{key} says"),
            Setting::Literal(mode) if mode.as_str() == Some("sum") => "all together".to_owned(),
            Setting::Literal(_) => "each".to_owned(),
        };
        let (window, least) = (setting(window), setting(min_steps));
        parts.push(format!("in the last {window} steps, {how}, after {least} at least"));
    }
    parts.push(match &of.on_reach {
        OnReach::Exit(reason, _) => format!("then exit {reason}"),
        OnReach::To(node) => format!("then {}", node_name(graph, *node)),
        OnReach::Refuse => "then more is refused".to_owned(),
    });
    match of.reserve {
        Reserve::Share(share) if share > 0.0 => {
            parts.push(format!("{} % kept for finally", (share * 1000.0).round() / 10.0));
        }
        Reserve::Units(units) if units > 0.0 => parts.push(format!("{units} kept for finally")),
        _ => {}
    }
    if let Some(share) = &of.warn {
        parts.push(format!("warns at {} of it", setting(share)));
    }
    if of.own {
        parts.push("without what children use".to_owned());
    }
    parts.join("; ")
}

/// The name of a node.
pub(super) fn node_name(graph: &Graph, node: NodeIx) -> &str {
    graph.nodes.get(node.0).map_or("", |n| &n.name)
}

/// What a node does, in a few words.
pub(super) fn verb(bundle: &Bundle, graph: &Graph, verb: &Verb) -> String {
    match verb {
        Verb::Pass => String::new(),
        Verb::Model(model) => format!("model {}", setting(&model.model)),
        Verb::RunTools(of) => format!("run_tools {}", node_name(graph, *of)),
        Verb::Call(of) => call(bundle, of),
        Verb::Ask(_) => "ask".to_owned(),
    }
}

/// What a call calls.
pub(super) fn call(bundle: &Bundle, call: &Call) -> String {
    match &call.callee {
        Callee::Graph(ix) => format!("call {}", bundle.graphs.get(ix.0).map_or("", |g| &g.name)),
        Callee::Op(name) => format!("call {name}"),
    }
}

/// What a call gives to the graph that it starts, beside its input.
pub(super) fn of_child(call: &Call) -> Vec<String> {
    let config = call.config.iter().map(|(key, value)| format!("{key} = {}", setting(value)));
    let grant =
        call.grant.iter().map(|(meter, value)| format!("grants {} {}", value.as_written(), meter.name()));
    config.chain(grant).collect()
}

/// The channels that are written.
pub(super) fn writes(graph: &Graph, update: &[Write]) -> Option<String> {
    let names: Vec<&str> =
        update.iter().filter_map(|w| graph.channels.get(w.channel.0)).map(|c| &*c.name).collect();
    (!names.is_empty()).then(|| format!("writes {}", names.join(", ")))
}
