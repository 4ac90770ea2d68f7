mod calls;
mod counting;
mod defaults;
mod each;
mod intents;
mod keys;
mod names;
mod overrides;
mod persist;
mod routes;
mod servers;
mod sets;
mod shapes;
mod together;
mod unread;
mod waits;

/// A graph with one node, whose body is given.
pub(super) fn node(body: &str) -> String {
    format!("deepgraph: 1\nstate: {{q: string, m: messages}}\ninput: [q]\nstart: a\nnodes:\n  a:\n{body}")
}

/// A graph with more top level keys.
pub(super) fn graph(keys: &str) -> String {
    format!(
        "deepgraph: 1\nstate: {{q: string, n: integer, l: [string], m: messages}}\nstart: a\nnodes: {{a: {{update: {{q: \"'x'\"}}}}}}\n{keys}"
    )
}

/// A graph with a model node that offers the tools given.
pub(super) fn tools(tools: &str) -> String {
    format!(
        "deepgraph: 1\nstate: {{q: string, m: messages}}\ninput: [q]\nlimits: {{t: {{count: turns, max: 3, exit: step_limit}}}}\n\
         start: a\nnodes:\n  a: {{model: x, messages: m, tools: [t], next: r}}\n  r: {{run_tools: a, next: a}}\ntools:\n{tools}"
    )
}

/// A graph with one limit.
pub(super) fn limit(limit: &str) -> String {
    graph(&format!("limits:\n  l: {limit}\n"))
}
