mod items;
mod texts;
mod types;

/// A graph whose only node has this prompt.
pub(super) fn prompt(text: &str) -> String {
    format!("{HEAD}    model: x\n    prompt: |\n      {}\n", text.replace('\n', "\n      "))
}

/// A graph whose only node writes this to a channel.
pub(super) fn update(channel: &str, value: &str) -> String {
    format!("{HEAD}    model: x\n    prompt: p\n    returns: r\n    update:\n      {channel}: {value}\n")
}

pub(super) const HEAD: &str = "deepgraph: 1
config: {mode: {enum: [never, auto], default: auto}, n: {type: integer, default: 1}}
types: {r: {name: string, kind: {enum: [x, y]}, parts: [p]}, p: {id: string, size: integer}}
state: {q: string, n: integer, r: {type: r, optional: true}, rs: {type: [r], reduce: append}, hits: [hit], any: any, m: messages, src: {type: {string: source}, reduce: merge}, mode: {enum: [x, y]}}
input: [q]
limits: {t: {count: turns, max: 3, exit: step_limit}}
start: a
nodes:
  a:
";
